/**
 * All strict vendors on one port. A cell is known by its key: what befalls it is planned, and what was asked and
 * answered is kept.
 */
import { type Answer, type Json, object, text } from "../../kit/fake-upstream/answer";
import { type FakeUsage, parseBehaviour } from "../../kit/fake-upstream/behaviours";
import type { ErrorAnswer } from "../../kit/fake-upstream/dialects/dialect";
import { encodeEvent, encodeFrames } from "../../kit/fake-upstream/sse";
import { anthropicVendor } from "./anthropic";
import { geminiVendor } from "./gemini";
import { openaiChatVendor } from "./openai-chat";
import { openaiResponsesVendor } from "./openai-responses";
import { judge } from "./rule";
import { nextAnswer, wordsIn } from "./script";
import type { Vendor } from "./vendor";

/** What the vendor does to a cell's calls. */
export const FATES = [
  "answers",
  "error_in_stream",
  "dead_key",
  "rate_limited",
  "overloaded",
  "too_long",
  "out_of_quota",
  "unknown_model",
] as const;
export type Fate = (typeof FATES)[number];

/** How often a limit or an overload refuses before the vendor answers. */
const PASSING_FAILURES = 2;

/** One request of a cell, as its vendor saw it. */
export interface Asked {
  path: string;
  model: string;
  stream: boolean;
  status: number;
  /** The answer's usage when it was sent whole. */
  usage?: FakeUsage;
  /** The rule that refused it, with the vendor's words. */
  refusal?: string;
}

export interface CellRecord {
  readonly fate: Fate;
  readonly asked: Asked[];
  /** What rules without a source would have refused. */
  readonly remarks: string[];
  /** Signatures and encrypted thoughts that were given out, and those that came back. */
  readonly issued: Set<string>;
  readonly returned: Set<string>;
  /** Words of the notes that arrived as tool results. */
  readonly words: Set<string>;
}

export interface StrictVendors {
  readonly url: string;
  /** Begins a cell under a key. */
  plan(key: string, fate: Fate): CellRecord;
  close(): void;
}

interface Route {
  vendor: Vendor;
  model: string;
  stream: boolean;
  framing: "sse" | "json-array";
}

const GEMINI_PATH = /^\/v1(?:alpha|beta)?\/models\/([^/:]+):(generateContent|streamGenerateContent)$/;

function routeOf(url: URL, body: Json): Route | undefined {
  const common = { model: text(body.model), stream: body.stream === true, framing: "sse" } as const;
  if (url.pathname === "/v1/chat/completions") return { vendor: openaiChatVendor, ...common };
  if (url.pathname === "/v1/responses") return { vendor: openaiResponsesVendor, ...common };
  if (url.pathname === "/v1/messages") return { vendor: anthropicVendor, ...common };
  const [, model, method] = GEMINI_PATH.exec(url.pathname) ?? [];
  if (model === undefined) return undefined;
  const framing = url.searchParams.get("alt") === "sse" ? "sse" : "json-array";
  return { vendor: geminiVendor, model, stream: method === "streamGenerateContent", framing };
}

const keyOf = (request: Request, url: URL): string =>
  request.headers.get("x-goog-api-key") ??
  request.headers.get("x-api-key") ??
  request.headers.get("authorization")?.replace(/^Bearer\s+/i, "") ??
  url.searchParams.get("key") ??
  "";

/** Different for every answer of a cell, and even, so that halves of prices stay whole units. */
const usageOf = (number: number, thinks: boolean, caches: boolean): FakeUsage => ({
  input: 1000 + 22 * number,
  output: 60 + 2 * number,
  cacheRead: caches ? 200 : 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  reasoning: thinks ? 20 : 0,
  audioIn: 0,
  audioOut: 0,
});

const ENCRYPTED = /,"encrypted_content":"[^"]*"/g;

const fail = ({ status, headers, body }: ErrorAnswer): Response =>
  Response.json(body, { status, headers: { ...headers, "x-request-id": "req_fake" } });

/** The error that a fate answers with, on the n-th main call of a cell. */
function fateError(fate: Fate, { vendor, model }: Route, number: number): ErrorAnswer | undefined {
  const { dialect } = vendor;
  switch (fate) {
    case "dead_key":
      return dialect.error("invalid_key");
    case "out_of_quota":
      return dialect.error("no_quota");
    case "too_long":
      return vendor.tooLong;
    case "unknown_model":
      return vendor.unknownModel(model);
    case "rate_limited":
      return number < PASSING_FAILURES ? dialect.error(429) : undefined;
    case "overloaded":
      return number < PASSING_FAILURES ? vendor.overloaded : undefined;
    default:
      return undefined;
  }
}

/** A stream, one piece at a time, so that its reader sees one. */
function events(pieces: readonly Uint8Array[], type = "text/event-stream; charset=utf-8"): Response {
  const rest = pieces.values();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await new Promise((resolve) => setImmediate(resolve));
      const { value, done } = rest.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
  return new Response(body, { headers: { "content-type": type, "x-request-id": "req_fake" } });
}

