/** How a call that is no conversation is priced, as far as its request shows. */
import type { CallTimes, InputKinds } from "../../shared/charge";
import type { Circumstances } from "../../shared/price-rules";
import type { CompiledPrice, Usage } from "../../shared/pricing";

/** How a call that is no conversation is priced, as far as its request shows. */
export interface Terms {
  /** What multiplies a price per call. */
  readonly times?: CallTimes;
  /** What its tokens may be besides text, for the hold. */
  readonly kinds?: InputKinds;
  /** An upper bound of its input in tokens, where that is not the size of its body. */
  readonly input_bound?: number;
  /** Units that are held at least. */
  readonly least_hold?: number;
  /** Billed when the answer names no usage. */
  readonly usage: Usage;
  /** What a count that cannot be believed is replaced by, where that is more than `usage`. */
  readonly doubted?: Usage;
  /** `usage` is what the call is priced by, no estimate. */
  readonly exact: boolean;
  /** The vendor may work out of sight (hidden-turns.ts). */
  readonly hidden_turns?: true;
  /** What rules of prices may ask of a picture, a video or a batch. */
  readonly shown?: Omit<Circumstances, "moment" | "member">;
  /** The price of the model made into the price of this operation. */
  priced?(price: CompiledPrice): CompiledPrice;
}
