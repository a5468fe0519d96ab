/**
 * The second turn: an upstream's answer goes to a caller of another dialect, whose program gives it back with the
 * results of the tools, and the upstream finds its own thoughts, signatures and ids where it left them. No other vendor
 * sees them.
 */
import { describe, expect, test } from "bun:test";
import { type DialectKey, dialectKeys, type WireObject } from "../../src/server/protocol/chat-events";
import { carriesSignatures, translateAnswer, translateRequest } from "../../src/server/protocol/translate";
import { dataOf, fixtures, translatePieces } from "./streams";

type Json = Record<string, unknown>;
// Tests read wire objects by path.
const at = (value: unknown, ...path: (string | number)[]): unknown =>
  path.reduce<unknown>((found, key) => (found as Json | undefined)?.[key], value);
const list = (value: unknown): Json[] => (Array.isArray(value) ? value : []);

const anthropicContent = [
  { type: "thinking", thinking: "Two cities: 两 calls.", signature: "EqQBCgIY+/aDIM==" },
  { type: "redacted_thinking", data: "EmwKAhgBEgy3va3p" },
  { type: "text", text: "Both." },
  { type: "tool_use", id: "toolu_01A", name: "get_weather", input: { city: "Paris" } },
  { type: "tool_use", id: "toolu_01B", name: "now", input: {} },
];
const geminiParts = [
  { text: "Two cities.", thought: true },
  { functionCall: { name: "get_weather", args: { city: "Paris" } }, thoughtSignature: "Q2lRQlZLaGM3aGdv" },
  { functionCall: { name: "now", args: {} } },
];
const responsesOutput = [
  {
    type: "reasoning",
    id: "rs_1",
    summary: [{ type: "summary_text", text: "Two calls." }],
    encrypted_content: "gAAAAABo_secret==",
  },
  { type: "function_call", id: "fc_1", call_id: "call_a", name: "get_weather", arguments: '{"city":"Paris"}' },
  { type: "function_call", id: "fc_2", call_id: "call_b", name: "now", arguments: "{}" },
];
const calls = [
  { id: "call_a", type: "function", function: { name: "get_weather", arguments: '{"city":"Paris"}' } },
  { id: "call_b", type: "function", function: { name: "now", arguments: "{}" } },
];
const detail = {
  type: "reasoning.text",
  text: "Two steps.",
  signature: "SIG==",
  format: "anthropic-claude-v1",
  index: 0,
};
const google = { google: { thought_signature: "R1NJRw==" } };

interface Case {
  name: string;
  upstream: DialectKey;
  answer: WireObject;
  /** Content that other upstreams must not see. */
  secrets: string[];
  /** Checks the second request that reaches the upstream. */
  check(body: WireObject): void;
}

const chatAnswer = (message: Json): WireObject => ({
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, finish_reason: "tool_calls", message: { role: "assistant", content: null, ...message } }],
});
const assistantOf = (body: WireObject): Json =>
  list(body.messages).find((message) => message.role === "assistant") ?? {};

