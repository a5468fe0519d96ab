/** Secrets among a channel's settings: what counts as one, and how it is shown. */

/** Stands for a stored secret. Written back it means: unchanged. */
export const SECRET_MASK = "********";

/** Header names that carry credentials. */
const SECRET_NAME = /auth|key|token|secret|passw|credential|cookie|session|signature/i;
/** A long word of letters and digits, as keys are. */
const SECRET_WORD = /(?=[\w+/=.-]*\d)(?=[\w+/=.-]*[a-z])[\w+/=.-]{20,}/i;

/** Whether the value of a header that an operator set is a secret. `{api_key}` alone is none: the key is not in it. */
export function isSecretHeader(name: string, value: string): boolean {
  const own = value.replaceAll("{api_key}", "").trim();
  if (own === "" || /^[a-z]{1,12}$/i.test(own)) return false;
  return SECRET_NAME.test(name) || SECRET_WORD.test(own);
}
