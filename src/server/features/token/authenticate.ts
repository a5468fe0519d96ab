/**
 * From a presented key to a caller. Keys are recognised by keyed hash only: no statement and no cache entry holds a key
 * or a part of one, so keys that begin alike share nothing, and the time taken does not depend on where they differ.
 *
 * Rows are cached for a minute and dropped by the bus; while the bus cannot be heard, nothing cached is trusted. What
 * changes with every call (quota) is the ledger's to judge at the hold.
 */
import { and, eq, isNull, lt } from "drizzle-orm";
import { canonicalModel } from "../../../shared/channel-types";
import { fail } from "../../../shared/errors";
import { AUTO_GROUP, autoGroups, mayUseGroup } from "../../../shared/group";
import { type LimitField, type LimitSet, readLimits } from "../../../shared/limits";
import { tokenMjMode } from "../../../shared/midjourney";
import { ROLE, USER_STATUS } from "../../../shared/roles";
import { bareKey, isExhausted, isExpired, TOKEN_STATUS } from "../../../shared/token";
import type { Services } from "../../contracts/context";
import type { TokenRow, UserRow } from "../../db/schema";
import { compileNetworks, inNetworks, type Network } from "../../lib/addresses";
import type { Caller } from "../../contracts/caller";
import { groupFacts } from "../group/facts";
import type { TokenCache } from "../../contracts/token-cache";

/** A token with its owner, prepared for many calls. */
interface Identity {
  token: TokenRow;
  user: Pick<UserRow, "id" | "username" | "role" | "status" | "group" | "deleted_at" | LimitField>;
  allow: readonly Network[] | undefined;
  deny: readonly Network[];
  models: ReadonlySet<string> | undefined;
  user_limits: LimitSet | undefined;
  loaded_at: number;
}

const TTL_MS = 60_000;
const MAX_ENTRIES = 20_000;
/** No key is longer; longer texts are not even hashed. */
const MAX_KEY = 256;
/** `accessed_time` is written at most so often, in seconds. */
const SEEN_EVERY = 60;

type Needs = Pick<Services, "db" | "secrets" | "cluster" | "options" | "log" | "now">;

/** The key as its owner copied it: "Bearer " and "sk-" are spellings, not parts of it. */
export function normalKey(presented: string | undefined): string {
  const key = bareKey((presented ?? "").trim().replace(/^Bearer(\s+|$)/i, ""));
  if (key === "") fail("token_missing");
  if (key.length > MAX_KEY) fail("token_invalid");
  return key;
}

