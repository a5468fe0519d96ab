/**
 * How each caller's dialect says each member of a neutral prompt, undefined where it has no word for it. The type
 * demands an answer of every dialect for every member.
 */
import type { DialectKey, WireObject } from "../../src/server/protocol/chat-events";
import { base64, type Key } from "./nothing-lost-samples";

export type Wire = Readonly<Record<Key, WireObject | undefined>>;

const own = { own_word: "EXTRA" };
const parameters = {
  type: "object",
  properties: { city: { type: "string", description: "PARAMETER" } },
  required: ["city"],
  additionalProperties: false,
};
const declared = { name: "FUNCTION", description: "DESCRIPTION" };
const grammar = { type: "grammar", grammar: { syntax: "lark", definition: "GRAMMAR" } };
const flatGrammar = { type: "grammar", syntax: "lark", definition: "GRAMMAR" };
const pdf = `data:application/pdf;base64,${base64}`;
const png = `data:image/png;base64,${base64}`;
const strange = { type: "strange_block", strange: "OPAQUE" };
const input = '{"city":"ARGUMENT"}';

function openaiChat(): Wire {
  const ask = { role: "user", content: "QUESTION" };
  const user = (...parts: WireObject[]): WireObject => ({
    messages: [{ role: "user", content: [{ type: "text", text: "QUESTION" }, ...parts] }],
  });
  const assistant = (message: WireObject): WireObject => ({
    messages: [ask, { role: "assistant", ...message }, { role: "user", content: "NEXT" }],
  });
  const called = (call: WireObject, tool: WireObject = {}): WireObject => ({
    messages: [
      ask,
      { role: "assistant", tool_calls: [{ id: "call_1", type: "function", ...call }] },
      { role: "tool", tool_call_id: "call_1", content: "RESULT", ...tool },
    ],
  });
  const call = { function: { name: "FUNCTION", arguments: input } };
  const thinking = (detail: WireObject): WireObject => ({
    messages: [
      ask,
      { role: "assistant", ...detail, tool_calls: [{ id: "call_1", type: "function", ...call }] },
      { role: "tool", tool_call_id: "call_1", content: "RESULT" },
    ],
  });
  const mark = { prompt_cache_breakpoint: { mode: "explicit" } };
  const text = { type: "text", text: "WORDS" };
  const image = { type: "image_url", image_url: { url: png } };
  const audio = { type: "input_audio", input_audio: { data: base64, format: "wav" } };
  const file = { type: "file", file: { file_data: pdf } };
  const tool = (more: WireObject, beside: WireObject = {}): WireObject => ({
    tools: [{ type: "function", function: { ...declared, parameters, ...more }, ...beside }],
  });
  const free = (more: WireObject): WireObject => ({
    tools: [{ type: "custom", custom: { name: "FREE_FORM", ...more } }],
  });
  const both = {
    tools: ["FUNCTION", "OTHER"].map((name) => ({ type: "function", function: { name, parameters } })),
  };
  const schema = (more: WireObject): WireObject => ({
    response_format: { type: "json_schema", json_schema: { name: "SCHEMA_NAME", schema: parameters, ...more } },
  });
  const citation = { url: "https://cited.example/1", title: "TITLE", start_index: 0, end_index: 3 };
  return {
    "messages.extra": { messages: [{ ...ask, ...own }] },
    text: {},
    "text.citations": assistant({ content: "WORDS", annotations: [{ type: "url_citation", url_citation: citation }] }),
    "text.cache": user({ ...text, ...mark }),
    "text.extra": user({ ...text, ...own }),
    refusal: assistant({ refusal: "REFUSED" }),
    "refusal.cache": assistant({ content: [{ type: "refusal", refusal: "REFUSED", ...mark }] }),
    "refusal.extra": assistant({ content: [{ type: "refusal", refusal: "REFUSED", ...own }] }),
    reasoning: thinking({ reasoning_content: "THOUGHTS" }),
    "reasoning.reasoningSignature": thinking({
      reasoning_details: [{ type: "reasoning.text", text: "THOUGHTS", signature: "SIGNED" }],
    }),
    "reasoning.cache": undefined,
    "reasoning.extra": undefined,
    image: user(image),
    "image.detail": user({ type: "image_url", image_url: { url: png, detail: "high" } }),
    "image.cache": user({ ...image, ...mark }),
    "image.extra": user({ ...image, ...own }),
    audio: user(audio),
    "audio.transcript": undefined,
    "audio.cache": user({ ...audio, ...mark }),
    "audio.extra": user({ ...audio, ...own }),
    file: user(file),
    "file.name": user({ type: "file", file: { file_data: pdf, filename: "NAME.pdf" } }),
    "file.cache": user({ ...file, ...mark }),
    "file.extra": user({ ...file, ...own }),
    tool_call: called(call),
    "tool_call.custom": called({ type: "custom", custom: { name: "FUNCTION", input: "ARGUMENT" } }),
    "tool_call.cache": undefined,
    "tool_call.extra": called({ ...call, ...own }),
    tool_result: called(call),
    "tool_result.name": called(call, { name: "FUNCTION" }),
    "tool_result.error": undefined,
    "tool_result.custom": undefined,
    "tool_result.cache": undefined,
    "tool_result.extra": undefined,
    opaque: user(strange),
    "opaque.cache": undefined,
    "opaque.extra": undefined,
    "tools.function": tool({}),
    "tools.function.description": tool({}),
    "tools.function.parameters": tool({}),
    "tools.function.strict": tool({ strict: true }),
    "tools.function.cache": tool({}, { cache_control: { type: "ephemeral" } }),
    "tools.function.extra": tool(own),
    "tools.free_form": free({}),
    "tools.free_form.description": free({ description: "DESCRIPTION" }),
    "tools.free_form.format": free({ format: grammar }),
    "tools.free_form.extra": free(own),
    "tools.server": { tools: [{ type: "strange_tool", strange: "SERVER" }] },
    tool_choice: { ...tool({}), tool_choice: "required" },
    "tool_choice.name": { ...both, tool_choice: { type: "function", function: { name: "OTHER" } } },
    "tool_choice.allowed": {
      ...both,
      tool_choice: {
        type: "allowed_tools",
        allowed_tools: { mode: "auto", tools: [{ type: "function", function: { name: "OTHER" } }] },
      },
    },
    parallel_tools: { ...tool({}), parallel_tool_calls: false },
    "format.text": { response_format: { type: "text" } },
    "format.json": { response_format: { type: "json_object" } },
    "format.json_schema": schema({}),
    "format.json_schema.name": schema({}),
    "format.json_schema.description": schema({ description: "SCHEMA_DESCRIPTION" }),
    "format.json_schema.strict": schema({ strict: true }),
    temperature: { temperature: 0.37 },
    top_p: { top_p: 0.83 },
    top_k: { top_k: 5 },
    seed: { seed: 4242 },
    frequency_penalty: { frequency_penalty: 0.41 },
    presence_penalty: { presence_penalty: 0.43 },
    choices: { n: 2 },
    max_output: { max_completion_tokens: 4321 },
    stop: { stop: ["STOPWORD"] },
    "prompt.reasoning.effort": { reasoning_effort: "high" },
    "prompt.reasoning.budget": { reasoning: { max_tokens: 9000 } },
    "prompt.reasoning.show": { reasoning: { effort: "high", exclude: true } },
    "prompt.reasoning.extra": { reasoning: { effort: "high", ...own } },
    verbosity: { verbosity: "low" },
    user: { user: "SOMEONE" },
    metadata: { metadata: { order: "METADATA" } },
    cache: undefined,
    "cache.ttl": undefined,
    "cache.extra": undefined,
    extra: own,
  };
}

