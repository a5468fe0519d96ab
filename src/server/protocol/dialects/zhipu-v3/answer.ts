/**
 * What Zhipu's API of generation 3 answers (open.bigmodel.cn, model-api and error codes; zhipuai 1.0.7: sse_client,
 * examples; read November 2026). A stream's events have names and a member `meta`, so each comes here as JSON of its
 * fields: {event: add|finish|error|interrupted, data, meta}.
 */
import type { ChatAnswer, WireError, WireObject } from "../../chat-events";
import { decodeAnswer as decodeChat } from "../openai-chat/answer-decode";
import { type ErrorKind, wireError } from "../shared/error-kind";
import { isObject, object, objects, parseObject, text } from "../shared/json";

/** Whole answers quote their text once more, as JSON. */
function unquoted(words: string): string {
  if (!words.startsWith('"') || !words.endsWith('"')) return words;
  try {
    const value: unknown = JSON.parse(words);
    return typeof value === "string" ? value.trimStart() : words;
  } catch {
    return words;
  }
}

export function decodeAnswer(body: WireObject): ChatAnswer | undefined {
  const { data } = body;
  if (readError(body) || !isObject(data) || !Array.isArray(data.choices)) return undefined;
  const choices = objects(data.choices).map(({ role, content }, index) => ({
    index,
    message: { role, content: unquoted(text(content)) },
    finish_reason: "stop",
  }));
  return decodeChat({ id: data.task_id ?? data.request_id, choices, usage: data.usage });
}

const kinds: readonly (readonly [ErrorKind, readonly string[]])[] = [
  ["authentication", ["1000", "1001", "1002", "1003", "1004", "1100", "1110", "1111", "1112", "1220"]],
  ["quota", ["1113", "1304"]],
  ["rate", ["1302", "1303"]],
  ["overloaded", ["1120", "1230", "1234", "1305"]],
  ["model", ["1211", "1221", "1222"]],
  ["caller", ["1210", "1212", "1213", "1214", "1215", "1231", "1261", "1300", "1301"]],
];
const kindOf = (code: string): ErrorKind | undefined => kinds.find(([, codes]) => codes.includes(code))?.[0];

const codeOf = (value: unknown): string =>
  typeof value === "string" || typeof value === "number" ? String(value) : "";

/** {code, msg, success: false}, and {error: {code, message}} where the gate answers. */
export function readError(body: unknown): WireError | undefined {
  if (!isObject(body)) return undefined;
  if (isObject(body.error)) return wireError(text(body.error.message), codeOf(body.error.code), kindOf);
  const code = codeOf(body.code);
  if (code === "" || (code === "200" && body.success !== false)) return undefined;
  return wireError(text(body.msg), code, kindOf);
}

/** The error that an event is, undefined when it is none. */
export function readEventError({ event, data }: WireObject): WireError | undefined {
  if (event !== "error" && event !== "interrupted") return undefined;
  const words = text(data);
  return readError(parseObject(words)) ?? wireError(words || event, "", () => undefined);
}

/** An event as OpenAI's chunk. */
export function chunkOf({ event, id, data, meta }: WireObject): WireObject | undefined {
  if (event !== "add" && event !== "finish") return undefined;
  const { task_id, usage } = object(parseObject(text(meta)));
  const finish_reason = event === "finish" ? "stop" : null;
  return { id: task_id ?? id, choices: [{ index: 0, delta: { content: text(data) }, finish_reason }], usage };
}
