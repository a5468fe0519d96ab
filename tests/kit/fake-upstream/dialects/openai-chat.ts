/**
 * OpenAI Chat Completions and legacy Completions.
 * Source: platform.openai.com/docs/api-reference/chat (object, streaming) and /completions, and the types of the
 * `openai` npm SDK 7.55, read November 2026. Reasoning text follows the DeepSeek extension (`reasoning_content`),
 * because OpenAI itself does not send it here; the leading chunk without choices follows Azure OpenAI
 * (`prompt_filter_results`).
 */
import { type Answer, type Json, list, object, text } from "../answer";
import type { FakeUsage } from "../behaviours";
import type { Dialect, Frame } from "./dialect";
import { openaiError, openaiErrorObject } from "./openai-errors";

const FINISH = { stop: "stop", length: "length", content_filter: "content_filter", tool: "tool_calls" } as const;

/** CompletionUsage: cached and audio tokens are part of the totals. */
function chatUsage(usage: FakeUsage, output = usage.output): Json {
  return {
    prompt_tokens: usage.input,
    completion_tokens: output,
    total_tokens: usage.input + output,
    prompt_tokens_details: {
      cached_tokens: usage.cacheRead,
      ...(usage.cacheWrite > 0 && { cache_write_tokens: usage.cacheWrite }),
      audio_tokens: usage.audioIn,
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning,
      audio_tokens: usage.audioOut,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

function contentText(content: unknown): string {
  return typeof content === "string"
    ? content
    : list(content)
        .map((part) => text(object(part).text))
        .join("");
}

function prompt(request: Json) {
  const messages = list(request.messages).map(object);
  return {
    lastUserText: contentText(messages.findLast((message) => message.role === "user")?.content),
    toolNames: list(request.tools)
      .map((tool) => text(object(object(tool).function).name))
      .filter(Boolean),
  };
}

function whole(answer: Answer): Json {
  const message = {
    role: "assistant",
    content:
      answer.text.length > 0 || (answer.tools.length === 0 && answer.refusal.length === 0)
        ? answer.text.join("")
        : null,
    ...(answer.reasoning.length > 0 && { reasoning_content: answer.reasoning.join("") }),
    refusal: answer.refusal.length > 0 ? answer.refusal.join("") : null,
    annotations: [],
    ...(answer.tools.length > 0 && {
      tool_calls: answer.tools.map((tool) => ({
        id: `call_${tool.id}`,
        type: "function",
        function: { name: tool.name, arguments: tool.fragments.join("") },
      })),
    }),
  };
  return {
    id: `chatcmpl-${answer.id}`,
    object: "chat.completion",
    created: answer.created,
    model: answer.model,
    choices: Array.from({ length: answer.choices }, (_, index) => ({
      index,
      message,
      logprobs: null,
      finish_reason: FINISH[answer.finish],
    })),
    ...(answer.usage && { usage: chatUsage(answer.usage) }),
    service_tier: "default",
    system_fingerprint: "fp_fake",
  };
}

/** Chunks share their envelope; `delta` is what differs. */
function chunks(
  answer: Answer,
  request: Json,
  envelope: Json,
  deltas: { choice: Json; kind: Frame["kind"] }[],
  usageOf: (usage: FakeUsage, output?: number) => Json,
): Frame[] {
  const { usageMode } = answer.behaviour;
  const asked = object(request.stream_options).include_usage === true;
  const every = usageMode === "every-chunk";
  const content = deltas.filter((delta) => delta.kind === "content").length;
  let sent = 0;
  const frames = deltas.map(({ choice, kind }): Frame => {
    if (kind === "content") sent++;
    const running = answer.usage && Math.round((answer.usage.output * sent) / Math.max(content, 1));
    const usage = every && answer.usage ? { usage: usageOf(answer.usage, running) } : asked ? { usage: null } : {};
    return { kind, data: JSON.stringify({ ...envelope, choices: [choice], ...usage }) };
  });
  if (answer.behaviour.emptyChoices) {
    const filter = { prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }] };
    frames.unshift({ kind: "opening", data: JSON.stringify({ ...envelope, choices: [], ...filter }) });
  }
  if (answer.usage && (asked || every || usageMode === "late")) {
    frames.push({ kind: "usage", data: JSON.stringify({ ...envelope, choices: [], usage: usageOf(answer.usage) }) });
  }
  frames.push({ kind: "done", data: "[DONE]" });
  return frames;
}

function frames(answer: Answer, request: Json): Frame[] {
  const envelope = {
    id: `chatcmpl-${answer.id}`,
    object: "chat.completion.chunk",
    created: answer.created,
    model: answer.model,
    service_tier: "default",
    system_fingerprint: "fp_fake",
  };
  const deltas: { choice: Json; kind: Frame["kind"] }[] = [];
  const add = (delta: Json, kind: Frame["kind"], finish: string | null = null): void => {
    for (let index = 0; index < answer.choices; index++) {
      deltas.push({ kind, choice: { index, delta, logprobs: null, finish_reason: finish } });
    }
  };
  add(
    { role: "assistant", content: answer.tools.length > 0 && answer.text.length === 0 ? null : "", refusal: null },
    "opening",
  );
  for (const piece of answer.reasoning) add({ reasoning_content: piece }, "content");
  for (const piece of answer.text) add({ content: piece }, "content");
  for (const piece of answer.refusal) add({ refusal: piece }, "content");
  answer.tools.forEach((tool, index) => {
    tool.fragments.forEach((fragment, position) => {
      const head = position === 0 ? { id: `call_${tool.id}`, type: "function" } : {};
      const named = position === 0 ? { name: tool.name } : {};
      add({ tool_calls: [{ index, ...head, function: { ...named, arguments: fragment } }] }, "content");
    });
  });
  add({}, "finish", FINISH[answer.finish]);
  return chunks(answer, request, envelope, deltas, chatUsage);
}

/** The error object of a running stream, as OpenAI sends it: a data line, no event name. */
const errorFrame = (): Frame => ({
  kind: "content",
  data: JSON.stringify(
    openaiErrorObject("The server had an error while processing your request.", "server_error", null),
  ),
});

export const openaiChat: Dialect = { prompt, whole, frames, error: openaiError, errorFrame };

export const openaiCompletions: Dialect = {
  prompt: (request) => ({
    lastUserText: typeof request.prompt === "string" ? request.prompt : text(list(request.prompt)[0]),
    toolNames: [],
  }),
  whole: (answer) => ({
    id: `cmpl-${answer.id}`,
    object: "text_completion",
    created: answer.created,
    model: answer.model,
    choices: Array.from({ length: answer.choices }, (_, index) => ({
      text: answer.text.join(""),
      index,
      logprobs: null,
      finish_reason: FINISH[answer.finish],
    })),
    ...(answer.usage && { usage: chatUsage(answer.usage) }),
  }),
  frames(answer, request) {
    const envelope = {
      id: `cmpl-${answer.id}`,
      object: "text_completion",
      created: answer.created,
      model: answer.model,
    };
    const deltas: { choice: Json; kind: Frame["kind"] }[] = [];
    const add = (piece: string, kind: Frame["kind"], finish: string | null): void => {
      for (let index = 0; index < answer.choices; index++) {
        deltas.push({ kind, choice: { text: piece, index, logprobs: null, finish_reason: finish } });
      }
    };
    for (const piece of answer.text) add(piece, "content", null);
    add("", "finish", FINISH[answer.finish]);
    return chunks(answer, request, envelope, deltas, chatUsage);
  },
  error: openaiError,
  errorFrame,
};
