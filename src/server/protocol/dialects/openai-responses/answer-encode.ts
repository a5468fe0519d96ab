/** The neutral answer as a response object (types of the `openai` SDK 7.55, Response; read November 2026). */
import type { Block, ChatAnswer, FinishReason, Usage, Warn, WireObject } from "../../chat-events";
import { encodeUsage as encodeChatUsage } from "../openai-chat/usage-encode";
import { isObject, list, object } from "../shared/json";
import { openaiTier } from "../shared/service-tier";
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
 * A tool as responses repeat it: `strict` and the like are required of functions there, null where the call says
 * nothing.
 */
const toolOf = (tool: unknown): unknown =>
  isObject(tool) && tool.type === "function" ? { description: null, parameters: null, strict: null, ...tool } : tool;

/** The text settings as responses repeat them: with a format, whose members are all there. */
function textOf(asked: unknown): WireObject {
  const { format, ...rest } = object(asked);
  const own = isObject(format) ? format : { type: "text" };
  return { format: own.type === "json_schema" ? { description: null, strict: false, ...own } : own, ...rest };
}

/**
 * What a response repeats of its request, with every member that the Open Responses specification requires
 * (openresponses/openresponses, schema/components/schemas/ResponseResource.json, read November 2026). Its id is ours:
 * callers come back with it, and vendors' ids are not all unique.
 */
export function shellOf(context: AnswerContext, model: string, created: number | undefined): WireObject {
  const request = context.request ?? {};
  return {
    id: responseId(context.id),
    object: "response",
    created_at: created ?? context.created,
    completed_at: null,
    status: "in_progress",
    background: false,
    error: null,
    frequency_penalty: request.frequency_penalty ?? 0,
    incomplete_details: null,
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    max_tool_calls: request.max_tool_calls ?? null,
    metadata: request.metadata ?? {},
    model: context.model ?? model,
    output: [],
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    presence_penalty: request.presence_penalty ?? 0,
    previous_response_id: request.previous_response_id ?? null,
    prompt_cache_key: request.prompt_cache_key ?? null,
    reasoning: { effort: null, summary: null, ...object(request.reasoning) },
    safety_identifier: request.safety_identifier ?? null,
    // Until its end: as OpenAI's own streams begin.
    service_tier: "auto",
    store: request.store ?? true,
    temperature: request.temperature ?? 1,
    text: textOf(request.text),
    tool_choice: request.tool_choice ?? "auto",
    tools: list(request.tools).map(toolOf),
    top_logprobs: request.top_logprobs ?? 0,
    top_p: request.top_p ?? 1,
    truncation: request.truncation ?? "disabled",
    usage: null,
    user: request.user ?? null,
  };
}

/** The end of a response: how it went, what it said, what it used. */
export function outcomeOf(
  { now, created }: Pick<AnswerContext, "now" | "created">,
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
    completed_at: reason ? null : (now?.() ?? created),
    incomplete_details: reason ? { reason } : null,
    output,
    // What says nothing has no other tier.
    service_tier: openaiTier(usage?.served) ?? "default",
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
    ...outcomeOf(context, choice?.finish, output, answer.usage),
  };
}
