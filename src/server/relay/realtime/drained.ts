/**
 * What a drain ends: realtime sessions after their running response (or, by option, only at its deadline), at the
 * deadline every call that still runs, and by option unfinished jobs. A
 * whole answer may then come from another channel; a stream ends with an error and costs what was delivered.
 */
import type { Drain } from "../../../shared/drain";
import type { PoolChannel } from "../../contracts/channel";
import type { Engine } from "../call/call";

/** Of several drains the one with the first deadline. */
const soonest = (...drains: (Drain | undefined)[]): Drain | undefined =>
  drains.filter((one) => one !== undefined).toSorted((a, b) => (a.deadline || Infinity) - (b.deadline || Infinity))[0];

const isLate = ({ deadline }: Drain, now_ms: number): boolean => deadline > 0 && now_ms >= deadline * 1000;

/** The drain of the channel or the key as it is stored now; `channel`: as it was when the call began. */
function channelDrain({ controlPlane }: Engine, channel: PoolChannel): Drain | undefined {
  const now = controlPlane.pool.byId(channel.id)?.channel;
  const key = now?.draining_keys?.find(({ key_row }) => key_row?.id === channel.key_row?.id);
  return soonest(now?.drain, key?.drain);
}

/** Whether the drain of a job's channel or key ends it now; a drain of the instance leaves jobs to others. */
export function endsJob(engine: Engine, channel: PoolChannel): boolean {
  const { option, now } = engine.controlPlane;
  const drain = option.drainEndsJobs ? channelDrain(engine, channel) : undefined;
  return drain !== undefined && isLate(drain, now());
}

/** Ends what is to be ended now. Called every second. */
export function endDrained(engine: Engine): void {
  const { option, now } = engine.controlPlane;
  const drainAt = (channel: PoolChannel) => soonest(engine.drain, channelDrain(engine, channel));
  for (const session of engine.sessions) {
    const drain = session.channel && drainAt(session.channel);
    if (!drain) continue;
    const late = isLate(drain, now());
    if (late || option.drainEndsRealtime) void session.shutdown(late);
  }
  for (const { progress, deadlines } of engine.running) {
    const drain = progress.attempt && !progress.over && drainAt(progress.attempt.channel);
    if (drain && isLate(drain, now())) deadlines.limit("drain", 0);
  }
}
