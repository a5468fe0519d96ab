/** What callers read for each kind of failure in each dialect (docs/generated/failures.md), through the relay. */
import { afterAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { ApiError, GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import type { FailureKind } from "../../src/shared/failures";
import { type Bench, frames, makeBench, makeChannel, serve, TEST_KEY } from "./kit";

type Wire = Record<string, any>;
type Answer = () => Response | Promise<Response>;

const hello = [{ role: "user", content: "hello" }];
const DOORS = {
  chat: ["/v1/chat/completions", { model: "m", messages: hello }],
  responses: ["/v1/responses", { model: "m", input: "hello" }],
  anthropic: ["/v1/messages", { model: "m", max_tokens: 10, messages: hello }],
  gemini: ["/v1beta/models/m:generateContent", { contents: [{ role: "user", parts: [{ text: "hello" }] }] }],
} as const;
type Door = keyof typeof DOORS;
const doors = Object.keys(DOORS) as Door[];

/** Two channels with one upstream, and as many retries as it takes. */
function twoChannels(answer: Answer): { bench: Bench; asked: () => number } {
  let asked = 0;
  const bench = makeBench([makeChannel(1, "http://up.test", { priority: 1 }), makeChannel(2, "http://up.test")], {
    fetch: async () => {
      asked++;
      return answer();
    },
    reachable: async () => true,
  });
  bench.options.retryTimes = 1;
  return { bench, asked: () => asked };
}

function send(bench: Bench, door: Door, stream = false): Promise<Response> {
  const [path, body] = DOORS[door];
  if (door === "gemini")
    return bench.send(stream ? path.replace("generate", "streamGenerate") + "?alt=sse" : path, body);
  return bench.send(path, { ...body, ...(stream && { stream }) });
}

const vendor =
  (status: number, message: string, more: { type?: string; code?: string } = {}): Answer =>
  () =>
    Response.json({ error: { message, type: "", code: null, ...more } }, { status });
const lost =
  (code: string): Answer =>
  () =>
    Promise.reject(Object.assign(new Error("lost"), { code }));

interface Told {
  upstream: Answer;
  /** Whether the second channel is asked. */
  elsewhere: boolean;
  status: number;
  /** OpenAI's type and code. */
  openai: [type: string, code: string];
  anthropic: string;
  gemini: string;
  /** How the message begins: in each dialect, or in all of them. */
  begins: string | Record<Door, string>;
}

const internal = { anthropic: "api_error", gemini: "INTERNAL" } as const;
const invalid = { anthropic: "invalid_request_error", gemini: "INVALID_ARGUMENT" } as const;

const TOLD: Record<Exclude<FailureKind, "limited" | "paused" | "waiting">, Told> = {
  caller_mistake: {
    upstream: vendor(400, "Unknown member", { type: "invalid_request_error", code: "unknown_parameter" }),
    elsewhere: false,
    status: 400,
    openai: ["invalid_request_error", "unknown_parameter"],
    ...invalid,
    begins: "Unknown member",
  },
  context_too_long: {
    upstream: vendor(400, "Input length 1201 exceeds maximum allowed token size 1024", {
      code: "context_length_exceeded",
    }),
    elsewhere: false,
    status: 400,
    openai: ["invalid_request_error", "context_length_exceeded"],
    ...invalid,
    begins: {
      chat: "This model's maximum context length is exceeded. Input length 1201",
      responses: "This model's maximum context length is exceeded. Input length 1201",
      anthropic: "prompt is too long: Input length 1201",
      gemini: "The input token count exceeds the maximum number of tokens allowed. Input length 1201",
    },
  },
  too_large: {
    upstream: () => new Response("<html>Request Entity Too Large</html>", { status: 413 }),
    elsewhere: false,
    status: 413,
    openai: ["invalid_request_error", "request_too_large"],
    anthropic: "request_too_large",
    gemini: "INVALID_ARGUMENT",
    begins: "",
  },
  over_account_rate: {
    upstream: vendor(
      429,
      "Request too large for m in organization org-a1 on tokens per min (TPM): Limit 30000, Requested 36278.",
      { type: "tokens", code: "rate_limit_exceeded" },
    ),
    elsewhere: true,
    status: 413,
    openai: ["invalid_request_error", "request_too_large"],
    anthropic: "request_too_large",
    gemini: "INVALID_ARGUMENT",
    begins: "Request too large for m in organization",
  },
  content_filtered: {
    upstream: vendor(400, "Content Exists Risk", { type: "invalid_request_error", code: "invalid_request_error" }),
    elsewhere: false,
    status: 400,
    openai: ["invalid_request_error", "content_filter"],
    ...invalid,
    begins: "Content Exists Risk",
  },
  unaffordable: {
    upstream: vendor(
      402,
      "This request requires more credits, or fewer max_tokens. You requested up to 9, but can only afford 5",
    ),
    elsewhere: true,
    status: 400,
    openai: ["invalid_request_error", "upstream_error"],
    ...invalid,
    begins: "This request requires more credits, or fewer max_tokens",
  },
  rate_limited: {
    upstream: vendor(429, "slow down, org-secret"),
    elsewhere: true,
    status: 429,
    openai: ["rate_limit_error", "upstream_error"],
    anthropic: "rate_limit_error",
    gemini: "RESOURCE_EXHAUSTED",
    begins: "slow down, org-secret",
  },
  quota_exhausted: {
    upstream: vendor(402, "pay"),
    elsewhere: true,
    status: 502,
    openai: ["server_error", "upstream_error"],
    ...internal,
    begins: "The upstream answered with an error (status 402)",
  },
  bad_credentials: {
    upstream: vendor(401, "wrong key sk-1"),
    elsewhere: true,
    status: 502,
    openai: ["server_error", "upstream_error"],
    ...internal,
    begins: "The upstream answered with an error (status 401)",
  },
  forbidden: {
    upstream: vendor(403, "no"),
    elsewhere: true,
    status: 502,
    openai: ["server_error", "upstream_error"],
    ...internal,
    begins: "The upstream answered with an error (status 403)",
  },
  model_missing: {
    upstream: vendor(404, "No such model", { code: "model_not_found" }),
    elsewhere: true,
    status: 404,
    openai: ["invalid_request_error", "model_not_found"],
    anthropic: "not_found_error",
    gemini: "NOT_FOUND",
    begins: "No such model",
  },
  overloaded: {
    upstream: vendor(503, "busy"),
    elsewhere: true,
    status: 503,
    openai: ["upstream_error", "upstream_error"],
    anthropic: "overloaded_error",
    gemini: "UNAVAILABLE",
    begins: "busy",
  },
  server_error: {
    upstream: vendor(500, "broken"),
    elsewhere: true,
    status: 500,
    openai: ["upstream_error", "upstream_error"],
    ...internal,
    begins: "broken",
  },
  timeout: {
    upstream: vendor(504, "too slow"),
    elsewhere: true,
    status: 504,
    openai: ["upstream_error", "upstream_timeout"],
    anthropic: "timeout_error",
    gemini: "DEADLINE_EXCEEDED",
    begins: "The upstream timed out (504)",
  },
  malformed: {
    upstream: () => new Response("<html>", { headers: { "content-type": "text/html" } }),
    elsewhere: true,
    status: 502,
    openai: ["upstream_error", "upstream_malformed"],
    ...internal,
    begins: "The upstream answered something that cannot be read",
  },
  unreachable: {
    upstream: lost("ECONNREFUSED"),
    elsewhere: true,
    status: 502,
    openai: ["upstream_error", "upstream_unreachable"],
    ...internal,
    begins: "The upstream could not be reached",
  },
  cut: {
    upstream: lost("ECONNRESET"),
    elsewhere: true,
    status: 502,
    openai: ["upstream_error", "upstream_cut"],
    ...internal,
    begins: "The upstream closed the connection early",
  },
};

const beginning = ({ begins }: Told, door: Door): string => (typeof begins === "string" ? begins : begins[door]);

/** What one door should read, by the table. */
function expected(told: Told, door: Door): Wire {
  const message = expect.stringMatching(
    new RegExp(`^${RegExp.escape(beginning(told, door))}[^]*\\(request id: req-1\\)$`),
  );
  if (door === "anthropic") return { type: "error", error: { type: told.anthropic, message }, request_id: "req-1" };
  if (door === "gemini") {
    const status = told.status === 502 ? "UNAVAILABLE" : told.gemini;
    return { error: { code: told.status, status, message } };
  }
  return { error: { type: told.openai[0], code: told.openai[1], param: null, message } };
}

describe.each(Object.entries(TOLD) as [keyof typeof TOLD, Told][])("%s", (kind, told) => {
  test.each(doors)("is told a caller of %s in that dialect's words", async (door) => {
    const { bench, asked } = twoChannels(told.upstream);
    const answer = await send(bench, door);
    expect([answer.status, await answer.json()]).toEqual([told.status, expected(told, door)]);
    expect(asked()).toBe(told.elsewhere ? 2 : 1);
    expect(JSON.parse(String(bench.failures[0]?.other)).admin_info.attempts[0].failure).toBe(kind);
  });
});

describe("a request that no channel would take", () => {
  const kinds = ["caller_mistake", "context_too_long", "too_large", "content_filtered"] as const;

  test.each(kinds)("%s: it neither cools nor reports the channel that says so", async (kind) => {
    let refuses = true;
    const good = { choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }] };
    const { bench } = twoChannels(async () => {
      if (!refuses) return Response.json({ id: "x", object: "chat.completion", model: "m", ...good });
      const response = await TOLD[kind].upstream();
      // A wait that is named with it is no reason to leave the channel alone.
      response.headers.set("retry-after", "60");
      return response;
    });
    expect((await send(bench, "chat")).status).toBe(TOLD[kind].status);
    refuses = false;
    expect((await send(bench, "chat")).status).toBe(200);
    await bench.quiet();
    expect(bench.ledger.settlements.map(({ log }) => log.channel)).toEqual([1]);
    if (kind !== "caller_mistake") expect(bench.troubles).toEqual([]);
    expect(bench.troubles.filter(({ disable }) => disable)).toEqual([]);
  });
});

