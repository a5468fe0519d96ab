/**
 * Mistral's chat: OpenAI's with fewer words, and a refusal (422) of every other one; ids of calls are nine letters and
 * digits; thoughts are parts of the content (docs.mistral.ai/api, chat completions; docs/capabilities/reasoning; read
 * November 2026).
 */
import type { ChatPrompt, Warn, WireError, WireObject } from "../../chat-events";
import { openaiChatDialect } from "../openai-chat/chat-dialect";
import { chatFeatures } from "../openai-chat/features";
import { forLikeness } from "../openai-chat/likeness";
import { compact, list, object, objects, text } from "../shared/json";
import { warnUnsupported } from "../shared/unsupported";
import type { VendorDialect } from "../vendor-dialect";
import { requestSupport } from "./support";

/** What a request may hold. */
const words = new Set([
  "model",
  "messages",
  "temperature",
  "top_p",
  "max_tokens",
  "stream",
  "stop",
  "random_seed",
  "response_format",
  "tools",
  "tool_choice",
  "presence_penalty",
  "frequency_penalty",
  "n",
  "prediction",
  "parallel_tool_calls",
  "prompt_mode",
  "reasoning_effort",
  "safe_prompt",
  "metadata",
]);
/** What a message may hold. */
const messageWords = new Set(["role", "content", "tool_calls", "tool_call_id", "name", "prefix"]);

/** Members of an object that the vendor takes; a warning for the rest. */
function taken(value: WireObject, known: ReadonlySet<string>, where: string, warn: Warn): WireObject {
  return Object.fromEntries(
    Object.entries(value).filter(([name]) => {
      if (!known.has(name)) warn("dropped_field", where + name);
      return known.has(name);
    }),
  );
}

/** An id in the vendor's form: its own stays, another becomes nine characters that are always the same. */
const callId = (id: string): string =>
  /^[a-zA-Z0-9]{9}$/.test(id) ? id : Bun.hash(id).toString(36).padStart(9, "0").slice(-9);

function messageOf(message: WireObject, warn: Warn): WireObject {
  // Thoughts are not wanted back.
  const {
    role,
    tool_call_id,
    tool_calls,
    reasoning_content: _a,
    reasoning: _b,
    reasoning_details: _c,
    ...rest
  } = message;
  const kept = taken({ role, ...rest }, messageWords, "messages.", warn);
  const calls = objects(tool_calls).map((call) => {
    const { id, type, function: named } = call;
    return compact({ id: callId(text(id)), type, function: named });
  });
  return compact({
    ...kept,
    role: role === "developer" ? "system" : role,
    tool_call_id: typeof tool_call_id === "string" ? callId(tool_call_id) : undefined,
    tool_calls: calls.length > 0 ? calls : undefined,
  });
}

/** A choice among some tools is made by showing no others. */
function withChoice(prompt: ChatPrompt): ChatPrompt {
  const { tool_choice, tools } = prompt;
  const allowed = tool_choice?.allowed;
  if (!tool_choice || !allowed || tool_choice.mode === "named") return prompt;
  const shown = tools?.filter((tool) => tool.type !== "server" && allowed.includes(tool.name));
  return { ...prompt, tools: shown, tool_choice: { mode: tool_choice.mode } };
}

/** Other vendors' ways to ask for thoughts would stand in the place of the effort. */
function withoutOwnReasoning({ reasoning, ...prompt }: ChatPrompt): ChatPrompt {
  if (!reasoning) return prompt;
  const { extra: _extra, show: _show, ...rest } = reasoning;
  return { ...prompt, reasoning: rest };
}

function encodeRequest(prompt: ChatPrompt, warn: Warn): WireObject {
  warnUnsupported(prompt, requestSupport, warn);
  const {
    stream_options: _,
    seed,
    max_completion_tokens,
    reasoning_effort,
    ...body
  } = openaiChatDialect.encodeRequest(withoutOwnReasoning(withChoice(prompt)), warn);
  const known = taken(compact(body), words, "", warn);
  if (reasoning_effort !== undefined && reasoning_effort !== "none" && reasoning_effort !== "high")
    warn("changed_value", "reasoning_effort");
  return compact({
    ...known,
    messages: objects(body.messages).map((message) => messageOf(message, warn)),
    max_tokens: known.max_tokens ?? max_completion_tokens,
    random_seed: known.random_seed ?? seed,
    // It knows these two.
    reasoning_effort: reasoning_effort === undefined ? undefined : reasoning_effort === "none" ? "none" : "high",
  });
}

/** OpenAI's object, or what was wrong with which member: {detail: [{loc, msg}]}, sometimes under `message`. */
function readError(body: unknown): WireError | undefined {
  const { detail, message } = object(body);
  const faults = objects(detail ?? object(message).detail);
  if (faults.length === 0) return openaiChatDialect.readError(body);
  const messages = faults.map(({ loc, msg }) => `${list(loc).slice(1).join(".")}: ${text(msg)}`);
  return { message: messages.join("; "), type: "invalid_request_error", code: "", param: null };
}

export const mistralDialect: VendorDialect = {
  encodeRequest,
  fromOthers: forLikeness,
  decodeAnswer: openaiChatDialect.decodeAnswer,
  streamDecoder: openaiChatDialect.streamDecoder,
  readError,
  requestSupport,
  features: {
    ...chatFeatures,
    audio_out: { no: "answers hold text and thoughts" },
    custom_tools: { no: "there are no free-form tools" },
    allowed_tools: { partly: "the others are not shown to the model" },
    web_search: { no: "chat completions run no search of the web; only agents do" },
    server_tools: { no: "chat completions run no tools; only agents do" },
    reasoning_effort: { partly: "none or high" },
    reasoning_seals: { no: "thoughts are not signed, and are not given back" },
    top_k: { no: "there is no top_k" },
    logprobs: { no: "there are no log probabilities" },
    user_name: { no: "there is no name of the end user" },
  },
};
