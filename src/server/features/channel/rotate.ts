/**
 * Rotating a channel's key. The new key is tested before it serves; with an overlap both serve until the old one
 * retires. A channel with one key has two meanwhile, and one again afterwards.
 */
import { and, eq, ne } from "drizzle-orm";
import type * as z from "zod";
import { CHANNEL_STATUS } from "../../../shared/channel";
import { isMultiKeyMode } from "../../../shared/channel-keys";
import { channelType } from "../../../shared/channel-types";
import { fail } from "../../../shared/errors";
import { type KeyRotation, type keyRotateInput, retirementOf, retirementText } from "../../../shared/key-rotation";
import { type Services, seconds, type UserCtx } from "../../contracts/context";
import type { ChannelKeyRow, ChannelRow } from "../../db/schema";
import { run, type Steps } from "../../db/transaction";
import type { Q } from "../../db/types";
import { auditRow } from "../audit/record";
import { announceChange } from "./announce";
import { goesElsewhere } from "./destination";
import { runTest } from "./health";
import { checkedKeys, dropKeys, insertKeys, lockChannel } from "./keys";
import { readChannel } from "./pool";
import { findChannel } from "./service";

const { enabled, disabled, auto_disabled } = CHANNEL_STATUS;

/**
 * Puts a new key in the place of the channel's own, or of one of its several. Throws channel_not_found,
 * channel_key_invalid, channel_key_known, channel_key_not_found, channel_key_test_failed and channel_changed.
 */
export async function rotateKey(ctx: UserCtx, input: z.output<typeof keyRotateInput>): Promise<KeyRotation> {
  const { id, key_id, overlap_minutes } = input;
  const { channels, audit_log } = ctx.db.t;
  const stored = await findChannel(ctx, id);
  const [key = "", ...more] = checkedKeys(ctx, stored.type, input.key);
  if (key === "" || more.length > 0)
    fail("channel_key_invalid", { detail: ctx.lang === "zh" ? "请填写一个密钥" : "enter one key" });
  const several = isMultiKeyMode(stored.multi_key_mode);
  if (several && key_id === undefined) fail("channel_key_not_found");
  const sealed = {
    key_cipher: ctx.secrets.encrypt("channel-key", key),
    key_hash: ctx.secrets.hash("channel-key", key),
  };
  if (!several && stored.key_hash === sealed.key_hash) fail("channel_key_known");
  const tested = await passes(ctx, stored, sealed, input.model);
  const overlap = overlap_minutes > 0 && (several || stored.key_cipher !== "");
  const retires_at = overlap ? seconds(ctx) + overlap_minutes * 60 : 0;
  await ctx.db.tx(function* (q) {
    const current = (yield* lockChannel(ctx, q, id)) ?? fail("channel_not_found");
    // What was tested must be what is changed.
    const same = current.multi_key_mode === stored.multi_key_mode && current.key_cipher === stored.key_cipher;
    if (!same || goesElsewhere(ctx.secrets, stored, current)) fail("channel_changed");
    const set: Partial<ChannelRow> =
      several || overlap ? (several ? {} : { multi_key_mode: "random", key_cipher: "", key_hash: "" }) : sealed;
    // A channel that its old key had disabled serves again with a key that passed.
    if (tested && current.status === auto_disabled) Object.assign(set, { status: enabled, other_info: "" });
    if (Object.keys(set).length > 0)
      yield* run(q.update(channels).set(set).where(eq(channels.id, id)).returning({ id: channels.id }));
    if (several || overlap) {
      if ((yield* insertKeys(ctx, q, id, [key])) === 0) fail("channel_key_known");
      if (!several) yield* insertOld(ctx, q, current);
      yield* replaceSteps(ctx, q, id, several ? { id: key_id } : { hash: current.key_hash }, retires_at, !several);
    }
    const after = {
      key: "rotated",
      tested,
      overlap_minutes: overlap ? overlap_minutes : 0,
      ...(several && { key_id }),
    };
    yield* run(q.insert(audit_log).values(auditRow(ctx, { action: "channel.rotate", target: id, after })));
    yield* announceChange(ctx, q, id);
  });
  return { tested, retires_at };
}

