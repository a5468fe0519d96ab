/**
 * What a bot answers (docs.coze.cn/developer_guides/chat_v3; the vendor's Python SDK, cozepy/chat; read November 2026).
 * The event's name alone distinguishes what looks the same: providers/coze.ts writes it into the data, {event,
 * data}. A whole answer is the list of the events that count, {events}.
 */
import type { Block, ChatAnswer, FinishReason, Usage, WireError, WireObject } from "../../chat-events";
import { type ErrorKind, wireError } from "../shared/error-kind";
import { tokenCount } from "../../usage-check";
import { compact, isObject, number, object, objects, text } from "../shared/json";

export const COMPLETED = "conversation.chat.completed";
export const MESSAGE = "conversation.message.completed";

/** What the vendor's numbers say of whose fault it is. */
const kinds: Readonly<Record<string, ErrorKind>> = { 4000: "caller", 4100: "authentication" };

/** {code, msg}; 0 is no error. */
export function errorOf(value: unknown): WireError | undefined {
  const { code, msg } = object(value);
  const shown = typeof code === "string" ? code : String(number(code) ?? "");
  if (shown === "" || shown === "0") return undefined;
  return wireError(text(msg), shown, (known) => kinds[known]);
}

/** The error of an event, undefined when it has none. */
export function errorIn({ event, data }: WireObject): WireError | undefined {
  if (event === "error") return errorOf(data) ?? { message: text(data), type: "", code: "error", param: null };
  if (event !== "conversation.chat.failed") return undefined;
  return (
    errorOf(object(data).last_error) ?? { message: "The conversation failed.", type: "", code: "failed", param: null }
  );
}

export const readUsage = (usage: unknown): Usage | undefined => {
  const { input_count, output_count } = object(usage);
  const input = tokenCount(input_count);
  const output = tokenCount(output_count);
  return input === undefined && output === undefined ? undefined : { input: input ?? 0, output: output ?? 0 };
};

/** A bot that waits for a tool's result has not answered. */
export const finishOf = (event: unknown): FinishReason =>
  event === COMPLETED ? { unified: "stop", raw: "completed" } : { unified: "other", raw: "requires_action" };

/** Only answers are the bot's words; the rest is what it did, or questions that it proposes. */
export const isAnswer = ({ type }: WireObject): boolean => type === "answer";

/** undefined when the body is no answer, or one that failed. */
export function decodeAnswer(body: WireObject, id: string): ChatAnswer | undefined {
  const events = objects(body.events);
  const last = events.findLast(({ event }) => typeof event === "string" && event.startsWith("conversation.chat."));
  if (!last || events.some(errorIn)) return undefined;
  const chat = object(last.data);
  const content = events
    .filter(({ event }) => event === MESSAGE)
    .map(({ data }) => object(data))
    .filter(isAnswer)
    .flatMap((message): Block[] => [
      ...(text(message.reasoning_content) === ""
        ? []
        : [{ type: "reasoning" as const, text: text(message.reasoning_content) }]),
      ...(text(message.content) === "" ? [] : [{ type: "text" as const, text: text(message.content) }]),
    ]);
  return compact({
    id: text(chat.id) || id,
    model: "",
    created: number(chat.created_at),
    choices: [{ index: 0, content, finish: finishOf(last.event) }],
    usage: readUsage(chat.usage),
  });
}

/** {code, msg} of a refusal, or the failure among the events of an answer. */
export function readError(body: unknown): WireError | undefined {
  if (!isObject(body)) return undefined;
  for (const event of objects(body.events)) {
    const error = errorIn(event);
    if (error) return error;
  }
  return errorOf(body);
}
