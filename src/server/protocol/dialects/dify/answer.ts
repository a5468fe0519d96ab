/**
 * What an application answers, whole (docs.dify.ai, API reference; openapi_chat.json, openapi_workflow.json; read
 * November 2026).
 */
import type { Block, ChatAnswer, Extra, Usage, WireError, WireObject } from "../../chat-events";
import { tokenCount } from "../../usage-check";
import { compact, isObject, number, object, text } from "../shared/json";

export const stopped = { unified: "stop", raw: "stop" } as const;

/** metadata.usage; a workflow counts its tokens in one sum, which is taken as input. */
export function readUsage(usage: unknown, total: unknown): Usage | undefined {
  const { prompt_tokens, completion_tokens, total_tokens } = object(usage);
  const input = tokenCount(prompt_tokens);
  const output = tokenCount(completion_tokens);
  if (input !== undefined || output !== undefined) return { input: input ?? 0, output: output ?? 0 };
  const sum = tokenCount(total_tokens) ?? tokenCount(total);
  return sum === undefined ? undefined : { input: sum, output: 0 };
}

/** The result of a workflow as text: its only text, or all of its outputs as JSON. */
export function outputText(outputs: unknown): string {
  const values = Object.values(object(outputs));
  const [only] = values;
  if (values.length === 1 && typeof only === "string") return only;
  return values.length === 0 ? "" : JSON.stringify(outputs);
}

/** What a caller needs to go on with a conversation: OpenAI's callers find it beside the answer. */
export function conversationOf({ conversation_id }: WireObject): WireObject | undefined {
  return text(conversation_id) === "" ? undefined : { conversation_id };
}

/** {code, message, status} of an error, or the failure inside a workflow's answer. */
export function readError(body: unknown): WireError | undefined {
  if (!isObject(body)) return undefined;
  const run = object(body.data);
  const failed = run.status === "failed" || run.status === "stopped";
  const message = text(body.message) || (failed ? text(run.error) || `The workflow ${text(run.status)}.` : "");
  if (message === "") return undefined;
  return { message, type: "", code: text(body.code) || String(number(body.status) ?? ""), param: null };
}

/** undefined when the body is no answer, or one that failed. */
export function decodeAnswer(body: WireObject, id: string): ChatAnswer | undefined {
  const run = object(body.data);
  const isRun = isObject(run.outputs) || run.status === "succeeded";
  if (typeof body.answer !== "string" && (!isRun || readError(body))) return undefined;
  const words = typeof body.answer === "string" ? body.answer : outputText(run.outputs);
  const content: Block[] = words === "" ? [] : [{ type: "text", text: words }];
  const conversation = conversationOf(body);
  const extra: Extra | undefined = conversation && { "openai-chat": conversation };
  return compact({
    id: text(body.message_id) || text(body.id) || text(body.workflow_run_id) || id,
    model: "",
    created: number(body.created_at),
    choices: [{ index: 0, content, finish: stopped }],
    usage: readUsage(object(body.metadata).usage, run.total_tokens),
    extra,
  });
}
