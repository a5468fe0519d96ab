/**
 * A chat.completion as the neutral answer (types of the `openai` SDK 7.55; OpenRouter's `images`; read November 2026).
 */
import type { AudioBlock, Block, ChatAnswer, Choice, ReasoningBlock, WireObject } from "../../chat-events";
import { FREE_FORM } from "../shared/free-form";
import { compact, extraOf, isObject, number, object, objects, text, unknownMembers } from "../shared/json";
import { audioType, sourceOfUrl } from "../shared/media";
import { decodeCitations, searchAnnotations } from "./citations";
import { decodeFinish } from "./finish-reason";
import { decodeAnswerThoughts } from "./thoughts";
import { usageOf } from "./usage";

const KEY = "openai-chat";

const knownTop = new Set(["id", "object", "created", "model", "choices", "usage", "citations", "search_results"]);
/** The tier is told with the usage. */
const knownWithTier = new Set([...knownTop, "service_tier"]);
const knownChoice = new Set(["index", "message", "finish_reason"]);
const knownCall = new Set(["id", "type", "index", "function", "custom", "extra_content"]);

/** A tool call, after the signature that stands on it (extra_content: Google's compatible door). */
function decodeAnswerCall(call: WireObject, fallbackId: string): Block[] {
  const custom = call.type === FREE_FORM;
  const { name, arguments: json, input } = object(custom ? call.custom : call.function);
  const words = custom ? input : json;
  const reasoningSignature = callSignature(call);
  const extra = extraOf(KEY, call, knownCall);
  return [
    ...(reasoningSignature ? [reasoningSignature] : []),
    compact({
      type: "tool_call" as const,
      id: text(call.id) || fallbackId,
      name: text(name),
      input: typeof words === "string" ? words : JSON.stringify(words ?? {}),
      custom: custom || undefined,
      extra,
    }),
  ];
}

/** What the vendor left on a call for the next turn. */
export function callSignature(call: WireObject): ReasoningBlock | undefined {
  const { extra_content } = call;
  if (!isObject(extra_content)) return undefined;
  const data = JSON.stringify({ extra_content });
  return { type: "reasoning", text: "", reasoningSignature: { from: KEY, kind: "call", data } };
}

function audioBlock({ data, transcript, id, expires_at }: WireObject): AudioBlock {
  return {
    type: "audio",
    // The answer does not say which format it is in: the caller chose it.
    source: { kind: "data", media_type: audioType(""), data: text(data) },
    transcript: text(transcript),
    extra: { [KEY]: { id, expires_at } },
  };
}

function contentOf(message: WireObject, searched: readonly WireObject[], id: string): Block[] {
  const content: Block[] = decodeAnswerThoughts(message);
  const citations = decodeCitations([...objects(message.annotations), ...searched]);
  const words =
    typeof message.content === "string"
      ? message.content
      : objects(message.content)
          .map((part) => text(part.text))
          .join("");
  if (words !== "")
    content.push(compact({ type: "text", text: words, citations: citations.length > 0 ? citations : undefined }));
  if (text(message.refusal) !== "") content.push({ type: "refusal", text: text(message.refusal) });
  if (isObject(message.audio)) content.push(audioBlock(message.audio));
  for (const image of objects(message.images)) {
    content.push({ type: "image", source: sourceOfUrl(text(object(image.image_url).url)) });
  }
  for (const [index, call] of objects(message.tool_calls).entries()) {
    content.push(...decodeAnswerCall(call, `call_${id}_${index}`));
  }
  if (isObject(message.function_call)) {
    content.push(...decodeAnswerCall({ function: message.function_call }, `call_${text(message.function_call.name)}`));
  }
  return content;
}

function choiceOf(choice: WireObject, position: number, searched: readonly WireObject[], id: string): Choice {
  const content = contentOf(object(choice.message), position === 0 ? searched : [], id);
  const raw = text(choice.finish_reason);
  const called = content.some((block) => block.type === "tool_call");
  return compact({
    index: number(choice.index) ?? position,
    content,
    finish: decodeFinish(raw, called),
    extra: extraOf(KEY, choice, knownChoice),
  });
}

/** undefined when the body is no answer of this dialect. */
export function decodeAnswer(body: WireObject): ChatAnswer | undefined {
  if (!Array.isArray(body.choices)) return undefined;
  const id = text(body.id);
  const usage = usageOf(body);
  const extra = unknownMembers(body, usage?.served ? knownWithTier : knownTop);
  const searched = searchAnnotations(body);
  return compact({
    id,
    model: text(body.model),
    created: number(body.created),
    choices: objects(body.choices).map((choice, index) => choiceOf(choice, index, searched, id)),
    usage,
    extra: extra && { [KEY]: extra },
  });
}
