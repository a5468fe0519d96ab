/** An error answer, before a dialect spells it. */
import type { ErrorMembers, QuotaViolation } from "./chat-events";

/** Tokens of a call that is longer than its model's context. */
export interface TokenCounts {
  /** How many the call has, with the output it asks for where the vendor counts that too. */
  readonly used?: number;
  /** How many it may have. */
  readonly limit?: number;
}

/** An error answer, not yet spelled. */
export interface RelayError {
  status: number;
  /** OpenAI's word for the kind; other dialects derive theirs from it. */
  type: string;
  code: string;
  message: string;
  param: string | null;
  retry_after_s?: number;
  /** For OVERFLOW_CODE, where they are known. */
  tokens?: TokenCounts;
  /** False: the same request fails until something is changed or paid, and clients are told not to try again. */
  retry?: false;
  /** The limits that the upstream names as exceeded. */
  violations?: readonly QuotaViolation[];
  /** What the vendor says besides, for OpenAI's callers. */
  more?: ErrorMembers;
  /** Members of the request that no channel takes. */
  unsupported?: readonly string[];
  /** The id of the call, for dialects with a member for it. */
  request_id?: string;
}

/** OpenAI's code for a caller who has no balance left; every dialect has words of its own for it. */
export const OUT_OF_QUOTA_CODE = "insufficient_quota";

/** OpenAI's code for a call that is longer than its model's context; every dialect has words of its own for it. */
export const OVERFLOW_CODE = "context_length_exceeded";

/**
 * The message of an error in a dialect's words: `sentence` before a message in which that dialect's clients would not
 * recognise an overflow, any other message as it is. Clients act on the words: they compact the conversation, or stop.
 */
export const inWords = (
  { code, message, tokens }: RelayError,
  recognised: RegExp,
  sentence: (tokens: TokenCounts) => string,
): string => (code !== OVERFLOW_CODE || recognised.test(message) ? message : `${sentence(tokens ?? {})} ${message}`);
