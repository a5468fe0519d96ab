/** Whole calls against the fake upstream: answers, errors in the caller's dialect, bad input, retries, rows. */
import { textOfRow } from "../kit/row-text";
import { afterAll, describe, expect, test } from "bun:test";
import type { PoolChannel } from "../../src/server/contracts/channel";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { atOnce, type Bench, chatBody, makeBench, makeChannel, TEST_KEY } from "./kit";

const upstream = startFakeUpstream();
afterAll(() => upstream.close());
const chat = "/v1/chat/completions";
const bench = (more: Partial<PoolChannel> = {}): Bench => makeBench([makeChannel(1, upstream.url, more)]);

interface ErrorBody {
  error: { message: string; type: string; param: string | null; code: string };
}
const errorOf = async (response: Response): Promise<ErrorBody["error"]> => ((await response.json()) as ErrorBody).error;
const lastSeen = () => {
  const { headers, body } = upstream.journal.last();
  return { headers, body: JSON.parse(body) as Record<string, unknown> };
};

/** No hold is left, every hold ended once, no unit is lost. */
function booksBalance({ ledger }: Bench): void {
  expect([...ledger.ends.values()].every((ends) => ends.length === 1)).toBe(true);
  expect(ledger.holds.size).toBe(0);
  expect(ledger.balance + ledger.charged).toBe(1_000_000);
}

