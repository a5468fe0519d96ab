/** The same as nothing-lost-wire.ts for callers of Anthropic's and Google's dialects. */
import type { DialectKey, WireObject } from "../../src/server/protocol/chat-events";
import { base64, type Key } from "./nothing-lost-samples";
import { openaiWire, type Wire } from "./nothing-lost-wire";

const own = { own_word: "EXTRA" };
const parameters = {
  type: "object",
  properties: { city: { type: "string", description: "PARAMETER" } },
  required: ["city"],
  additionalProperties: false,
};
const declared = { name: "FUNCTION", description: "DESCRIPTION" };

/** What neither dialect has a word for. */
const unsaid = {
  refusal: undefined,
  "refusal.cache": undefined,
  "refusal.extra": undefined,
  "reasoning.cache": undefined,
  "reasoning.extra": undefined,
  "image.detail": undefined,
  "audio.transcript": undefined,
  "audio.cache": undefined,
  "tool_call.custom": undefined,
  "tool_result.custom": undefined,
  "opaque.cache": undefined,
  "opaque.extra": undefined,
  "tools.free_form": undefined,
  "tools.free_form.description": undefined,
  "tools.free_form.format": undefined,
  "tools.free_form.extra": undefined,
  "format.text": undefined,
  "format.json_schema.name": undefined,
  "format.json_schema.description": undefined,
  "format.json_schema.strict": undefined,
  verbosity: undefined,
  metadata: undefined,
} as const satisfies Partial<Record<Key, undefined>>;

function anthropic(): Wire {
  const ask = { role: "user", content: "QUESTION" };
  const user = (...blocks: WireObject[]): WireObject => ({
    messages: [{ role: "user", content: [{ type: "text", text: "QUESTION" }, ...blocks] }],
  });
  const assistant = (...blocks: WireObject[]): WireObject => ({
    messages: [ask, { role: "assistant", content: blocks }, { role: "user", content: "NEXT" }],
  });
  const use = { type: "tool_use", id: "call_1", name: "FUNCTION", input: { city: "ARGUMENT" } };
  const result = { type: "tool_result", tool_use_id: "call_1", content: "RESULT" };
  const called = (call: WireObject, answer: WireObject, ...before: WireObject[]): WireObject => ({
    messages: [ask, { role: "assistant", content: [...before, call] }, { role: "user", content: [answer] }],
  });
  const mark = { cache_control: { type: "ephemeral" } };
  const text = { type: "text", text: "WORDS" };
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: base64 } };
  const file = { type: "document", source: { type: "base64", media_type: "application/pdf", data: base64 } };
  const cited = { type: "web_search_result_location", url: "https://cited.example/1", title: "TITLE", cited_text: "C" };
  const tool = (more: WireObject): WireObject => ({ tools: [{ ...declared, input_schema: parameters, ...more }] });
  const both = { tools: ["FUNCTION", "OTHER"].map((name) => ({ name, input_schema: parameters })) };
  return {
    ...unsaid,
    "messages.extra": { messages: [{ ...ask, ...own }] },
    text: {},
    "text.citations": assistant({ ...text, citations: [{ ...cited, encrypted_index: "I" }] }),
    "text.cache": user({ ...text, ...mark }),
    "text.extra": user({ ...text, ...own }),
    reasoning: called(use, result, { type: "thinking", thinking: "THOUGHTS", signature: "" }),
    "reasoning.reasoningSignature": called(use, result, {
      type: "thinking",
      thinking: "THOUGHTS",
      signature: "SIGNED",
    }),
    image: user(image),
    "image.cache": user({ ...image, ...mark }),
    "image.extra": user({ ...image, ...own }),
    audio: undefined,
    "audio.extra": undefined,
    file: user(file),
    "file.name": user({ ...file, title: "NAME.pdf" }),
    "file.cache": user({ ...file, ...mark }),
    "file.extra": user({ ...file, ...own }),
    tool_call: called(use, result),
    "tool_call.cache": called({ ...use, ...mark }, result),
    "tool_call.extra": called({ ...use, ...own }, result),
    tool_result: called(use, result),
    "tool_result.name": undefined,
    "tool_result.error": called(use, { ...result, is_error: true }),
    "tool_result.cache": called(use, { ...result, ...mark }),
    "tool_result.extra": called(use, { ...result, ...own }),
    opaque: user({ type: "strange_block", strange: "OPAQUE" }),
    "tools.function": tool({}),
    "tools.function.description": tool({}),
    "tools.function.parameters": tool({}),
    "tools.function.strict": tool({ strict: true }),
    "tools.function.cache": tool(mark),
    "tools.function.extra": tool(own),
    "tools.server": { tools: [{ type: "strange_tool", strange: "SERVER" }] },
    tool_choice: { ...tool({}), tool_choice: { type: "any" } },
    "tool_choice.name": { ...both, tool_choice: { type: "tool", name: "OTHER" } },
    "tool_choice.allowed": undefined,
    parallel_tools: { ...tool({}), tool_choice: { type: "auto", disable_parallel_tool_use: true } },
    "format.json": undefined,
    "format.json_schema": { output_config: { format: { type: "json_schema", schema: parameters } } },
    temperature: { temperature: 0.37 },
    top_p: { top_p: 0.83 },
    top_k: { top_k: 5 },
    seed: undefined,
    frequency_penalty: undefined,
    presence_penalty: undefined,
    choices: undefined,
    max_output: { max_tokens: 4321 },
    stop: { stop_sequences: ["STOPWORD"] },
    "prompt.reasoning.effort": { thinking: { type: "adaptive" }, output_config: { effort: "high" } },
    "prompt.reasoning.budget": { thinking: { type: "enabled", budget_tokens: 9000 } },
    "prompt.reasoning.show": { thinking: { type: "adaptive", display: "omitted" }, output_config: { effort: "high" } },
    "prompt.reasoning.extra": { thinking: { type: "adaptive", ...own } },
    user: { metadata: { user_id: "SOMEONE" } },
    cache: mark,
    "cache.ttl": { cache_control: { type: "ephemeral", ttl: "1h" } },
    "cache.extra": { cache_control: { type: "ephemeral" } },
    extra: own,
  };
}