export function startStrictVendors(): StrictVendors {
  const cells = new Map<string, CellRecord>();
  let served = 0;

  /** Calls that are no conversation: counting and lists. */
  function besides(url: URL, body: Json): Response {
    if (url.pathname.endsWith("count_tokens")) return Response.json({ input_tokens: 1000 });
    if (url.pathname.endsWith(":countTokens")) return Response.json({ totalTokens: 1000 });
    if (url.pathname === "/v1/models") return Response.json({ object: "list", data: [] });
    const message = `Invalid URL (POST ${url.pathname}) ${text(body.model)}`;
    return fail({ status: 404, body: { error: { message, type: "invalid_request_error", param: null, code: null } } });
  }

  async function answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const raw = await request.text();
    const body = raw.startsWith("{") ? object(JSON.parse(raw)) : {};
    const route = routeOf(url, body);
    if (!route) return besides(url, body);
    const { vendor, model, stream } = route;
    const cell = cells.get(keyOf(request, url));
    if (!cell) return fail(vendor.dialect.error("invalid_key"));
    const entry: Asked = { path: url.pathname, model, stream, status: 200 };
    const number = cell.asked.push(entry) - 1;
    const refuse = (error: ErrorAnswer): Response => {
      entry.status = error.status;
      return fail(error);
    };
    if (cell.fate === "too_long" && stream && vendor.tooLongEvents)
      return events(vendor.tooLongEvents(body).map((frame) => encodeEvent(frame, parseBehaviour("strict"))));
    const fated = fateError(cell.fate, route, number);
    if (fated) return refuse(fated);
    const { refusal, remarks } = judge(vendor.rules, { ...body, model }, cell);
    cell.remarks.push(...remarks);
    if (refusal) {
      entry.refusal = `${refusal.rule.name}: ${refusal.message}`;
      return refuse(vendor.refusal(refusal.rule, refusal.message));
    }

    const conversation = vendor.read(body);
    for (const thought of conversation.thoughts) if (cell.issued.has(thought)) cell.returned.add(thought);
    for (const word of wordsIn(conversation.results)) cell.words.add(word);
    const id = `strict${String(++served).padStart(6, "0")}`;
    const said = nextAnswer(conversation, raw, id);
    const usage = usageOf(number, conversation.thinks, said.tools.length === 0);
    const whole: Answer = {
      id,
      model,
      created: Math.floor(Date.now() / 1000),
      reasoning: conversation.thinks ? ["The notes ", "come first."] : [],
      signed: conversation.signs,
      text: said.text,
      refusal: [],
      tools: said.tools,
      finish: said.tools.length > 0 ? "tool" : "stop",
      choices: 1,
      usage,
      behaviour: parseBehaviour("strict"),
    };
    const breaks = cell.fate === "error_in_stream" && number === 0;
    return send(whole, body, route, cell, { entry, signs: conversation.signs, breaks });
  }

  function send(
    whole: Answer,
    request: Json,
    { vendor, stream, framing }: Route,
    cell: CellRecord,
    { entry, signs, breaks }: { entry: Asked; signs: boolean; breaks: boolean },
  ): Response {
    const { dialect } = vendor;
    const shown = (json: string): string => (signs ? json : json.replaceAll(ENCRYPTED, ""));
    const note = (json: string): void => {
      for (const [, , given] of json.matchAll(/"(signature|encrypted_content|thoughtSignature)":"([^"]+)"/g))
        if (given !== undefined) cell.issued.add(given).add(given.replace(/=+$/, ""));
    };
    if (!stream) {
      if (breaks) return fail(dialect.error(500));
      const json = shown(JSON.stringify(dialect.whole(whole, request)));
      note(json);
      entry.usage = whole.usage;
      return new Response(json, { headers: { "content-type": "application/json" } });
    }
    const frames = dialect.frames(whole, request).map((frame) => ({ ...frame, data: shown(frame.data) }));
    const content = frames.findIndex(({ kind }) => kind === "content");
    const sent = breaks ? frames.slice(0, content + 1) : frames;
    for (const { data } of sent) note(data);
    if (!breaks) entry.usage = whole.usage;
    const pieces = encodeFrames(sent, whole.behaviour, framing).map(({ bytes }) => bytes);
    if (breaks) pieces.push(encodeEvent(dialect.errorFrame(sent.length), whole.behaviour));
    const type = framing === "sse" ? "text/event-stream; charset=utf-8" : "application/json; charset=UTF-8";
    return events(pieces, type);
  }

  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", idleTimeout: 120, fetch: answer });
  return {
    url: `http://127.0.0.1:${server.port}`,
    plan: (key, fate) => {
      const record: CellRecord = {
        fate,
        asked: [],
        remarks: [],
        issued: new Set(),
        returned: new Set(),
        words: new Set(),
      };
      cells.set(key, record);
      return record;
    },
    close: () => void server.stop(true),
  };
}