describe("answers", () => {
  test("a plain answer is the upstream's, byte for byte, charged by its usage before it is sent", async () => {
    const b = bench();
    const response = await b.send(chat, chatBody("gpt-4o+usage:12:34"));
    expect(response.status).toBe(200);
    const text = await response.text();
    expect(JSON.parse(text).usage).toMatchObject({ prompt_tokens: 12, completion_tokens: 34 });
    expect(b.ledger.settlements).toHaveLength(1);
    expect(b.ledger.settlements[0]).toMatchObject({
      quota: 12 + 68,
      log: {
        channel: 1,
        model_name: "gpt-4o+usage:12:34",
        prompt_tokens: 12,
        completion_tokens: 34,
        is_stream: false,
        end_reason: "complete",
      },
    });
    expect(b.ledger.settlements[0]?.log.upstream_request_id).toStartWith("req_fake");
    booksBalance(b);
  });

  test("responses have Weir's request id and no header of the vendor", async () => {
    for (const stream of [false, true]) {
      const response = await bench().send(chat, chatBody("gpt-4o+crlf", { stream }), {
        headers: { origin: "http://app.test" },
      });
      expect([...response.headers.keys()].sort()).toEqual([
        "access-control-allow-origin",
        "access-control-expose-headers",
        ...(stream ? ["cache-control"] : []),
        "content-type",
        "vary",
        "x-accel-buffering",
        "x-content-type-options",
        "x-oneapi-request-id",
        "x-request-id",
      ]);
      expect(response.headers.get("x-request-id")).toBe("req-1");
      await response.text();
    }
  });

  test("the upstream gets the channel's key, the mapped model and none of the caller's headers", async () => {
    const b = bench({ model_mapping: new Map([["gpt-4o", "echo"]]), organization: "org-1" });
    await b.send(chat, chatBody("gpt-4o", { temperature: 1.0 }), {
      headers: { "x-custom": "secret", "openai-organization": "other", cookie: "a=b" },
    });
    const seen = lastSeen();
    expect(seen.body).toEqual({ ...chatBody("echo"), temperature: 1 });
    expect(seen.headers.authorization).toBe("Bearer upstream-key-1");
    expect(seen.headers["openai-organization"]).toBe("org-1");
    for (const name of ["x-custom", "cookie"]) expect(seen.headers[name]).toBeUndefined();
    const other = JSON.parse(b.ledger.settlements[0]?.log.other ?? "{}");
    expect(other).toMatchObject({
      is_model_mapped: true,
      upstream_model_name: "echo",
      model_ratio: 1,
      request_path: chat,
    });
  });

  test("usage is requested upstream and hidden from a caller who did not request it", async () => {
    const b = bench();
    const text = await (await b.send(chat, chatBody("gpt-4o", { stream: true }))).text();
    expect(lastSeen().body).toMatchObject({ stream_options: { include_usage: true } });
    expect(text).not.toContain("prompt_tokens");
    expect(text).toEndWith("data: [DONE]\n\n");
    expect(b.ledger.settlements[0]?.quota).toBe(50);
    const other = JSON.parse(b.ledger.settlements[0]?.log.other ?? "{}");
    expect(other.frt).toBeGreaterThanOrEqual(0);
    booksBalance(b);
  });

  test("completions and embeddings are served and charged", async () => {
    const b = bench();
    const completion = await b.send("/v1/completions", { model: "words:3+usage:5:3", prompt: "say", stream: true });
    expect(await completion.text()).toEndWith("data: [DONE]\n\n");
    const embedding = await b.send("/v1/embeddings", { model: "text-embedding-3-small", input: ["a", "b"] });
    expect(((await embedding.json()) as { data: unknown[] }).data).toHaveLength(2);
    expect(b.ledger.settlements.map(({ quota }) => quota > 0)).toEqual([true, true]);
    booksBalance(b);
  });

  test("models are those of the pool that the key may use", async () => {
    const b = bench();
    b.caller.models = new Set(["gpt-4o"]);
    const list = (await (await b.send("/v1/models", undefined)).json()) as { data: { id: string }[] };
    expect(list).toMatchObject({ object: "list", data: [{ id: "gpt-4o", object: "model", owned_by: "openai" }] });
    expect((await b.send("/v1/models/gpt-4o", undefined)).status).toBe(200);
    const unknown = await b.send("/v1/models/a-model", undefined);
    expect(unknown.status).toBe(404);
    expect((await errorOf(unknown)).code).toBe("model_not_found");
  });

  test("the key is found wherever SDKs put it", async () => {
    const b = bench();
    const places: [Record<string, string>, string][] = [
      [{ authorization: `bearer ${TEST_KEY}` }, ""],
      [{ authorization: TEST_KEY }, ""],
      [{ authorization: "", "x-api-key": TEST_KEY }, ""],
      [{ authorization: "", "x-goog-api-key": TEST_KEY }, ""],
      [{ authorization: "" }, `?key=${TEST_KEY}`],
    ];
    for (const [headers, query] of places)
      expect((await b.send(`/v1/models${query}`, undefined, { headers })).status).toBe(200);
    expect((await b.send("/v1/models", undefined, { headers: { authorization: "Bearer " } })).status).toBe(401);
  });
});

