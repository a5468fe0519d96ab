/** What the vendor answers to POST /v2/chat, whole (docs.cohere.com/reference/chat, read November 2026). */
import type { Block, ChatAnswer, Citation, FinishReason, Usage, WireError, WireObject } from "../../chat-events";
import { tokenCount } from "../../usage-check";
import { compact, isObject, number, object, objects, optionalText, text } from "../shared/json";

const finishes: Readonly<Record<string, FinishReason["unified"]>> = {
  COMPLETE: "stop",
  STOP_SEQUENCE: "stop",
  MAX_TOKENS: "length",
  TOOL_CALL: "tool_calls",
};

/** Generations that failed: they are errors in a 200. */
const broken = new Set(["ERROR", "TIMEOUT"]);

export const decodeFinish = (raw: string): FinishReason => ({ unified: finishes[raw] ?? "other", raw });

/** The failure that a finish reason means, undefined when it is none. `error` is what the vendor says beside it. */
export function failureIn(finish_reason: unknown, error: unknown): WireError | undefined {
  const code = text(finish_reason);
  if (!broken.has(code)) return undefined;
  return {
    message: text(error) || `The generation ended with ${code}.`,
    type: "",
    code: code.toLowerCase(),
    param: null,
  };
}

/** What is billed; the tokens of the whole prompt, templates included, where nothing else is named. */
export function readUsage(usage: unknown): Usage | undefined {
  const { billed_units, tokens } = object(usage);
  const { input_tokens, output_tokens } = isObject(billed_units) ? billed_units : object(tokens);
  const input = tokenCount(input_tokens);
  const output = tokenCount(output_tokens);
  return input === undefined && output === undefined ? undefined : { input: input ?? 0, output: output ?? 0 };
}

/** One citation for each of its sources. Offsets count characters of the text that they stand in. */
export function decodeCitations(citation: WireObject): Citation[] {
  const { start, end } = citation;
  const sources = objects(citation.sources);
  return (sources.length === 0 ? [{}] : sources).map((source: WireObject) => {
    const found = object(source.document ?? source.tool_output);
    return compact({
      url: optionalText(found.url),
      title: optionalText(found.title) ?? optionalText(source.id),
      cited_text: optionalText(citation.text),
      start: number(start),
      end: number(end),
      from: "cohere" as const,
      raw: citation,
    });
  });
}

function contentOf(message: WireObject): Block[] {
  const blocks: Block[] = [];
  const citations = objects(message.citations);
  for (const [index, part] of objects(message.content).entries()) {
    if (part.type === "thinking") blocks.push({ type: "reasoning", text: text(part.thinking) });
    else if (text(part.text) !== "") {
      const own = citations.filter((citation) => (number(citation.content_index) ?? index) === index);
      const cited = own.flatMap(decodeCitations);
      blocks.push({ type: "text", text: text(part.text), ...(cited.length > 0 && { citations: cited }) });
    }
  }
  if (text(message.tool_plan) !== "") blocks.push({ type: "text", text: text(message.tool_plan) });
  for (const call of objects(message.tool_calls)) {
    const { name, arguments: input } = object(call.function);
    blocks.push({ type: "tool_call", id: text(call.id), name: text(name), input: argumentsOf(input) });
  }
  return blocks;
}

/** Arguments of a tool without any come as nothing or as `null`. */
function argumentsOf(input: unknown): string {
  const json = text(input);
  return json === "" || json === "null" ? "{}" : json;
}

/** undefined when the body is no answer, or one that failed. */
export function decodeAnswer(body: WireObject, id: string): ChatAnswer | undefined {
  if (!isObject(body.message) || failureIn(body.finish_reason, body.error)) return undefined;
  const raw = text(body.finish_reason);
  return compact({
    id: text(body.id) || id,
    model: "",
    choices: [
      compact({ index: 0, content: contentOf(body.message), finish: raw === "" ? undefined : decodeFinish(raw) }),
    ],
    usage: readUsage(body.usage),
  });
}

/** {message} of an error answer, or the failure inside an answer. */
export function readError(body: unknown): WireError | undefined {
  if (!isObject(body)) return undefined;
  const failure = failureIn(body.finish_reason, body.error);
  if (failure) return failure;
  const message = text(body.message) || text(body.error);
  return message === "" ? undefined : { message, type: "", code: text(body.code), param: null };
}
