/**
 * The keys of a channel that has several: rows with their own status. The pool offers the enabled ones; a channel is
 * disabled with its last enabled key, and enabled again with the first that comes back.
 */
import { and, asc, eq, inArray, max, ne, notInArray, type SQL } from "drizzle-orm";
import { CHANNEL_STATUS, type ManualStatus, splitKeys } from "../../../shared/channel";
import { type ChannelKeyView, isMultiKeyMode, keyHint, MAX_KEYS } from "../../../shared/channel-keys";
import { statusInfo, storedReason, type StatusReason } from "../../../shared/channel-operations";
import { retirementOf, retirementText } from "../../../shared/key-rotation";
import { keyProblem } from "../../../shared/channel-types";
import type { EventName } from "../../../shared/events";
import { errorText, fail } from "../../../shared/errors";
import { type ActorCtx, type Ctx, type Services, seconds } from "../../contracts/context";
import type { Q } from "../../db/types";
import { run, type Steps } from "../../db/transaction";
import type { ChannelRow } from "../../db/schema";
import { count, forUpdate } from "../../db/sql";
import type { PoolChannel } from "../../contracts/channel";
import { recordAct } from "../audit/record";
import { announceChange } from "./announce";
import { readChannel } from "./pool";

const ENABLED = CHANNEL_STATUS.enabled;

const seal = ({ secrets }: Pick<Services, "secrets">, key: string) => ({
  key_cipher: secrets.encrypt("channel-key", key),
  key_hash: secrets.hash("channel-key", key),
});

/** The keys in one text, each checked by its type's format. Throws channel_key_invalid, channel_keys_too_many. */
export function checkedKeys(ctx: Pick<Ctx, "lang">, type: number, text: string): string[] {
  const keys = splitKeys(type, text);
  if (keys.length > MAX_KEYS) fail("channel_keys_too_many", { max: MAX_KEYS });
  const problem = keys.map((key) => keyProblem(type, key)).find((found) => found !== undefined);
  if (problem) fail("channel_key_invalid", { detail: problem[ctx.lang] });
  return keys;
}

/**
 * Writes keys after those that exist; keys that the channel already has stay as they are. Returns how many were added.
 */
export function* insertKeys(
  services: Pick<Services, "db" | "secrets" | "now">,
  q: Q,
  channel_id: number,
  keys: readonly string[],
): Steps<number> {
  const { channel_keys: t } = services.db.t;
  const [last] = yield* run(
    q
      .select({ position: max(t.position) })
      .from(t)
      .where(eq(t.channel_id, channel_id)),
  );
  const first = last?.position === null || last?.position === undefined ? 0 : last.position + 1;
  const created_at = seconds(services);
  let added = 0;
  for (let i = 0; i < keys.length; i += 50) {
    const rows = keys
      .slice(i, i + 50)
      .map((key, j) => ({ channel_id, position: first + i + j, created_at, ...seal(services, key) }));
    added += (yield* run(q.insert(t).values(rows).onConflictDoNothing().returning({ id: t.id }))).length;
  }
  const [all] = added > 0 ? yield* run(q.select({ n: count() }).from(t).where(eq(t.channel_id, channel_id))) : [];
  if (all && all.n > MAX_KEYS) fail("channel_keys_too_many", { max: MAX_KEYS });
  return added;
}

/** Removes all keys of channels that match; called before the channels are deleted. */
export const dropKeys = ({ db }: Pick<Services, "db">, q: Q, where: SQL | undefined) =>
  q
    .delete(db.t.channel_keys)
    .where(inArray(db.t.channel_keys.channel_id, q.select({ id: db.t.channels.id }).from(db.t.channels).where(where)));

async function multiChannel(ctx: Pick<Ctx, "db">, id: number): Promise<ChannelRow> {
  const { channels } = ctx.db.t;
  const [row] = await ctx.db.q.select().from(channels).where(eq(channels.id, id));
  if (!row) fail("channel_not_found");
  if (!isMultiKeyMode(row.multi_key_mode)) fail("channel_has_one_key");
  return row;
}

/** The keys of a channel in their order; [] where it has one key of its own. Throws channel_not_found. */
export async function listKeys(ctx: Ctx, id: number): Promise<ChannelKeyView[]> {
  const { channels, channel_keys: t } = ctx.db.t;
  const [channel] = await ctx.db.q.select({ id: channels.id }).from(channels).where(eq(channels.id, id));
  if (!channel) fail("channel_not_found");
  const rows = await ctx.db.q.select().from(t).where(eq(t.channel_id, id)).orderBy(asc(t.position), asc(t.id));
  return rows.map((row, index) => ({
    id: row.id,
    position: index + 1,
    hint: hintOf(ctx, row.key_cipher),
    status: row.status,
    reason: row.status === ENABLED ? "" : row.reason,
    retires_at: retirementOf(row)?.retire_at ?? 0,
    status_time: row.status_time,
    draining_since: row.draining_since,
    created_at: row.created_at,
  }));
}

