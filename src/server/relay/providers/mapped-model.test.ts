import { describe, expect, test } from "bun:test";
import { channelType } from "../../../shared/channel-types";
import { TEST_KEY, makeBench, makeChannel } from "../../../../tests/relay/kit";

const messages = [{ role: "user", content: "hi" }];
const chatAnswer = {
  id: "c1",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
};

/** What a vendor gets of a call for `asked`, which its channel maps to `model`; and the row that the call leaves. */
async function sent(type: number, path: string, [asked, model]: readonly [string, string], body: object) {
  const fact = channelType(type) ?? expect.unreachable(`no channel type ${type}`);
  const bodies: Record<string, unknown>[] = [];
  const model_mapping = asked === model ? new Map<string, string>() : new Map([[asked, model]]);
  const bench = makeBench([makeChannel(1, "http://up.test", { type: fact, model_mapping })], {
    fetch: async (_, { body: said }) => {
      bodies.push(await new Response(said as BodyInit).json());
      return Response.json(chatAnswer);
    },
  });
  await (await bench.send(path, body, { headers: { authorization: `Bearer ${TEST_KEY}` } })).text();
  await bench.quiet();
  const log = bench.ledger.settlements[0]?.log ?? bench.failures[0];
  const { warnings = [] } = JSON.parse(log?.other ?? "{}") as { warnings?: string[] };
  return { body: bodies[0] ?? expect.unreachable("nothing was sent"), warnings, quota: bench.ledger.charged };
}

describe("a call that the operator's mapping sends to a model that thinks", () => {
  const CHAT = "/v1/chat/completions";
  const sampled = {
    temperature: 0.3,
    top_p: 0.9,
    stop: ["END"],
    presence_penalty: 0.5,
    frequency_penalty: 0,
    logprobs: true,
    seed: 4,
  };

  test("comes without what that model refuses, with a warning for each, and is charged", async () => {
    const { body, warnings, quota } = await sent(1, CHAT, ["gpt-4o", "gpt-5"], {
      model: "gpt-4o",
      messages,
      ...sampled,
    });
    expect(body).toEqual({ model: "gpt-5", messages, frequency_penalty: 0, seed: 4 });
    expect(warnings).toEqual([
      "dropped_field: temperature",
      "dropped_field: top_p",
      "dropped_field: stop",
      "dropped_field: presence_penalty",
      "dropped_field: logprobs",
    ]);
    // Five tokens in, two out at twice the price.
    expect(quota).toBe(9);
  });

  test("keeps what the model takes without thoughts, and what other makers' models take", async () => {
    const asked = { model: "gpt-4o", messages, temperature: 0.3, top_p: 0.9, reasoning_effort: "none" };
    expect((await sent(1, CHAT, ["gpt-4o", "gpt-5.1"], asked)).body).toEqual({ ...asked, model: "gpt-5.1" });
    const thinking = await sent(1, CHAT, ["gpt-4o", "gpt-5.1"], { ...asked, reasoning_effort: "low" });
    expect(thinking.body).toEqual({ model: "gpt-5.1", messages, reasoning_effort: "low" });
    const other = { model: "gpt-4o", messages, ...sampled };
    expect((await sent(1, CHAT, ["gpt-4o", "qwen-max"], other)).body).toEqual({ ...other, model: "qwen-max" });
  });

  test("of Grok has no penalties and no stop sequences, of DeepSeek's reasoner no probabilities", async () => {
    const asked = { model: "m", messages, ...sampled };
    expect((await sent(48, CHAT, ["m", "grok-4"], asked)).warnings).toEqual([
      "dropped_field: stop",
      "dropped_field: presence_penalty",
    ]);
    expect((await sent(48, CHAT, ["m", "grok-4-fast-non-reasoning"], asked)).warnings).toEqual([]);
    const effort = { model: "m", messages, reasoning_effort: "low" };
    for (const model of ["grok-4", "grok-4-0709", "grok-4-1-fast-reasoning", "grok-code-fast-1", "grok-4.20-reasoning"])
      expect((await sent(48, CHAT, ["m", model], effort)).warnings).toEqual(["dropped_field: reasoning_effort"]);
    for (const model of ["grok-3-mini", "grok-4.3", "grok-4.5", "grok-4.20-multi-agent"])
      expect((await sent(48, CHAT, ["m", model], effort)).body).toEqual({ ...effort, model });
    expect((await sent(43, CHAT, ["m", "deepseek-reasoner"], asked)).warnings).toEqual(["dropped_field: logprobs"]);
  });

  test("in Anthropic's, Gemini's and the Responses dialect loses the same, where that dialect has it", async () => {
    const claude = { model: "old", max_tokens: 9, messages, temperature: 0.3, top_k: 5 };
    expect((await sent(14, "/v1/messages", ["old", "claude-opus-4-8"], claude)).body).toEqual({
      model: "claude-opus-4-8",
      max_tokens: 9,
      messages,
    });
    expect((await sent(14, "/v1/messages", ["old", "claude-sonnet-4-5"], claude)).body).toEqual({
      ...claude,
      model: "claude-sonnet-4-5",
    });
    const thinking = { type: "adaptive" };
    expect((await sent(14, "/v1/messages", ["old", "claude-opus-4-6"], { ...claude, thinking })).warnings).toEqual([
      "dropped_field: temperature",
      "dropped_field: top_k",
    ]);
    const contents = [{ role: "user", parts: [{ text: "hi" }] }];
    const generationConfig = { temperature: 0.3, presencePenalty: 0.5 };
    const google = await sent(24, "/v1beta/models/old:generateContent", ["old", "gemini-3.5-flash"], {
      contents,
      generationConfig,
    });
    expect(google.body).toEqual({ contents, generationConfig: { temperature: 0.3 } });
    const responses = await sent(1, "/v1/responses", ["old", "gpt-5-codex"], {
      model: "old",
      input: "hi",
      temperature: 0.3,
    });
    expect(responses.body).toEqual({ model: "gpt-5-codex", input: "hi" });
  });

  test("stays as it came where the caller names the model itself: the vendor's refusal is the answer", async () => {
    const asked = { model: "gpt-5", messages, ...sampled };
    expect(await sent(1, CHAT, ["gpt-5", "gpt-5"], asked)).toMatchObject({ body: asked, warnings: [] });
    const prefixed = { ...asked, model: "openai/gpt-5" };
    expect(await sent(1, CHAT, ["openai/gpt-5", "gpt-5"], prefixed)).toMatchObject({ body: asked, warnings: [] });
  });
});
