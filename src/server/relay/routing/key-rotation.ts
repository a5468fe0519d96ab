/**
 * Which of a channel's keys an attempt uses, where it has several. A key that cools is passed over while another is
 * awake.
 */
import type { AttemptRecord } from "../../../shared/log";
import type { Cooldown } from "./cooldown";
import type { CooldownState } from "../../contracts/dry-run";
import { credentialId } from "../providers/credential-id";
import type { PoolChannel } from "../../contracts/channel";

/** Where a channel stands for a model: as the best of its keys does. */
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

/**
 * The channel with the key whose account holds something of a caller's; undefined when that key is gone or disabled.
 * What was left with a channel while it had one key (0) is where its first key is: that is what becomes of the one.
 */
export function keyOwning(channel: PoolChannel, channel_key_id: number): PoolChannel | undefined {
  if (!channel.keys || channel_key_id === 0) return channel.keys?.[0] ?? channel;
  return channel.keys.find(({ key_row }) => key_row?.id === channel_key_id);
}

const triedIn = (attempts: readonly AttemptRecord[], key: PoolChannel): boolean =>
  attempts.some((attempt) => attempt.channel === key.id && attempt.key?.id === key.key_row?.id);

/** Whether a call has not tried all keys of the channel that are awake. */
export const hasAnotherKey = (
  { keys = [] }: PoolChannel,
  model: string,
  attempts: readonly AttemptRecord[],
  cooldown: Cooldown,
): boolean => keys.some((key) => !triedIn(attempts, key) && cooldown.standing(credentialId(key), model) === "ready");

/** The keys of channels in turn; one per process. */
export class KeyRotation {
  /** Channel -> position of the key used last. */
  readonly #last = new Map<number, number>();

  constructor(
    readonly cooldown: Cooldown,
    readonly random: () => number,
  ) {}

  /**
   * The channel with the key that its next call of `model` uses; the channel itself when it has one key. A key that
   * `attempts` names comes only when there is no other.
   */
  take(channel: PoolChannel, model: string, attempts: readonly AttemptRecord[] = []): PoolChannel {
    const { keys, multi_key_mode } = channel;
    if (!keys) return channel;
    const fresh = keys.filter((key) => !triedIn(attempts, key));
    const awake = fresh.filter((key) => this.cooldown.standing(credentialId(key), model) === "ready");
    const open = awake.length > 0 ? awake : fresh.length > 0 ? fresh : keys;
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