export function createTokenCache(services: Needs): TokenCache {
  const { db, secrets, cluster, log, now } = services;
  const cache = new Map<string, Identity>();
  /** Changes when anything is dropped: what was read before that is not kept. */
  let epoch = 0;

  const drop = (isMeant: (identity: Identity) => boolean): void => {
    epoch++;
    for (const [hash, identity] of cache) if (isMeant(identity)) cache.delete(hash);
  };
  const unsubscribe = [
    cluster.bus.subscribe("tokens", (id) => drop((identity) => id === "*" || String(identity.token.id) === id)),
    cluster.bus.subscribe("users", (id) => drop((identity) => id === "*" || String(identity.user.id) === id)),
  ];

  async function load(hash: string): Promise<Identity | undefined> {
    const { tokens, users } = db.t;
    const before = epoch;
    const [row] = await db.q
      .select({
        token: tokens,
        user: {
          id: users.id,
          username: users.username,
          role: users.role,
          status: users.status,
          group: users.group,
          deleted_at: users.deleted_at,
          rpm: users.rpm,
          tpm: users.tpm,
          concurrency: users.concurrency,
          budget_day: users.budget_day,
          budget_month: users.budget_month,
        },
      })
      .from(tokens)
      .innerJoin(users, eq(users.id, tokens.user_id))
      .where(and(eq(tokens.key_hash, hash), isNull(tokens.deleted_at)));
    if (!row) return undefined;
    const { token, user } = row;
    const identity: Identity = {
      token,
      user,
      allow: token.allow_ips.trim() ? compileNetworks(token.allow_ips) : undefined,
      deny: compileNetworks(token.deny_ips),
      models: token.model_limits_enabled
        ? new Set(token.model_limits.split(",").filter(Boolean).map(canonicalModel))
        : undefined,
      user_limits: readLimits(user).limits,
      loaded_at: now(),
    };
    // A token at zero may be refilled by a refund, which no message announces.
    if (epoch === before && !isExhausted(token)) {
      if (cache.size >= MAX_ENTRIES) {
        const oldest = cache.keys().next();
        if (!oldest.done) cache.delete(oldest.value);
      }
      cache.set(hash, identity);
    }
    return identity;
  }

  /** At once when it is known: nearly every call's key is. */
  function find(key: string): Identity | Promise<Identity | undefined> {
    const hash = secrets.hash("relay-key", key);
    const cached = cache.get(hash);
    if (cached && now() - cached.loaded_at < TTL_MS && cluster.bus.fresh()) return cached;
    if (cached) cache.delete(hash);
    return load(hash);
  }

  /** A key with a channel behind it. */
  async function findPinned(key: string): Promise<{ identity: Identity; channel_id?: number } | undefined> {
    const pinned = /^(.+)-(\d{1,15})$/s.exec(key);
    if (!pinned?.[1]) return undefined;
    const identity = await find(pinned[1]);
    return identity && { identity, channel_id: Number(pinned[2]) };
  }

  /** Notes the use of a token; late or lost is no harm. */
  function noteUse({ token }: Identity, seconds: number): void {
    if (seconds - token.accessed_time < SEEN_EVERY) return;
    token.accessed_time = seconds;
    const { tokens } = db.t;
    db.q
      .update(tokens)
      .set({ accessed_time: seconds })
      .where(and(eq(tokens.id, token.id), lt(tokens.accessed_time, seconds)))
      .returning({ id: tokens.id })
      .catch((err: unknown) => log.warn({ err, token_id: token.id }, "the time of a token's use could not be written"));
  }

  function judge({ token, user, allow, deny }: Identity, ip: string, seconds: number): void {
    if (user.deleted_at !== null) fail("token_invalid");
    if (token.status !== TOKEN_STATUS.enabled) fail("token_disabled");
    if (isExpired(token, seconds)) fail("token_expired");
    if (isExhausted(token)) fail("token_exhausted");
    if (user.status !== USER_STATUS.active) fail("user_banned");
    if (inNetworks(deny, ip) || (allow && !inNetworks(allow, ip))) fail("token_ip_denied");
  }

  return {
    authenticate: async (presented, ip, lang) => {
      const key = normalKey(presented);
      // The whole key first: an imported key may itself end in a dash and digits.
      const whole = find(key);
      const known = whole instanceof Promise ? await whole : whole;
      const { identity, channel_id }: { identity: Identity; channel_id?: number } = known
        ? { identity: known }
        : ((await findPinned(key)) ?? fail("token_invalid"));
      const { token, user } = identity;
      const seconds = Math.floor(now() / 1000);
      judge(identity, ip, seconds);
      if (channel_id !== undefined && user.role < ROLE.admin) fail("token_channel_denied");
      const group = token.group || user.group;
      if (!mayUseGroup(groupFacts(services), user.group, group)) fail("group_denied", { group });
      noteUse(identity, seconds);
      const mode = tokenMjMode(token.mj_mode);
      const caller: Caller = {
        user_id: user.id,
        username: user.username,
        role: user.role,
        user_group: user.group,
        group,
        token_id: token.id,
        token_name: token.name,
        rpm: token.rpm,
        tpm: token.tpm,
        concurrency: token.concurrency,
        lang,
      };
      if (group === AUTO_GROUP) caller.groups = autoGroups(groupFacts(services), user.group);
      if (identity.models) caller.models = identity.models;
      if (channel_id !== undefined) caller.channel_id = channel_id;
      if (token.budget_day > 0) caller.budget_day = token.budget_day;
      if (token.budget_month > 0) caller.budget_month = token.budget_month;
      if (mode !== "") caller.mj_mode = mode;
      if (identity.user_limits) caller.user_limits = identity.user_limits;
      return caller;
    },
    close: () => {
      for (const stop of unsubscribe) stop();
      cache.clear();
    },
  };
}
