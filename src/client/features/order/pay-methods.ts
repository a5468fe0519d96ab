import { type PayMethod, payMethods } from "../../../shared/options/shapes";
import { readStored } from "../../lib/storage";
import { useStatus } from "../../lib/status";

const shape = payMethods();

/** The payment methods as the status left them in local storage; null when that is no list of methods (C-577). */
export function readPayMethods(text: string | null): PayMethod[] | null {
  if (text === null) return [];
  try {
    const checked = shape(JSON.parse(text));
    return "value" in checked ? checked.value : null;
  } catch {
    return null;
  }
}

/** The same as a hook: updated when the status arrives. */
export function usePayMethods(): PayMethod[] | null {
  useStatus();
  return readPayMethods(readStored("pay_methods"));
}
