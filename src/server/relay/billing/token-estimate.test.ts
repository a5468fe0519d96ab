import { describe, expect, test } from "bun:test";
import { tokensOfContent, tokensOfText } from "./token-estimate";

// Counted by gpt-tokenizer 3 (o200k_base), November 2026.
const measured: readonly [text: string, tokens: number, share: number][] = [
  ["The gateway reads the body once, finds the price, holds the estimate and asks a channel. ".repeat(10), 191, 0.15],
  ["网关读取请求，查找价格，预扣额度，然后选择一个渠道。".repeat(10), 170, 0.15],
];

describe("an estimate of tokens", () => {
  test.each(measured)("is near what a tokenizer counts: %s", (text, tokens, share) => {
    const estimate = tokensOfText(Buffer.from(text));
    expect(Math.abs(estimate - tokens) / tokens).toBeLessThan(share);
  });

  test("nothing is nothing; one letter is one token", () => {
    expect([
      tokensOfText(Buffer.alloc(0)),
      tokensOfContent(0),
      tokensOfText(Buffer.from("a")),
      tokensOfContent(1),
    ]).toEqual([0, 0, 1, 1]);
  });

  test("a long text is judged by its beginning and its end, and grows with its length", () => {
    const line = Buffer.from("All work and no play makes a dull text, 42 times. ".repeat(2000));
    const [one, ten] = [tokensOfText(line), tokensOfText(Buffer.concat(Array.from({ length: 10 }, () => line)))];
    expect(ten / one).toBeGreaterThan(9.8);
    expect(ten / one).toBeLessThan(10.2);
  });
});
