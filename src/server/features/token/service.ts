/**
 * Verbs on the caller's own tokens, and how a token is changed. Every statement names the owner, so that another user's
 * token is not found. The quota of a token is set here as its owner types it, and raised by administrators (raise.ts);
 * what calls take from it moves in the ledger alone.
 */
import { and, desc, eq, inArray, isNull, type SQL } from "drizzle-orm";
import type { Page } from "../../../shared/envelope";
import { fail } from "../../../shared/errors";
import { AUTO_GROUP, mayUseGroup } from "../../../shared/group";
import {
  bareKey,
  HINT_HEAD,
  isExhausted,
  isExpired,
  KEY_LENGTH,
  KEY_PREFIX,
  keyHint,
  MIN_KEY_SEARCH,
  TOKEN_LIMITS,
  TOKEN_STATUS,
  type TokenChange,
  type TokenFields,
} from "../../../shared/token";
import { seconds, type UserCtx } from "../../contracts/context";
import { run, type Steps } from "../../db/transaction";
import type { TokenRow } from "../../db/schema";
import type { Q } from "../../db/types";
import { contains, count, forUpdate, startsWith, withoutNul } from "../../db/sql";
import { randomText } from "../../lib/secrets";
import { groupFacts } from "../group/facts";

const LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";

export interface TokenFilter {
  /** Part of the name. */
  keyword?: string;
  /** Whole key or at least 4 characters of its beginning; with or without sk-. */
  token?: string;
}

const ownedBy = ({ db }: Pick<UserCtx, "db">, owner: number): SQL | undefined =>
  and(eq(db.t.tokens.user_id, owner), isNull(db.t.tokens.deleted_at));
const owned = (ctx: UserCtx): SQL | undefined => ownedBy(ctx, ctx.actor.id);

/** Conditions of a search; undefined when nothing can match. */
function filters(ctx: UserCtx, filter: TokenFilter): SQL | undefined {
  const { tokens } = ctx.db.t;
  const keyword = withoutNul(filter.keyword?.trim() ?? "");
  const key = keyText(filter);
  return and(
    owned(ctx),
    keyword ? contains(tokens.name, keyword) : undefined,
    // The column has the beginning in clear; the rest is compared after decryption.
    key ? startsWith(tokens.key_hint, withoutNul(key.slice(0, HINT_HEAD))) : undefined,
  );
}

const keyText = (filter: TokenFilter): string => bareKey(filter.token ?? "");
const tooShort = (filter: TokenFilter): boolean => keyText(filter) !== "" && keyText(filter).length < MIN_KEY_SEARCH;

const hasKey = (ctx: UserCtx, filter: TokenFilter) => {
  const key = keyText(filter);
  return (row: TokenRow) => key.length <= HINT_HEAD || ctx.secrets.decrypt("relay-key", row.key_cipher).startsWith(key);
};

/** Newest first; without `limit` all that match. */
export async function findTokens(ctx: UserCtx, filter: TokenFilter, offset = 0, limit?: number): Promise<TokenRow[]> {
  if (tooShort(filter)) return [];
  const query = ctx.db.read
    .select()
    .from(ctx.db.t.tokens)
    .where(filters(ctx, filter))
    .orderBy(desc(ctx.db.t.tokens.id));
  const rows = limit === undefined ? await query : await query.limit(limit).offset(offset);
  return rows.filter(hasKey(ctx, filter));
}

export async function pageTokens(
  ctx: UserCtx,
  { page, page_size, ...filter }: TokenFilter & { page: number; page_size: number },
): Promise<Page<TokenRow>> {
  if (tooShort(filter)) return { items: [], page, page_size, total: 0 };
  const [[all], items] = await Promise.all([
    ctx.db.read.select({ n: count() }).from(ctx.db.t.tokens).where(filters(ctx, filter)),
    findTokens(ctx, filter, (page - 1) * page_size, page_size),
  ]);
  // More than the beginning of a key was given: it fits one token or none.
  const total = keyText(filter).length > HINT_HEAD ? items.length : (all?.n ?? 0);
  return { items, page, page_size, total };
}

