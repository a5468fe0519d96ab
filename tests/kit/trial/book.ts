/**
 * An independent account of what calls must have cost, from what vendors sent and callers received, and what differs
 * from it in Weir's ledger. It knows no code of Weir. Every price is one unit a token.
 */
import { type CallRecord, sendsContent } from "./calls";
import { FATES, type VendorAnswer } from "./vendors";

/** What a call must have cost: between these, in units. */
export interface Expected {
  call: number;
  least: number;
  most: number;
  /** The most charges that it may be made of: a realtime session has one for each response. Default 1. */
  rows?: number;
  /** The call in words, with its request id where the caller knows it. */
  words: string;
}

/** Weir's ledger when nothing runs any more. */
export interface LedgerAtRest {
  /** Rows of consumption, less what was given back of each. `call`: undefined where no call has the row's address. */
  charges: readonly { request_id: string; call: number | undefined; units: number }[];
  /** Request ids of holds. */
  holds: readonly string[];
  /** What `weir audit` says, one line each. */
  findings: readonly string[];
  /** Users and limited tokens: what was given, what is left, what is used. */
  accounts: readonly { name: string; given: number; left: number; used: number }[];
}

/** No request of a trial is longer, in bytes: a token is at least a byte. */
const REQUEST_BYTES = 1000;
/** "word120 " */
const PIECE_BYTES = 8;
/** The most that Weir believes of one answer without being told to (docs/decisions/0031-prices.md). */
const MOST_BELIEVED = 2_200_000;

/** A call's bounds. `survived`: its node was not killed since. */
export function expectationOf(record: CallRecord, answers: readonly VendorAnswer[], survived: boolean): Expected {
  const { call, planned, node } = record;
  const { input, output, pieces } = planned;
  const sent = answers.filter(({ fate, started }) => started && sendsContent(fate));
  const words = `${record.request_id || "no request id"}: call ${call} (${planned.caller} of ${planned.vendor}, ${
    planned.stream ? "streamed" : "plain"
  }, ${node}${survived ? "" : ", killed since"}; vendors: ${answers.map(({ fate, whole }) => (whole ? `${fate} whole` : fate)).join(", ") || "not asked"}; ${
    record.whole ? "delivered whole" : record.content ? "delivered in part" : "nothing delivered"
  })`;
  const served = sent.at(-1);
  if (!served) return { call, least: 0, most: 0, words };
  if (record.whole && served.fate === "answers") return { call, least: input + output, most: input + output, words };
  const claims = Math.max(...sent.map(({ fate }) => (FATES[fate].usage === "lying" ? MOST_BELIEVED : input + output)));
  // Delivered content is never free while its process lives.
  const least = record.whole || (record.content && survived) ? 1 : 0;
  return { call, least, most: claims + REQUEST_BYTES + pieces * PIECE_BYTES, words };
}

/** Every promise that the ledger breaks, one line each; none is right. */
export function brokenPromises(expected: readonly Expected[], ledger: LedgerAtRest): string[] {
  const broken: string[] = [];
  const charges = Map.groupBy(ledger.charges, ({ call }) => call);
  const known = new Set(expected.map(({ call }) => call));
  for (const [call, rows] of charges) {
    if (call !== undefined && known.has(call)) continue;
    for (const { request_id, units } of rows) broken.push(`${request_id}: ${units} units for a call that was not made`);
  }
  for (const { call, least, most, words, rows: allowed = 1 } of expected) {
    const rows = charges.get(call) ?? [];
    const ids = rows.map(({ request_id, units }) => `${request_id} ${units}`).join(", ");
    if (rows.length > allowed) broken.push(`${words} is charged ${rows.length} times: ${ids}`);
    if (rows.length === 0 && least > 0) broken.push(`${words} is not charged, and costs ${range(least, most)}`);
    if (rows.length === 0 || rows.length > allowed) continue;
    const units = rows.reduce((sum, row) => sum + row.units, 0);
    const as = rows.map(({ request_id }) => request_id).join(" and ");
    if (units < least || units > most)
      broken.push(`${words} is charged ${units} units as ${as}, and costs ${range(least, most)}`);
  }
  for (const id of ledger.holds) broken.push(`${id}: still held`);
  for (const finding of ledger.findings) broken.push(`audit: ${finding}`);
  for (const { name, given, left, used } of ledger.accounts)
    if (left + used !== given) broken.push(`${name}: ${left} left and ${used} used of ${given}`);
  return broken;
}

const range = (least: number, most: number): string =>
  least === most ? `${least} units` : `${least} to ${most} units`;
