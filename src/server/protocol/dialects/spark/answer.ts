/**
 * What iFlytek Spark answers, frame by frame (xfyun.cn/doc/spark/Web.html: response, functions, error codes; read
 * November 2026). The last frame has status 2 and the usage; an error is a header with a code. A whole answer is one
 * frame.
 */
import type { ChatAnswer, WireError, WireObject } from "../../chat-events";
import { decodeAnswer as decodeChat } from "../openai-chat/answer-decode";
import { type ErrorKind, wireError } from "../shared/error-kind";
import { isObject, object, objects, text } from "../shared/json";

/** The status of a frame that ends an answer. */
export const LAST = 2;

const chosen = (frame: WireObject): WireObject | undefined => {
  const { choices } = object(frame.payload);
  return isObject(choices) ? choices : undefined;
};

/** A frame as OpenAI's chunk, or as OpenAI's whole answer. Spark has no finish reasons: an end is a stop or a call. */
function chatOf(frame: WireObject): WireObject {
  const { header, payload } = frame;
  const { sid, status } = object(header);
  const said = objects(chosen(frame)?.text);
  const call = said.map((piece) => piece.function_call).find(isObject);
  const content = said.map((piece) => text(piece.content)).join("");
  const reasoning = said.map((piece) => text(piece.reasoning_content)).join("");
  const message = {
    content,
    ...(reasoning !== "" && { reasoning_content: reasoning }),
    ...(call && { tool_calls: [{ type: "function", function: { name: call.name, arguments: call.arguments } }] }),
  };
  const finish_reason = status === LAST ? (call ? "tool_calls" : "stop") : null;
  return { id: sid, choices: [{ index: 0, message, finish_reason }], usage: object(object(payload).usage).text };
}

/** A frame of a stream; without a header it is none. */
export const chunkOf = (frame: WireObject): WireObject | undefined =>
  isObject(frame.header) ? chatOf(frame) : undefined;

export function decodeAnswer(frame: WireObject): ChatAnswer | undefined {
  return readError(frame) || !chosen(frame) ? undefined : decodeChat(chatOf(frame));
}

/** Many frames as one, for a caller who does not stream; undefined when the answer has not ended. */
export function joinFrames(frames: readonly WireObject[]): WireObject | undefined {
  const last = frames.at(-1);
  const failed = frames.find((frame) => readError(frame));
  if (failed) return failed;
  if (!last || object(last.header).status !== LAST) return undefined;
  const text = frames.flatMap((frame) => objects(chosen(frame)?.text));
  return { header: last.header, payload: { ...object(last.payload), choices: { ...chosen(last), text } } };
}

const kinds: readonly (readonly [ErrorKind, readonly string[]])[] = [
  ["authentication", ["10015", "10016", "10313", "10317", "11200", "11221"]],
  ["quota", ["11201"]],
  ["rate", ["10006", "10007", "11202", "11203"]],
  ["overloaded", ["10008", "10010", "10012", "10110"]],
  ["model", ["10404", "10405"]],
  ["caller", ["10003", "10004", "10005", "10009", "10013", "10163", "10907"]],
];
const kindOf = (code: string): ErrorKind | undefined => kinds.find(([, codes]) => codes.includes(code))?.[0];

/** header.code of a frame; also the {message} with which the handshake is refused. */
export function readError(body: unknown): WireError | undefined {
  if (!isObject(body)) return undefined;
  const { header, message } = body;
  if (!isObject(header)) return typeof message === "string" ? wireError(message, "", () => undefined) : undefined;
  const code = header.code;
  return typeof code !== "number" || code === 0 ? undefined : wireError(text(header.message), String(code), kindOf);
}
