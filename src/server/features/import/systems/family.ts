/**
 * What new-api, one-api and one-hub have in common: they come from one program, and most columns mean the same. Read in
 * QuantumNous/new-api, songquanpeng/one-api and MartialBE/one-hub (model/*.go, April 2025 to February 2026).
 */
import { LOG_TYPE } from "../../../../shared/log";
import { isOptionKey, optionKeys, parseOption } from "../../../../shared/options";
import { type Left, NO_LIMITS, type SourceCode, type SourceLog, type SourceToken, type SourceUser } from "../records";
import type { Catalogue, Row, Source } from "../../../db/foreign/source";
import type { SourceOptions } from "../system";
import { issuerOf } from "./shared-facts";
import { flagOf, listOf, numberOf, objectOf, textOf, timeOf, wholeOf } from "../values";

/** A user id of GitHub is a number; a login name may be digits too, and can be given up and taken by another user. */
const NUMERIC = /^\d{1,15}$/;

export const USER_COLUMNS = [
  "id",
  "username",
  "password",
  "display_name",
  "email",
  "role",
  "status",
  "group",
  "quota",
  "used_quota",
  "request_count",
  "access_token",
  "aff_code",
  "inviter_id",
  "github_id",
  "wechat_id",
  "deleted_at",
] as const;

/**
 * `asked`: `issuer` of the OIDC provider, absent when there is none; `github-ids` is "numeric" where the operator has
 * decided that github_id holds ids, and not login names.
 */
export function familyUser(row: Row, asked: Readonly<Record<string, string>>): SourceUser {
  const { issuer = "" } = asked;
  const numeric = asked["github-ids"] === "numeric";
  const subject = (column: string): string => {
    const value = textOf(row, column);
    return value === "0" ? "" : value;
  };
  const bound = [
    {
      provider: "github",
      subject: numeric && NUMERIC.test(subject("github_id")) ? subject("github_id") : subject("github_id_new"),
    },
    { provider: "linuxdo", subject: subject("linux_do_id") },
    { provider: "telegram", subject: subject("telegram_id") },
    { provider: "wechat", subject: subject("wechat_id") },
    { provider: "oidc", subject: subject("oidc_id") && issuer ? `${issuer} ${subject("oidc_id")}` : "" },
  ];
  const status = wholeOf(row, "status");
  const deleted = timeOf(row, "deleted_at") ?? (status === 3 ? 1 : null);
  return {
    id: textOf(row, "id"),
    username: textOf(row, "username"),
    password_hash: /^\$2[abxy]?\$/.test(textOf(row, "password")) ? textOf(row, "password") : "",
    display_name: textOf(row, "display_name"),
    email: textOf(row, "email").trim().toLowerCase(),
    role: [10, 100].find((role) => role === wholeOf(row, "role")) ?? 1,
    status: status === 1 ? 1 : 2,
    group: textOf(row, "group").trim() || "default",
    quota: wholeOf(row, "quota"),
    used_quota: wholeOf(row, "used_quota"),
    request_count: wholeOf(row, "request_count"),
    access_token: textOf(row, "access_token"),
    aff_code: textOf(row, "aff_code"),
    aff_count: wholeOf(row, "aff_count"),
    aff_quota: Math.max(0, wholeOf(row, "aff_quota")),
    aff_history_quota: Math.max(0, wholeOf(row, "aff_history")),
    inviter: wholeOf(row, "inviter_id") > 0 ? textOf(row, "inviter_id") : "",
    setting: JSON.stringify(objectOf(row, "setting")).replace(/^\{\}$/, ""),
    created_at: timeOf(row, "created_at") ?? timeOf(row, "created_time") ?? 0,
    last_login_at: timeOf(row, "last_login_at") ?? timeOf(row, "last_login_time") ?? 0,
    deleted_at: deleted,
    limits: NO_LIMITS,
    identities: bound.filter((one) => one.subject !== "").map((one) => ({ ...one, name: "" })),
  };
}

export const TOKEN_COLUMNS = [
  "id",
  "user_id",
  "key",
  "status",
  "name",
  "created_time",
  "accessed_time",
  "expired_time",
  "remain_quota",
  "unlimited_quota",
  "used_quota",
  "deleted_at",
] as const;