describe("bad input", () => {
  const cases: [name: string, path: string, body: unknown, status: number, code: string, param?: string][] = [
    ["malformed JSON", chat, `{"model":`, 400, "bad_json"],
    ["an array", chat, "[]", 400, "bad_json"],
    ["no model", chat, { messages: [] }, 400, "model_missing", "model"],
    ["a model that is no text", chat, { model: 4, messages: [] }, 400, "invalid_request"],
    ["messages that are no list", chat, { model: "m", messages: "hello" }, 400, "invalid_request"],
    ["a stream flag that is no boolean", chat, chatBody("m", { stream: "true" }), 400, "invalid_request"],
    ["a negative limit", chat, chatBody("m", { max_tokens: -1 }), 400, "invalid_request"],
    ["a fractional n", chat, chatBody("m", { n: 1.5 }), 400, "invalid_request"],
    ["stream_options that are a list", chat, chatBody("m", { stream_options: [] }), 400, "invalid_request"],
    ["embeddings without input", "/v1/embeddings", { model: "m" }, 400, "invalid_request"],
    ["a model nobody serves", chat, chatBody("nobody-has-it"), 404, "model_not_found", "model"],
    ["a model without a price", chat, chatBody("unpriced"), 500, "model_price_missing"],
    ["a body that is too large", chat, chatBody("m", { pad: "x".repeat(5 << 20) }), 413, "body_too_large"],
  ];
  for (const [name, path, body, status, code, param] of cases) {
    test(`${name} is a clear error with a row, and nothing moves`, async () => {
      const b = bench();
      const response = await b.send(path, body);
      expect(response.status).toBe(status);
      const error = await errorOf(response);
      expect(error).toMatchObject({ code, param: param ?? null });
      expect(error.message).toEndWith("(request id: req-1)");
      expect(b.failures).toMatchObject([{ end_reason: "refused", user_id: 1, code }]);
      expect(error.message).toStartWith(textOfRow(b.failures[0], "en"));
      booksBalance(b);
    });
  }

  test("an unknown path and a wrong method are 404 with an error object", async () => {
    const b = bench();
    for (const [path, init] of [
      ["/v1/nothing", {}],
      [chat, { method: "DELETE" }],
      ["/v1", {}],
    ] as const) {
      const response = await b.send(path, undefined, init);
      expect(response.status).toBe(404);
      expect(await errorOf(response)).toMatchObject({ type: "invalid_request_error", code: "not_found" });
    }
  });

  test("a missing and a wrong key are 401, in the caller's language", async () => {
    const b = bench();
    const missing = await b.send(chat, chatBody("m"), { headers: { authorization: "", "accept-language": "zh-CN" } });
    expect(missing.status).toBe(401);
    expect((await errorOf(missing)).message).toStartWith("未提供令牌");
    const wrong = await b.send(chat, chatBody("m"), { headers: { authorization: "Bearer sk-other" } });
    expect(await errorOf(wrong)).toMatchObject({ type: "authentication_error", code: "token_invalid" });
    expect(b.failures).toEqual([]);
  });

  test("a key may be limited to models", async () => {
    const b = bench();
    b.caller.models = new Set(["other"]);
    expect(await errorOf(await b.send(chat, chatBody("gpt-4o")))).toMatchObject({ code: "token_model_denied" });
  });

  test("a balance that does not cover the hold is 429 and says what is left", async () => {
    const b = bench();
    b.ledger.balance = 10;
    const response = await b.send(chat, chatBody("gpt-4o"));
    expect(response.status).toBe(429);
    expect(await errorOf(response)).toMatchObject({
      code: "insufficient_quota",
      message: expect.stringContaining("10"),
    });
    expect(b.ledger.balance).toBe(10);
  });

  test("a browser's preflight is answered", async () => {
    const response = await bench().send(chat, undefined, {
      method: "OPTIONS",
      headers: { origin: "http://a.test", "access-control-request-headers": "x-stainless-os" },
    });
    expect(response.status).toBe(204);
    expect(response.headers.get("access-control-allow-origin")).toBe("http://a.test");
    expect(response.headers.get("access-control-allow-headers")).toBe("x-stainless-os");
  });
});

