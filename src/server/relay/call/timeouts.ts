/**
 * How long a call waits for a channel, and what becomes of it when the caller leaves: the channel's own words, else the
 * options'.
 */
import type { Admitted, Asked } from "./call";
import type { RelayOptions } from "../../contracts/control-plane";
import type { PoolChannel } from "../../contracts/channel";

/** How long an upstream is drained for its usage after the caller has left. */
const DRAIN_MS = 5_000;

export interface Timeouts {
  readonly connectMs: number;
  readonly firstByteMs: number;
  readonly idleMs: number;
  /** Of one try with everything that follows from it. */
  readonly totalMs: number;
  /** 0 = never. */
  readonly pingMs: number;
  /** 0 = the upstream is cut at once. */
  readonly drainMs: number;
}

/** The limits of a try at `channel`, in milliseconds; the options' while no channel is chosen. */
export function timeoutsFor(option: RelayOptions, channel: PoolChannel | undefined): Timeouts {
  const { connect_timeout, first_byte_timeout, idle_timeout, total_timeout, ping_interval, on_disconnect } =
    channel?.setting ?? {};
  const ms = (seconds: number | undefined, otherwise: number): number =>
    seconds === undefined ? otherwise : seconds * 1000;
  return {
    connectMs: ms(connect_timeout, option.connectTimeoutMs),
    firstByteMs: ms(first_byte_timeout, option.firstByteTimeoutMs),
    idleMs: ms(idle_timeout, option.idleTimeoutMs),
    totalMs: ms(total_timeout, option.totalTimeoutMs),
    pingMs: ms(ping_interval, option.pingAfterMs),
    drainMs: on_disconnect === "cut" ? 0 : DRAIN_MS,
  };
}

/**
 * After how many milliseconds of silence the caller of a call at `channel` gets a ping, 0 = never; undefined: such
 * calls know none. Events have comments. A JSON object may have blanks before it (RFC 8259, section 2), but its status
 * then goes out before it is known: only a channel that says so itself does that.
 */
export function pingsOf({ operation, request, engine, form }: Asked, channel: PoolChannel): number | undefined {
  const { direct } = operation;
  const { stream } = request;
  if (!direct) return stream ? timeoutsFor(engine.controlPlane.option, channel).pingMs : undefined;
  // A format that is named twice may be either.
  const formats = form?.parts("response_format") ?? [];
  const isJson =
    direct.plain === "never" || (direct.plain === "text" && formats.every(({ value }) => /json$|^$/.test(value ?? "")));
  return isJson && !stream ? (channel.setting.ping_interval ?? 0) * 1000 : undefined;
}

/** The caller has gone: the upstream gets a little time to say what it used. */
export function handleDisconnect({ asked, deadlines, progress }: Admitted): void {
  if (progress.left || progress.over) return;
  progress.left = true;
  deadlines.total(timeoutsFor(asked.engine.controlPlane.option, progress.attempt?.channel).drainMs, true);
  progress.onLeave?.();
}