export async function findToken(ctx: UserCtx, id: number): Promise<TokenRow> {
  const { tokens } = ctx.db.t;
  const [row] = await ctx.db.q
    .select()
    .from(tokens)
    .where(and(owned(ctx), eq(tokens.id, id)));
  return row ?? fail("token_not_found");
}

/** Throws token_key_unknown for an imported token that was not used yet. */
const clearKey = ({ secrets }: UserCtx, { key_cipher }: TokenRow): string =>
  key_cipher === "" ? fail("token_key_unknown") : KEY_PREFIX + secrets.decrypt("relay-key", key_cipher);

/** The clear key with its prefix, for its owner. */
export async function revealToken(ctx: UserCtx, id: number): Promise<{ key: string }> {
  return { key: clearKey(ctx, await findToken(ctx, id)) };
}

/** The keys of several own tokens, in the order of the list (copy selected). */
export async function revealTokens(ctx: UserCtx, ids: number[]): Promise<{ id: number; name: string; key: string }[]> {
  const { tokens } = ctx.db.t;
  if (ids.length === 0) return [];
  const rows = await ctx.db.q
    .select()
    .from(tokens)
    .where(and(owned(ctx), inArray(tokens.id, ids)))
    .orderBy(desc(tokens.id));
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    key: clearKey(ctx, row),
  }));
}

function requireGroup(ctx: UserCtx, group: string): void {
  if (group !== "" && !mayUseGroup(groupFacts(ctx), ctx.actor.group, group)) fail("token_group_forbidden", { group });
}

/** The group of a new token that names none (C-260, A-196): "" is its user's. */
function defaultGroup(ctx: UserCtx): string {
  const facts = groupFacts(ctx);
  return facts.offer_auto && mayUseGroup(facts, ctx.actor.group, AUTO_GROUP) ? AUTO_GROUP : "";
}

const rowOf = (ctx: UserCtx, fields: TokenFields & { group: string }) => {
  const key = randomText(KEY_LENGTH);
  return {
    ...fields,
    name: withoutNul(fields.name),
    group: withoutNul(fields.group),
    model_limits: withoutNul(fields.model_limits),
    allow_ips: fields.allow_ips ?? "",
    deny_ips: fields.deny_ips ?? "",
    user_id: ctx.actor.id,
    key_hash: ctx.secrets.hash("relay-key", key),
    key_cipher: ctx.secrets.encrypt("relay-key", key),
    key_hint: keyHint(key),
    created_time: seconds(ctx),
  };
};

/** The first keeps the plain name; the others get `-XXXXXX`, with the base name cut so that 50 characters hold. */
export function batchNames(name: string, count: number): string[] {
  const names = new Set([name]);
  const base = [...name].slice(0, TOKEN_LIMITS.name - 7).join("");
  while (names.size < count) names.add(`${base}-${randomText(6, LETTERS)}`);
  return [...names];
}

/** Refuses more tokens than a user may have. Locks the user, so that calls at the same time count one after another. */
function* claimPlaces(ctx: UserCtx, q: Q, places: number): Steps<void> {
  const max = ctx.options.get("MaxTokensPerUser");
  if (max === 0) return;
  const { users, tokens } = ctx.db.t;
  yield* run(forUpdate(ctx.db, q.select({ id: users.id }).from(users).where(eq(users.id, ctx.actor.id))));
  const [found] = yield* run(q.select({ n: count() }).from(tokens).where(owned(ctx)));
  const existing = found?.n ?? 0;
  if (existing + places > max) fail("token_limit_reached", { max, count: existing });
}

/**
 * Creates `count` tokens, all or none, within the limit of one user. Key, owner and used quota are the server's,
 * whatever was sent.
 */
