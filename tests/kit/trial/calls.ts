/** Callers of random dialects who read to the last byte, or leave on purpose, and record what they received. */
import { askIn, type CallerKey, pairs } from "../fake-vendors";
import type { Node } from "./nodes";
import type { Random } from "./random";
import { type AnswerPlan, type Fate, FATES } from "./vendors";

/** The vendor dialects of the trials; a vendor of Responses is for callers of Responses. */
export const VENDORS = ["chat", "responses", "anthropic", "gemini"] as const;
export type TrialVendor = (typeof VENDORS)[number];
/** A failure pauses a channel for one model: with many models the others are served meanwhile. */
const MODELS_PER_VENDOR = 40;
const CALL_LIMIT_MS = 60_000;
const MAX_TOKENS = 2000;

const modelName = (vendor: TrialVendor, index: number): string => `trial-${vendor}-${index}`;
export const modelsOf = (vendor: TrialVendor): string[] =>
  Array.from({ length: MODELS_PER_VENDOR }, (_, index) => modelName(vendor, index));

const PAIRS = pairs.filter((pair): pair is readonly [TrialVendor, CallerKey] =>
  (VENDORS as readonly string[]).includes(pair[0]),
);

/** A call that a schedule plans. */
export interface PlannedCall extends AnswerPlan {
  caller: CallerKey;
  vendor: TrialVendor;
  model: string;
  stream: boolean;
  /** Taken modulo the number of nodes, and of tokens. */
  node: number;
  token: number;
  /** The caller hangs up after so long; absent: reads to the end. */
  leaveAfterMs?: number;
  /** A pause of the caller before this call. */
  waitMs: number;
  /** How long the call may take; absent: a minute. */
  limitMs?: number;
}

/**
 * `fates` of a call's attempts; default: the vendor answers. `leaving`: share of callers who hang up. `pauseMs`: the
 * longest pause before the call.
 */
export function randomCall(
  random: Random,
  { fates = ["answers"] as readonly Fate[], leaving = 0.1, pauseMs = 120 } = {},
): PlannedCall {
  const [vendor, caller] = random.pick(PAIRS);
  const leaves = random.chance(leaving);
  return {
    caller,
    vendor,
    fates,
    model: modelName(vendor, random.whole(0, MODELS_PER_VENDOR - 1)),
    stream: random.chance(0.6),
    node: random.whole(0, 5),
    token: random.whole(0, 5),
    input: random.whole(1, 500),
    output: random.whole(1, 300),
    pieces: random.whole(4, 120),
    paceMs: random.pick([0, 2, 10, 20]),
    headMs: random.pick([0, 0, 20, 500]),
    waitMs: random.whole(0, pauseMs),
    ...(leaves && { leaveAfterMs: random.whole(1, 600) }),
  };
}

/** What one caller knows afterwards. */
export interface CallRecord {
  call: number;
  planned: Pick<PlannedCall, "caller" | "vendor" | "stream" | "input" | "output" | "pieces">;
  node: string;
  /** Which process of the node was asked. */
  life: number;
  /** 0: no head arrived. */
  status: number;
  /** "" while no head has arrived. */
  request_id: string;
  /** The last byte of a complete answer has arrived: its end mark, or a whole JSON body. */
  whole: boolean;
  /** Some of the vendor's content has arrived. */
  content: boolean;
  /** Hung up on purpose. */
  left: boolean;
  /** No end within a minute. */
  late: boolean;
}

/** Each call comes from an address of its own, which its log row keeps. */
export const addressOf = (call: number): string => `10.${(call >> 16) & 255}.${(call >> 8) & 255}.${call & 255}`;

/** The call of an address; undefined for addresses that no call has. */
export function callOf(address: string): number | undefined {
  const [first, a = 0, b = 0, c = 0] = address.split(".").map(Number);
  return first === 10 ? (a << 16) | (b << 8) | c : undefined;
}

/** The last event of a complete stream. */
const END_MARKS: Readonly<Record<CallerKey, RegExp>> = {
  chat: /\ndata: ?\[DONE\]\s*$/,
  responses: /"type":\s*"response\.completed"/,
  anthropic: /"type":\s*"message_stop"/,
  gemini: /"finishReason":\s*"STOP"/,
};

function isWhole(caller: CallerKey, stream: boolean, text: string): boolean {
  if (stream) return END_MARKS[caller].test(text) && !/"error":\s*\{/.test(text);
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === "object" && body !== null && !("error" in body && body.error);
  } catch {
    return false;
  }
}

/** Makes the call and reads it. Never rejects: what went wrong is in the record. */
export async function makeCall(
  node: Node,
  { call, key, prompt, planned }: { call: number; key: string; prompt: string; planned: PlannedCall },
): Promise<CallRecord> {
  const { caller, vendor, stream, input, output, pieces, leaveAfterMs } = planned;
  const record: CallRecord = {
    call,
    planned: { caller, vendor, stream, input, output, pieces },
    node: node.name,
    life: node.lives,
    status: 0,
    request_id: "",
    whole: false,
    content: false,
    left: false,
    late: false,
  };
  const leaving = new AbortController();
  const timers = [setTimeout(() => ((record.late = true), leaving.abort()), planned.limitMs ?? CALL_LIMIT_MS)];
  if (leaveAfterMs !== undefined) timers.push(setTimeout(() => ((record.left = true), leaving.abort()), leaveAfterMs));
  let text = "";
  try {
    const response = await askIn(node.url, caller, key, planned.model, {
      signal: leaving.signal,
      stream,
      max: MAX_TOKENS,
      prompt,
      headers: { "x-forwarded-for": addressOf(call) },
    });
    record.status = response.status;
    record.request_id = response.headers.get("x-request-id") ?? response.headers.get("x-oneapi-request-id") ?? "";
    const decoder = new TextDecoder();
    for await (const part of response.body ?? []) text += decoder.decode(part, { stream: true });
    record.whole = response.status === 200 && isWhole(caller, stream, text);
  } catch {
    // Refused, cut off, or left.
  } finally {
    for (const timer of timers) clearTimeout(timer);
  }
  record.content = record.status === 200 && text.includes("word1");
  if (record.whole) record.left = record.late = false;
  return record;
}

/** The fate of a call in a word or two, for the report. */
export function fateOf({ status, whole, left, content }: CallRecord): string {
  if (whole) return "delivered whole";
  if (left) return "left";
  if (status === 0) return "no answer";
  if (status === 200) return content ? "broken off" : "broken off without content";
  return `refused with ${status}`;
}

/** Whether any attempt of these fates sends content. */
export const sendsContent = (fate: Fate): boolean => FATES[fate].sends !== "nothing";