/** Whether the channel was tested with the key; false where its type cannot be. Throws channel_key_test_failed. */
async function passes(
  ctx: UserCtx,
  stored: ChannelRow,
  sealed: Pick<ChannelRow, "key_cipher" | "key_hash">,
  model: string | undefined,
): Promise<boolean> {
  if (!channelType(stored.type)?.test) return false;
  const keyed = readChannel({ ...stored, ...sealed, multi_key_mode: "" }, ctx.secrets, () => undefined);
  if (!keyed) return fail("channel_key_unreadable");
  const { id, username, group } = ctx.actor;
  const tester = { id, username, group, ip: ctx.ip };
  const { problem } = await runTest(ctx, stored, { tester, keyed, ...(model && { model }) });
  if (problem !== "") fail("channel_key_test_failed", { detail: problem });
  return true;
}

/** The key of a channel that had one, as one of several. */
function* insertOld({ db, now }: Pick<Services, "db" | "now">, q: Q, channel: ChannelRow): Steps<void> {
  const { key_cipher, key_hash, id } = channel;
  const row = { channel_id: id, position: 1, key_cipher, key_hash, created_at: seconds({ now }) };
  yield* run(q.insert(db.t.channel_keys).values(row).returning({ id: db.t.channel_keys.id }));
}

/** The old key retires then, or stops now. */
function* replaceSteps(
  { db, now }: Pick<Services, "db" | "now">,
  q: Q,
  channel_id: number,
  old: { id?: number | undefined; hash?: string },
  retires_at: number,
  single: boolean,
): Steps<void> {
  const t = db.t.channel_keys;
  const which = old.id === undefined ? eq(t.key_hash, old.hash ?? "") : eq(t.id, old.id);
  const set =
    retires_at > 0
      ? { reason: retirementText({ retire_at: retires_at, single }) }
      : { status: disabled, reason: "", status_time: seconds({ now }) };
  const enabledOnly = retires_at > 0 ? eq(t.status, enabled) : undefined;
  const [found] = yield* run(
    q
      .select({ id: t.id })
      .from(t)
      .where(and(eq(t.channel_id, channel_id), which)),
  );
  if (!found) fail("channel_key_not_found");
  // One that does not serve needs no end.
  yield* run(
    q
      .update(t)
      .set(set)
      .where(and(eq(t.channel_id, channel_id), which, enabledOnly))
      .returning({ id: t.id }),
  );
}

/** Ends the keys whose overlap is over; called by a timer. */
export async function retireKeys(services: Services): Promise<void> {
  const { channel_keys: t } = services.db.t;
  const rows = await services.db.read
    .select()
    .from(t)
    .where(and(ne(t.status, disabled), ne(t.reason, "")));
  const now = seconds(services);
  for (const row of rows)
    if ((retirementOf(row)?.retire_at ?? Number.MAX_SAFE_INTEGER) <= now)
      await services.db.tx((q) => retireSteps(services, q, row.channel_id, row.id));
}

/**
 * A key retires while another of its channel is enabled; where none is, it stays. Of a channel that had one key before,
 * the one that is left is the channel's own.
 */
function* retireSteps(services: Services, q: Q, channel_id: number, key_id: number): Steps<void> {
  const { channels, channel_keys: t } = services.db.t;
  const channel = yield* lockChannel(services, q, channel_id);
  const keys: ChannelKeyRow[] = yield* run(q.select().from(t).where(eq(t.channel_id, channel_id)));
  const old = keys.find(({ id }) => id === key_id);
  const retirement = old && retirementOf(old);
  if (!channel || !retirement || retirement.retire_at > seconds(services)) return;
  const others = keys.filter(({ id }) => id !== key_id);
  const [only] = others;
  const replaced = others.some(({ status }) => status === enabled);
  // None serves: it ends when another does.
  if (!replaced && old.status !== enabled) return;
  if (retirement.single && replaced && others.length === 1 && only) {
    const { key_cipher, key_hash } = only;
    yield* run(dropKeys(services, q, eq(channels.id, channel_id)));
    yield* run(
      q
        .update(channels)
        .set({ key_cipher, key_hash, multi_key_mode: "" })
        .where(eq(channels.id, channel_id))
        .returning({ id: channels.id }),
    );
  } else {
    const set = replaced ? { status: disabled, reason: "", status_time: seconds(services) } : { reason: "" };
    yield* run(q.update(t).set(set).where(eq(t.id, key_id)).returning({ id: t.id }));
  }
  yield* services.events.record(q, {
    type: "system",
    channel,
    event: replaced ? "channel_key_retired" : "channel_key_kept",
    params: { id: channel_id, name: channel.name, key_id },
  });
  yield* announceChange(services, q, channel_id);
}
