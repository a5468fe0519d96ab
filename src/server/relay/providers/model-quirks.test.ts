import { describe, expect, test } from "bun:test";
import { type ChannelType, channelTypes } from "../../../shared/channel-types";
import { adaptBody } from "./model-quirks";

const types: readonly ChannelType[] = channelTypes;
const type = (key: string): ChannelType => {
  const found = types.find((candidate) => candidate.key === key);
  if (!found) throw new Error(key);
  return found;
};
const fit = (key: string, body: string, model = "m") => {
  const { body: sent, warnings } = adaptBody(type(key), model, Buffer.from(body));
  return [sent.toString(), warnings.map(({ detail }) => detail)];
};

describe("a body for a vendor with a narrower range", () => {
  test("top_p above the vendor's maximum is lowered to it with a warning, and every other byte stays", () => {
    expect(fit("perplexity", '{"model":"m", "top_p" : 1,"x":[1, 2]}')).toEqual([
      '{"model":"m", "top_p" : 0.99,"x":[1, 2]}',
      ["top_p"],
    ]);
    expect(fit("zhipu", '{"top_p":1.0}')).toEqual(['{"top_p":0.99}', ["top_p"]]);
  });

  test("members that the vendor's newer models refuse are left out for those only, with a warning", () => {
    const body = '{"model":"m","temperature":0.6,"n":1,"messages":[{"role":"user","content":"\\"top_p\\""}]}';
    const left = '{"model":"m","messages":[{"role":"user","content":"\\"top_p\\""}]}';
    for (const model of ["kimi-k2.5", "kimi-k2.7-code", "kimi-k3", "kimi-k3.1-pro"])
      expect(fit("moonshot", body, model)).toEqual([left, ["temperature", "n"]]);
    for (const model of ["moonshot-v1-8k", "my-kimi-k3"]) expect(fit("moonshot", body, model)).toEqual([body, []]);
    expect(fit("moonshot", left, "kimi-k3")).toEqual([left, []]);
    expect(fit("moonshot", 'not json "n"', "kimi-k3")).toEqual(['not json "n"', []]);
  });

  test("values in range, values that are not numbers and other vendors' bodies stay unchanged", () => {
    for (const body of [
      '{"top_p":0.99}',
      '{"top_p":0}',
      '{"top_p":null}',
      '{"top_p":"1"}',
      '{"a":{"top_p":1}}',
      "{}",
    ]) {
      expect(fit("perplexity", body)).toEqual([body, []]);
    }
    expect(fit("openai", '{"top_p":1}')).toEqual(['{"top_p":1}', []]);
  });
});

/**
 * Channel type 1; platform.openai.com/docs/api-reference/chat/create (max_tokens, developer messages), November 2026.
 */
describe("a body for OpenAI's reasoning models", () => {
  test("names its limit as they do, the newer name before the older", () => {
    for (const model of ["o3-mini", "gpt-5", "gpt-5.1-2025-11-13", "openai/o1"])
      expect(fit("openai", '{"max_tokens":5,"stop":null}', model)).toEqual([
        '{"stop":null,"max_completion_tokens":5}',
        [],
      ]);
    expect(fit("azure", '{"max_tokens":5,"max_completion_tokens":7}', "o1")).toEqual([
      '{"max_completion_tokens":7}',
      [],
    ]);
  });

  test("renames the system role to developer where the model knows only that", () => {
    const body = (role: string) =>
      JSON.stringify({
        messages: [
          { role, content: "Be brief." },
          { role: "user", content: 'a "system"', x: 1 },
        ],
      });
    expect(fit("openai", body("system"), "o3-mini")).toEqual([body("developer"), []]);
    for (const model of ["gpt-5", "gpt-4o", "o1-mini", "o1-preview-2024-09-12"])
      expect(fit("openai", body("system"), model)).toEqual([body("system"), []]);
  });

  test("stays unchanged where there is nothing to change, and for other models", () => {
    const plain =
      '{ "max_completion_tokens" : 5,"messages":[{"role":"user","content":"\\"max_tokens\\" \\"system\\""}]}';
    expect(fit("openai", plain, "o3")).toEqual([plain, []]);
    for (const model of ["gpt-4o", "gpt-4.1", "deepseek-chat", "olmo-2"])
      expect(fit("openai", '{ "max_tokens" : 5}', model)).toEqual(['{ "max_tokens" : 5}', []]);
  });
});
