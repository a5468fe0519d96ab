/**
 * An answer on its way from a channel to the caller, whichever languages the two speak: passed through where it is the
 * same, translated otherwise. What the relay must know of it (usage, finish, errors) is read in the channel's dialect.
 */
import type { Call } from "../call/call";
import { openaiChat } from "../../protocol/dialects/openai-chat/dialect";
import type { AnswerContext } from "../../protocol/dialects/translation";
import type { AnswerEvent, ChatAnswer, ChatEvent, ChatResult } from "../../protocol/chat-events";
import { UpstreamError } from "../../protocol/upstream-error";
import { classifyErrorIn200, failureOf, type Redact } from "../../protocol/upstream-failure";
import { isObject, outline, tryParse } from "../../lib/json-bytes";
import { OpenAiPassthrough } from "./passthrough-openai";
import type { RequestAdapter } from "../operations/operation";
import { DialectPassthrough } from "./passthrough-dialect";
import { type Bytes, firstFrameEnd, readFrame, REPEAT_LIMIT, TAIL_LIMIT } from "../../lib/sse";
import { type UpstreamDialectKey, upstreamDialects } from "../../protocol/dialects/vendor-dialects";
import { standardForm } from "../../protocol/strict-openai-answer";
import { ThoughtsInText, thoughtsInText } from "../../protocol/think-tags";
import { StreamTranslator, translateAnswer } from "../../protocol/translate";
import { wantsContent } from "../../protocol/usage-check";
import type { AnswerReader } from "./answer-reader";

/** Whole answers beyond this are read in outline (embeddings are lists of numbers of any length). */
const LARGE_ANSWER = 64 * 1024;

function contextOf(call: Call): AnswerContext {
  const { request, request_id, arrived } = call;
  const { model, include_usage, wire } = request;
  return { id: request_id, model, created: Math.floor(arrived / 1000), include_usage, ...(wire && { request: wire }) };
}

/** Most bytes of one frame: the last one of a Responses stream repeats the whole answer. */
export const longestFrame = (dialect: UpstreamDialectKey): number =>
  dialect === "openai-responses" ? REPEAT_LIMIT : TAIL_LIMIT;

/** What the channel that answers wants done to its chat answers. */
function wishesOf({ channel, dialect, operation }: Call): { anew: boolean; thoughts: boolean; standard: boolean } {
  const { force_format, thinking_to_content } = operation.key === "chat" ? (channel?.setting ?? {}) : {};
  // Other dialects have a place of their own for thoughts.
  const thoughts = thinking_to_content === true && dialect.key === "openai-chat";
  const standard = force_format === true;
  return { anew: thoughts || standard, thoughts, standard };
}

/** The reader of a stream in `dialect`. */
export function answerReader(call: Call, dialect: UpstreamDialectKey): AnswerReader {
  const { key } = call.dialect;
  const { anew, thoughts } = wishesOf(call);
  if (key !== dialect || anew) {
    const decoder = upstreamDialects[dialect].streamDecoder(call.request_id);
    return new StreamTranslator(dialect, key, contextOf(call), thoughts ? new ThoughtsInText(decoder) : decoder);
  }
  return key === "openai-chat"
    ? new OpenAiPassthrough(openaiChat, call.request.include_usage)
    : new DialectPassthrough(key, contextOf(call));
}

/**
 * Reads a whole answer in `dialect`: the caller's body and what it cost. undefined when it is no answer of that
 * dialect.
 */
export function readAnswer(
  call: Call,
  dialect: UpstreamDialectKey,
  bytes: Bytes,
): { body: Bytes; result: ChatResult } | undefined {
  const { key } = call.dialect;
  const { adapter } = call.operation;
  const { anew, thoughts, standard } = wishesOf(call);
  if (dialect === "openai-chat" && adapter) return reworded(adapter, bytes);
  if (key === "openai-chat" && dialect === key && !anew) return readOwn(bytes);
  const parsed = tryParse(bytes);
  const edit = (answer: ChatAnswer): ChatAnswer => {
    const told = thoughts ? thoughtsInText(answer) : answer;
    return standard ? standardForm(told) : told;
  };
  const answer = isObject(parsed) ? translateAnswer(dialect, key, parsed, contextOf(call), edit) : undefined;
  if (!answer) return undefined;
  const result = { usage: answer.usage, content_bytes: answer.contentBytes };
  if (key === dialect && !anew) return { body: bytes, result };
  call.warnings = [...call.warnings, ...answer.warnings];
  return { body: Buffer.from(JSON.stringify(answer.body)), result };
}