interface TokenLimits {
  enabled: boolean;
  models: string;
  ips: string;
}

export function familyToken(row: Row, limits: TokenLimits): SourceToken | Left {
  if (timeOf(row, "deleted_at") !== undefined) return { left: "deleted" };
  const key = textOf(row, "key").trim();
  if (key === "") return { left: "without a key" };
  const unlimited = flagOf(row, "unlimited_quota");
  const models = listOf(limits.models);
  return {
    id: textOf(row, "id"),
    user: textOf(row, "user_id"),
    name: textOf(row, "name"),
    key: key.replace(/^sk-/, ""),
    sha256: "",
    hint: "",
    // 3 expired and 4 exhausted follow from the other columns.
    status: wholeOf(row, "status") === 2 ? 2 : 1,
    remain_quota: Math.max(0, wholeOf(row, "remain_quota")),
    used_quota: wholeOf(row, "used_quota"),
    unlimited_quota: unlimited,
    expired_time: wholeOf(row, "expired_time") > 0 ? wholeOf(row, "expired_time") : -1,
    created_time: wholeOf(row, "created_time"),
    accessed_time: wholeOf(row, "accessed_time"),
    model_limits_enabled: limits.enabled && models !== "",
    model_limits: models,
    allow_ips: limits.ips
      .split(/[\s,]+/)
      .filter(Boolean)
      .join("\n"),
    group: textOf(row, "group").trim(),
    limits: NO_LIMITS,
  };
}

const CODE_COLUMNS = [
  "id",
  "user_id",
  "key",
  "status",
  "name",
  "quota",
  "created_time",
  "redeemed_time",
  "used_user_id",
  "expired_time",
  "deleted_at",
] as const;

function familyCode(row: Row): SourceCode | Left {
  if (timeOf(row, "deleted_at") !== undefined) return { left: "deleted" };
  const status = wholeOf(row, "status");
  const by = wholeOf(row, "used_user_id") > 0 ? textOf(row, "used_user_id") : "";
  return {
    id: textOf(row, "id"),
    user: textOf(row, "user_id"),
    name: textOf(row, "name"),
    key: textOf(row, "key").trim(),
    status: status === 2 || status === 3 ? status : 1,
    quota: wholeOf(row, "quota"),
    created_time: wholeOf(row, "created_time"),
    expired_time: Math.max(0, wholeOf(row, "expired_time")),
    ...(status === 3 && { used: { at: wholeOf(row, "redeemed_time"), by } }),
  };
}

/** `milliseconds`: the column of the duration, where it is not use_time in seconds. `tests`: the type of test rows. */
export function familyLog(
  row: Row,
  { milliseconds, tests }: { milliseconds?: string; tests?: number },
): SourceLog | Left {
  const type = wholeOf(row, "type");
  if (type === tests) return { left: "tests of channels" };
  if (!Object.values(LOG_TYPE).some((known) => known === type)) return { left: `rows of type ${type}` };
  return {
    id: textOf(row, "id"),
    user: textOf(row, "user_id"),
    token: wholeOf(row, "token_id") > 0 ? textOf(row, "token_id") : "",
    channel: [textOf(row, "channel_id"), textOf(row, "channel")].find((id) => NUMERIC.test(id) && id !== "0") ?? "",
    created_at: wholeOf(row, "created_at"),
    type,
    username: textOf(row, "username"),
    token_name: textOf(row, "token_name"),
    model_name: textOf(row, "model_name"),
    group: textOf(row, "group"),
    quota: wholeOf(row, "quota"),
    completion_tokens: Math.max(0, wholeOf(row, "completion_tokens")),
    ...cachedOf(row),
    use_time: milliseconds ? Math.round(numberOf(row, milliseconds) / 1000) : Math.max(0, wholeOf(row, "use_time")),
    is_stream: flagOf(row, "is_stream"),
    content: textOf(row, "content"),
    ip: textOf(row, "ip") || textOf(row, "source_ip"),
  };
}

