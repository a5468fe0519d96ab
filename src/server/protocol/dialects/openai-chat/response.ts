/** OpenAI's whole answers: chat.completion, text_completion, embeddings. */
import { isObject, type JsonObject } from "../../../lib/json-bytes";
import type { ChatResult } from "../../chat-events";
import { wantsContent } from "../../usage-check";
import { usageOf } from "./usage";

const length = (value: unknown): number => (typeof value === "string" ? Buffer.byteLength(value) : 0);

function choiceBytes(choice: JsonObject): number {
  const message = isObject(choice.message) ? choice.message : {};
  let sum = length(choice.text) + length(message.content) + length(message.refusal);
  sum += length(message.reasoning_content) || length(message.reasoning);
  if (Array.isArray(message.tool_calls)) {
    for (const call of message.tool_calls) {
      if (isObject(call) && isObject(call.function))
        sum += length(call.function.name) + length(call.function.arguments);
    }
  }
  return sum;
}

/** undefined when the body has neither choices nor data: then it is no answer. */
export function readResult(body: JsonObject): ChatResult | undefined {
  const { choices, data } = body;
  if (!Array.isArray(choices) && !Array.isArray(data)) return undefined;
  const usage = usageOf(body);
  let content_bytes = 0;
  if ((!usage || wantsContent(usage)) && Array.isArray(choices)) {
    for (const choice of choices) if (isObject(choice)) content_bytes += choiceBytes(choice);
  }
  return { usage, content_bytes };
}
