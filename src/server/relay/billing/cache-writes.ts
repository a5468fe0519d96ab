/** What a call may write to a cache, for its hold: writing costs more than plain input. */
import type { InputKinds } from "../../../shared/charge";
import type { CompiledPrice } from "../../../shared/pricing";
import type { PoolChannel } from "../../contracts/channel";
import type { Asked } from "../call/call";
import { getsCacheMarks } from "../providers/cache-marks";

/** By the caller's own marks, or those that the call gets at one of its channels. */
export function cacheWritesOf(asked: Asked, candidates: readonly PoolChannel[], price: CompiledPrice): InputKinds {
  const { bytes } = asked.content;
  if (bytes.includes('"cache_control"')) return { cache_write: bytes.includes('"1h"') ? "1h" : "5m" };
  const { model } = asked.request;
  const marked = candidates.some((channel) =>
    getsCacheMarks(asked, channel, channel.model_mapping.get(model) ?? model, price),
  );
  return marked ? { cache_write: "5m" } : {};
}
