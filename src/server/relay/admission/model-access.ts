/** Which models a caller's key may use. */
import { fail } from "../../../shared/errors";
import type { Caller } from "../../contracts/caller";

/** Throws token_model_denied. */
export function requireModel({ models }: Caller, model: string): void {
  if (models && !models.has(model)) fail("token_model_denied", { model });
}