function gemini(): Wire {
  const ask = { role: "user", parts: [{ text: "QUESTION" }] };
  const user = (...parts: WireObject[]): WireObject => ({
    contents: [{ role: "user", parts: [{ text: "QUESTION" }, ...parts] }],
  });
  const call = { functionCall: { id: "call_1", name: "FUNCTION", args: { city: "ARGUMENT" } } };
  const answered = (response: WireObject): WireObject => ({
    functionResponse: { id: "call_1", name: "FUNCTION", response },
  });
  const called = (asked: WireObject, answer: WireObject, ...before: WireObject[]): WireObject => ({
    contents: [ask, { role: "model", parts: [...before, asked] }, { role: "user", parts: [answer] }],
  });
  const result = answered({ result: "RESULT" });
  const inline = (mimeType: string, more: WireObject = {}): WireObject => ({
    inlineData: { mimeType, data: base64, ...more },
  });
  const tool = (more: WireObject): WireObject => ({
    tools: [{ functionDeclarations: [{ ...declared, parametersJsonSchema: parameters, ...more }] }],
  });
  const both = {
    tools: [
      { functionDeclarations: ["FUNCTION", "OTHER"].map((name) => ({ name, parametersJsonSchema: parameters })) },
    ],
  };
  const calling = (mode: string, ...names: string[]): WireObject => ({
    toolConfig: { functionCallingConfig: { mode, ...(names.length > 0 && { allowedFunctionNames: names }) } },
  });
  const config = (generationConfig: WireObject): WireObject => ({ generationConfig });
  const thinking = (thinkingConfig: WireObject): WireObject => config({ thinkingConfig });
  return {
    ...unsaid,
    "messages.extra": undefined,
    text: {},
    "text.citations": undefined,
    "text.cache": undefined,
    "text.extra": user({ text: "WORDS", ...own }),
    reasoning: called(call, result, { text: "THOUGHTS", thought: true }),
    "reasoning.reasoningSignature": called(call, result, {
      text: "THOUGHTS",
      thought: true,
      thoughtSignature: "SIGNED",
    }),
    image: user(inline("image/png")),
    "image.cache": undefined,
    "image.extra": user({ ...inline("image/png"), ...own }),
    audio: user(inline("audio/wav")),
    "audio.extra": user({ ...inline("audio/wav"), ...own }),
    file: user(inline("application/pdf")),
    "file.name": user(inline("application/pdf", { displayName: "NAME.pdf" })),
    "file.cache": undefined,
    "file.extra": user({ ...inline("application/pdf"), ...own }),
    tool_call: called(call, result),
    "tool_call.cache": undefined,
    "tool_call.extra": called({ ...call, ...own }, result),
    tool_result: called(call, result),
    "tool_result.name": called(call, result),
    "tool_result.error": called(call, answered({ error: "RESULT" })),
    "tool_result.cache": undefined,
    "tool_result.extra": undefined,
    opaque: user({ type: "strange_block", strange: "OPAQUE" }),
    "tools.function": tool({}),
    "tools.function.description": tool({}),
    "tools.function.parameters": tool({}),
    "tools.function.strict": undefined,
    "tools.function.cache": undefined,
    "tools.function.extra": tool(own),
    "tools.server": { tools: [{ type: "strange_tool", strange: "SERVER" }] },
    tool_choice: { ...tool({}), ...calling("ANY") },
    "tool_choice.name": { ...both, ...calling("ANY", "OTHER") },
    "tool_choice.allowed": { ...both, ...calling("AUTO", "OTHER") },
    parallel_tools: undefined,
    "format.json": config({ responseMimeType: "application/json" }),
    "format.json_schema": config({ responseMimeType: "application/json", responseJsonSchema: parameters }),
    temperature: config({ temperature: 0.37 }),
    top_p: config({ topP: 0.83 }),
    top_k: config({ topK: 5 }),
    seed: config({ seed: 4242 }),
    frequency_penalty: config({ frequencyPenalty: 0.41 }),
    presence_penalty: config({ presencePenalty: 0.43 }),
    choices: config({ candidateCount: 2 }),
    max_output: config({ maxOutputTokens: 4321 }),
    stop: config({ stopSequences: ["STOPWORD"] }),
    "prompt.reasoning.effort": thinking({ thinkingLevel: "HIGH", includeThoughts: true }),
    "prompt.reasoning.budget": thinking({ thinkingBudget: 9000, includeThoughts: true }),
    "prompt.reasoning.show": thinking({ thinkingLevel: "HIGH", includeThoughts: false }),
    "prompt.reasoning.extra": thinking({ thinkingLevel: "HIGH", includeThoughts: true, ...own }),
    user: undefined,
    cache: undefined,
    "cache.ttl": undefined,
    "cache.extra": undefined,
    extra: own,
  };
}

export const wire: Readonly<Record<DialectKey, Wire>> = { ...openaiWire, anthropic: anthropic(), gemini: gemini() };
