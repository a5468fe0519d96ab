/**
 * A sample of every member of a neutral prompt: a prompt that says it, where its value may be found in a body, and how
 * a warning names it. The types follow the neutral types: a new member does not compile until it has a sample here.
 */
import type {
  Block,
  CacheMark,
  ChatPrompt,
  Message,
  OutputFormat,
  Reasoning,
  Tool,
  ToolChoice,
} from "../../src/server/protocol/chat-events";
import type { OptionalKeys, Param } from "../../src/server/protocol/dialects/shared/support";

/** The variants of a union and their optional members, by path. */
export type VariantKeys<T extends { readonly type: string }> = {
  [Variant in T as Variant["type"]]: Variant["type"] | `${Variant["type"]}.${OptionalKeys<Variant> & string}`;
}[T["type"]];

/** Every member of a prompt, nested ones by their path. */
export type Key =
  | Exclude<Param, "messages" | "tools" | "format" | "reasoning">
  | `messages.${OptionalKeys<Message>}`
  | VariantKeys<Block>
  | `tools.${VariantKeys<Tool>}`
  | `format.${VariantKeys<OutputFormat>}`
  | `tool_choice.${OptionalKeys<ToolChoice>}`
  | `prompt.reasoning.${OptionalKeys<Reasoning>}`
  | `cache.${OptionalKeys<CacheMark>}`;

/** Where a value may stand in a body: anywhere, when it is distinctive; at certain members; or in what is left out. */
export type Leaf =
  | string
  | number
  | { readonly at: RegExp; readonly is?: unknown }
  | { readonly without: RegExp; readonly beside: RegExp }
  /** A name that stands there without another. */
  | { readonly only: string; readonly not: string };

export interface Sample {
  readonly prompt: Partial<ChatPrompt>;
  /** Other ways to say it. */
  readonly others?: readonly Partial<ChatPrompt>[];
  readonly leaves: readonly Leaf[];
  /** What a warning's detail has in it; the last word of the key where absent. */
  readonly named?: RegExp;
}

export const base64 = Buffer.from("BYTES OF A SAMPLE").toString("base64");
const question: Block = { type: "text", text: "QUESTION" };
const ask: Message = { role: "user", content: [question] };
const user = (...blocks: Block[]): Partial<ChatPrompt> => ({
  messages: [{ role: "user", content: [question, ...blocks] }],
});
const assistant = (...blocks: Block[]): Partial<ChatPrompt> => ({
  messages: [ask, { role: "assistant", content: blocks }, { role: "user", content: [{ type: "text", text: "NEXT" }] }],
});
const call = { type: "tool_call", id: "call_1", name: "FUNCTION", input: '{"city":"ARGUMENT"}' } as const;
const freeCall = { ...call, input: "ARGUMENT", custom: true } as const;
const result = { type: "tool_result", call_id: "call_1", content: [{ type: "text", text: "RESULT" }] } as const;
const called = (asked: Block, ...answers: Block[]): Partial<ChatPrompt> => ({
  messages: [ask, { role: "assistant", content: [asked] }, { role: "user", content: answers }],
});
const image = { type: "image", source: { kind: "data", media_type: "image/png", data: base64 } } as const;
const audio = { type: "audio", source: { kind: "data", media_type: "audio/wav", data: base64 } } as const;
const file = { type: "file", source: { kind: "data", media_type: "application/pdf", data: base64 } } as const;
const opaque = { type: "opaque", from: "openai-chat", value: { type: "strange_block", strange: "OPAQUE" } } as const;
const parameters = {
  type: "object",
  properties: { city: { type: "string", description: "PARAMETER" } },
  required: ["city"],
  additionalProperties: false,
};
const tool = { type: "function", name: "FUNCTION", description: "DESCRIPTION", parameters } as const;
const freeTool = { type: "free_form", name: "FREE_FORM" } as const;
const grammar = { type: "grammar", grammar: { syntax: "lark", definition: "GRAMMAR" } };
const otherTool = { type: "function", name: "OTHER", parameters } as const;
const schema = { type: "json_schema", schema: parameters } as const;
const cache = { ttl: "5m" } as const;
const marks = { leaves: [{ at: /cache_control|prompt_cache_breakpoint|cachePoint/ }], named: /cache/ };
const foreign = { "openai-chat": { own_word: "EXTRA" } };
const extra = { leaves: ["EXTRA"], named: /own_word/ };

