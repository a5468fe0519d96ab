/**
 * Timeouts of a call at a channel, and the drain time after the caller has left: the channel's own settings, else the
 * options.
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
  /** Of one attempt with everything that follows from it. */
  readonly totalMs: number;
  /** 0 = never. */
  readonly pingMs: number;
  /** 0 = the upstream is cut at once. */
  readonly drainMs: number;
}

/** The timeouts of an attempt at `channel`, in milliseconds; the options' while no channel is chosen. */
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
 * The silence in milliseconds after which the caller of a call at `channel` gets a ping, 0 = never; undefined: such
 * calls have no pings. Event streams have comments. A JSON object may have blanks before it (RFC 8259, section 2), but
 * its status is then sent before it is known: this is done only for a channel that is set to do it.
 */
export function pingsOf({ operation, request, engine, form }: Asked, channel: PoolChannel): number | undefined {
  const { direct } = operation;
  const { stream } = request;
  if (!direct) return stream ? timeoutsFor(engine.controlPlane.option, channel).pingMs : undefined;
  // A form with a repeated response_format may mean any of its values.
  const formats = form?.parts("response_format") ?? [];
  const isJson =
    direct.plain === "never" || (direct.plain === "text" && formats.every(({ value }) => /json$|^$/.test(value ?? "")));
  return isJson && !stream ? (channel.setting.ping_interval ?? 0) * 1000 : undefined;
}

/** The caller has left: the upstream gets a short time to report its usage. */
export function handleDisconnect({ asked, deadlines, progress }: Admitted): void {
  if (progress.left || progress.over) return;
  progress.left = true;
  deadlines.total(timeoutsFor(asked.engine.controlPlane.option, progress.attempt?.channel).drainMs, true);
  progress.onLeave?.();
  progress.wake?.();
}