describe("a stream", () => {
  const overflow =
    "This model's maximum context length is 4096 tokens. However, your messages resulted in 5000 tokens.";
  const refused = vendor(400, overflow, { type: "invalid_request_error", code: "context_length_exceeded" });
  const sse =
    (text: string): Answer =>
    () =>
      new Response(text, { headers: { "content-type": "text/event-stream" } });
  const midway = sse(
    `${frames.role}${frames.text("hi")}data: ${JSON.stringify({ error: { message: overflow, code: "context_length_exceeded" } })}\n\n`,
  );
  const datas = async (answer: Response): Promise<Wire[]> =>
    [...(await answer.text()).matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data ?? ""));

  test.each(doors)(
    "that begins with an overflow is answered by the status, and to Responses by its event: %s",
    async (door) => {
      const { bench } = twoChannels(refused);
      const answer = await send(bench, door, true);
      if (door !== "responses") {
        expect([answer.status, answer.headers.get("content-type")]).toEqual([400, "application/json"]);
        return;
      }
      expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
      const events = await datas(answer);
      expect(events.map(({ type }) => type)).toEqual(["response.created", "response.in_progress", "response.failed"]);
      expect(events.at(-1)?.response).toMatchObject({
        status: "failed",
        error: { code: "context_length_exceeded", message: `${overflow} (request id: req-1)` },
      });
      await bench.quiet();
      expect(bench.ledger.holds.size).toBe(0);
      expect(bench.failures).toHaveLength(1);
    },
  );

  test("of Responses that fails otherwise is answered by the status", async () => {
    const { bench } = twoChannels(vendor(400, "Content Exists Risk"));
    expect((await send(bench, "responses", true)).status).toBe(400);
  });

  test.each([
    ["chat", { error: { type: "invalid_request_error", code: "context_length_exceeded" } }],
    ["responses", { type: "response.failed", response: { error: { code: "context_length_exceeded" } } }],
    ["anthropic", { type: "error", error: { type: "invalid_request_error" } }],
    ["gemini", { error: { code: 400, status: "INVALID_ARGUMENT" } }],
  ] as const)("that overflows midway ends with the error in the words of %s", async (door, last) => {
    const { bench } = twoChannels(midway);
    const answer = await send(bench, door, true);
    expect(answer.status).toBe(200);
    const end = (await datas(answer)).at(-1) ?? {};
    expect(end).toMatchObject(last);
    const { message } = end.error ?? end.response.error;
    const words = {
      chat: overflow,
      responses: overflow,
      anthropic: "prompt is too long: 5000 tokens > 4096 maximum.",
      gemini: "The input token count (5000) exceeds the maximum number of tokens allowed (4096).",
    };
    expect(message).toStartWith(words[door]);
  });
});