function hintOf({ secrets }: Pick<Ctx, "secrets">, cipher: string): string {
  try {
    return keyHint(secrets.decrypt("channel-key", cipher));
  } catch {
    return "?";
  }
}

/**
 * Adds keys, one per line. Throws channel_not_found, channel_has_one_key, channel_key_invalid, channel_keys_too_many.
 */
export async function addKeys(ctx: ActorCtx, id: number, text: string): Promise<number> {
  const channel = await multiChannel(ctx, id);
  const keys = checkedKeys(ctx, channel.type, text);
  if (keys.length === 0) fail("channel_name_and_key");
  const added = await ctx.db.tx(function* (q): Steps<number> {
    yield* lockChannel(ctx, q, id);
    const inserted = yield* insertKeys(ctx, q, id, keys);
    yield* announceChange(ctx, q, id);
    return inserted;
  });
  await recordAct(ctx, { action: "channel.keys", target: id, after: { added } });
  return added;
}

/** Removes keys by id; those of other channels are skipped. The last one stays: a channel without a key is useless. */
export async function removeKeys(ctx: ActorCtx, id: number, key_ids: readonly number[]): Promise<number> {
  await multiChannel(ctx, id);
  const { channel_keys: t } = ctx.db.t;
  const removed = await ctx.db.tx(function* (q): Steps<number> {
    yield* lockChannel(ctx, q, id);
    const gone = yield* run(
      q
        .delete(t)
        .where(and(eq(t.channel_id, id), inArray(t.id, [...key_ids])))
        .returning({ id: t.id }),
    );
    const [left] = yield* run(q.select({ n: count() }).from(t).where(eq(t.channel_id, id)));
    if (left?.n === 0) fail("channel_key_last");
    yield* announceChange(ctx, q, id);
    return gone.length;
  });
  await recordAct(ctx, { action: "channel.keys", target: id, after: { removed, key_ids } });
  return removed;
}

/** Enables (1) or disables (2) keys by hand. */
export async function setKeyStatus(
  ctx: Ctx,
  id: number,
  key_ids: readonly number[],
  status: ManualStatus,
): Promise<number> {
  await multiChannel(ctx, id);
  const { channel_keys: t } = ctx.db.t;
  // Disabling ends a drain: a key that is enabled again serves.
  const drain = status === ENABLED ? {} : { draining_since: 0, drain_deadline: 0 };
  const set = { status, reason: "", status_time: seconds(ctx), ...drain };
  const rows = await ctx.db.tx(function* (q) {
    const changed = yield* run(
      q
        .update(t)
        .set(set)
        .where(and(eq(t.channel_id, id), inArray(t.id, [...key_ids])))
        .returning({ id: t.id }),
    );
    yield* announceChange(ctx, q, id);
    return changed;
  });
  await recordAct(ctx, { action: "channel.keys", target: id, after: { status, key_ids: rows.map((row) => row.id) } });
  return rows.length;
}

/**
 * A channel that a person enables needs enabled keys: where none is left, those are enabled that were disabled
 * automatically.
 */
export function reviveKeys({ db }: Pick<Services, "db">, q: Q, where: SQL | undefined): PromiseLike<unknown> {
  const { channels, channel_keys: t } = db.t;
  const asked = q
    .select({ id: channels.id })
    .from(channels)
    .where(and(where, ne(channels.multi_key_mode, "")));
  const served = q.select({ id: t.channel_id }).from(t).where(eq(t.status, ENABLED));
  return q
    .update(t)
    .set({ status: ENABLED, reason: "" })
    .where(
      and(eq(t.status, CHANNEL_STATUS.auto_disabled), inArray(t.channel_id, asked), notInArray(t.channel_id, served)),
    )
    .returning({ id: t.id });
}

/** The clear keys of a channel in their order; [] where it has one key of its own. Throws channel_key_unreadable. */
export async function clearKeys(
  ctx: Pick<Ctx, "db" | "secrets">,
  id: number,
): Promise<{ key: string; status: number }[]> {
  const { channel_keys: t } = ctx.db.t;
  const rows = await ctx.db.q.select().from(t).where(eq(t.channel_id, id)).orderBy(asc(t.position), asc(t.id));
  try {
    return rows.map(({ key_cipher, status }) => ({ key: ctx.secrets.decrypt("channel-key", key_cipher), status }));
  } catch (cause) {
    return fail("channel_key_unreadable", {}, cause);
  }
}

/** Changes of a channel's keys run one after the other. */
export function* lockChannel({ db }: Pick<Services, "db">, q: Q, id: number): Steps<ChannelRow | undefined> {
  const [row] = yield* run(forUpdate(db, q.select().from(db.t.channels).where(eq(db.t.channels.id, id))));
  return row;
}

/**
 * Disables one key automatically, and its channel when that was the last enabled one; the caller has checked the
 * options and auto_ban. True when this call changed something.
 */
