/**
 * Users, tokens, channels, codes and options of this installation as neutral records, secrets in clear: the base of
 * moving, splitting and merging installations, and of the way back.
 */
import { asc, eq, gt, isNull, ne, and } from "drizzle-orm";
import { REDEMPTION_STATUS } from "../../../shared/redemption";
import { isOptionKey } from "../../../shared/options";
import type { ChannelRow, TokenRow, UserRow } from "../../db/schema";
import { WrongSecret } from "../../lib/secrets";
import { hasPassword } from "../auth/password";
import { VERSION } from "../../version";
import { openColumns } from "../channel/sealed";
import { noticeSetting } from "../notice/setting";
import type { SourceChannel, SourceCode, SourceKey, SourceToken, SourceUser } from "./records";
import { FORM, FORM_VERSION } from "./systems/weir";
import type { Needs } from "./target";

/** The first line of the portable form: what it is, its version, and when which release wrote it. */
export const exportHead = ({ now }: Pick<Needs, "now">) => ({
  kind: FORM,
  id: FORM,
  version: FORM_VERSION,
  release: VERSION,
  exported_at: Math.floor(now() / 1000),
});

export type Exported =
  | { kind: "option"; id: string; value: string }
  | { kind: "user"; id: string; record: SourceUser }
  | { kind: "token"; id: string; user: string; record: SourceToken }
  | { kind: "channel"; id: string; record: SourceChannel }
  | { kind: "code"; id: string; record: SourceCode };

const BATCH = 500;

/**
 * Every record, in an order in which it can be read. `left`: told what is not part of the form, once for each.
 * Sessions, second factors, passkeys and the log stay: they belong to an address, or are history.
 */
export async function* exportRecords(services: Needs, left: (what: string) => void): AsyncGenerator<Exported> {
  const { db, secrets, options } = services;
  const { t } = db;
  for (const { key } of await db.q.select({ key: t.options.key }).from(t.options).orderBy(asc(t.options.key)))
    if (isOptionKey(key)) yield { kind: "option", id: key, value: options.text(key) };
  const identities = await db.q.select().from(t.identities).orderBy(asc(t.identities.id));
  const bound = Map.groupBy(identities, (one) => one.user_id);
  for await (const row of pages<UserRow>((after) =>
    db.q.select().from(t.users).where(gt(t.users.id, after)).orderBy(asc(t.users.id)).limit(BATCH),
  )) {
    if (row.access_token_hash !== null) left("system access tokens: they are known as hashes under this secret");
    yield {
      kind: "user",
      id: String(row.id),
      record: {
        ...userOf(services, row),
        identities: (bound.get(row.id) ?? []).map(({ provider, subject, name }) => ({ provider, subject, name })),
      },
    };
  }
  for await (const row of pages<TokenRow>((after) =>
    db.q
      .select()
      .from(t.tokens)
      .where(and(gt(t.tokens.id, after), isNull(t.tokens.deleted_at)))
      .orderBy(asc(t.tokens.id))
      .limit(BATCH),
  )) {
    if (row.key_cipher === "") left("imported tokens that were never used: their keys are not known");
    else yield { kind: "token", id: String(row.id), user: String(row.user_id), record: tokenOf(services, row) };
  }
  for await (const row of pages<ChannelRow>((after) =>
    db.q.select().from(t.channels).where(gt(t.channels.id, after)).orderBy(asc(t.channels.id)).limit(BATCH),
  )) {
    const keys = await db.q
      .select()
      .from(t.channel_keys)
      .where(eq(t.channel_keys.channel_id, row.id))
      .orderBy(asc(t.channel_keys.position));
    const clear = keys.map(({ key_cipher, status, reason }): SourceKey => ({
      key: secrets.decrypt("channel-key", key_cipher),
      status,
      reason,
    }));
    yield { kind: "channel", id: String(row.id), record: channelOf(services, row, clear) };
  }
  const unused = and(ne(t.redemptions.status, REDEMPTION_STATUS.used), isNull(t.redemptions.deleted_at));
  for (const row of await db.q.select().from(t.redemptions).where(unused).orderBy(asc(t.redemptions.id))) {
    const { id, user_id, name, status, quota, created_time, expired_time } = row;
    const key = secrets.decrypt("redemption-key", row.key_cipher);
    yield {
      kind: "code",
      id: String(id),
      record: { id: String(id), user: String(user_id), name, key, status, quota, created_time, expired_time },
    };
  }
}

