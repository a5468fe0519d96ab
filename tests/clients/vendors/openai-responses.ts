/** OpenAI's Responses with the refusals that its clients meet. */
import { type Answer, type Json, list, object, text } from "../../kit/fake-upstream/answer";
import { parseBehaviour } from "../../kit/fake-upstream/behaviours";
import type { Frame } from "../../kit/fake-upstream/dialects/dialect";
import { openaiResponses } from "../../kit/fake-upstream/dialects/openai-responses";
import { openaiAnswers, TOO_LONG } from "./openai";
import type { Rule } from "./rule";
import { membersNamed, type Vendor } from "./vendor";

const itemsOf = (request: Json): Json[] => list(request.input).map(object);
const isCall = ({ type }: Json): boolean => type === "function_call" || type === "custom_tool_call";
const isOutput = ({ type }: Json): boolean => type === "function_call_output" || type === "custom_tool_call_output";

const outputText = (output: unknown): string =>
  typeof output === "string" ? output : membersNamed(output, "text").join("");

const rules: Rule[] = [
  {
    name: "every function call has an output",
    source: { at: "https://github.com/openai/openai-agents-python/issues/673", date: "2025-05" },
    refuses: (request) => {
      const items = itemsOf(request);
      const answered = new Set(items.filter(isOutput).map(({ call_id }) => call_id));
      const open = items.find((item) => isCall(item) && !answered.has(item.call_id));
      return open && `No tool output found for function call ${text(open.call_id)}.`;
    },
  },
  {
    name: "every output has its function call",
    source: { at: "https://github.com/leookun/cursor-byok/issues/307", date: "2026-08" },
    refuses: (request) => {
      if (typeof request.previous_response_id === "string") return undefined;
      const items = itemsOf(request);
      const asked = new Set(items.filter(isCall).map(({ call_id }) => call_id));
      const lost = items.find((item) => isOutput(item) && !asked.has(item.call_id));
      return lost && `No tool call found for function call output with call_id ${text(lost.call_id)}.`;
    },
  },
  {
    name: "encrypted thoughts come back as they were given",
    source: { at: "https://github.com/openai/codex/issues/8145", date: "2025-12" },
    code: "invalid_encrypted_content",
    refuses: (request, { issued }) => {
      const wrong = membersNamed(request.input, "encrypted_content").find((content) => !issued.has(content));
      return wrong && `The encrypted content ${wrong.slice(0, 4)}...${wrong.slice(-4)} could not be verified.`;
    },
  },
  {
    name: "a model that reasons refuses a temperature",
    source: { at: "https://github.com/johny-b/llmcomp/issues/69", date: "2026-04" },
    code: "unsupported_value",
    refuses: ({ temperature }) =>
      typeof temperature === "number" && temperature !== 1
        ? `Unsupported value: 'temperature' does not support ${temperature} with this model. Only the default (1) value is supported.`
        : undefined,
  },
];

/** What Codex reads: github.com/openai/codex, codex-rs/codex-api/src/sse/responses.rs and api_bridge.rs, 2026-11. */
function tooLongEvents(request: Json): Frame[] {
  const empty: Answer = {
    id: "strict",
    model: text(request.model),
    created: Math.floor(Date.now() / 1000),
    reasoning: [],
    text: [],
    refusal: ["-"],
    tools: [],
    finish: "stop",
    choices: 1,
    behaviour: parseBehaviour("strict"),
  };
  const whole = { ...openaiResponses.whole(empty, request), output: [], completed_at: null };
  const event = (type: string, sequence_number: number, members: Json): Frame => {
    const response = { ...whole, ...members };
    return { event: type, kind: "content", data: JSON.stringify({ type, sequence_number, response }) };
  };
  return [
    event("response.created", 0, { status: "in_progress" }),
    event("response.failed", 1, {
      status: "failed",
      error: { code: "context_length_exceeded", message: TOO_LONG },
    }),
  ];
}

export const openaiResponsesVendor: Vendor = {
  ...openaiAnswers,
  dialect: openaiResponses,
  rules,
  tooLongEvents,
  read: (request) => {
    const items = itemsOf(request);
    return {
      tools: list(request.tools).map((tool) => text(object(tool).name)),
      calls: items.filter(isCall).length,
      results: items.filter(isOutput).map(({ output }) => outputText(output)),
      thoughts: membersNamed(request.input, "encrypted_content"),
      thinks: true,
      // developers.openai.com/api/docs/guides/reasoning ("encrypted reasoning items"), 2026-11.
      signs: list(request.include).includes("reasoning.encrypted_content"),
    };
  },
};