function responses(): Wire {
  const item = (...items: WireObject[]): WireObject => ({ input: [{ role: "user", content: "QUESTION" }, ...items] });
  const user = (...parts: WireObject[]): WireObject => ({
    input: [{ role: "user", content: [{ type: "input_text", text: "QUESTION" }, ...parts] }],
  });
  const assistant = (part: WireObject): WireObject =>
    item({ type: "message", role: "assistant", content: [part] }, { role: "user", content: "NEXT" });
  const call = { type: "function_call", call_id: "call_1", name: "FUNCTION", arguments: input };
  const result = { type: "function_call_output", call_id: "call_1", output: "RESULT" };
  const freeCall = { type: "custom_tool_call", call_id: "call_1", name: "FUNCTION", input: "ARGUMENT" };
  const freeResult = { type: "custom_tool_call_output", call_id: "call_1", output: "RESULT" };
  const mark = { prompt_cache_breakpoint: { mode: "explicit" } };
  const text = { type: "input_text", text: "WORDS" };
  const image = { type: "input_image", image_url: png };
  const audio = { type: "input_audio", input_audio: { data: base64, format: "wav" } };
  const file = { type: "input_file", file_data: pdf };
  const cited = { type: "url_citation", url: "https://cited.example/1", title: "TITLE", start_index: 0, end_index: 3 };
  const tool = (more: WireObject): WireObject => ({ tools: [{ type: "function", ...declared, parameters, ...more }] });
  const free = (more: WireObject): WireObject => ({ tools: [{ type: "custom", name: "FREE_FORM", ...more }] });
  const both = { tools: ["FUNCTION", "OTHER"].map((name) => ({ type: "function", name, parameters })) };
  const schema = (more: WireObject): WireObject => ({
    text: { format: { type: "json_schema", name: "SCHEMA_NAME", schema: parameters, ...more } },
  });
  return {
    "messages.extra": { input: [{ role: "user", content: "QUESTION", ...own }] },
    text: {},
    "text.citations": assistant({ type: "output_text", text: "WORDS", annotations: [cited] }),
    "text.cache": user({ ...text, ...mark }),
    "text.extra": user({ ...text, ...own }),
    refusal: assistant({ type: "refusal", refusal: "REFUSED" }),
    "refusal.cache": assistant({ type: "refusal", refusal: "REFUSED", ...mark }),
    "refusal.extra": assistant({ type: "refusal", refusal: "REFUSED", ...own }),
    reasoning: item({ type: "reasoning", summary: [{ type: "summary_text", text: "THOUGHTS" }] }, call, result),
    "reasoning.reasoningSignature": item(
      { type: "reasoning", summary: [{ type: "summary_text", text: "THOUGHTS" }], encrypted_content: "SIGNED" },
      call,
      result,
    ),
    "reasoning.cache": undefined,
    "reasoning.extra": undefined,
    image: user(image),
    "image.detail": user({ ...image, detail: "high" }),
    "image.cache": user({ ...image, ...mark }),
    "image.extra": user({ ...image, ...own }),
    audio: user(audio),
    "audio.transcript": undefined,
    "audio.cache": user({ ...audio, ...mark }),
    "audio.extra": user({ ...audio, ...own }),
    file: user(file),
    "file.name": user({ ...file, filename: "NAME.pdf" }),
    "file.cache": user({ ...file, ...mark }),
    "file.extra": user({ ...file, ...own }),
    tool_call: item(call, result),
    "tool_call.custom": item(freeCall, freeResult),
    "tool_call.cache": undefined,
    "tool_call.extra": item({ ...call, ...own }, result),
    tool_result: item(call, result),
    "tool_result.name": undefined,
    "tool_result.error": undefined,
    "tool_result.custom": item(freeCall, freeResult),
    "tool_result.cache": undefined,
    "tool_result.extra": item(call, { ...result, ...own }),
    opaque: user(strange),
    "opaque.cache": undefined,
    "opaque.extra": undefined,
    "tools.function": tool({}),
    "tools.function.description": tool({}),
    "tools.function.parameters": tool({}),
    "tools.function.strict": tool({ strict: true }),
    "tools.function.cache": undefined,
    "tools.function.extra": tool(own),
    "tools.free_form": free({}),
    "tools.free_form.description": free({ description: "DESCRIPTION" }),
    "tools.free_form.format": free({ format: flatGrammar }),
    "tools.free_form.extra": free(own),
    "tools.server": { tools: [{ type: "strange_tool", strange: "SERVER" }] },
    tool_choice: { ...tool({}), tool_choice: "required" },
    "tool_choice.name": { ...both, tool_choice: { type: "function", name: "OTHER" } },
    "tool_choice.allowed": {
      ...both,
      tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "OTHER" }] },
    },
    parallel_tools: { ...tool({}), parallel_tool_calls: false },
    "format.text": { text: { format: { type: "text" } } },
    "format.json": { text: { format: { type: "json_object" } } },
    "format.json_schema": schema({}),
    "format.json_schema.name": schema({}),
    "format.json_schema.description": schema({ description: "SCHEMA_DESCRIPTION" }),
    "format.json_schema.strict": schema({ strict: true }),
    temperature: { temperature: 0.37 },
    top_p: { top_p: 0.83 },
    top_k: undefined,
    seed: undefined,
    frequency_penalty: undefined,
    presence_penalty: undefined,
    choices: undefined,
    max_output: { max_output_tokens: 4321 },
    stop: undefined,
    "prompt.reasoning.effort": { reasoning: { effort: "high", summary: "auto" } },
    "prompt.reasoning.budget": undefined,
    "prompt.reasoning.show": { reasoning: { effort: "high" } },
    "prompt.reasoning.extra": { reasoning: { effort: "high", summary: "auto", ...own } },
    verbosity: { text: { verbosity: "low" } },
    user: { user: "SOMEONE" },
    metadata: { metadata: { order: "METADATA" } },
    cache: undefined,
    "cache.ttl": undefined,
    "cache.extra": undefined,
    extra: own,
  };
}

export const openaiWire: Readonly<Record<Extract<DialectKey, `openai-${string}`>, Wire>> = {
  "openai-chat": openaiChat(),
  "openai-responses": responses(),
};
