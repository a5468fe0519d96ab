/** The neutral answer as a response object (types of the `openai` SDK 7.55, Response; read November 2026). */
import type { Block, ChatAnswer, FinishReason, Usage, Warn, WireObject } from "../../chat-events";
import { encodeUsage as encodeChatUsage } from "../openai-chat/usage-encode";
import { object } from "../shared/json";
import { warnUnsupportedAnswer } from "../shared/unsupported";
import type { AnswerContext } from "../translation";
import { encodeAnnotation, freeFormInput, itemOfThoughts, KEY } from "./items";
import { type Declared, declaredTools } from "./namespaces";
import { answerSupport } from "./support";

/** OpenAI's ids say what they name. */
const responseId = (id: string): string => (id.startsWith("resp_") ? id : `resp_${id}`);

export function encodeUsage(usage: Usage): WireObject {
  const chat = encodeChatUsage(usage);
  const given = object(chat.prompt_tokens_details);
  return {
    input_tokens: chat.prompt_tokens,
    input_tokens_details: {
      cached_tokens: given.cached_tokens,
      cache_write_tokens: given.cache_write_tokens ?? 0,
      ...(given.cache_creation !== undefined && { cache_creation: given.cache_creation }),
      ...(given.audio_tokens ? { audio_tokens: given.audio_tokens } : {}),
      ...(given.image_tokens ? { image_tokens: given.image_tokens } : {}),
    },
    output_tokens: chat.completion_tokens,
    output_tokens_details: {
      reasoning_tokens: usage.reasoning ?? 0,
      ...(usage.audio_out && { audio_tokens: usage.audio_out }),
    },
    total_tokens: chat.total_tokens,
  };
}

/**
 * What a response repeats of its request. Its id is ours: callers come back with it, and vendors' ids are not all
 * unique.
 */
export function shellOf(context: AnswerContext, model: string, created: number | undefined): WireObject {
  const request = context.request ?? {};
  return {
    id: responseId(context.id),
    object: "response",
    created_at: created ?? context.created,
    status: "in_progress",
    background: false,
    error: null,
    incomplete_details: null,
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    metadata: request.metadata ?? {},
    model: context.model ?? model,
    output: [],
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    previous_response_id: request.previous_response_id ?? null,
    reasoning: request.reasoning ?? { effort: null, summary: null },
    service_tier: "default",
    store: request.store ?? true,
    temperature: request.temperature ?? 1,
    text: request.text ?? { format: { type: "text" } },
    tool_choice: request.tool_choice ?? "auto",
    tools: request.tools ?? [],
    top_p: request.top_p ?? 1,
    truncation: request.truncation ?? "disabled",
    usage: null,
    user: request.user ?? null,
  };
}

/** The end of a response: how it went, what it said, what it used. */
export function outcomeOf(
  finish: FinishReason | undefined,
  output: readonly WireObject[],
  usage: Usage | undefined,
): WireObject {
  const reason =
    finish?.unified === "length"
      ? "max_output_tokens"
      : finish?.unified === "content_filter"
        ? "content_filter"
        : undefined;
  return {
    status: reason ? "incomplete" : "completed",
    incomplete_details: reason ? { reason } : null,
    output,
    usage: usage ? encodeUsage(usage) : null,
  };
}

export const messageItem = (id: string, part: WireObject, status: string): WireObject => ({
  type: "message",
  id,
  status,
  role: "assistant",
  content: [part],
});

export function callItem(
  id: string,
  call: { id: string; name: string; namespace?: string },
  input: string,
  free: boolean,
  status: string,
): WireObject {
  const own = {
    id,
    call_id: call.id,
    name: call.name,
    ...(call.namespace !== undefined && { namespace: call.namespace }),
    status,
  };
  return free ? { type: "custom_tool_call", ...own, input } : { type: "function_call", ...own, arguments: input };
}

function itemOf(
  block: Block,
  position: number,
  id: string,
  declared: ReadonlyMap<string, Declared>,
  warn: Warn,
): WireObject | undefined {
  switch (block.type) {
    case "text": {
      const annotations = (block.citations ?? []).flatMap((citation) => {
        return encodeAnnotation(citation, warn) ?? [];
      });
      return messageItem(
        `msg_${id}_${position}`,
        { type: "output_text", text: block.text, annotations, logprobs: [] },
        "completed",
      );
    }
    case "refusal":
      return messageItem(`msg_${id}_${position}`, { type: "refusal", refusal: block.text }, "completed");
    case "reasoning":
      return block.text === "" && !block.reasoningSignature
        ? undefined
        : itemOfThoughts(block.text, block.reasoningSignature, `rs_${id}_${position}`);
    case "tool_call": {
      const { free = false, ...names } = declared.get(block.name) ?? { name: block.name };
      const isFree = block.custom === true || free;
      const input = isFree && !block.custom ? freeFormInput(block.input) : block.input;
      return callItem(
        `${isFree ? "ctc" : "fc"}_${id}_${position}`,
        { id: block.id, ...names },
        input,
        isFree,
        "completed",
      );
    }
    case "image":
      if (block.source.kind === "data")
        return {
          type: "image_generation_call",
          id: `ig_${id}_${position}`,
          status: "completed",
          result: block.source.data,
        };
      break;
    case "audio":
      if (!block.transcript) return undefined;
      return messageItem(
        `msg_${id}_${position}`,
        { type: "output_text", text: block.transcript, annotations: [], logprobs: [] },
        "completed",
      );
    case "opaque":
      if (block.from === KEY) return block.value;
      break;
    case "file":
    case "tool_result":
      return undefined;
  }
  warn("dropped_block", block.type === "opaque" ? String(block.value.type ?? block.from) : block.type);
  return undefined;
}

export function encodeAnswer(answer: ChatAnswer, context: AnswerContext, warn: Warn): WireObject {
  const [choice] = answer.choices;
  warnUnsupportedAnswer(answer, answerSupport, warn);
  const declared = declaredTools(context.request);
  const output = (choice?.content ?? []).flatMap((block, index): WireObject[] => {
    const item = itemOf(block, index, context.id, declared, warn);
    return item ? [item] : [];
  });
  return {
    ...shellOf(context, answer.model, answer.created),
    ...outcomeOf(choice?.finish, output, answer.usage),
  };
}
