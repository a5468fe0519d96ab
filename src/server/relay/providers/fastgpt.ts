/**
 * FastGPT: applications in OpenAI's format (doc.fastgpt.io, "Chat API"; the server's code is public, labring/FastGPT:
 * v1/chat/completions and common/response; read November 2026). Its token counts mean nothing, and its errors have
 * their own codes: with status 500, or as an event `error` of a stream that began with 200.
 */
import { type ErrorKind, wireError } from "../../protocol/dialects/shared/error-kind";
import { isObject, text } from "../../protocol/dialects/shared/json";
import type { OutFrame } from "../../protocol/dialects/translation";
import type { WireError } from "../../protocol/chat-events";
import { tryParse } from "../../lib/json-bytes";
import { eventsOf, framesOf, replaceBody } from "./framing";
import { ordinary } from "./ordinary";
import type { Provider } from "./provider";
import { send } from "./provider-context";

const DONE = "[DONE]";

const kinds: ReadonlyMap<string, ErrorKind> = new Map([
  ["403", "authentication"],
  ["514", "authentication"],
  ["510", "quota"],
  ["511", "model"],
  ["429", "rate"],
]);

/** {code, statusText, message, data}. */
function readError(body: unknown): WireError | undefined {
  if (!isObject(body) || typeof body.code !== "number" || typeof body.statusText !== "string" || body.code < 400)
    return undefined;
  return wireError(text(body.message), String(body.code), (code) => kinds.get(code));
}

/** The vendor reports 1 for every count and documents that they are not real: without them tokens are estimated. */
const isPlaceholder = (usage: unknown): boolean =>
  isObject(usage) && usage.prompt_tokens === 1 && usage.completion_tokens === 1;

async function withoutCounts(response: Response): Promise<Response> {
  const bytes = await response.arrayBuffer();
  const answer = tryParse(new Uint8Array(bytes));
  if (!isObject(answer) || !isPlaceholder(answer.usage)) return replaceBody(response, bytes);
  const { usage: _, ...rest } = answer;
  return replaceBody(response, JSON.stringify(rest));
}

/**
 * The vendor's events (an application's details are named events, and its last ones follow [DONE], which goes last
 * here), with errors in OpenAI's format.
 */
async function* events(body: ReadableStream<Uint8Array> | null): AsyncGenerator<string | OutFrame> {
  let done = false;
  for await (const { event, data } of framesOf(body)) {
    const failed = event === "error" && data !== undefined ? tryParse(Buffer.from(data)) : undefined;
    if (isObject(failed))
      yield JSON.stringify({
        error: readError(failed) ?? { message: text(failed.message), type: "", code: "", param: null },
      });
    else if (data === DONE) done = true;
    else if (data !== undefined) yield { data, event };
  }
  if (done) yield DONE;
}

export const fastgpt: Provider = {
  ...ordinary,
  async open(outgoing, context) {
    const response = await send(outgoing, context);
    if (!response.ok) return response;
    const isJson = /json/i.test(response.headers.get("content-type") ?? "");
    return outgoing.stream && !isJson ? eventsOf(events(response.body), response.headers) : withoutCounts(response);
  },
  readError,
};
