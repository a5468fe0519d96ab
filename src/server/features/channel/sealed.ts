/**
 * Secrets inside a channel's settings: the password of its proxy and the values of headers that carry a credential.
 * They are encrypted at rest and masked wherever a channel is shown; a mask that is written back stands for the stored
 * value. A stored secret stays with its destination: under another proxy, or where the calls would go elsewhere, it
 * must be entered again.
 */
import { jsonObject } from "../../../shared/channel";
import { proxyAddress } from "../../../shared/channel-setting";
import { isSecretHeader, SECRET_MASK } from "../../../shared/channel-secrets";
import { fail } from "../../../shared/errors";
import type { Text } from "../../../shared/text";
import type { Ctx } from "../../contracts/context";
import type { ChannelRow } from "../../db/schema";
import type { Secrets } from "../../lib/secrets";

/** The columns that may hold a secret, as JSON texts. */
export type SealedColumns = Partial<Pick<ChannelRow, "setting" | "header_override">>;

/** Before a cipher. A value that a caller begins like this is encrypted as well, so stored ones are always ours. */
const MARK = "sealed.";
const isSealed = (text: string): boolean => text.startsWith(MARK);

const PROXY_AGAIN: Text = {
  zh: "代理地址已改变，请重新输入密码",
  en: "the proxy has changed; enter its password again",
};
const HEADER_AGAIN: Text = {
  zh: "没有已保存的值，请重新输入",
  en: "there is no stored value; enter it again",
};

/** Throws WrongSecret. */
const opened = (secrets: Secrets, text: string): string =>
  isSealed(text) ? secrets.decrypt("channel-secret", text.slice(MARK.length)) : text;

/** A secret that has not changed keeps its cipher: an unchanged row stays unchanged. */
const sealed = (secrets: Secrets, text: string, stored: string | undefined): string =>
  stored !== undefined && isSealed(stored) && opened(secrets, stored) === text
    ? stored
    : MARK + secrets.encrypt("channel-secret", text);

/** Applies `change` to the members of a JSON text; a text that is no object, or has no such member, stays as it is. */
function rewritten(json: string, change: (members: Record<string, unknown>) => boolean): string {
  const members = jsonObject(json);
  if (!members || !change(members)) return json;
  return JSON.stringify(members, undefined, json.includes("\n") ? 2 : undefined);
}

/** The part of a proxy's address that is secret: the password, or the name where that is all there is. */
const secretPart = (url: URL): "password" | "username" | undefined =>
  url.password !== "" ? "password" : url.username !== "" ? "username" : undefined;

/** The proxy of a setting, with its secret part replaced by what `change` makes of it. */
const withProxy = (setting: string, change: (secret: string, url: URL) => string): string =>
  rewritten(setting, (members) => {
    const url = typeof members.proxy === "string" ? proxyAddress(members.proxy) : undefined;
    const part = url && secretPart(url);
    if (!url || !part) return false;
    const before = decodeURIComponent(url[part]);
    const after = change(before, url);
    if (after === before) return false;
    const host = (members.proxy as string).trim().replace(/^[a-z0-9]+:\/\/[^/]*@/i, ""); // a text, see above
    const name = part === "username" ? "" : `${url.username}:`;
    members.proxy = `${url.protocol}//${name}${encodeURIComponent(after)}@${host}`;
    return true;
  });

/** The header_override with every text value replaced by what `change` makes of it. */
const withValues = (headers: string, change: (value: string, name: string) => string): string =>
  rewritten(headers, (members) => {
    let changed = false;
    for (const [name, value] of Object.entries(members)) {
      if (typeof value !== "string") continue;
      const after = change(value, name);
      if (after === value) continue;
      members[name] = after;
      changed = true;
    }
    return changed;
  });

/** The columns with every secret in clear. Throws WrongSecret. */
export function openColumns<Row extends SealedColumns>(secrets: Secrets, row: Row): Row {
  const open = (text: string): string => opened(secrets, text);
  return changed(row, open, open);
}

/** The columns as they may be shown: every secret is the mask. */
export const maskColumns = <Row extends SealedColumns>(row: Row): Row =>
  changed(
    row,
    () => SECRET_MASK,
    (value, name) => (isSealed(value) || isSecretHeader(name, value) ? SECRET_MASK : value),
  );