describe("the input that no channel allows", () => {
  test.each(doors)("reads like a vendor's overflow: %s", async (door) => {
    const bench = makeBench([makeChannel(1, "http://up.test", { max_input_tokens: 0.5 })]);
    const answer = await send(bench, door);
    const own = "The input is longer than any available channel allows (model m)";
    const told: Told = {
      ...TOLD.context_too_long,
      begins: {
        chat: `This model's maximum context length is exceeded. ${own}`,
        responses: `This model's maximum context length is exceeded. ${own}`,
        anthropic: `prompt is too long: ${own}`,
        gemini: `The input token count exceeds the maximum number of tokens allowed. ${own}`,
      },
    };
    expect([answer.status, await answer.json()]).toEqual([400, expected(told, door)]);
    if (door !== "responses") return;
    expect(await (await send(bench, door, true)).text()).toContain('"code":"context_length_exceeded"');
  });
});

describe("the official SDKs know the error of a call that is too long", () => {
  const overflow = "prompt is too long: 5000 tokens > 4096 maximum";
  const { bench } = twoChannels(vendor(400, overflow, { type: "invalid_request_error" }));
  const server = serve(bench);
  afterAll(() => server[Symbol.dispose]());
  const thrown = (call: Promise<unknown>): Promise<unknown> =>
    call.then(
      () => expect.unreachable("it was answered"),
      (error: unknown) => error,
    );

  test("OpenAI's", async () => {
    const client = new OpenAI({ apiKey: TEST_KEY, baseURL: `${server.url}/v1`, maxRetries: 0 });
    const messages = [{ role: "user" as const, content: "hello" }];
    for (const stream of [false, true]) {
      const error = await thrown(client.chat.completions.create({ model: "m", messages, stream }));
      expect(error).toBeInstanceOf(OpenAI.BadRequestError);
      expect(error).toMatchObject({ code: "context_length_exceeded", type: "invalid_request_error" });
    }
    const plain = await thrown(client.responses.create({ model: "m", input: "hello" }));
    expect(plain).toBeInstanceOf(OpenAI.BadRequestError);
    const events = await client.responses.create({ model: "m", input: "hello", stream: true });
    const failed: unknown[] = [];
    for await (const event of events) if (event.type === "response.failed") failed.push(event.response.error?.code);
    expect(failed).toEqual(["context_length_exceeded"]);
  });

  test("Anthropic's", async () => {
    const client = new Anthropic({ apiKey: TEST_KEY, baseURL: server.url, maxRetries: 0 });
    const messages = [{ role: "user" as const, content: "hello" }];
    for (const stream of [false, true]) {
      const error = await thrown(client.messages.create({ model: "m", max_tokens: 10, messages, stream }));
      expect(error).toBeInstanceOf(Anthropic.BadRequestError);
      expect(error).toMatchObject({
        type: "invalid_request_error",
        error: { error: { message: expect.stringMatching(/^prompt is too long: 5000 tokens > 4096 maximum/) } },
      });
    }
  });

  test("Google's", async () => {
    const client = new GoogleGenAI({ apiKey: TEST_KEY, httpOptions: { baseUrl: server.url } });
    const error = await thrown(client.models.generateContent({ model: "m", contents: "hello" }));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      status: 400,
      message: expect.stringContaining(
        "The input token count (5000) exceeds the maximum number of tokens allowed (4096)",
      ),
    });
  });
});
