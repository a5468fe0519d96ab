import type { FailureKind } from "../../shared/failures";
import { describe, expect, test } from "bun:test";
import type { WireError } from "./chat-events";
import { readError as readAnthropic } from "./dialects/anthropic/error";
import { readError as readGemini, writeError as writeGemini } from "./dialects/gemini/error";
import { asIs, cleanText } from "./clean-text";
import { classifyErrorIn200, classifyStatus, retryAfterSeconds } from "./upstream-failure";

const none = new Map<number, number>();
const error = (more: Partial<WireError>): WireError => ({ message: "m", type: "", code: "", param: null, ...more });

describe("classification of upstream failures", () => {
  const table: [status: number, words: Partial<WireError>, name: FailureKind, retry: boolean, caller: number][] = [
    [400, { type: "invalid_request_error" }, "caller_mistake", false, 400],
    [404, {}, "caller_mistake", false, 404],
    [404, { code: "model_not_found" }, "model_missing", true, 404],
    [413, {}, "too_large", false, 413],
    [422, {}, "caller_mistake", false, 422],
    [401, {}, "bad_credentials", true, 502],
    [400, { code: "invalid_api_key" }, "bad_credentials", true, 502],
    [402, {}, "quota_exhausted", true, 502],
    [429, { type: "exceeded_current_quota_error" }, "quota_exhausted", true, 502],
    [403, { code: "AccountOverdueError" }, "quota_exhausted", true, 502],
    [400, { code: "Arrearage" }, "quota_exhausted", true, 502],
    [404, { type: "resource_not_found_error" }, "model_missing", true, 404],
    [404, { code: "InvalidEndpointOrModel.NotFound" }, "model_missing", true, 404],
    [403, {}, "forbidden", true, 502],
    [429, {}, "rate_limited", true, 429],
    [429, { code: "insufficient_quota" }, "quota_exhausted", true, 502],
    [500, {}, "server_error", true, 500],
    [502, {}, "server_error", true, 502],
    [503, {}, "overloaded", true, 503],
    [529, {}, "overloaded", true, 529],
    [504, {}, "timeout", true, 504],
    [408, {}, "timeout", true, 504],
    [524, {}, "timeout", true, 504],
    [307, {}, "server_error", true, 502],
  ];
  for (const [status, words, name, retry, caller] of table) {
    test(`${status} ${words.code ?? words.type ?? ""} is ${name}, ${retry ? "tried elsewhere" : "final"}, ${caller} to the caller`, () => {
      const failure = classifyStatus(asIs, status, error(words), none);
      expect(failure).toMatchObject({ kind: name, status: caller });
      expect(failure.retry !== "no").toBe(retry);
    });
  }

  const anthropic = (type: string, message: string) => readAnthropic({ type: "error", error: { type, message } });
  const google = (code: number, status: string, message: string, details: object[] = []) =>
    readGemini({ error: { code, message, status, details } });

  test("what the operator's account lacks is not called the caller's mistake, though the vendor answers 400 or 404", () => {
    // claude-code issue 66314 (June 2026); ai.google.dev/gemini-api/docs/generate-content/api-errors (November 2026).
    const told: [status: number, body: WireError | undefined, name: FailureKind][] = [
      [
        400,
        anthropic(
          "invalid_request_error",
          "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
        ),
        "quota_exhausted",
      ],
      [
        400,
        anthropic(
          "invalid_request_error",
          "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.",
        ),
        "quota_exhausted",
      ],
      [404, anthropic("not_found_error", "model: claude-3-opus-20240229"), "model_missing"],
      [
        400,
        google(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", [
          { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID" },
        ]),
        "bad_credentials",
      ],
      [400, google(400, "FAILED_PRECONDITION", "User location is not supported for the API use."), "forbidden"],
      [
        400,
        google(
          400,
          "FAILED_PRECONDITION",
          "Gemini API free tier is not available in your country. Please enable billing on your project in Google AI Studio.",
        ),
        "forbidden",
      ],
      [
        404,
        google(
          404,
          "NOT_FOUND",
          "models/gemini-0 is not found for API version v1beta, or is not supported for generateContent.",
        ),
        "model_missing",
      ],
    ];
    for (const [status, body, name] of told)
      expect([classifyStatus(asIs, status, body, none)]).toMatchObject([
        { kind: name, retry: expect.stringMatching(/^other/) },
      ]);
    expect(classifyStatus(asIs, 400, anthropic("invalid_request_error", "max_tokens: Field required"), none).kind).toBe(
      "caller_mistake",
    );
    expect(
      classifyStatus(
        asIs,
        400,
        google(400, "FAILED_PRECONDITION", "The File abc is not in an ACTIVE state and usage is not allowed."),
        none,
      ).kind,
    ).toBe("caller_mistake");
  });

  test("Google's RetryInfo decides like Retry-After, and its callers read it again", () => {
    const info = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "27.4s" };
    const failure = classifyStatus(asIs, 429, google(429, "RESOURCE_EXHAUSTED", "Quota exceeded", [info]), none);
    expect(failure).toMatchObject({ kind: "rate_limited", cool_ms: 28_000, retry_after_s: 28 });
    expect(
      classifyStatus(asIs, 429, google(429, "RESOURCE_EXHAUSTED", "Quota exceeded", [info]), none, 3).cool_ms,
    ).toBe(3_000);
    const written = writeGemini({
      status: 429,
      type: "rate_limit_error",
      code: "",
      message: "m",
      param: null,
      retry_after_s: 28,
    });
    expect(readGemini(written)).toMatchObject({ type: "RESOURCE_EXHAUSTED", retry_after_s: 28 });
  });

  test("status mapping comes before every decision, and the caller sees the mapped status", () => {
    expect(classifyStatus(asIs, 400, error({}), new Map([[400, 500]]))).toMatchObject({
      kind: "server_error",
      retry: "other_channel",
      status: 500,
    });
    expect(classifyStatus(asIs, 429, error({}), new Map([[429, 400]]))).toMatchObject({
      kind: "caller_mistake",
      retry: "no",
      status: 400,
    });
    expect(classifyStatus(asIs, 401, error({}), new Map([[401, 401]]))).toMatchObject({
      kind: "bad_credentials",
      status: 401,
    });
  });

  test("Retry-After decides how long a channel cools down, at most ten minutes", () => {
    expect(classifyStatus(asIs, 429, undefined, none, 17).cool_ms).toBe(17_000);
    expect(classifyStatus(asIs, 429, undefined, none, 1e6).cool_ms).toBe(600_000);
    expect(classifyStatus(asIs, 429, undefined, none).cool_ms).toBe(5_000);
    expect(retryAfterSeconds("3", 0)).toBe(3);
    expect(retryAfterSeconds("Thu, 01 Jan 1970 00:00:09 GMT", 2_000)).toBe(7);
    expect(retryAfterSeconds("soon", 0)).toBeUndefined();
    expect(retryAfterSeconds(null, 0)).toBeUndefined();
  });

  test("only quota and credential failures ask for a channel to be disabled", () => {
    expect(classifyStatus(asIs, 401, undefined, none).disable).toBe(true);
    expect(classifyStatus(asIs, 429, error({ type: "insufficient_quota" }), none).disable).toBe(true);
    for (const status of [400, 403, 404, 429, 500, 503])
      expect(classifyStatus(asIs, status, undefined, none).disable).toBe(false);
  });

  test("an error object inside a 200 answer is retried, as a 502 unless it says more", () => {
    expect(classifyErrorIn200(asIs, error({}))).toMatchObject({ retry: "other_channel", status: 502 });
    expect(classifyErrorIn200(asIs, error({ code: "rate_limit_exceeded" }))).toMatchObject({
      kind: "rate_limited",
      status: 429,
    });
    expect(classifyErrorIn200(asIs, error({ type: "overloaded_error" }))).toMatchObject({
      kind: "overloaded",
      status: 503,
    });
    const mistake = { kind: "caller_mistake", status: 400, retry: "other_channel", disable: false };
    expect(classifyErrorIn200(asIs, error({ type: "invalid_request_error" }))).toMatchObject(mistake);
    expect(classifyErrorIn200(asIs, error({ type: "invalid_request_error", code: "503" }))).toMatchObject({
      status: 503,
    });
    // A stream of Responses fails so; a 5xx would be tried again by every SDK.
    for (const code of ["invalid_prompt", "image_parse_error"])
      expect(classifyErrorIn200(asIs, error({ code }))).toMatchObject(mistake);
  });
});

