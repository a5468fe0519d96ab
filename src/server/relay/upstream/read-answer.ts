/**
 * The response of a channel on its way to the caller, in any pair of dialects: passed through where both are the same,
 * translated otherwise. The facts that the relay needs (usage, finish, errors) are read in the channel's dialect.
 */
import type { Served } from "../../../shared/price-rules";
import type { PoolChannel } from "../../contracts/channel";
import type { Asked, Attempted } from "../call/call";
import { openaiChat } from "../../protocol/dialects/openai-chat/dialect";
import type { AnswerContext } from "../../protocol/dialects/translation";
import type { AnswerEvent, ChatAnswer, ChatEvent, ChatResult } from "../../protocol/chat-events";
import { UpstreamError } from "../../protocol/upstream-error";
import { asIs, type Redact } from "../../protocol/clean-text";
import { classifyErrorIn200, failureOf } from "../../protocol/upstream-failure";
import { isObject, outline, tryParse } from "../../lib/json-bytes";
import { OpenAiPassthrough } from "./passthrough-openai";
import type { RequestAdapter } from "../operations/operation";
import { continuing, DialectPassthrough } from "./passthrough-dialect";
import { type Bytes, firstFrameEnd, readFrame } from "../../lib/sse";
import { type UpstreamDialectKey, upstreamDialects } from "../../protocol/dialects/vendor-dialects";
import { standardForm } from "../../protocol/strict-openai-answer";
import { ThoughtsInText, thoughtsInText } from "../../protocol/think-tags";
import { failedAnswer, StreamTranslator, translateAnswer } from "../../protocol/translate";
import { wantsContent } from "../../protocol/usage-check";
import type { AnswerReader } from "./answer-reader";

/** Larger whole responses are only scanned (embeddings are lists of numbers of any length). */
const LARGE_ANSWER = 64 * 1024;

function contextOf({ engine, request, request_id, arrived }: Asked, served?: Served): AnswerContext {
  const { model, include_usage, wire } = request;
  return {
    id: request_id,
    model,
    created: Math.floor(arrived / 1000),
    now: () => Math.floor(engine.controlPlane.now() / 1000),
    include_usage,
    ...(served && { served }),
    ...(wire && { request: wire }),
  };
}

/** The channel's settings for its chat responses. */
function wishesOf(
  { dialect, operation }: Asked,
  channel: PoolChannel | undefined,
): { rewritten: boolean; thoughts: boolean; standard: boolean } {
  const { force_format, thinking_to_content } = operation.key === "chat" ? (channel?.setting ?? {}) : {};
  // Other dialects have their own member for thoughts.
  const thoughts = thinking_to_content === true && dialect.key === "openai-chat";
  const standard = force_format === true;
  return { rewritten: thoughts || standard, thoughts, standard };
}

/** The reader of a stream in `dialect`, from `channel`; `served`: what its headers say of its service. */
export function answerReader(
  asked: Asked,
  channel: PoolChannel | undefined,
  dialect: UpstreamDialectKey,
  served?: Served,
): AnswerReader {
  const { key } = asked.dialect;
  const { rewritten, thoughts } = wishesOf(asked, channel);
  if (key !== dialect || rewritten) {
    const decoder = upstreamDialects[dialect].streamDecoder(asked.request_id);
    const context = contextOf(asked, served);
    // Mistral's streams always end with usage, and its own clients have no word to ask for it.
    const told = dialect === "mistral" ? { ...context, include_usage: true } : context;
    return new StreamTranslator(dialect, key, told, thoughts ? new ThoughtsInText(decoder) : decoder);
  }
  return key === "openai-chat"
    ? new OpenAiPassthrough(openaiChat, asked.request.include_usage)
    : new DialectPassthrough(key, contextOf(asked), asked.conversation?.continues);
}

/**
 * Reads a whole response in `dialect`: the caller's body and the usage. undefined when it is no response of that
 * dialect.
 */
export function readAnswer(
  { call, channel, translation }: Attempted,
  dialect: UpstreamDialectKey,
  bytes: Bytes,
): { body: Bytes; result: ChatResult } | undefined {
  const { asked } = call;
  const { key } = asked.dialect;
  const { adapter } = asked.operation;
  const { rewritten, thoughts, standard } = wishesOf(asked, channel);
  if (dialect === "openai-chat" && adapter) return reworded(adapter, bytes);
  if (key === "openai-chat" && dialect === key && !rewritten) return readOwn(bytes);
  const parsed = tryParse(bytes);
  const edit = (answer: ChatAnswer): ChatAnswer => {
    if (key !== dialect) refuseFailed(answer);
    const told = thoughts ? thoughtsInText(answer) : answer;
    return standard ? standardForm(told) : told;
  };
  const answer = isObject(parsed)
    ? translateAnswer(dialect, key, parsed, contextOf(asked, translation.served), edit)
    : undefined;
  if (!answer) return undefined;
  const result = { usage: answer.usage, content_bytes: answer.contentBytes };
  if (key === dialect && !rewritten) {
    const continues = asked.conversation?.continues;
    return {
      body: continues === undefined ? bytes : Buffer.from(continuing(bytes.toString("utf8"), continues)),
      result,
    };
  }
  translation.warn(answer.warnings);
  return { body: Buffer.from(JSON.stringify(answer.body)), result };
}

/** Throws UpstreamError for an answer that its vendor calls unusable: in another dialect it would look like success. */
function refuseFailed({ choices }: ChatAnswer): void {
  const failed = choices.find(({ finish }) => finish?.unified === "failed")?.finish;
  if (failed) throw new UpstreamError(classifyErrorIn200(asIs, failedAnswer(failed)));
}

/** A response in OpenAI's dialect for a caller who did not request the operation in OpenAI's. */
function reworded(adapter: RequestAdapter, bytes: Bytes): { body: Bytes; result: ChatResult } | undefined {
  const own = readOwn(bytes);
  const parsed = own && tryParse(own.body);
  return own && isObject(parsed)
    ? { ...own, body: Buffer.from(JSON.stringify(adapter.fromOpenAi(parsed))) }
    : undefined;
}

/** A response in OpenAI's dialect for an OpenAI caller: embeddings and completions as well. */
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
    // Without usage, or with implausible usage, the text itself is counted.
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

/**
 * The meaning of one frame's data for the start of a response. Throws Failed for an error, and for an invalid frame.
 * `translated`: an answer that its vendor calls unusable is an error as well.
 */
function frameReader(
  dialect: UpstreamDialectKey,
  id: string,
  redact: Redact,
  translated: boolean,
): (data: string) => Found {
  const judge = (event: AnswerEvent | ChatEvent, content: boolean): Found => {
    if (event.type === "error") throw new UpstreamError(classifyErrorIn200(redact, event.error));
    if (translated && event.type === "finish" && "finish" in event && event.finish.unified === "failed")
      throw new UpstreamError(classifyErrorIn200(redact, failedAnswer(event.finish)));
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
 * Searches the whole frames of one stream for content, region after region; "end" when the response ended without any.
 * Throws Failed for an error frame.
 */
export function contentFinder(
  { request_id, dialect: caller }: Pick<Asked, "request_id" | "dialect">,
  dialect: UpstreamDialectKey,
  redact: Redact,
): (region: Bytes) => Found {
  const read = frameReader(dialect, request_id, redact, caller.key !== dialect);
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