/** OpenAI's, in the words of a caller who does not ask for the operation in OpenAI's. */
function reworded(adapter: RequestAdapter, bytes: Bytes): { body: Bytes; result: ChatResult } | undefined {
  const own = readOwn(bytes);
  const parsed = own && tryParse(own.body);
  return own && isObject(parsed)
    ? { ...own, body: Buffer.from(JSON.stringify(adapter.fromOpenAi(parsed))) }
    : undefined;
}

/** OpenAI's, for an OpenAI caller: embeddings and completions as well. */
function readOwn(body: Bytes): { body: Bytes; result: ChatResult } | undefined {
  const parsed = body.length > LARGE_ANSWER ? outline(body) : tryParse(body);
  if (!isObject(parsed)) throw new UpstreamError(failureOf("malformed", 200));
  let result = openaiChat.readResult(parsed);
  if (
    result &&
    Array.isArray(parsed.choices) &&
    (!result.usage || wantsContent(result.usage)) &&
    body.length > LARGE_ANSWER
  ) {
    // Without usage, or with one that is odd, the text itself is counted.
    const whole = tryParse(body);
    result = isObject(whole) ? openaiChat.readResult(whole) : result;
  }
  return result && { body, result };
}

const contentTypes: ReadonlySet<ChatEvent["type"]> = new Set(["text", "reasoning", "refusal", "tool_call", "finish"]);

const isContent = (event: AnswerEvent): boolean =>
  event.type === "block_delta" ||
  event.type === "block_data" ||
  event.type === "finish" ||
  (event.type === "block_start" && (event.start.kind === "tool_call" || event.start.kind === "whole"));

type Found = "content" | "end" | "nothing";

/** What one frame's data says of the beginning of an answer. Throws Failed for an error, and for what is no frame. */
function frameReader(dialect: UpstreamDialectKey, id: string, redact: Redact): (data: string) => Found {
  const judge = (event: AnswerEvent | ChatEvent, content: boolean): Found => {
    if (event.type === "error") throw new UpstreamError(classifyErrorIn200(redact, event.error));
    return event.type === "done" ? "end" : content ? "content" : "nothing";
  };
  const malformed = (): never => {
    throw new UpstreamError(failureOf("malformed", 200));
  };
  const first = (found: Found[]): Found => found.find((one) => one !== "nothing") ?? "nothing";
  if (dialect === "openai-chat") {
    return (data) =>
      first(
        (openaiChat.decodeFrame(data) ?? malformed()).map((event) =>
          judge(event, contentTypes.has(event.type as ChatEvent["type"])),
        ),
      );
  }
  const decoder = upstreamDialects[dialect].streamDecoder(id);
  return (data) => {
    const events: AnswerEvent[] = [];
    if (!decoder.decode(data, events)) malformed();
    return first(events.map((event) => judge(event, isContent(event))));
  };
}

/**
 * Looks for content in the whole frames of one stream, region after region; "end" when the answer ended without any.
 * Throws Failed for an error frame.
 */
export function contentFinder(dialect: UpstreamDialectKey, id: string, redact: Redact): (region: Bytes) => Found {
  const read = frameReader(dialect, id, redact);
  return (region) => {
    for (let from = 0; from < region.length;) {
      const next = firstFrameEnd(region, from, region.length);
      const end = next < 0 ? region.length : next;
      const { data } = readFrame(region.subarray(from, end));
      from = end;
      if (data === undefined) continue;
      const found = read(data);
      if (found !== "nothing") return found;
    }
    return "nothing";
  };
}
