/**
 * Which calls get cache marks that their caller did not set: conversations with tools, of callers of other dialects
 * than Anthropic's, at a channel that speaks it. An agent sends its whole history again and again.
 */
import type { CompiledPrice } from "../../../shared/pricing";
import type { PoolChannel } from "../../contracts/channel";
import type { DialectKey } from "../../protocol/chat-events";
import { type CalledOperation, dialectOf } from "./dispatch";

/** Reads at most this part of the input's price pay for writes that are never read. */
const WORTHWHILE = 5n;

const isWorthwhile = ({ by, tokens: { input, cache_read } }: CompiledPrice): boolean =>
  by !== "call" && input.weight > 0n && cache_read.weight * WORTHWHILE <= input.weight;

/** A call as far as its marks depend on it. */
export interface Markable {
  readonly operation: CalledOperation;
  /** The caller's. */
  readonly dialect: { readonly key: DialectKey };
}

/** Whether a call at a channel gets marks. `model`: the vendor's name; `price`: what it costs there. */
export function getsCacheMarks(
  { operation, dialect }: Markable,
  channel: PoolChannel,
  model: string,
  price: CompiledPrice,
): boolean {
  const { cache_marks = "auto" } = channel.setting;
  return (
    operation.key === "chat" &&
    operation.tools === true &&
    dialect.key !== "anthropic" &&
    cache_marks !== "never" &&
    (cache_marks === "always" || isWorthwhile(price)) &&
    dialectOf(channel, operation, model) === "anthropic"
  );
}