export async function disableKey(
  services: Services,
  id: number,
  key_id: number,
  reason: StatusReason,
  details: object,
): Promise<boolean> {
  const { channels, channel_keys: t } = services.db.t;
  const now = seconds(services);
  const changed = await services.db.tx(function* (q): Steps<boolean> {
    const channel = yield* lockChannel(services, q, id);
    if (!channel || channel.auto_ban === 0) return false;
    const mine = and(eq(t.id, key_id), eq(t.channel_id, id), eq(t.status, ENABLED));
    const [key] = yield* run(q.select({ reason: t.reason }).from(t).where(mine));
    if (!key) return false;
    const retirement = retirementOf(key);
    const info = statusInfo(reason, now);
    const why = retirement ? retirementText(retirement, info) : info;
    const set = { status: CHANNEL_STATUS.auto_disabled, reason: why, status_time: now };
    yield* run(q.update(t).set(set).where(mine).returning({ id: t.id }));
    const record = (event: EventName, why: StatusReason) => {
      const params = { id, name: channel.name, key_id, reason: storedReason(why) };
      return services.events.record(q, { type: "system", channel, event, params, other: { ...details } });
    };
    yield* record("channel_key_auto_disabled", reason);
    const [left] = yield* run(
      q
        .select({ n: count() })
        .from(t)
        .where(and(eq(t.channel_id, id), eq(t.status, ENABLED))),
    );
    yield* announceChange(services, q, id);
    if ((left?.n ?? 0) > 0 || channel.status !== ENABLED) return true;
    const all: StatusReason = {
      code: "channel_keys_all_disabled",
      values: { detail: errorText(reason.code, reason.values, "zh") },
    };
    yield* run(
      q
        .update(channels)
        .set({ status: CHANNEL_STATUS.auto_disabled, other_info: statusInfo(all, now) })
        .where(eq(channels.id, id)),
    );
    yield* record("channel_auto_disabled", all);
    return true;
  });
  if (!changed) return false;
  services.log.warn({ channel: id, key: key_id }, "a channel's key was disabled automatically");
  return true;
}

/** Enables a key that was disabled automatically, after its test passed. True when this call changed it. */
export async function enableKey(services: Services, id: number, key_id: number): Promise<boolean> {
  const { channel_keys: t } = services.db.t;
  const autoDisabled = and(eq(t.id, key_id), eq(t.channel_id, id), eq(t.status, CHANNEL_STATUS.auto_disabled));
  return services.db.tx(function* (q) {
    yield* lockChannel(services, q, id);
    const [key] = yield* run(q.select({ reason: t.reason }).from(t).where(autoDisabled));
    if (!key) return false;
    const retirement = retirementOf(key);
    const set = {
      status: ENABLED,
      reason: retirement ? retirementText(retirement) : "",
      status_time: seconds(services),
    };
    yield* run(q.update(t).set(set).where(autoDisabled).returning({ id: t.id }));
    yield* announceChange(services, q, id);
    return true;
  });
}

/**
 * A stored channel for a test or a model list, with the key that a call of `model` would use; with a disabled one when
 * none is enabled. undefined when it cannot be read.
 */
export async function loadChannel(services: Services, row: ChannelRow, model = ""): Promise<PoolChannel | undefined> {
  return keyInTurn(services, row, await loadKeys(services, row), model);
}

/** The key of `keys` (loadKeys) whose turn it is among the enabled ones; the first when none is. */
export function keyInTurn(
  { routing }: Pick<Services, "routing">,
  { multi_key_mode }: ChannelRow,
  keys: readonly LoadedChannel[],
  model: string,
): LoadedChannel | undefined {
  const [first] = keys;
  const enabled = keys.filter(({ autoDisabled }) => !autoDisabled);
  if (!first || enabled.length < 2 || !isMultiKeyMode(multi_key_mode)) return first;
  return routing.keys.take({ ...first, keys: enabled, multi_key_mode }, model);
}

/** A channel with one of its keys; `autoDisabled`: the key was disabled automatically. */
export type LoadedChannel = PoolChannel & { autoDisabled?: boolean };

/**
 * The channel once with each key that a test may use: the enabled ones, then those that were disabled automatically.
 */
export async function loadKeys(services: Pick<Services, "db" | "secrets">, row: ChannelRow): Promise<LoadedChannel[]> {
  const read = (keys: Parameters<typeof readChannel>[3]) => readChannel(row, services.secrets, () => {}, keys);
  if (!isMultiKeyMode(row.multi_key_mode)) {
    const channel = read([]);
    return channel ? [channel] : [];
  }
  const { channel_keys: t } = services.db.t;
  const stored = await services.db.q
    .select()
    .from(t)
    .where(eq(t.channel_id, row.id))
    .orderBy(asc(t.position), asc(t.id));
  const { keys = [], draining_keys = [] } = read(stored) ?? {};
  const enabled = [...keys, ...draining_keys];
  const autoDisabled =
    read(
      stored.map((key) => ({
        ...key,
        status: key.status === CHANNEL_STATUS.auto_disabled ? ENABLED : CHANNEL_STATUS.disabled,
      })),
    )?.keys ?? [];
  return [...enabled, ...autoDisabled.map((key) => ({ ...key, autoDisabled: true }))];
}
