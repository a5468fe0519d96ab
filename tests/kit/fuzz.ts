/**
 * Odd requests and odd vendors for the relay, in memory: bodies, answers and frames that were valid and are changed at
 * random. Each case must end: with an answer, without an open hold, without an error that nothing expected.
 */
import { channelType } from "../../src/shared/channel-types";
import { makeBench, makeChannel, type Bench } from "../relay/kit";
import {
  callerKeys,
  type CallerKey,
  channelOf,
  framesOf,
  type Piece,
  vendorKeys,
  type VendorKey,
} from "./fake-vendors";
import type { Random } from "./trial/random";

/** A case that takes longer to end hangs: nothing in it waits. */
const LIMIT_MS = 10_000;
/** The bench keeps what its ledger heard; a new one keeps it small. */
const CASES_PER_BENCH = 2_000;

const ODD: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  -0,
  2 ** 53,
  "",
  " ",
  "\u0000",
  "\ud800",
  "💥".repeat(20),
  "x".repeat(20_000),
  [],
  {},
  [[]],
  [null],
  { __proto__: null },
  { type: "text" },
  { type: 7 },
  [[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]],
];

/** One node of a JSON value, anywhere in it, replaced, removed, repeated or renamed. */
export function oddJson(random: Random, value: unknown): unknown {
  if (typeof value !== "object" || value === null || random.chance(0.25)) return random.pick(ODD);
  if (Array.isArray(value)) {
    const copy: unknown[] = [...(value as unknown[])];
    const at = random.whole(0, copy.length);
    const kind = random.next();
    if (at === copy.length || kind < 0.2) copy.splice(at, 0, random.pick(ODD));
    else if (kind < 0.4) copy.push(...copy.slice(at));
    else copy[at] = oddJson(random, copy[at]);
    return copy;
  }
  const entries = Object.entries(value);
  if (entries.length === 0) return { [random.pick(["id", "type", "", "__proto__", "constructor"])]: random.pick(ODD) };
  const at = random.whole(0, entries.length - 1);
  const [name, inner] = entries[at] ?? ["", null];
  const kind = random.next();
  if (kind < 0.1) entries.splice(at, 1);
  else if (kind < 0.2) entries[at] = [random.pick(["__proto__", "toString", `${name}s`]), inner];
  else entries[at] = [name, oddJson(random, inner)];
  return Object.fromEntries(entries);
}

/** A text with bytes flipped, cut, repeated or put in between. */
export function oddText(random: Random, text: string): string {
  const at = random.whole(0, text.length);
  const end = Math.min(text.length, at + random.whole(1, 40));
  switch (random.whole(0, 4)) {
    case 0:
      return text.slice(0, at);
    case 1:
      return text.slice(0, at) + text.slice(end);
    case 2:
      return text.slice(0, end) + text.slice(at);
    case 3:
      return text.slice(0, at) + String.fromCharCode(random.whole(0, 0xffff)) + text.slice(at);
    default:
      return (
        text.slice(0, at) + random.pick(["\n\n", "\r", "data: ", ":", "{", "}", '"', "\\", "\u0000"]) + text.slice(at)
      );
  }
}

/** A body in a caller's dialect, with most of what callers send. */
export function bodyOf(caller: CallerKey, stream: boolean, prompt: string): Record<string, unknown> {
  const schema = { type: "object", properties: { city: { type: "string" } } };
  const image = "data:image/png;base64,AAAA";
  const model = "m";
  switch (caller) {
    case "chat":
      return {
        model,
        stream,
        max_tokens: 50,
        messages: [
          { role: "system", content: "be kind" },
          {
            role: "user",
            content: [
              { type: "text", text: prompt },
              { type: "image_url", image_url: { url: image } },
            ],
          },
          { role: "assistant", tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }] },
          { role: "tool", tool_call_id: "c", content: "7" },
        ],
        tools: [{ type: "function", function: { name: "f", parameters: schema } }],
        response_format: { type: "json_schema", json_schema: { name: "s", schema } },
      };
    case "responses":
      return {
        model,
        stream,
        max_output_tokens: 50,
        instructions: "be kind",
        input: [
          { role: "user", content: [{ type: "input_text", text: prompt }] },
          { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
          { type: "function_call_output", call_id: "c", output: "7" },
        ],
        tools: [{ type: "function", name: "f", parameters: schema }],
        reasoning: { effort: "low" },
      };
    case "anthropic":
      return {
        model,
        stream,
        max_tokens: 50,
        system: [{ type: "text", text: "be kind", cache_control: { type: "ephemeral" } }],
        messages: [
          { role: "user", content: [{ type: "text", text: prompt }] },
          { role: "assistant", content: [{ type: "tool_use", id: "c", name: "f", input: {} }] },
          { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: "7" }] },
        ],
        tools: [{ name: "f", input_schema: schema }],
        thinking: { type: "enabled", budget_tokens: 1024 },
      };
    case "gemini":
      return {
        contents: [
          { role: "user", parts: [{ text: prompt }, { inlineData: { mimeType: "image/png", data: "AAAA" } }] },
          { role: "model", parts: [{ functionCall: { name: "f", args: {} } }] },
          { role: "user", parts: [{ functionResponse: { name: "f", response: { n: 7 } } }] },
        ],
        tools: [{ functionDeclarations: [{ name: "f", parameters: schema }] }],
        generationConfig: { maxOutputTokens: 50, responseSchema: schema },
      };
  }
}

