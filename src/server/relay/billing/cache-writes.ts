/** What a call may write to a cache, for its hold: writing costs more than plain input. */
import type { InputKinds } from "../../../shared/charge";
import type { CompiledPrice } from "../../../shared/pricing";
import type { PoolChannel } from "../../contracts/channel";
import type { Asked } from "../call/call";
import { getsCacheMarks } from "../providers/cache-marks";

const MARK = Buffer.from('"cache_control"');
const LONG = Buffer.from('"1h"');
const NONE: InputKinds = {};

/** By the caller's own marks, or those that the call gets at one of its channels. */
export function cacheWritesOf(asked: Asked, candidates: readonly PoolChannel[], price: CompiledPrice): InputKinds {
  const { bytes } = asked.content;
  if (bytes.includes(MARK)) return { cache_write: bytes.includes(LONG) ? "1h" : "5m" };
  if (!asked.operation.tools) return NONE;
  const { model } = asked.request;
  const marked = candidates.some((channel) =>
    getsCacheMarks(asked, channel, channel.model_mapping.get(model) ?? model, price),
  );
  return marked ? { cache_write: "5m" } : NONE;
}
