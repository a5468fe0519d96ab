import { describe, expect, test } from "bun:test";
import { type ChannelType, channelTypes } from "../../shared/channel-types";
import { fitted } from "./fit";

const types: readonly ChannelType[] = channelTypes;
const type = (key: string): ChannelType => {
  const found = types.find((candidate) => candidate.key === key);
  if (!found) throw new Error(key);
  return found;
};
const fit = (key: string, body: string, model = "m") => {
  const { body: sent, warnings } = fitted(type(key), model, Buffer.from(body));
  return [sent.toString(), warnings.map(({ detail }) => detail)];
};

describe("a body for a vendor that takes less", () => {
  test("top_p above the vendor's greatest is brought down to it, every other byte stays, and it is noted", () => {
    expect(fit("perplexity", '{"model":"m", "top_p" : 1,"x":[1, 2]}')).toEqual(['{"model":"m", "top_p" : 0.99,"x":[1, 2]}', ["top_p"]]);
    expect(fit("zhipu", '{"top_p":1.0}')).toEqual(['{"top_p":0.99}', ["top_p"]]);
  });

  test("what the vendor's newer models refuse is left out for them alone, and it is noted", () => {
    const body = '{"model":"m","temperature":0.6,"n":1,"messages":[{"role":"user","content":"\\"top_p\\""}]}';
    const left = '{"model":"m","messages":[{"role":"user","content":"\\"top_p\\""}]}';
    for (const model of ["kimi-k2.5", "kimi-k2.7-code", "kimi-k3", "kimi-k3.1-pro"]) expect(fit("moonshot", body, model)).toEqual([left, ["temperature", "n"]]);
    for (const model of ["moonshot-v1-8k", "my-kimi-k3"]) expect(fit("moonshot", body, model)).toEqual([body, []]);
    expect(fit("moonshot", left, "kimi-k3")).toEqual([left, []]);
    expect(fit("moonshot", "not json \"n\"", "kimi-k3")).toEqual(["not json \"n\"", []]);
  });

  test("what fits, what is no number and other vendors' bodies stay as they are", () => {
    for (const body of ['{"top_p":0.99}', '{"top_p":0}', '{"top_p":null}', '{"top_p":"1"}', '{"a":{"top_p":1}}', "{}"]) {
      expect(fit("perplexity", body)).toEqual([body, []]);
    }
    expect(fit("openai", '{"top_p":1}')).toEqual(['{"top_p":1}', []]);
  });
});
