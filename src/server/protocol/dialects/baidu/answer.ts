/**
 * What Baidu Wenxin, generation 1, answers (cloud.baidu.com/doc/WENXINWORKSHOP/s/clntwmv7t: response, streamed
 * response; s/tlmyncueh: error codes; read November 2026). Pieces of a stream are whole answers, the last says is_end;
 * errors come with status 200.
 */
import type { ChatAnswer, WireError, WireObject } from "../../chat-events";
import { decodeAnswer as decodeChat } from "../openai-chat/answer-decode";
import { type ErrorKind, wireError } from "../shared/error-kind";
import { isObject, object, text } from "../shared/json";

/** "normal" stands on every piece of a stream; the other words are OpenAI's. */
const finishOf = (raw: string, called: boolean): string =>
  called ? "tool_calls" : raw === "" || raw === "normal" ? "stop" : raw;

/** A piece as OpenAI's chunk, a whole answer as OpenAI's answer. */
function chatOf(wire: WireObject, last: boolean): WireObject {
  const { id, created, result, function_call, usage, search_info } = wire;
  const called = isObject(function_call) && text(function_call.name) !== "";
  const thoughts = text(object(function_call).thoughts);
  const message = {
    content: text(result),
    ...(thoughts !== "" && { reasoning_content: thoughts }),
    ...(called && {
      tool_calls: [
        { type: "function", function: { name: function_call.name, arguments: text(function_call.arguments) } },
      ],
    }),
  };
  const finish_reason = last ? finishOf(text(wire.finish_reason), called) : null;
  return {
    id,
    created,
    choices: [{ index: 0, message, finish_reason }],
    usage,
    ...(isObject(search_info) && { search_info }),
  };
}

/** A piece of a stream. */
export const chunkOf = (piece: WireObject): WireObject => chatOf(piece, piece.is_end === true);

export function decodeAnswer(body: WireObject): ChatAnswer | undefined {
  const answered = typeof body.result === "string" || isObject(body.function_call);
  return readError(body) || !answered ? undefined : decodeChat(chatOf(body, true));
}

const kinds: readonly (readonly [ErrorKind, readonly string[]])[] = [
  ["authentication", ["6", "13", "14", "15", "100", "110", "111"]],
  ["quota", ["17", "19"]],
  ["rate", ["4", "18", "336501", "336502", "336503"]],
  ["overloaded", ["2", "336100"]],
  ["model", ["3"]],
  [
    "caller",
    [
      "336001",
      "336002",
      "336003",
      "336004",
      "336005",
      "336006",
      "336007",
      "336103",
      "336104",
      "336105",
      "336106",
      "336108",
      "336109",
      "336110",
      "336111",
      "336112",
    ],
  ],
];
const kindOf = (code: string): ErrorKind | undefined => kinds.find(([, codes]) => codes.includes(code))?.[0];

export function readError(body: unknown): WireError | undefined {
  if (!isObject(body)) return undefined;
  // The token's own door answers as OAuth does.
  if (typeof body.error === "string")
    return wireError(text(body.error_description) || body.error, body.error, () => "authentication");
  const { error_code } = body;
  if (typeof error_code !== "number" && (typeof error_code !== "string" || error_code === "")) return undefined;
  return Number(error_code) === 0 ? undefined : wireError(text(body.error_msg), String(error_code), kindOf);
}
