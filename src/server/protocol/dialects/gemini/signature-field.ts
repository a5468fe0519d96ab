/** thoughtSignature: base64 bytes; what another vendor signed travels in it as base64 of our text. */
import { type Carried, readField, type SignatureBundle } from "../shared/reasoning-signature";

/** A bundle as the value of a thoughtSignature. */
export function signatureOf(bundle: SignatureBundle): string | undefined {
  const field = bundle.takeField();
  return field === undefined ? undefined : Buffer.from(field, "utf8").toString("base64");
}

/** What others signed, undefined when the signature is Google's own. */
export function carriedBy(signature: string): Carried[] | undefined {
  // "w1." in base64.
  return signature.startsWith("dzEu") ? readField(Buffer.from(signature, "base64").toString("utf8")) : undefined;
}
