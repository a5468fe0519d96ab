/** Draws among the channels of a tier, in proportion to their weights. */
import type { PoolChannel } from "../../contracts/channel";

/** The probability of each channel in a draw. */
export function sharesOf(channels: readonly PoolChannel[]): number[] {
  const total = channels.reduce((sum, channel) => sum + channel.weight, 0);
  return channels.map(({ weight }) => (total === 0 ? 1 / channels.length : weight / total));
}

/** One of the channels, in proportion to weight; equal shares when all weights are 0. */
export function draw(channels: readonly PoolChannel[], random: () => number): PoolChannel | undefined {
  if (channels.length < 2) return channels[0];
  const total = channels.reduce((sum, channel) => sum + channel.weight, 0);
  if (total === 0) return channels[Math.floor(random() * channels.length)];
  let point = random() * total;
  for (const channel of channels) {
    point -= channel.weight;
    if (point < 0) return channel;
  }
  return channels.findLast((channel) => channel.weight > 0);
}