test("messages keep their words and lose addresses, hosts and keys", () => {
  const text =
    'Post "https://api.vendor.com/v1/chat?key=abc": dial tcp 10.1.2.3:443, [fe80:0:0:1::2]: Incorrect API key sk-abcdefghijkl ' +
    "for org-AbCdEfGh123 at internal.vendor.ai/x, token 0123456789abcdef0123456789abcdef";
  const clean = cleanText(text);
  for (const secret of ["vendor", "10.1.2.3", "fe80", "sk-abc", "AbCdEfGh", "0123456789abcdef"])
    expect(clean).not.toContain(secret);
  expect(clean).toContain("Incorrect API key");
  expect(cleanText("Rate limit reached for gpt-4o-mini in 1.5 seconds.")).toBe(
    "Rate limit reached for gpt-4o-mini in 1.5 seconds.",
  );
  const long = "0123456789abcdef".repeat(3);
  for (const kept of [
    `Item 'rs_${long}' of type 'reasoning' was provided without its required following item`,
    `chatcmpl-${long} is gone`,
    "toolConfig.includeServerSideToolInvocations",
    "cache_creation.ephemeral_1h_input_tokens",
    "messages[0].content.1.image_url",
    "claude-sonnet-4-5-20250929-v1:0",
    "Bearer authentication is required",
    "a ***very*** bold key-value-store",
  ])
    expect(cleanText(kept)).toBe(kept);
  for (const key of [
    "sk-abcdefghijkl",
    "gsk_Ab0123456789",
    "AIzaSyA0123456789abcdefghijklmnop",
    "abcd****************wxyz",
    `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-DEF_1`,
    "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
  ]) {
    expect(cleanText(`key ${key} is wrong`)).toBe("key [key] is wrong");
  }
  expect(cleanText("x ".repeat(5000)).length).toBeLessThanOrEqual(1000);
});

test("no text of 4,000 characters takes long to clean", () => {
  const texts = [
    "a.",
    "a-",
    "a:",
    "a.com.",
    "1.",
    "Bearer ",
    "sk-",
    "eyJ-",
    "*a",
    "http://",
    "abcd:",
    "a",
    "[",
    "A_9",
  ].map((piece) => piece.repeat(4000).slice(0, 4000));
  for (const text of texts) {
    let best = Infinity;
    for (let round = 0; round < 10; round++) {
      const started = performance.now();
      cleanText(text);
      best = Math.min(best, performance.now() - started);
    }
    expect({ text: text.slice(0, 8), quick: best < 1 }).toEqual({ text: text.slice(0, 8), quick: true });
  }
});