export const samples: Readonly<Record<Key, Sample>> = {
  "messages.extra": { prompt: { messages: [{ ...ask, extra: foreign }] }, ...extra },

  text: { prompt: user(), leaves: ["QUESTION"] },
  "text.citations": {
    prompt: assistant({
      type: "text",
      text: "WORDS",
      citations: [
        {
          url: "https://cited.example/1",
          title: "TITLE",
          from: "openai-chat",
          raw: {
            type: "url_citation",
            url_citation: { url: "https://cited.example/1", title: "TITLE", start_index: 0, end_index: 3 },
          },
        },
      ],
    }),
    leaves: ["https://cited.example/1"],
    named: /citations|annotations/,
  },
  "text.cache": { prompt: user({ type: "text", text: "WORDS", cache }), ...marks },
  "text.extra": { prompt: user({ type: "text", text: "WORDS", extra: foreign }), ...extra },

  refusal: { prompt: assistant({ type: "refusal", text: "REFUSED" }), leaves: ["REFUSED"] },
  "refusal.cache": {
    prompt: assistant({ type: "refusal", text: "REFUSED", cache }),
    leaves: marks.leaves,
    named: /cache|refusal/,
  },
  "refusal.extra": {
    prompt: assistant({ type: "refusal", text: "REFUSED", extra: foreign }),
    leaves: extra.leaves,
    named: /own_word|refusal/,
  },

  reasoning: {
    prompt: assistant({ type: "reasoning", text: "THOUGHTS" }, call),
    leaves: ["THOUGHTS"],
    named: /unsigned|no tool call|openai|anthropic|gemini/,
  },
  "reasoning.reasoningSignature": {
    prompt: assistant(
      {
        type: "reasoning",
        text: "THOUGHTS",
        reasoningSignature: { from: "anthropic", kind: "signature", data: "SIGNED" },
      },
      call,
    ),
    leaves: ["SIGNED"],
    named: /anthropic|openai|gemini/,
  },
  "reasoning.cache": {
    prompt: assistant({ type: "reasoning", text: "THOUGHTS", cache }, call),
    leaves: marks.leaves,
    named: /cache|unsigned/,
  },
  "reasoning.extra": {
    prompt: assistant({ type: "reasoning", text: "THOUGHTS", extra: foreign }, call),
    leaves: extra.leaves,
    named: /own_word|unsigned/,
  },

  image: {
    prompt: user(image),
    others: [user({ type: "image", source: { kind: "url", url: "https://media.example/1.png" } })],
    leaves: [base64, "https://media.example/1.png"],
    named: /^image/,
  },
  "image.detail": {
    prompt: user({ ...image, detail: "high" }),
    leaves: [{ at: /detail$/, is: "high" }],
    named: /image/,
  },
  "image.cache": { prompt: user({ ...image, cache }), leaves: marks.leaves, named: /cache|^image/ },
  "image.extra": { prompt: user({ ...image, extra: foreign }), leaves: extra.leaves, named: /own_word|^image/ },

  audio: {
    prompt: user(audio),
    others: [user({ type: "audio", source: { kind: "url", url: "https://media.example/1.wav" } })],
    leaves: [base64, "https://media.example/1.wav"],
    named: /^audio/,
  },
  "audio.transcript": { prompt: user({ ...audio, transcript: "TRANSCRIPT" }), leaves: ["TRANSCRIPT"], named: /^audio/ },
  "audio.cache": { prompt: user({ ...audio, cache }), leaves: marks.leaves, named: /cache|^audio/ },
  "audio.extra": { prompt: user({ ...audio, extra: foreign }), leaves: extra.leaves, named: /own_word|^audio/ },

  file: {
    prompt: user(file),
    others: [
      user({ type: "file", source: { kind: "url", url: "https://media.example/1.pdf" } }),
      user({ type: "file", source: { kind: "text", text: "TEXT OF A FILE" } }),
      user({ type: "file", source: { kind: "id", from: "openai-chat", id: "file-1" } }),
    ],
    leaves: [
      base64,
      "https://media.example/1.pdf",
      "TEXT OF A FILE",
      Buffer.from("TEXT OF A FILE").toString("base64"),
      "file-1",
    ],
    named: /^file/,
  },
  "file.name": {
    prompt: user({ ...file, name: "NAME.pdf" }),
    others: [user({ type: "file", source: { kind: "url", url: "https://media.example/1.pdf" }, name: "NAME.pdf" })],
    leaves: ["NAME"],
    named: /^file/,
  },
  "file.cache": { prompt: user({ ...file, cache }), leaves: marks.leaves, named: /cache|^file/ },
  "file.extra": { prompt: user({ ...file, extra: foreign }), leaves: extra.leaves, named: /own_word|^file/ },

  tool_call: { prompt: called(call, result), leaves: ["ARGUMENT"] },
  "tool_call.custom": {
    prompt: called(freeCall, { ...result, custom: true }),
    leaves: ["ARGUMENT"],
    named: /tool_call|custom tool/,
  },
  "tool_call.cache": { prompt: called({ ...call, cache }, result), leaves: marks.leaves, named: /cache|tool_call/ },
  "tool_call.extra": {
    prompt: called({ ...call, extra: foreign }, result),
    leaves: extra.leaves,
    named: /own_word|tool_call/,
  },

  tool_result: { prompt: called(call, result), leaves: ["RESULT"] },
  "tool_result.name": {
    prompt: called(call, { ...result, name: "FUNCTION" }),
    leaves: ["FUNCTION"],
    named: /tool_(call|result)/,
  },
  "tool_result.error": {
    prompt: called(call, { ...result, error: true }),
    leaves: [
      { at: /is_error$/, is: true },
      { at: /response\.error$/, is: "RESULT" },
      { at: /status$/, is: "error" },
    ],
    named: /tool_result/,
  },
  "tool_result.custom": {
    prompt: called(freeCall, { ...result, custom: true }),
    leaves: ["RESULT"],
    named: /tool_result/,
  },
  "tool_result.cache": { prompt: called(call, { ...result, cache }), leaves: marks.leaves, named: /cache|tool_result/ },
  "tool_result.extra": {
    prompt: called(call, { ...result, extra: foreign }),
    leaves: extra.leaves,
    named: /own_word|tool_result/,
  },

  opaque: { prompt: user(opaque), leaves: ["OPAQUE"], named: /strange_block/ },
  "opaque.cache": { prompt: user({ ...opaque, cache }), leaves: marks.leaves, named: /cache|strange_block/ },
  "opaque.extra": {
    prompt: user({ ...opaque, extra: foreign }),
    leaves: extra.leaves,
    named: /own_word|strange_block/,
  },

  "tools.function": { prompt: { tools: [tool] }, leaves: ["FUNCTION"], named: /^tools$|FUNCTION/ },
  "tools.function.description": { prompt: { tools: [tool] }, leaves: ["DESCRIPTION"], named: /^tools$|FUNCTION/ },
  "tools.function.parameters": { prompt: { tools: [tool] }, leaves: ["PARAMETER"], named: /^tools$|FUNCTION/ },
  "tools.function.strict": {
    prompt: { tools: [{ ...tool, strict: true }] },
    leaves: [{ at: /strict(_tools)?$/, is: true }],
    named: /^tools$|FUNCTION|tools\.strict/,
  },
  "tools.function.cache": {
    prompt: { tools: [{ ...tool, cache }] },
    leaves: marks.leaves,
    named: /^tools$|FUNCTION|tools\.cache/,
  },
  "tools.function.extra": {
    prompt: { tools: [{ ...tool, extra: foreign }] },
    leaves: extra.leaves,
    named: /^tools$|FUNCTION|tools\.own_word/,
  },
  "tools.free_form": { prompt: { tools: [freeTool] }, leaves: ["FREE_FORM"], named: /^tools$|FREE_FORM/ },
  "tools.free_form.description": {
    prompt: { tools: [{ ...freeTool, description: "DESCRIPTION" }] },
    leaves: ["DESCRIPTION"],
    named: /^tools$|FREE_FORM/,
  },
  "tools.free_form.format": {
    prompt: { tools: [{ ...freeTool, format: grammar }] },
    leaves: ["GRAMMAR"],
    named: /^tools$|FREE_FORM/,
  },
  "tools.free_form.extra": {
    prompt: { tools: [{ ...freeTool, extra: foreign }] },
    leaves: extra.leaves,
    named: /^tools$|FREE_FORM|own_word/,
  },
  "tools.server": {
    prompt: { tools: [{ type: "server", from: "openai-chat", value: { type: "strange_tool", strange: "SERVER" } }] },
    leaves: ["SERVER"],
    named: /^tools$|strange_tool/,
  },

  tool_choice: {
    prompt: { tools: [tool], tool_choice: { mode: "required" } },
    leaves: [
      { at: /tool_?choice(\.type|\.any)?$|functionCallingConfig\.mode$/i, is: /required|any/i },
      { at: /toolChoice\.any$/ },
      { at: /(tool_choice|CustomTool)\..*name$/i, is: "FUNCTION" },
    ],
    named: /^tools$|tool_choice|FUNCTION/,
  },
  "tool_choice.name": {
    prompt: { tools: [tool, otherTool], tool_choice: { mode: "named", name: "OTHER" } },
    leaves: [
      { at: /(tool_?choice|CustomTool|allowedFunctionNames).*$/i, is: "OTHER" },
      { at: /tool_choice$/, is: "REQUIRED" },
    ],
    named: /^tools$|tool_choice|OTHER/,
  },
  "tool_choice.allowed": {
    prompt: { tools: [tool, otherTool], tool_choice: { mode: "auto", allowed: ["OTHER"] } },
    leaves: [
      { only: "OTHER", not: "FUNCTION" },
      { at: /allowed_tools.*name$|allowedFunctionNames|tool_choice\.tools.*name$/, is: "OTHER" },
    ],
    named: /^tools$|tool_choice|OTHER/,
  },
  parallel_tools: {
    prompt: { tools: [tool], parallel_tools: false },
    leaves: [
      { at: /parallel_tool_calls$/, is: false },
      { at: /disable_parallel_tool_use$/, is: true },
    ],
  },

  "format.text": { prompt: { format: { type: "text" } }, leaves: ["QUESTION"] },
  "format.json": {
    prompt: { format: { type: "json" } },
    leaves: ["json_object", "application/json", "JSON object"],
    named: /format/,
  },
  "format.json_schema": { prompt: { format: schema }, leaves: ["PARAMETER"], named: /format/ },
  "format.json_schema.name": {
    prompt: { format: { ...schema, name: "SCHEMA_NAME" } },
    leaves: ["SCHEMA_NAME"],
    named: /format/,
  },
  "format.json_schema.description": {
    prompt: { format: { ...schema, description: "SCHEMA_DESCRIPTION" } },
    leaves: ["SCHEMA_DESCRIPTION"],
    named: /format/,
  },
  "format.json_schema.strict": {
    prompt: { format: { ...schema, strict: true } },
    leaves: [
      { at: /format.*strict$/, is: true },
      { at: /responseSchema\.type$|output_config\.format\.type$|response_format\.json_schema\.type$/ },
    ],
    named: /format/,
  },

  temperature: { prompt: { temperature: 0.37 }, leaves: [0.37] },
  top_p: { prompt: { top_p: 0.83 }, leaves: [0.83] },
  top_k: { prompt: { top_k: 5 }, leaves: [{ at: /(top_?k|^k)$/i, is: 5 }] },
  seed: { prompt: { seed: 4242 }, leaves: [4242] },
  frequency_penalty: { prompt: { frequency_penalty: 0.41 }, leaves: [0.41] },
  presence_penalty: { prompt: { presence_penalty: 0.43 }, leaves: [0.43] },
  choices: { prompt: { choices: 2 }, leaves: [{ at: /(^n|candidateCount)$/, is: 2 }] },
  max_output: { prompt: { max_output: 4321 }, leaves: [4321] },
  stop: { prompt: { stop: ["STOPWORD"] }, leaves: ["STOPWORD"] },

  "prompt.reasoning.effort": {
    prompt: { reasoning: { effort: "high" } },
    leaves: [
      { at: /effort$/, is: "high" },
      { at: /thinkingLevel$/, is: "HIGH" },
      { at: /budget/i, is: 24_576 },
    ],
    named: /^reasoning/,
  },
  "prompt.reasoning.budget": {
    prompt: { reasoning: { budget: 9000 } },
    leaves: [
      { at: /budget/i, is: 9000 },
      { at: /effort$/, is: "medium" },
      { at: /thinkingLevel$/, is: "MEDIUM" },
      { at: /reasoning_effort$/, is: "high" },
      { at: /reasoning\.max_tokens$/, is: 9000 },
    ],
    named: /^reasoning/,
  },
  "prompt.reasoning.show": {
    prompt: { reasoning: { effort: "high", show: false } },
    leaves: [
      { at: /includeThoughts$/, is: false },
      { at: /display$/, is: "omitted" },
      { at: /reasoning\.exclude$/, is: true },
      { without: /summary$/, beside: /^reasoning\.effort$/ },
    ],
    named: /^reasoning/,
  },
  "prompt.reasoning.extra": {
    prompt: { reasoning: { effort: "high", extra: { "openai-chat": { own_word: "EXTRA" } } } },
    leaves: extra.leaves,
    named: /^reasoning/,
  },
  verbosity: { prompt: { verbosity: "low" }, leaves: [{ at: /verbosity$/, is: "low" }] },
  user: { prompt: { user: "SOMEONE" }, leaves: ["SOMEONE"] },
  metadata: { prompt: { metadata: { order: "METADATA" } }, leaves: ["METADATA"] },
  cache: { prompt: { cache }, ...marks },
  "cache.ttl": { prompt: { cache: { ttl: "1h" } }, leaves: [{ at: /ttl$/, is: "1h" }], named: /cache/ },
  "cache.extra": { prompt: { cache: { extra: foreign } }, leaves: [{ at: /^cache_control/ }], named: /cache/ },
  extra: { prompt: { extra: foreign }, ...extra },
};
