/** Which kind of failure a vendor's error says it is, by the list of vendor-errors.ts. */
import type { FailureKind } from "../../shared/failures";
import type { WireError } from "./chat-events";
import { READ_CHARS } from "./clean-text";
import type { TokenCounts } from "./relay-error";
import { REFUSED, VENDOR_ERRORS, type VendorError } from "./vendor-errors";

/** Where an error stands: its status, undefined where there is none, and whether an answer had begun with 200. */
export interface ErrorPlace {
  readonly status: number | undefined;
  readonly in_answer: boolean;
}

function countsAt({ status: counts, message }: VendorError, { status, in_answer }: ErrorPlace): boolean {
  if (counts === "in_answer") return in_answer;
  if (counts === "5xx") return in_answer || (status !== undefined && status >= 500);
  const statuses = counts ?? (message && REFUSED);
  return !statuses || status === undefined || statuses.includes(status);
}

const isOneOf = (codes: readonly string[] | RegExp, word: string): boolean =>
  codes instanceof RegExp ? codes.test(word) : codes.includes(word);

/** Whether an entry of the list is what an error says. */
export function matches(
  entry: VendorError,
  error: Pick<WireError, "code" | "type" | "message">,
  at: ErrorPlace,
): boolean {
  const { code, message } = entry;
  if (!countsAt(entry, at)) return false;
  if (code && !isOneOf(code, error.code) && !isOneOf(code, error.type)) return false;
  return !message || message.test(error.message.slice(0, READ_CHARS));
}

/** The kind of the first entry that matches; undefined where the vendor says nothing that is known. */
export const vendorKind = (error: WireError, at: ErrorPlace): FailureKind | undefined =>
  VENDOR_ERRORS.find((entry) => matches(entry, error, at))?.kind;

/** The tokens that a refusal for its length names; undefined where it names none. */
export function tokenCounts(message: string): TokenCounts | undefined {
  const text = message.slice(0, READ_CHARS);
  for (const { kind, message: pattern } of VENDOR_ERRORS) {
    const groups = kind === "context_too_long" ? pattern?.exec(text)?.groups : undefined;
    if (groups?.limit === undefined && groups?.used === undefined) continue;
    const { used, limit } = groups;
    return { ...(used !== undefined && { used: Number(used) }), ...(limit !== undefined && { limit: Number(limit) }) };
  }
  return undefined;
}