async function* pages<R extends { id: number }>(read: (after: number) => PromiseLike<R[]>): AsyncGenerator<R> {
  for (let after = 0; ;) {
    const rows = await read(after);
    yield* rows;
    const last = rows.at(-1);
    if (!last || rows.length < BATCH) return;
    after = last.id;
  }
}

function clearSetting({ secrets }: Needs, setting: string): string {
  if (setting === "") return "";
  const { webhook_secret_cipher, gotify_token_cipher, ...members } = noticeSetting(setting);
  return JSON.stringify({
    ...members,
    ...(webhook_secret_cipher && { webhook_secret: secrets.decrypt("user-secret", webhook_secret_cipher) }),
    ...(gotify_token_cipher && { gotify_token: secrets.decrypt("user-secret", gotify_token_cipher) }),
  });
}

const limitsOf = ({ rpm, tpm, concurrency, budget_day, budget_month }: UserRow | TokenRow) => ({
  rpm,
  tpm,
  concurrency,
  budget_day,
  budget_month,
});

function userOf(services: Needs, row: UserRow): SourceUser {
  const {
    username,
    display_name,
    email,
    role,
    status,
    group,
    quota,
    used_quota,
    request_count,
    aff_count,
    aff_quota,
    aff_history_quota,
  } = row;
  return {
    id: String(row.id),
    username,
    password_hash: hasPassword(row) ? row.password_hash : "",
    display_name,
    email,
    role,
    status,
    group,
    quota,
    used_quota,
    request_count,
    access_token: "",
    aff_code: row.aff_code ?? "",
    aff_count,
    aff_quota,
    aff_history_quota,
    inviter: row.inviter_id > 0 ? String(row.inviter_id) : "",
    setting: clearSetting(services, row.setting),
    created_at: row.created_at,
    last_login_at: row.last_login_at,
    deleted_at: row.deleted_at,
    identities: [],
    limits: limitsOf(row),
  };
}

function tokenOf({ secrets }: Needs, row: TokenRow): SourceToken {
  const {
    name,
    status,
    remain_quota,
    used_quota,
    unlimited_quota,
    expired_time,
    created_time,
    accessed_time,
    model_limits_enabled,
    model_limits,
    allow_ips,
    group,
  } = row;
  return {
    id: String(row.id),
    user: String(row.user_id),
    name,
    key: secrets.decrypt("relay-key", row.key_cipher),
    sha256: "",
    hint: "",
    status,
    remain_quota,
    used_quota,
    unlimited_quota,
    expired_time,
    created_time,
    accessed_time,
    model_limits_enabled,
    model_limits,
    allow_ips,
    group,
    limits: limitsOf(row),
  };
}

function channelOf({ secrets }: Needs, row: ChannelRow, keys: readonly SourceKey[]): SourceChannel {
  const {
    key_cipher,
    key_hash: _hash,
    draining_since: _since,
    drain_deadline: _deadline,
    multi_key_mode,
    id,
    balance_currency: _currency,
    max_input_tokens: _max,
    ...columns
  } = row;
  const several = multi_key_mode === "random" || multi_key_mode === "polling";
  try {
    return {
      ...openColumns(secrets, columns),
      id: String(id),
      was: `type ${row.type}`,
      multi_key_mode: several ? multi_key_mode : "",
      keys: several ? keys : [{ key: secrets.decrypt("channel-key", key_cipher), status: 1, reason: "" }],
      notes: [],
    };
  } catch (error) {
    if (error instanceof WrongSecret)
      throw new WrongSecret(`channel ${id} cannot be read with this secret`, { cause: error });
    throw error;
  }
}
