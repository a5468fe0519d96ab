import { describe, expect, test } from "bun:test";
import { answerDemo, completionOf, demoRequest, demoTokens, framesOf } from "./answer";

const ask = (content: unknown, more: object = {}) =>
  answerDemo(demoRequest.parse({ model: "demo-echo", messages: [{ role: "user", content }], ...more }));
const envelope = { id: "chatcmpl-demo-1", created: 1_700_000_000 };

describe("the demo model", () => {
  test("repeats the user's last message, in its language", () => {
    expect(ask("hello").tokens.join("")).toEndWith("You said: hello");
    expect(ask("你好").tokens.join("")).toEndWith("你说的是：你好");
    const answer = answerDemo(
      demoRequest.parse({
        model: "demo-echo",
        messages: [
          { role: "user", content: "one" },
          { role: "assistant", content: "two" },
          { role: "user", content: "three" },
        ],
      }),
    );
    expect(answer.tokens.join("")).toEndWith("You said: three");
  });

  test("reads content that comes in parts, and none at all", () => {
    expect(ask([{ type: "text", text: "a picture" }, { type: "image_url" }]).tokens.join("")).toEndWith("a picture");
    expect(ask(null).tokens.join("").trimEnd()).toEndWith("You said:");
  });

  test("its tokens contain every character, and their count is the one it reports", () => {
    for (const text of ["hello, world 你好吗？ 42", "  two  spaces ", "🙂 é", ""])
      expect(demoTokens(text).join("")).toBe(text);
    expect(demoTokens("你好")).toHaveLength(2);
    expect(demoTokens("abcdefgh")).toHaveLength(2);
  });

  test("stops at max_tokens and says so", () => {
    const answer = ask("hello", { max_tokens: 3 });
    expect(answer.tokens).toHaveLength(3);
    expect(answer.finish_reason).toBe("length");
    expect(ask("hello").finish_reason).toBe("stop");
  });

  test("cuts a very long text, so that an answer stays small", () => {
    expect(ask("x".repeat(100_000)).tokens.length).toBeLessThan(200);
  });

  test("answers the same streamed and plain, with the same usage", () => {
    const answer = ask("hello");
    const plain = completionOf(answer, envelope);
    const frames = [...framesOf(answer, envelope, true)];
    expect(frames.at(-1)).toBe("data: [DONE]\n\n");
    const chunks = frames.slice(0, -1).map((frame) => JSON.parse(frame.slice("data: ".length)));
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("")).toBe(
      plain.choices[0]?.message.content ?? "",
    );
    expect(chunks.at(-1).usage).toEqual(plain.usage);
    expect(plain.usage.total_tokens).toBe(plain.usage.prompt_tokens + plain.usage.completion_tokens);
    expect([...framesOf(answer, envelope, false)].join("")).not.toContain("usage");
  });
});