const cases: Case[] = [
  {
    name: "Anthropic's thinking, signed and redacted",
    upstream: "anthropic",
    answer: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "m",
      content: anthropicContent,
      stop_reason: "tool_use",
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    },
    secrets: ["EqQBCgIY", "EmwKAhgB"],
    check(body) {
      const blocks = list(assistantOf(body).content);
      expect(blocks.filter((block) => /thinking/.test(String(block.type)))).toEqual(anthropicContent.slice(0, 2));
      expect(blocks.findIndex((block) => block.type === "thinking")).toBeLessThan(
        blocks.findIndex((block) => block.type === "tool_use"),
      );
      expect(blocks.filter((block) => block.type === "tool_use")).toEqual(anthropicContent.slice(3));
      const results = list(list(body.messages).at(-1)?.content).filter((block) => block.type === "tool_result");
      expect(results.map((block) => block.tool_use_id)).toEqual(["toolu_01A", "toolu_01B"]);
    },
  },
  {
    name: "Gemini's signature on the first call",
    upstream: "gemini",
    answer: {
      candidates: [{ content: { parts: geminiParts, role: "model" }, finishReason: "STOP", index: 0 }],
      modelVersion: "m",
      responseId: "r1",
    },
    secrets: ["Q2lRQlZLaGM3aGdv"],
    check(body) {
      const parts = list(list(body.contents).find((content) => content.role === "model")?.parts).filter(
        (part) => part.functionCall,
      );
      expect(parts.map((part) => part.thoughtSignature)).toEqual(["Q2lRQlZLaGM3aGdv", undefined]);
      expect(parts.map((part) => at(part, "functionCall", "args"))).toEqual([{ city: "Paris" }, {}]);
      const results = list(list(body.contents).at(-1)?.parts).map((part) => at(part, "functionResponse", "name"));
      expect(results.slice(0, 2)).toEqual(["get_weather", "now"]);
    },
  },
  {
    name: "the encrypted reasoning of Responses",
    upstream: "openai-responses",
    answer: {
      id: "resp_1",
      object: "response",
      created_at: 1,
      status: "completed",
      model: "m",
      output: responsesOutput,
    },
    secrets: ["gAAAAABo_secret=="],
    check(body) {
      const items = list(body.input);
      expect(items.filter((item) => item.type === "reasoning")).toEqual([responsesOutput[0] as Json]);
      expect(items.findIndex((item) => item.type === "reasoning")).toBeLessThan(
        items.findIndex((item) => item.type === "function_call"),
      );
      expect(items.filter((item) => item.type === "function_call_output").map((item) => item.call_id)).toEqual([
        "call_a",
        "call_b",
      ]);
      expect(items.filter((item) => item.type === "function_call").map((item) => item.call_id)).toEqual([
        "call_a",
        "call_b",
      ]);
    },
  },
  {
    name: "OpenRouter's reasoning_details",
    upstream: "openai-chat",
    answer: chatAnswer({ tool_calls: calls, reasoning: "Two steps.", reasoning_details: [detail] }),
    secrets: ["SIG=="],
    check: (body) => expect(assistantOf(body).reasoning_details).toEqual([detail]),
  },
  {
    name: "DeepSeek's reasoning_content",
    upstream: "openai-chat",
    answer: chatAnswer({ tool_calls: calls, reasoning_content: "Let me think." }),
    secrets: [],
    check: (body) => expect(assistantOf(body).reasoning_content).toBe("Let me think."),
  },
  {
    name: "the signature on a call of Google's compatible door",
    upstream: "openai-chat",
    answer: chatAnswer({ tool_calls: [{ ...calls[0], extra_content: google }, calls[1]] }),
    secrets: ["R1NJRw=="],
    check(body) {
      const [first, second] = list(assistantOf(body).tool_calls);
      expect(first).toEqual({ ...calls[0], extra_content: google });
      expect(second).toEqual(calls[1] as Json);
    },
  },
];

const context = { id: "req-1", created: 1_763_700_000, include_usage: true };
const schema = { type: "object", properties: { city: { type: "string" } } };