/**
 * Tokens of caches, from `other`. Of Claude's own answers prompt_tokens leaves them out, and `other.claude` says so.
 */
function cachedOf(row: Row): Pick<SourceLog, "prompt_tokens" | "cache_read" | "cache_write"> {
  const other = objectOf(row, "other");
  const cache_read = Math.max(0, wholeOf(other, "cache_tokens"));
  const cache_write = Math.max(0, wholeOf(other, "cache_creation_tokens"));
  const apart = other.claude === true ? cache_read + cache_write : 0;
  return { prompt_tokens: Math.max(0, wholeOf(row, "prompt_tokens")) + apart, cache_read, cache_write };
}

/** The tables that all three have; each system adds its columns and how it reads them. */
export const FAMILY = {
  users: { table: "users", key: "id" },
  tokens: { table: "tokens", key: "id", owner: "user_id" },
  channels: { table: "channels", key: "id" },
  codes: { table: "redemptions", key: "id", taken: CODE_COLUMNS, read: familyCode },
  logs: { table: "logs", key: "id" },
} as const;

/** Why the tables of orders and jobs are left where they are not asked for. */
export const BY_CHOICE = "history: --records takes it";

/** Tables that none of the three has taken over -> why. */
export const FAMILY_LEFT = {
  abilities: "derived from the channels",
  tasks: BY_CHOICE,
  midjourneys: BY_CHOICE,
} as const;

/** Options of the source by their own names; none where a fork keeps them elsewhere. */
export async function rawOptions(source: Source, catalogue: Catalogue): Promise<Map<string, string>> {
  const options = new Map<string, string>();
  if (!catalogue.has("options")) return options;
  let after: string | undefined;
  for (;;) {
    const rows = await source.rows("options", "key", after, 500);
    for (const row of rows) options.set(textOf(row, "key"), textOf(row, "value"));
    const last = rows.at(-1);
    if (!last || rows.length < 500) return options;
    after = textOf(last, "key");
  }
}

/** Options that name this server or depend on its environment: they are asked, or set by hand. */
const OWN = new Set(["ServerAddress", "WorkerUrl", "WorkerValidKey"]);

/** Options of the same name -> what they mean here. */
const DIFFERS: Readonly<Record<string, string>> = {
  RetryTimes: "counts retries at other channels, and Weir bounds their time and cost too",
  ChannelDisableThreshold: "is the longest time of a test, in seconds",
};

/** The options that have the same name here, plus those in `renamed`; the rest is listed by name, without values. */
export function sharedOptions(
  raw: ReadonlyMap<string, string>,
  renamed: Readonly<Record<string, string>> = {},
): SourceOptions {
  const values = new Map<string, string>();
  const left: string[] = [];
  for (const [name, value] of raw) {
    const key = renamed[name] ?? name;
    if (!isOptionKey(key)) {
      if (value.trim() !== "" && value !== "false" && value !== "{}" && value !== "[]") left.push(name);
      continue;
    }
    if (OWN.has(key)) {
      if (value !== "") left.push(`${name}: set it by hand, it names the old server`);
      continue;
    }
    const parsed = parseOption(key, value);
    if (parsed.ok) values.set(key, value);
    else left.push(`${name}: ${parsed.problem.en}`);
  }
  const order = new Map(optionKeys.map((key, i) => [key as string, i]));
  return {
    issuer: issuerOf(raw.get("oidc.well_known") ?? raw.get("OidcWellKnown") ?? raw.get("OIDCIssuer") ?? ""),
    stated: PRICE_TABLES.filter((key) => values.has(key)),
    values: new Map([...values].sort(([a], [b]) => (order.get(a) ?? 0) - (order.get(b) ?? 0))),
    left: left.sort(),
    differs: Object.entries(DIFFERS).flatMap(([name, words]) => (raw.has(name) ? [`${name}: ${words}`] : [])),
  };
}

const PRICE_TABLES = ["ModelPrice", "ModelRatio", "CompletionRatio"];

/** Whether the catalogue's table has the column. */
export const has = (catalogue: Catalogue, table: string, column: string): boolean =>
  catalogue.get(table)?.includes(column) ?? false;
