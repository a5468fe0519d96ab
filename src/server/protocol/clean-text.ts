/** Texts of upstreams without what must not leave: addresses, hosts, and what looks like a key. */
import type { ErrorMembers, QuotaViolation, WireError } from "./chat-events";

/** Takes the secrets of the channel that was asked out of its upstream's words (providers/redact.ts). */
export type Redact = (text: string) => string;

/** For words that are ours alone. */
export const asIs: Redact = (text) => text;

/** Most characters of an upstream's text that are looked at. */
export const READ_CHARS = 4000;

// No pattern may be slower than its text is long: none begins again inside what it has failed on.
const hide: readonly (readonly [RegExp, string | ((found: string) => string)])[] = [
  [/\b(?:https?|wss?):\/\/[^\s"'<>)\]]+/gi, "[address]"],
  [/\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b/g, "[address]"],
  [/\[?(?:[0-9a-f]{1,4}:){3,7}:?(?:[0-9a-f]{1,4})?\]?(?::\d+)?/gi, "[address]"],
  [
    /(?<![a-z0-9.-])[a-z0-9.-]+(?<=[a-z0-9]\.(?:com|net|org|io|ai|cn|dev|app|cloud|local|internal))(?!\w)(?::\d+)?(?:\/[^\s"'<>]*)?/gi,
    "[address]",
  ],
  [/(?<![\w-])eyJ[\w-]{8,}(?:\.[\w-]+){0,2}/g, "[key]"],
  [/\bBearer +[\w.~+/*=-]{6,}/gi, (found) => (/[\d*]/.test(found) ? "[key]" : found)],
  [/[A-Za-z0-9_*-]{8,}/g, (found) => (isKeyLike(found) ? "[key]" : found)],
];

/** How vendors' keys begin; a name such as `key-value-store` has neither digit nor capital behind it. */
const KEY =
  /^-*(?:(?:sk|pk|rk|gsk|xai|nvapi|pplx)-.{6}|(?:(?:sk|pk|rk|gsk|hf|ghp|r8)_|(?:org|proj|key)-|AKIA|ASIA|LTAI|AKID|AIza)(?=.{6}).*[\dA-Z*])/;
/**
 * An item's id or a compound name begins with a word of small letters: `rs_0123…`, `chatcmpl-…`, `cache_creation_1h_…`.
 */
const NAMED = /^-*[a-z]{1,16}[_-]/;
/** A name of several words in one: `includeServerSideToolInvocations2`. */
const WORDS = /^[A-Za-z][a-z]*(?:[A-Z][a-z]+)*\d{0,2}$/;
const LONG = 32;

/**
 * Whether a word looks like a key: by how it begins, by stars in its middle, or because it is long and says
 * nothing.
 */
function isKeyLike(word: string): boolean {
  if (KEY.test(word) || /[A-Za-z0-9]\*{3,}[A-Za-z0-9]/.test(word)) return true;
  return word.length >= LONG && /\d/.test(word) && !NAMED.test(word) && !WORDS.test(word);
}

/** A name of a field or none: holds nothing of the kind. */
const PLAIN = /^[a-z_]{0,31}$/;

/** A text of an upstream without addresses, hosts and what looks like a key; at most 1,000 characters. */
export function cleanText(text: string): string {
  if (PLAIN.test(text)) return text;
  let result = text.slice(0, READ_CHARS);
  for (const [pattern, mark] of hide)
    result = typeof mark === "string" ? result.replace(pattern, mark) : result.replace(pattern, mark);
  return result.slice(0, 1000);
}

const cleanViolation = (said: Redact, { quotaId, quotaValue }: QuotaViolation): QuotaViolation => ({
  quotaId: said(quotaId),
  ...(quotaValue !== undefined && { quotaValue: said(quotaValue) }),
});

/** Most characters of what a model wrote that are passed on with an error. */
const MOST_WRITTEN = 16_384;

/** What a model wrote is its caller's, like an answer: only the channel's secrets are taken out. */
function cleanMembers(redact: Redact, { failed_generation, metadata }: ErrorMembers): ErrorMembers {
  const said = (text: string): string => cleanText(redact(text));
  const { provider_name, raw } = metadata ?? {};
  return {
    ...(failed_generation !== undefined && {
      failed_generation: redact(failed_generation.slice(0, 2 * MOST_WRITTEN)).slice(0, MOST_WRITTEN),
    }),
    ...(metadata && {
      metadata: {
        ...(provider_name !== undefined && { provider_name: said(provider_name) }),
        ...(raw !== undefined && { raw: said(raw) }),
      },
    }),
  };
}

/**
 * Every member by its name: a new one is lost rather than passed on as it came. The secrets go before anything is cut
 * or guessed.
 */
export function cleanError(
  redact: Redact,
  { message, type, code, param, retry_after_s, violations, more }: WireError,
): WireError {
  const said = (text: string): string => cleanText(redact(text));
  const error = {
    message: said(message),
    type: said(type),
    code: said(code),
    param: param === null ? null : said(param),
  };
  return {
    ...error,
    ...(retry_after_s !== undefined && { retry_after_s }),
    ...(more && { more: cleanMembers(redact, more) }),
    ...(violations && { violations: violations.map((violation) => cleanViolation(said, violation)) }),
  };
}