/** The second request of a caller's program that keeps everything; `bare`: one that keeps only text, calls and ids. */
const secondCall: Record<DialectKey, (answer: WireObject, bare: boolean) => WireObject> = {
  "openai-chat"(answer, bare) {
    const message = at(answer, "choices", 0, "message") as Json;
    const kept = bare ? { role: "assistant", content: message.content, tool_calls: message.tool_calls } : message;
    const results = list(message.tool_calls).map((call) => ({ role: "tool", tool_call_id: call.id, content: "ok" }));
    const tools = ["get_weather", "now"].map((name) => ({ type: "function", function: { name, parameters: schema } }));
    return { model: "m", messages: [{ role: "user", content: "Weather?" }, kept, ...results], tools };
  },
  "openai-responses"(answer) {
    const output = list(answer.output);
    const results = output
      .filter((item) => item.type === "function_call")
      .map((call) => ({ type: "function_call_output", call_id: call.call_id, output: "ok" }));
    const tools = ["get_weather", "now"].map((name) => ({ type: "function", name, parameters: schema, strict: false }));
    return { model: "m", input: [{ role: "user", content: "Weather?" }, ...output, ...results], tools, store: false };
  },
  anthropic(answer) {
    const content = list(answer.content);
    const results = content
      .filter((block) => block.type === "tool_use")
      .map((call) => ({ type: "tool_result", tool_use_id: call.id, content: "ok" }));
    const tools = ["get_weather", "now"].map((name) => ({ name, input_schema: schema }));
    return {
      model: "m",
      max_tokens: 100,
      messages: [
        { role: "user", content: "Weather?" },
        { role: "assistant", content },
        { role: "user", content: results },
      ],
      tools,
    };
  },
  gemini(answer) {
    const content = at(answer, "candidates", 0, "content") as Json;
    const results = list(content.parts).flatMap((part) =>
      part.functionCall
        ? [
            {
              functionResponse: {
                id: at(part, "functionCall", "id"),
                name: at(part, "functionCall", "name"),
                response: { result: "ok" },
              },
            },
          ]
        : [],
    );
    return {
      contents: [{ role: "user", parts: [{ text: "Weather?" }] }, content, { role: "user", parts: results }],
      tools: [{ functionDeclarations: [{ name: "get_weather", parameters: schema }, { name: "now" }] }],
    };
  },
};

for (const { name, upstream, answer, secrets, check } of cases) {
  describe(name, () => {
    for (const caller of dialectKeys.filter((key) => key !== upstream)) {
      for (const bare of caller === "openai-chat" ? [false, true] : [false]) {
        test(`comes back through a ${caller} caller${bare ? " who keeps ids only" : ""}, and to no other vendor`, () => {
          const shown = translateAnswer(upstream, caller, answer, context);
          if (!shown) throw new Error("not an answer");
          const second = secondCall[caller](shown.body, bare);
          check(translateRequest(caller, upstream, second, "m").body);
          // A channel of the caller's own dialect must not see them either.
          if (secrets.length > 0) expect(carriesSignatures(Buffer.from(JSON.stringify(second)))).toBe(true);
          expect(
            carriesSignatures(Buffer.from(JSON.stringify(translateRequest(caller, caller, second, "m").body))),
          ).toBe(false);
          for (const other of dialectKeys.filter((key) => key !== upstream)) {
            const { body } = translateRequest(caller, other, second, "m");
            const seen = JSON.stringify(body);
            for (const secret of secrets) {
              expect(seen).not.toContain(secret);
              expect(seen).not.toContain(Buffer.from(secret.slice(0, 6)).toString("base64url").slice(0, 7));
            }
            expect(seen).not.toContain("-w1-");
          }
        });
      }
    }
  });
}