describe("an upstream that misbehaves", () => {
  const cases: [model: string, stream: boolean, status: number, code: string, failure: string][] = [
    ["html-error", false, 502, "upstream_error", "server_error"],
    ["html-200", false, 502, "upstream_malformed", "malformed"],
    ["html-200", true, 502, "upstream_malformed", "malformed"],
    ["bad-json", false, 502, "upstream_malformed", "malformed"],
    ["error-in-200", false, 502, "upstream_error", "server_error"],
    ["error-in-200", true, 502, "upstream_error", "server_error"],
    ["cut-head", false, 502, "upstream_cut", "cut"],
    ["cut-midstream", false, 502, "upstream_cut", "cut"],
    ["cut-clean", false, 502, "upstream_malformed", "malformed"],
    ["lies-length:long", false, 502, "upstream_cut", "cut"],
    ["lies-length:short", false, 502, "upstream_malformed", "malformed"],
    ["lies-gzip", false, 502, "upstream_malformed", "malformed"],
    ["lies-gzip", true, 502, "upstream_malformed", "malformed"],
    ["big-frame:40000", true, 502, "upstream_malformed", "malformed"],
    ["error-429", true, 429, "rate_limit_exceeded", "rate_limited"],
    ["error-401", false, 502, "upstream_error", "bad_credentials"],
    ["error-400", false, 400, "invalid_value", "caller_mistake"],
  ];
  for (const [model, stream, status, code, failure] of cases) {
    test(`${model}${stream ? ", streamed," : ""} is ${status} ${failure}, free, with its attempt in the row`, async () => {
      const b = bench();
      const response = await b.send(chat, chatBody(model, { stream }));
      expect(response.status).toBe(status);
      const error = await errorOf(response);
      if (code !== "invalid_value") expect(error.code).toBe(code);
      expect(error.message).toEndWith("(request id: req-1)");
      expect(error.message).not.toContain("127.0.0.1");
      expect(JSON.parse(b.failures[0]?.other ?? "{}").admin_info.attempts).toMatchObject([{ channel: 1, failure }]);
      booksBalance(b);
    });
  }

  const streams: [model: string, reason: string, estimated: boolean, ends: string][] = [
    ["gzip", "complete", false, "[DONE]"],
    ["split-bytes", "complete", false, "[DONE]"],
    ["crlf+comments", "complete", false, "[DONE]"],
    ["no-space+multi-data", "complete", false, "[DONE]"],
    ["late-usage:30", "complete", false, "[DONE]"],
    ["usage-every-chunk", "complete", false, "[DONE]"],
    ["no-usage", "complete", true, "[DONE]"],
    ["empty-choices", "complete", false, "[DONE]"],
    ["role-only", "complete", false, "[DONE]"],
    ["refusal", "complete", false, "[DONE]"],
    ["tool-split", "complete", false, "[DONE]"],
    ["reasoning", "complete", false, "[DONE]"],
    ["hang-after-done", "complete", false, "[DONE]"],
    ["cut-midstream", "upstream_cut", true, "upstream_cut"],
    ["cut-clean", "upstream_cut", true, "upstream_cut"],
    ["error-midstream", "upstream_error", true, "server_error"],
    ["lies-length:short", "upstream_cut", true, "upstream_cut"],
  ];
  for (const [model, reason, estimated, ends] of streams) {
    test(`a stream of ${model} ends as ${reason}, ${estimated ? "estimated" : "measured"}`, async () => {
      const b = bench();
      const response = await b.send(chat, chatBody(model, { stream: true }));
      expect(response.status).toBe(200);
      const text = await response.text();
      const last =
        text
          .trimEnd()
          .split(/\r?\n\r?\n/)
          .at(-1) ?? "";
      expect(last).toContain(ends);
      expect(text.includes("[DONE]")).toBe(reason === "complete");
      const [settlement] = b.ledger.settlements;
      expect(settlement?.log.end_reason).toBe(reason as never);
      expect(JSON.parse(settlement?.log.other ?? "{}").estimated ?? false).toBe(estimated);
      if (!estimated) expect(settlement?.log.completion_tokens).toBeGreaterThan(0);
      booksBalance(b);
    });
  }

  test("a plain answer without usage is estimated and says so", async () => {
    const b = bench();
    await (await b.send(chat, chatBody("no-usage+words:30"))).text();
    const [settlement] = b.ledger.settlements;
    expect(JSON.parse(settlement?.log.other ?? "{}").estimated).toBe(true);
    expect(settlement?.quota).toBeGreaterThan(0);
    booksBalance(b);
  });
});

