/** The key of an attempt, where a channel has several. A key in cooldown is skipped while another is available. */
import type { AttemptRecord } from "../../../shared/log";
import type { Closed, Cooldown } from "./cooldown";
import type { CooldownState } from "../../contracts/dry-run";
import { credentialId } from "../providers/credential-id";
import type { PoolChannel } from "../../contracts/channel";

/** The state of a channel for a model: that of its best key. */
export function standingOf(cooldown: Cooldown, channel: PoolChannel, model: string): CooldownState {
  if (!channel.keys) return cooldown.standing(credentialId(channel), model);
  let least: CooldownState = "probing";
  for (const key of channel.keys) {
    const standing = cooldown.standing(credentialId(key), model);
    if (standing === "ready") return standing;
    if (standing !== "probing" && (least === "probing" || standing < least)) least = standing;
  }
  return least;
}

/** The sooner end of two waits; one that an upstream named comes before that of an account, which may not heal. */
export const soonerOf = (a: Closed | undefined, b: Closed): Closed =>
  !a || (b.named && !a.named) || (b.named === a.named && b.ms < a.ms) ? b : a;

/** Whether no call may be sent to a channel: with none of its keys. undefined: calls may be sent. */
export function closedFor(cooldown: Cooldown, channel: PoolChannel, model: string): Closed | undefined {
  let closed: Closed | undefined;
  for (const key of channel.keys ?? [channel]) {
    const one = cooldown.closed(credentialId(key), model, key);
    if (one === undefined) return undefined;
    closed = soonerOf(closed, one);
  }
  return closed;
}

/**
 * The channel with the key whose account holds an object of the caller; undefined when that key is gone or disabled. An
 * object stored while the channel had a single key (0) belongs to its first key, which is that same key.
 */
export function keyOwning(channel: PoolChannel, channel_key_id: number): PoolChannel | undefined {
  if (!channel.keys || channel_key_id === 0) return channel.keys?.[0] ?? channel;
  return channel.keys.find(({ key_row }) => key_row?.id === channel_key_id);
}

/** The same for what exists already: a key that drains still serves it. */
export const keyHolding = (channel: PoolChannel, channel_key_id: number): PoolChannel | undefined =>
  keyOwning(channel, channel_key_id) ??
  channel.draining_keys?.find(({ key_row }) => channel_key_id === 0 || key_row?.id === channel_key_id);

const triedIn = (attempts: readonly AttemptRecord[], key: PoolChannel): boolean =>
  attempts.some((attempt) => attempt.channel === key.id && attempt.key?.id === key.key_row?.id);

/** Whether a call has not yet tried all available keys of the channel. */
export const hasAnotherKey = (
  { keys = [] }: PoolChannel,
  model: string,
  attempts: readonly AttemptRecord[],
  cooldown: Cooldown,
): boolean => keys.some((key) => !triedIn(attempts, key) && cooldown.standing(credentialId(key), model) === "ready");

/** The rotation of the channels' keys; one per process. */
export class KeyRotation {
  /** Channel -> position of the key used last. */
  readonly #last = new Map<number, number>();

  constructor(
    readonly cooldown: Cooldown,
    readonly random: () => number,
  ) {}

  /**
   * The channel with the key for its next call of `model`; the channel itself when it has one key. A key that
   * `attempts` names is used only when there is no other.
   */
  take(channel: PoolChannel, model: string, attempts: readonly AttemptRecord[] = []): PoolChannel {
    const { keys, multi_key_mode } = channel;
    if (!keys) return channel;
    const fresh = keys.filter((key) => !triedIn(attempts, key));
    const awake = fresh.filter((key) => this.cooldown.standing(credentialId(key), model) === "ready");
    const isOpen = (key: PoolChannel): boolean => this.cooldown.closed(credentialId(key), model, key) === undefined;
    const open = [awake, fresh.filter(isOpen), keys.filter(isOpen), fresh].find(({ length }) => length > 0) ?? keys;
    const last = this.#last.get(channel.id) ?? 0;
    const next =
      multi_key_mode === "polling"
        ? open.find(({ key_row }) => (key_row?.position ?? 0) > last)
        : open[Math.floor(this.random() * open.length)];
    const chosen = next ?? open[0] ?? channel;
    if (multi_key_mode === "polling") this.#last.set(channel.id, chosen.key_row?.position ?? 0);
    return chosen;
  }
}