describe("streamed answers contain the same", () => {
  /** The answer of a chat stream, as a program assembles it. */
  function assembleChat(bytes: string): Json {
    const message: Json = { role: "assistant", content: null };
    const made: Json[] = [];
    for (const data of dataOf(Buffer.from(bytes))) {
      if (data === "[DONE]") continue;
      const delta = at(JSON.parse(data), "choices", 0, "delta") as Json | undefined;
      if (typeof delta?.reasoning_content === "string")
        message.reasoning_content = String(message.reasoning_content ?? "") + delta.reasoning_content;
      if (typeof delta?.content === "string" && delta.content !== "")
        message.content = String(message.content ?? "") + delta.content;
      for (const call of list(delta?.tool_calls)) {
        const index = Number(call.index);
        const piece = call.function as Json;
        if (call.id) made[index] = { id: call.id, type: "function", function: { name: piece.name, arguments: "" } };
        const known = at(made, index, "function") as Json;
        known.arguments = String(known.arguments) + String(piece.arguments ?? "");
      }
      const details = list(delta?.reasoning_details);
      if (details.length > 0) message.reasoning_details = [...list(message.reasoning_details), ...details];
    }
    return { choices: [{ message: { ...message, tool_calls: made } }] };
  }

  for (const bare of [false, true]) {
    test(`Anthropic's thinking through a chat caller${bare ? " who keeps ids only" : ""}`, () => {
      const fixture = fixtures.find(({ dialect, name }) => dialect === "anthropic" && name === "thinking-tools");
      if (!fixture) throw new Error("no fixture");
      const { text } = translatePieces("anthropic", "openai-chat", [fixture.bytes]);
      const { body } = translateRequest(
        "openai-chat",
        "anthropic",
        secondCall["openai-chat"](assembleChat(text), bare),
        "claude-sonnet-4-5",
      );
      const blocks = list(assistantOf(body).content);
      expect(blocks[0]).toEqual({
        type: "thinking",
        thinking: "Two cities: 两 calls.",
        signature: "EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pk=",
      });
      expect(blocks.find((block) => block.type === "redacted_thinking")?.data).toBe(
        "EmwKAhgBEgy3va3pzix/LafPsn4aDFIT2Xlxh0L5L8rLVyIw",
      );
      expect(blocks.filter((block) => block.type === "tool_use").map((block) => block.id)).toEqual([
        "toolu_01A",
        "toolu_01B",
      ]);
    });
  }
});

test("thoughts too long for an id are restored when the program returns them, and dropped otherwise", () => {
  const thinking = "x".repeat(20_000);
  const answer = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    stop_reason: "tool_use",
    content: [{ type: "thinking", thinking, signature: "SIGN" }, anthropicContent[3]],
    usage: {},
  };
  const shown = translateAnswer("anthropic", "openai-chat", answer, context);
  if (!shown) throw new Error("not an answer");
  const whole = translateRequest("openai-chat", "anthropic", secondCall["openai-chat"](shown.body, false), "m").body;
  expect(list(assistantOf(whole).content)[0]).toEqual({ type: "thinking", thinking, signature: "SIGN" });
  const bare = translateRequest("openai-chat", "anthropic", secondCall["openai-chat"](shown.body, true), "m").body;
  expect(list(assistantOf(bare).content).map((block) => block.type)).toEqual(["tool_use"]);
  expect(String(at(shown.body, "choices", 0, "message", "tool_calls", 0, "id")).length).toBeLessThan(200);
});

test("a signature or an id that only looks like Weir's stays unchanged", () => {
  const strange = ["w1.", "w1.AAAA", "w1.W10", `w1.${Buffer.from('[["zz","a","",0]]').toString("base64url")}`];
  for (const signature of strange) {
    const body = {
      model: "m",
      max_tokens: 9,
      messages: [
        { role: "assistant", content: [{ type: "thinking", thinking: "t", signature }] },
        { role: "user", content: "go" },
      ],
    };
    const { body: same } = translateRequest("anthropic", "anthropic", body, "m");
    expect(at(same, "messages", 0, "content", 0, "signature")).toBe(signature);
  }
  for (const id of ["call-w1-", "a-w1-b", "-w1-W1tdXQ", "x-w1-W1tdXQ-w1-y"]) {
    const body = {
      model: "m",
      messages: [
        { role: "user", content: "q" },
        { role: "assistant", tool_calls: [{ id, type: "function", function: { name: "f", arguments: "{}" } }] },
        { role: "tool", tool_call_id: id, content: "r" },
      ],
    };
    const { body: same } = translateRequest("openai-chat", "openai-chat", body, "m");
    expect(at(same, "messages", 1, "tool_calls", 0, "id")).toBe(id);
    expect(at(same, "messages", 2, "tool_call_id")).toBe(id);
  }
});
