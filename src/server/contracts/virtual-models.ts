/** A virtual model as one caller may use it. */
import type { VirtualStep } from "../../shared/virtual-models";
import type { Caller } from "./caller";

export interface LadderPlanStep extends VirtualStep {
  /** The caller's user may not use the step's group. */
  readonly denied: boolean;
}

export interface VirtualCall {
  readonly name: string;
  /** As configured; the weights are not drawn yet. */
  readonly steps: readonly LadderPlanStep[];
  /** Billed at the price of the virtual name. */
  readonly fixed_price: boolean;
  /** A header of the response names the model that answered. */
  readonly told: boolean;
}

/** The virtual model of this name for a caller; undefined: the name is a real model's, or unknown. */
export type FindVirtual = (name: string, caller: Pick<Caller, "user_group">) => VirtualCall | undefined;
