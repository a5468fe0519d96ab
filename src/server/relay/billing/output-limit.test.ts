import { describe, expect, test } from "bun:test";
import { type UpstreamDialectKey, upstreamDialects } from "../../protocol/dialects/vendor-dialects";
import { loweredLimit, withLimit } from "./output-limit";
import { translateRequest } from "../../protocol/translate";
import { failureOf } from "../../protocol/upstream-failure";

/** Dialects without a member for a limit: their channels are used only when everything is held. */
const SPEECHLESS: readonly string[] = ["aiproxy-library", "coze", "dify", "palm", "tencent", "zhipu-v3"];
const dialects = Object.keys(upstreamDialects) as UpstreamDialectKey[];
const said = (to: UpstreamDialectKey, more: object = {}): object =>
  translateRequest(
    "openai-chat",
    to,
    { model: "m", messages: [{ role: "user", content: "hi" }], temperature: 0.5, ...more },
    "m",
    { model: "m", stream: false },
  ).body;

describe("a limit set by the relay", () => {
  test.each(dialects)("stands in a body of %s where the limit of a caller would", (to) => {
    const body = Buffer.from(JSON.stringify(said(to)));
    const limited: unknown = JSON.parse(
      withLimit(body, { output_limit: 1234 }, to, { model: "m", operation: "chat" }).toString(),
    );
    if (SPEECHLESS.includes(to)) expect(limited).toEqual(said(to));
    else expect(limited).toEqual(JSON.parse(JSON.stringify(said(to, { max_tokens: 1234 }))));
  });

  test("is never above the one that is there already, and a body without one stays the same bytes", () => {
    const body = Buffer.from(JSON.stringify(said("anthropic", { max_tokens: 100 })));
    expect(
      JSON.parse(withLimit(body, { output_limit: 1234 }, "anthropic", { model: "m", operation: "chat" }).toString()),
    ).toMatchObject({ max_tokens: 100 });
    expect(withLimit(body, { output_limit: undefined }, "anthropic", { model: "m", operation: "chat" })).toBe(body);
  });

  test("uses only the older member in the older completions call", () => {
    const body = Buffer.from('{"model":"gpt-5","prompt":"hi"}');
    expect(
      withLimit(body, { output_limit: 9 }, "openai-chat", { model: "gpt-5", operation: "completions" }).toString(),
    ).toContain('"max_tokens":9');
    expect(
      withLimit(body, { output_limit: 9 }, "openai-chat", { model: "gpt-5", operation: "chat" }).toString(),
    ).toContain('"max_completion_tokens":9');
  });

  test("is lowered once when the vendor rejects the call, and for no other reason", () => {
    for (const failure of [
      failureOf("caller_mistake", 0),
      failureOf("caller_mistake", 413),
      failureOf("rate_limited", 429),
      failureOf("server_error", 500),
    ])
      expect(loweredLimit(9000, failure)).toBeUndefined();
    expect(loweredLimit(9000, failureOf("caller_mistake", 400))).toBe(4096);
    expect(loweredLimit(9000, failureOf("context_too_long", 400))).toBe(4096);
    expect(loweredLimit(4096, failureOf("caller_mistake", 400))).toBeUndefined();
    expect(loweredLimit(undefined, failureOf("caller_mistake", 400))).toBeUndefined();
  });
});