/**
 * The columns as they are stored: secrets encrypted, masks replaced by the secrets of `before`. Absent columns stay
 * absent. Throws channel_setting_invalid for a mask without a stored value.
 */
export const sealColumns = <Row extends SealedColumns>(
  { secrets, lang }: Pick<Ctx, "secrets" | "lang">,
  row: Row,
  before: SealedColumns = {},
): Row =>
  sealedColumns(secrets, row, before, (member, detail) =>
    fail("channel_setting_invalid", { member, detail: detail[lang] }),
  );

/** As sealColumns; a mask without a stored value is a value of its own, which no channel has. */
export const sealToCompare = <Row extends SealedColumns>(secrets: Secrets, row: Row, before: SealedColumns): Row =>
  sealedColumns(secrets, row, before, () => SECRET_MASK);

function sealedColumns<Row extends SealedColumns>(
  secrets: Secrets,
  row: Row,
  before: SealedColumns,
  again: (member: string, detail: Text) => string,
): Row {
  const old = proxyOf(before.setting ?? "");
  const values = valuesOf(before.header_override);
  return changed(
    row,
    (secret, url) => {
      const stored = old && isSameProxy(old, url) ? secretOf(old) : undefined;
      if (secret !== SECRET_MASK) return sealed(secrets, secret, stored);
      return stored === undefined ? again("proxy", PROXY_AGAIN) : sealed(secrets, opened(secrets, stored), stored);
    },
    (value, name) => {
      const stored = values.get(name.toLowerCase());
      if (value === SECRET_MASK) {
        if (stored === undefined) return again(name.slice(0, 100), HEADER_AGAIN);
        return sealed(secrets, opened(secrets, stored), stored);
      }
      return isSealed(value) || isSecretHeader(name, value) ? sealed(secrets, value, stored) : value;
    },
  );
}

/** Stored columns with secrets in clear, as releases up to 0.1.1 wrote them, encrypted; undefined without any. */
export function sealStored(secrets: Secrets, row: Required<SealedColumns>): Required<SealedColumns> | undefined {
  const seal = (value: string): string => (isSealed(value) ? value : sealed(secrets, value, undefined));
  const next = changed(row, seal, (value, name) => (isSecretHeader(name, value) ? seal(value) : value));
  return next.setting === row.setting && next.header_override === row.header_override ? undefined : next;
}

/** For `weir secret rotate`: the columns under another master secret; undefined without a secret. */
export function rotateColumns(
  row: Required<SealedColumns>,
  old: Secrets,
  next: Secrets,
): Required<SealedColumns> | undefined {
  const seal = (value: string): string => (isSealed(value) ? sealed(next, opened(old, value), undefined) : value);
  const columns = changed(row, seal, seal);
  return columns.setting === row.setting && columns.header_override === row.header_override ? undefined : columns;
}

/** Whether a header's secret of `before` is still in `after`. */
export function keepsHeader(secrets: Secrets, before: SealedColumns, after: SealedColumns): boolean {
  const now = new Set([...valuesOf(after.header_override).values()].map((value) => opened(secrets, value)));
  return [...valuesOf(before.header_override)].some(
    ([name, value]) => (isSealed(value) || isSecretHeader(name, value)) && now.has(opened(secrets, value)),
  );
}

function changed<Row extends SealedColumns>(
  row: Row,
  proxy: (secret: string, url: URL) => string,
  header: (value: string, name: string) => string,
): Row {
  return {
    ...row,
    ...(row.setting && { setting: withProxy(row.setting, proxy) }),
    ...(row.header_override && { header_override: withValues(row.header_override, header) }),
  };
}

function proxyOf(setting: string): URL | undefined {
  const proxy = jsonObject(setting)?.proxy;
  return typeof proxy === "string" ? proxyAddress(proxy) : undefined;
}

const secretOf = (url: URL): string | undefined => {
  const part = secretPart(url);
  return part && decodeURIComponent(url[part]);
};

const isSameProxy = (one: URL, other: URL): boolean =>
  one.protocol === other.protocol &&
  one.host === other.host &&
  secretPart(one) === secretPart(other) &&
  (secretPart(one) === "username" || one.username === other.username);

/** Names in lower case -> stored values. */
function valuesOf(headers = ""): Map<string, string> {
  const members = Object.entries(jsonObject(headers) ?? {});
  return new Map(members.flatMap(([name, value]) => (typeof value === "string" ? [[name.toLowerCase(), value]] : [])));
}