export const pathOf = (caller: CallerKey, stream: boolean): string =>
  ({
    chat: "/v1/chat/completions",
    responses: "/v1/responses",
    anthropic: "/v1/messages",
    gemini: `/v1beta/models/m:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
  })[caller];

const PIECES: readonly Piece[] = [
  { thought: "let me see" },
  { text: "Once upon" },
  { call: '{"city":"Paris"}' },
  { text: " a time." },
];
/** Dify has text alone. */
const piecesOf = (vendor: VendorKey): readonly Piece[] =>
  vendor === "dify" ? PIECES.filter((piece) => "text" in piece) : PIECES;

/** A vendor's whole answer. */
const wholeOf: Readonly<Record<VendorKey, object>> = {
  chat: {
    id: "c",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: "hi", tool_calls: [] }, finish_reason: "stop" }],
    usage: { prompt_tokens: 5, completion_tokens: 6, total_tokens: 11 },
  },
  responses: {
    id: "r",
    object: "response",
    status: "completed",
    model: "m",
    output: [
      { type: "message", id: "m", role: "assistant", content: [{ type: "output_text", text: "hi", annotations: [] }] },
    ],
    usage: { input_tokens: 5, output_tokens: 6, total_tokens: 11 },
  },
  anthropic: {
    id: "a",
    type: "message",
    role: "assistant",
    model: "m",
    content: [{ type: "text", text: "hi" }],
    stop_reason: "end_turn",
    usage: { input_tokens: 5, output_tokens: 6 },
  },
  gemini: {
    candidates: [{ index: 0, content: { role: "model", parts: [{ text: "hi" }] }, finishReason: "STOP" }],
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 6, totalTokenCount: 11 },
  },
  cohere: {
    id: "c",
    finish_reason: "COMPLETE",
    message: { role: "assistant", content: [{ type: "text", text: "hi" }] },
    usage: { tokens: { input_tokens: 5, output_tokens: 6 } },
  },
  dify: { event: "message", answer: "hi", conversation_id: "v", metadata: { usage: { total_tokens: 11 } } },
};

/** A frame whose JSON is odd, or whose text is. */
function oddFrame(random: Random, frame: string): string {
  const line = /data: (\{.*\})/.exec(frame)?.[1];
  if (line === undefined || random.chance(0.4)) return oddText(random, frame);
  return frame.replace(line, () => JSON.stringify(oddJson(random, JSON.parse(line))));
}

/** The bytes of a stream in packets of any size, of frames in any order. */
function oddStream(random: Random, frames: readonly string[]): Buffer[] {
  const sent = frames.map((frame) => (random.chance(0.4) ? oddFrame(random, frame) : frame));
  if (random.chance(0.2)) sent.splice(random.whole(0, sent.length), 1);
  if (sent.length > 0 && random.chance(0.2)) sent.splice(random.whole(0, sent.length), 0, random.pick(sent));
  const bytes = Buffer.from(sent.join(""));
  const packets: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = at + random.pick([1, 7, 64, 1000, bytes.length]);
    packets.push(bytes.subarray(at, end));
    at = end;
  }
  return packets;
}

export interface FuzzResult {
  cases: number;
  /** Cases by status. */
  statuses: Map<number, number>;
  /** The most CPU time of the thread that a case took, in milliseconds: no slice of it was longer. */
  longest_ms: number;
  longest_case: number;
  /** What did not hold, one line each. */
  broken: string[];
}

/** Runs cases `from` to `from + count`; case n follows from the seed and n alone. */
export async function fuzzRelay(randomFor: (n: number) => Random, from: number, count: number): Promise<FuzzResult> {
  const result: FuzzResult = { cases: 0, statuses: new Map(), longest_ms: 0, longest_case: -1, broken: [] };
  const unexpected = (error: unknown): void =>
    void result.broken.push(`an error that nothing caught: ${String(error)}`);
  process.on("unhandledRejection", unexpected);
  process.on("uncaughtException", unexpected);
  let benches = openBenches();
  try {
    for (let n = from; n < from + count; n++) {
      if (n % CASES_PER_BENCH === 0) benches = openBenches();
      const once = (): Promise<number> => oneCase(benches, randomFor(n), n, result);
      let ms = await once();
      // Compiling and collecting garbage are in it: what the case itself takes, it takes each time.
      for (let tries = 0; ms > 100 && tries < 3; tries++) ms = Math.min(ms, await once());
      if (ms > result.longest_ms) Object.assign(result, { longest_ms: ms, longest_case: n });
      result.cases++;
    }
  } finally {
    process.off("unhandledRejection", unexpected);
    process.off("uncaughtException", unexpected);
  }
  return result;
}

type Benches = Readonly<Record<VendorKey, { bench: Bench; answer: { body: Buffer[]; type: string; cut: boolean } }>>;

function openBenches(): Benches {
  const open = (vendor: VendorKey): Benches[VendorKey] => {
    const answer: Benches[VendorKey]["answer"] = { body: [], type: "application/json", cut: false };
    const { type: number, setting } = channelOf[vendor];
    const type = channelType(number ?? 1);
    const channel = makeChannel(1, "http://up.test", {
      ...(type && { type }),
      setting: { ...setting },
    });
    const bench = makeBench([channel], {
      fetch: async () => {
        const body = new ReadableStream<Uint8Array>({
          start(stream) {
            for (const part of answer.body) stream.enqueue(part);
            if (answer.cut) stream.error(Object.assign(new Error("cut"), { code: "ECONNRESET" }));
            else stream.close();
          },
        });
        return new Response(body, { headers: { "content-type": answer.type } });
      },
      reachable: async () => true,
    });
    bench.ledger.balance = 1e12;
    return { bench, answer };
  };
  return {
    chat: open("chat"),
    responses: open("responses"),
    anthropic: open("anthropic"),
    gemini: open("gemini"),
    cohere: open("cohere"),
    dify: open("dify"),
  };
}

/** Returns the thread's CPU time in milliseconds. */
async function oneCase(benches: Benches, random: Random, n: number, result: FuzzResult): Promise<number> {
  const vendor = random.pick(vendorKeys);
  const caller = vendor === "responses" ? "responses" : random.pick(callerKeys);
  const stream = random.chance(0.7);
  const oddCaller = random.chance(0.5);
  const { bench, answer } = benches[vendor];
  const valid = bodyOf(caller, stream, "Tell me of the sea.");
  let body = JSON.stringify(oddCaller ? oddJson(random, valid) : valid) ?? "";
  if (oddCaller && random.chance(0.3)) body = oddText(random, body);
  const whole = [JSON.stringify(wholeOf[vendor])];
  const frames = stream ? framesOf({ vendor, pieces: piecesOf(vendor) }) : whole;
  const closing = stream && vendor === "chat" && random.chance(0.8) ? ["data: [DONE]\n\n"] : [];
  answer.body = oddCaller
    ? [...frames, ...closing].map((frame) => Buffer.from(frame))
    : oddStream(random, [...frames, ...closing]);
  answer.type = stream ? "text/event-stream" : "application/json";
  answer.cut = random.chance(0.1);
  const about = `case ${n} (${caller} of ${vendor}, ${stream ? "streamed" : "plain"}, ${oddCaller ? "odd body" : "odd answer"})`;
  const before = process.threadCpuUsage();
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => late.resolve(undefined), LIMIT_MS);
  try {
    const answered = (async () => {
      const response = await bench.send(pathOf(caller, stream), body);
      return { status: response.status, text: await response.text().catch(String) };
    })();
    const ended = await Promise.race([answered, late.promise]);
    if (!ended) {
      result.broken.push(`${about}: no end within ${LIMIT_MS / 1000} s`);
      return 0;
    }
    const { status, text } = ended;
    result.statuses.set(status, (result.statuses.get(status) ?? 0) + 1);
    if (status === 500) result.broken.push(`${about}: 500 ${text.slice(0, 200)}`);
    if (status >= 500 && !text.includes("req-")) result.broken.push(`${about}: ${status} without a request id`);
    const { stats } = bench.relay;
    for (const limit = performance.now() + LIMIT_MS; stats.open_calls > 0 || stats.open_streams > 0;) {
      if (performance.now() > limit) throw new Error("its caller has the answer, and the call is open");
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (bench.ledger.holds.size > 0) {
      result.broken.push(`${about}: ${bench.ledger.holds.size} holds are open`);
      bench.ledger.holds.clear();
    }
  } catch (error) {
    result.broken.push(`${about}: ${String(error)}`);
  } finally {
    clearTimeout(timer);
  }
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}
