/**
 * From a presented key to a caller. Keys are recognised by keyed hash only: no statement and no cache entry holds a key
 * or a part of one, so keys that begin alike share nothing, and the time taken does not depend on where they differ.
 * The quota, which changes with every call, is checked by the ledger at the hold.
 */
import { and, eq, lt } from "drizzle-orm";
import { AppError, fail } from "../../../shared/errors";
import { AUTO_GROUP, autoGroups, mayUseGroup } from "../../../shared/group";
import { tokenMjMode } from "../../../shared/midjourney";
import { ROLE, USER_STATUS } from "../../../shared/roles";
import type { Lang } from "../../../shared/text";
import { bareKey, isExhausted, isExpired, TOKEN_STATUS } from "../../../shared/token";
import type { Caller } from "../../contracts/caller";
import type { Services } from "../../contracts/context";
import type { TokenCache } from "../../contracts/token-cache";
import { inNetworks } from "../../lib/addresses";
import { isUnavailable } from "../../lib/unavailable";
import { groupFacts } from "../group/facts";
import { type Identity, IdentityCache } from "./identity-cache";

/** No key is longer; longer texts are not even hashed. */
const MAX_KEY = 256;
/** `accessed_time` is written at most once in so many seconds. */
const USE_EVERY_SECONDS = 60;

type Needs = Pick<Services, "db" | "secrets" | "cluster" | "options" | "log" | "now">;

/** An identity, and the channel that its key asks for. */
interface Found {
  identity: Identity;
  channel_id?: number;
}

/** The key without "Bearer " and "sk-": both are ways to write it, not parts of it. */
export function normalKey(presented: string | undefined): string {
  const key = bareKey((presented ?? "").trim().replace(/^Bearer(\s+|$)/i, ""));
  if (key === "") fail("token_missing");
  if (key.length > MAX_KEY) fail("token_invalid");
  return key;
}

export function createTokenCache(services: Needs): TokenCache {
  const cache = new IdentityCache(services);
  const tokens: TokenCache = {
    authenticate: async (presented, ip, lang) => {
      const key = normalKey(presented);
      // The whole key first: an imported key may itself end in a dash and digits.
      const whole = cache.find(key);
      const known = whole instanceof Promise ? await whole : whole;
      const { identity, channel_id }: Found = known
        ? { identity: known }
        : ((await findPinned(cache, key)) ?? fail("token_invalid"));
      const seconds = Math.floor(services.now() / 1000);
      checkIdentity(identity, ip, seconds);
      if (channel_id !== undefined && identity.user.role < ROLE.admin) fail("token_channel_denied");
      const caller = callerOf(services, identity, lang);
      noteUse(services, identity, seconds);
      if (channel_id !== undefined) caller.channel_id = channel_id;
      return caller;
    },
    watch: (presented, ip, ended) => {
      const check = async (): Promise<void> => {
        try {
          await tokens.authenticate(presented, ip, "en");
        } catch (error) {
          // The bus calls again where it cannot be known.
          if (!(error instanceof AppError) || isUnavailable(error)) throw error;
          if (error.code !== "token_exhausted") ended(error);
        }
      };
      const { bus } = services.cluster;
      const stops = [bus.subscribe("tokens", check), bus.subscribe("users", check)];
      // It may have ended between the authentication and the subscription.
      check().catch(() => {});
      return () => {
        for (const stop of stops) stop();
      };
    },
    close: () => cache.close(),
  };
  return tokens;
}

/** `KEY-<channel id>` */
async function findPinned(cache: IdentityCache, key: string): Promise<Found | undefined> {
  const pinned = /^(.+)-(\d{1,15})$/s.exec(key);
  if (!pinned?.[1]) return undefined;
  const identity = await cache.find(pinned[1]);
  return identity && { identity, channel_id: Number(pinned[2]) };
}

function checkIdentity({ token, user, allow, deny }: Identity, ip: string, seconds: number): void {
  if (user.deleted_at !== null) fail("token_invalid");
  if (token.status !== TOKEN_STATUS.enabled) fail("token_disabled");
  if (isExpired(token, seconds)) fail("token_expired");
  if (isExhausted(token)) fail("token_exhausted");
  if (user.status !== USER_STATUS.active) fail("user_banned");
  if (inNetworks(deny, ip) || (allow && !inNetworks(allow, ip))) fail("token_ip_denied");
}

/** Notes the use of a token; a late or lost write does no harm. */
function noteUse({ db, log }: Needs, { token }: Identity, seconds: number): void {
  if (seconds - token.accessed_time < USE_EVERY_SECONDS) return;
  token.accessed_time = seconds;
  const { tokens } = db.t;
  db.q
    .update(tokens)
    .set({ accessed_time: seconds })
    .where(and(eq(tokens.id, token.id), lt(tokens.accessed_time, seconds)))
    .returning({ id: tokens.id })
    .catch((err: unknown) => log.warn({ err, token_id: token.id }, "the time of a token's use could not be written"));
}

/** Who calls. Throws group_denied where the user may not use the token's group. */
function callerOf(services: Needs, { token, user, models, user_limits }: Identity, lang: Lang): Caller {
  const group = token.group || user.group;
  // A user may always use their own group.
  if (group !== user.group && !mayUseGroup(groupFacts(services), user.group, group)) fail("group_denied", { group });
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
  const mode = tokenMjMode(token.mj_mode);
  if (group === AUTO_GROUP) caller.groups = autoGroups(groupFacts(services), user.group);
  if (models) caller.models = models;
  if (token.budget_day > 0) caller.budget_day = token.budget_day;
  if (token.budget_month > 0) caller.budget_month = token.budget_month;
  if (mode !== "") caller.mj_mode = mode;
  if (user_limits) caller.user_limits = user_limits;
  return caller;
}
