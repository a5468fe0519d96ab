/** The strict vendors refuse what they say they refuse, and nothing without a source. */
import { describe, expect, test } from "bun:test";
import type { Json } from "../../kit/fake-upstream/answer";
import { judge, type Rule } from "./rule";
import { VENDORS } from "./vendors";

const issued = new Set(["good"]);
const call = { id: "c1", type: "function", function: { name: "read_note", arguments: "{}" } };
const chatTools = [{ type: "function", function: { name: "read_note", parameters: {} } }];
const user = { role: "user", content: "hello" };
const toolUse = { type: "tool_use", id: "t1", name: "read_note", input: {} };
const toolResult = { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "x" }] };
const asked = { role: "user", parts: [{ text: "hello" }] };
const calls = (...parts: Json[]) => ({ role: "model", parts });
const functionCall = { functionCall: { name: "read_note", args: {} } };
const responses = { role: "user", parts: [{ functionResponse: { name: "read_note", response: {} } }] };
const declared = (parameters: Json) => [{ functionDeclarations: [{ name: "read_note", parameters }] }];

/** A request that each rule refuses. */
const REFUSED: Record<keyof typeof VENDORS, Record<string, Json>> = {
  "OpenAI, chat": {
    "every tool call is answered at once": {
      messages: [user, { role: "assistant", tool_calls: [call] }, { role: "assistant", content: "" }],
    },
    "a tool message answers a call": { messages: [user, { role: "tool", tool_call_id: "c1", content: "x" }] },
    "models from gpt-5.4 on take function tools on Responses alone": { model: "gpt-5.5", tools: chatTools },
    "reasoning models refuse max_tokens": { model: "gpt-5.1", max_tokens: 10 },
    "a model that reasons refuses a temperature": { model: "gpt-5.1", reasoning_effort: "low", temperature: 0.3 },
  },
  "OpenAI, Responses": {
    "every function call has an output": { input: [{ type: "function_call", call_id: "c1" }] },
    "every output has its function call": { input: [{ type: "function_call_output", call_id: "c1", output: "x" }] },
    "encrypted thoughts come back as they were given": { input: [{ type: "reasoning", encrypted_content: "bad" }] },
    "a model that reasons refuses a temperature": { temperature: 0.3 },
  },
  Anthropic: {
    "max_tokens is there": {},
    "every tool_use has its tool_result in the next message": {
      max_tokens: 1,
      messages: [user, { role: "assistant", content: [toolUse] }, user],
    },
    "signatures come back as they were given": {
      max_tokens: 1,
      messages: [user, { role: "assistant", content: [{ type: "thinking", thinking: "", signature: "bad" }] }, user],
    },
    "with a thinking budget, the turn of a tool call begins with its thoughts": {
      max_tokens: 1,
      thinking: { type: "enabled", budget_tokens: 1024 },
      messages: [user, { role: "assistant", content: [toolUse] }, toolResult],
    },
    "with thoughts, the temperature is 1": { max_tokens: 1, thinking: { type: "adaptive" }, temperature: 0.3 },
    "with a thinking budget, there is no top_k": { max_tokens: 1, thinking: { type: "enabled" }, top_k: 64 },
    "with adaptive thinking, there is no top_k": { max_tokens: 1, thinking: { type: "adaptive" }, top_k: 64 },
    "the last message is the user's": { max_tokens: 1, messages: [user, { role: "assistant", content: "{" }] },
    "four cache marks at most": {
      max_tokens: 1,
      system: Array.from({ length: 5 }, () => ({ type: "text", text: "x", cache_control: { type: "ephemeral" } })),
    },
  },
  Gemini: {
    "as many function responses as calls": { contents: [asked, calls(functionCall, functionCall), responses] },
    "Gemini 3 wants the signature of its calls back": { contents: [asked, calls(functionCall), responses] },
    "signatures come back as they were given": {
      contents: [asked, calls({ ...functionCall, thoughtSignature: "bad" }), responses],
    },
    "parameters are in the vendor's own kind of schema": {
      tools: declared({ type: "OBJECT", properties: { a: { type: "OBJECT", additionalProperties: false } } }),
    },
  },
};

/** What no vendor refuses. */
const TAKEN: Record<keyof typeof VENDORS, Json> = {
  "OpenAI, chat": {
    model: "gpt-5.1",
    tools: chatTools,
    messages: [user, { role: "assistant", tool_calls: [call] }, { role: "tool", tool_call_id: "c1", content: "x" }],
  },
  "OpenAI, Responses": {
    input: [
      { type: "reasoning", encrypted_content: "good" },
      { type: "function_call", call_id: "c1" },
      { type: "function_call_output", call_id: "c1", output: "x" },
    ],
  },
  Anthropic: {
    max_tokens: 1,
    thinking: { type: "adaptive" },
    messages: [
      user,
      { role: "assistant", content: [{ type: "thinking", thinking: "", signature: "good" }, toolUse] },
      toolResult,
    ],
  },
  Gemini: { contents: [asked, calls({ ...functionCall, thoughtSignature: "good" }), responses] },
};

for (const [vendor, { rules }] of Object.entries(VENDORS)) {
  const name = vendor as keyof typeof VENDORS;
  describe(vendor, () => {
    test("every rule refuses its request, and has its source or only leaves a remark", () => {
      expect(rules.map((rule) => rule.name)).toEqual(Object.keys(REFUSED[name]));
      for (const rule of rules) {
        const { refusal, remarks } = judge([rule], REFUSED[name][rule.name] ?? {}, { issued });
        const told = { rule: rule.name, refused: refusal !== undefined, remarks: remarks.length };
        expect(told).toEqual({ rule: rule.name, refused: rule.source !== undefined, remarks: rule.source ? 0 : 1 });
        if (rule.source)
          expect([rule.source.at, rule.source.date]).toEqual([
            expect.stringMatching(/^https:/),
            expect.stringMatching(/^20\d\d-\d\d$/),
          ]);
      }
    });

    test("a right conversation is taken", () => {
      expect(judge(rules, TAKEN[name], { issued })).toEqual({ refusal: undefined, remarks: [] });
    });
  });
}

test("a rule without a source does not refuse", () => {
  const rule: Rule = { name: "a guess", source: undefined, refuses: () => "no" };
  expect(judge([rule], {}, { issued })).toEqual({ refusal: undefined, remarks: ["a guess: no"] });
});
