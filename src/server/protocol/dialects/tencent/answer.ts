/**
 * What Tencent Hunyuan answers, as neutral events (types of tencentcloud-sdk-nodejs, hunyuan v20230901: Choice, Delta,
 * ErrorMsg; cloud.tencent.com/document/product/1729/105701, examples; read November 2026). A whole answer stands inside
 * `Response`, a streamed one does not; an error stands inside `Response` and comes with status 200.
 */
import type { ChatAnswer, WireError, WireObject } from "../../chat-events";
import { decodeAnswer as decodeChat } from "../openai-chat/answer-decode";
import { type ErrorKind, wireError } from "../shared/error-kind";
import { isObject, object, objects, text } from "../shared/json";
import { snake } from "./case";

/** OpenAI's words for Tencent's finish reasons; moderation of a stream says "sensitive". */
const choiceOf = (choice: WireObject): WireObject =>
  choice.finish_reason === "sensitive" ? { ...choice, finish_reason: "content_filter" } : choice;

/** An answer or a piece of one by OpenAI's names. */
export function chatOf(wire: WireObject): WireObject {
  const { id, created, choices, usage, search_info } = snake(wire);
  return {
    id,
    created,
    choices: Array.isArray(choices) ? objects(choices).map(choiceOf) : undefined,
    usage,
    ...(isObject(search_info) && { search_info }),
  };
}

export function decodeAnswer(body: WireObject): ChatAnswer | undefined {
  const response = object(body.Response);
  const chat = chatOf(response);
  return readError(body) || !Array.isArray(chat.choices) ? undefined : decodeChat(chat);
}

/** Tencent's error codes (cloud.tencent.com/document/product/1729/105701, error codes; common codes). */
const kinds: readonly (readonly [RegExp, ErrorKind])[] = [
  [/^(AuthFailure|UnauthorizedOperation)/, "authentication"],
  [
    /ResourcePackExhausted|ChargeResourceExhausted|FreeResourcePackExhausted|InArrears|NotEnough|ServiceStop|ServiceNotActivated/,
    "quota",
  ],
  [/EngineServerLimitExceeded|RequestLimitExceeded|^LimitExceeded/, "rate"],
  [/^(ResourceNotFound|InvalidParameterValue\.Model)$/, "model"],
  [
    /^(InvalidParameter|MissingParameter|UnknownParameter|UnsupportedOperation|InvalidRequest|OperationDenied)/,
    "caller",
  ],
];
const kindOf = (code: string): ErrorKind | undefined => kinds.find(([pattern]) => pattern.test(code))?.[1];

export function readError(body: unknown): WireError | undefined {
  const outer = object(body);
  const response = isObject(outer.Response) ? outer.Response : outer;
  const { Error: error, ErrorMsg: msg } = response;
  if (isObject(error)) return wireError(text(error.Message), text(error.Code), kindOf);
  return isObject(msg) ? wireError(text(msg.Msg), String(msg.Code ?? ""), kindOf) : undefined;
}