export async function createTokens(
  ctx: UserCtx,
  { count, ...fields }: TokenFields & { count: number },
): Promise<TokenRow[]> {
  const group = fields.group ?? defaultGroup(ctx);
  requireGroup(ctx, group);
  const rows = batchNames(fields.name, count).map((name) => rowOf(ctx, { ...fields, name, group }));
  return ctx.db.tx(function* (q) {
    yield* claimPlaces(ctx, q, rows.length);
    const created: TokenRow[] = [];
    for (let i = 0; i < rows.length; i += 25) {
      created.push(
        ...(yield* run(
          q
            .insert(ctx.db.t.tokens)
            .values(rows.slice(i, i + 25))
            .returning(),
        )),
      );
    }
    // For the open pages of their owner, to which one is as good as all.
    if (created[0]) yield* ctx.cluster.bus.announce(q, "tokens", String(created[0].id));
    return created;
  });
}

type Changed = { [K in keyof TokenRow]?: TokenRow[K] | SQL };

/** Changes a token of `owner`, here and on other instances; undefined when they have none of this id that fits. */
export function* storeSteps(
  ctx: Pick<UserCtx, "db" | "cluster">,
  q: Q,
  { id, owner, where }: { id: number; owner: number; where?: SQL },
  set: Changed,
): Steps<TokenRow | undefined> {
  const { tokens } = ctx.db.t;
  const [row] = yield* run(
    q
      .update(tokens)
      .set(set)
      .where(and(ownedBy(ctx, owner), eq(tokens.id, id), where))
      .returning(),
  );
  if (row) yield* ctx.cluster.bus.announce(q, "tokens", String(id));
  return row;
}

const store = (ctx: UserCtx, id: number, set: Partial<TokenRow>): Promise<TokenRow> =>
  ctx.db.tx(function* (q) {
    return (yield* storeSteps(ctx, q, { id, owner: ctx.actor.id }, set)) ?? fail("token_not_found");
  });

/**
 * Sets the fields that are sent. An edited token whose new expiry and quota allow it reads enabled again without a
 * separate step (C-348), because 3 and 4 are computed and never stored.
 */
export async function updateToken(ctx: UserCtx, id: number, { status, ...change }: TokenChange): Promise<TokenRow> {
  const stored = await findToken(ctx, id);
  // An unchanged group stays even if it may no longer be chosen: authentication refuses its calls.
  if (change.group !== undefined && change.group !== stored.group) requireGroup(ctx, change.group);
  const set: Partial<TokenRow> = Object.fromEntries(
    Object.entries(change)
      .filter(([, value]) => value !== undefined)
      .map(([field, value]) => [field, typeof value === "string" ? withoutNul(value) : (value ?? "")]),
  );
  // 3 and 4 repeat what was computed; a disabled token stays disabled unless 1 is sent.
  if (status === TOKEN_STATUS.enabled || status === TOKEN_STATUS.disabled) set.status = status;
  if (Object.keys(set).length === 0) return stored;
  return store(ctx, id, set);
}

/** Only the status. Expired and exhausted tokens cannot be enabled (C-346, C-347). */
export async function setTokenStatus(ctx: UserCtx, id: number, status: number): Promise<TokenRow> {
  if (status !== TOKEN_STATUS.enabled && status !== TOKEN_STATUS.disabled) fail("token_status_invalid");
  const token = await findToken(ctx, id);
  if (status === TOKEN_STATUS.enabled) {
    if (isExpired(token, seconds(ctx))) fail("token_enable_expired");
    if (isExhausted(token)) fail("token_enable_exhausted");
  }
  return store(ctx, id, { status });
}

/** Soft: log rows keep their name. The key stops working at once, here and elsewhere. */
export async function deleteToken(ctx: UserCtx, id: number): Promise<void> {
  await store(ctx, id, { deleted_at: seconds(ctx) });
}

/** Deletes those of the named tokens that are the caller's own; how many. */
export async function deleteTokens(ctx: UserCtx, ids: readonly number[]): Promise<number> {
  const { tokens } = ctx.db.t;
  return ctx.db.tx(function* (q): Steps<number> {
    const gone = yield* run(
      q
        .update(tokens)
        .set({ deleted_at: seconds(ctx) })
        .where(and(owned(ctx), inArray(tokens.id, [...ids])))
        .returning({ id: tokens.id }),
    );
    for (const { id } of gone) yield* ctx.cluster.bus.announce(q, "tokens", String(id));
    return gone.length;
  });
}