describe("retries", () => {
  const two = (first: Partial<PoolChannel> = {}): Bench =>
    makeBench([makeChannel(1, upstream.url, { priority: 1, ...first }), makeChannel(2, upstream.url)], {
      timers: atOnce,
    });

  test("none without RetryTimes, one after another with it, each channel once before one is asked again", async () => {
    const broken = { model_mapping: new Map([["gpt-4o", "error-500"]]) };
    const none = two(broken);
    expect((await none.send(chat, chatBody("gpt-4o"))).status).toBe(500);
    const once = two(broken);
    once.options.retryTimes = 9;
    expect((await once.send(chat, chatBody("gpt-4o"))).status).toBe(200);
    const other = JSON.parse(once.ledger.settlements[0]?.log.other ?? "{}");
    expect(other.admin_info.use_channel).toEqual(["1", "2"]);
    expect(other.admin_info.attempts[0]).toMatchObject({ status: 500, failure: "server_error" });
    const all = two(broken);
    all.options.retryTimes = 2;
    expect((await all.send(chat, chatBody("error-500"))).status).toBe(500);
    // spec: C-604
    expect(JSON.parse(all.failures[0]?.other ?? "{}").admin_info.use_channel).toEqual(["1", "2", "1"]);
    for (const b of [none, once, all]) booksBalance(b);
  });

  test("a caller's mistake is not tried elsewhere, unless the operator maps its status", async () => {
    const plain = two();
    plain.options.retryTimes = 3;
    expect((await plain.send(chat, chatBody("error-400"))).status).toBe(400);
    expect(JSON.parse(plain.failures[0]?.other ?? "{}").admin_info.use_channel).toEqual(["1"]);
    const mapped = two({ status_mapping: new Map([[400, 500]]), model_mapping: new Map([["gpt-4o", "error-400"]]) });
    mapped.options.retryTimes = 3;
    expect((await mapped.send(chat, chatBody("gpt-4o"))).status).toBe(200);
  });

  test("a channel that answered 429 is skipped for its Retry-After, also by the next call", async () => {
    let now = Date.now();
    const b = makeBench(
      [
        makeChannel(1, upstream.url, { priority: 1, model_mapping: new Map([["gpt-4o", "error-429"]]) }),
        makeChannel(2, upstream.url),
      ],
      { now: () => now },
    );
    b.options.retryTimes = 1;
    await b.send(chat, chatBody("gpt-4o"));
    await b.send(chat, chatBody("gpt-4o"));
    now += 600_000;
    await b.send(chat, chatBody("gpt-4o"));
    const used = b.ledger.settlements.map(({ log }) => JSON.parse(log.other ?? "{}").admin_info.use_channel);
    expect(used).toEqual([["1", "2"], ["2"], ["1", "2"]]);
  });

  test("the final 429 has Retry-After", async () => {
    const response = await bench().send(chat, chatBody("error-429"));
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
  });

  test("a pinned channel is the only one, even when it fails; a disabled one is refused", async () => {
    const b = two({ model_mapping: new Map([["gpt-4o", "error-500"]]) });
    b.options.retryTimes = 3;
    b.caller.channel_id = 1;
    expect((await b.send(chat, chatBody("gpt-4o"))).status).toBe(500);
    const disabled = two({ name: "disabled" });
    disabled.caller.channel_id = 1;
    const refused = await disabled.send(chat, chatBody("gpt-4o"));
    // spec: C-598
    expect([refused.status, (await errorOf(refused)).code]).toEqual([403, "channel_disabled"]);
  });

  test("a refused connection is unreachable, and another channel answers", async () => {
    const b = makeBench([makeChannel(1, "http://127.0.0.1:1", { priority: 1 }), makeChannel(2, upstream.url)]);
    b.options.retryTimes = 1;
    expect((await b.send(chat, chatBody("gpt-4o"))).status).toBe(200);
    expect(JSON.parse(b.ledger.settlements[0]?.log.other ?? "{}").admin_info.attempts[0].failure).toBe("unreachable");
    booksBalance(b);
  });
});
