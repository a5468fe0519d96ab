/** The check of a hold's request, the same on both engines. */
import type { HoldRequest } from "../../contracts/ledger";
import { checkUnits } from "./call-log";

/**
 * Throws RangeError for an amount that is not one, and unless the wallet is the only source: what another source is to
 * pay must not be taken from the wallet.
 */
export function checkHold({ sources, amount, least = amount }: HoldRequest): void {
  checkUnits(amount);
  checkUnits(least);
  if (sources.length === 0) throw new RangeError("A hold without a source");
  for (const { kind } of sources) if (kind !== "wallet") throw new RangeError(`Not a source of holds: ${String(kind)}`);
}
