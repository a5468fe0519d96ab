/**
 * What a drain ends: realtime sessions after their running response, and at the deadline every call that still runs. A
 * whole answer may then come from another channel; a stream ends with an error and costs what was delivered.
 */
import type { Drain } from "../../../shared/drain";
import type { PoolChannel } from "../../contracts/channel";
import type { Engine } from "../call/call";

/** The drain of the channel or the key as it is stored now; `channel`: as it was when the call began. */
function drainAt({ controlPlane, drain }: Engine, channel: PoolChannel): Drain | undefined {
  const now = controlPlane.pool.byId(channel.id)?.channel;
  const key = now?.draining_keys?.find(({ key_row }) => key_row?.id === channel.key_row?.id);
  const drains = [drain, now?.drain, key?.drain].filter((one) => one !== undefined);
  // The first deadline counts.
  return drains.toSorted((a, b) => (a.deadline || Infinity) - (b.deadline || Infinity))[0];
}

/** Ends what is to be ended now. Called every second. */
export function endDrained(engine: Engine): void {
  const now = engine.controlPlane.now() / 1000;
  const isLate = ({ deadline }: Drain): boolean => deadline > 0 && now >= deadline;
  for (const session of engine.sessions) {
    const drain = session.channel && drainAt(engine, session.channel);
    if (drain) void session.shutdown(isLate(drain));
  }
  for (const { progress, deadlines } of engine.running) {
    const drain = progress.attempt && !progress.over && drainAt(engine, progress.attempt.channel);
    if (drain && isLate(drain)) deadlines.limit("drain", 0);
  }
}
