/** Which models a caller's key may use. */
import { fail } from "../../../shared/errors";
import type { Caller } from "../../contracts/caller";

/**
 * Throws token_model_denied; invalid_request for a name with half a UTF-16 character (JSON can carry one), which can be
 * written into no address of an upstream.
 */
export function requireModel({ models }: Caller, model: string): void {
  if (!model.isWellFormed()) fail("invalid_request", { detail: "model" });
  if (models && !models.has(model)) fail("token_model_denied", { model });
}
