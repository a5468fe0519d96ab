/**
 * Google's generateMessage, which came before Gemini (ai.google.dev/api/palm, read November 2026: decommissioned there,
 * served by proxies still). It does not stream: providers/palm.ts hands a whole answer on as the only event.
 */
import type {
  AnswerEvent,
  Block,
  ChatAnswer,
  ChatPrompt,
  FinishReason,
  Message,
  Warn,
  WireObject,
} from "../../chat-events";
import { readError } from "../gemini/error";
import { BlockWriter } from "../shared/block-writer";
import { compact, dataObject, objects, text } from "../shared/json";
import { limitedTo } from "../shared/limited";
import { textOfBlocks, warnUnsupported } from "../shared/unsupported";
import type { StreamDecoder } from "../translation";
import type { VendorDialect } from "../vendor-dialect";
import { requestSupport } from "./support";

const instructs = ({ role }: Message): boolean => role === "system" || role === "developer";

/** Instructions stand before the conversation, in which two authors take turns. */
function encodeRequest(prompt: ChatPrompt, warn: Warn): WireObject {
  warnUnsupported(prompt, requestSupport, warn);
  const messages: { author: string; content: string }[] = [];
  for (const message of prompt.messages) {
    if (instructs(message)) continue;
    const author = message.role === "user" ? "0" : "1";
    const content = textOfBlocks(message.content, warn);
    const last = messages.at(-1);
    if (last?.author === author) last.content += `\n\n${content}`;
    else if (content !== "") messages.push({ author, content });
  }
  const context = prompt.messages
    .filter(instructs)
    .map(({ content }) => textOfBlocks(content, warn))
    .join("\n\n");
  return compact({
    prompt: { ...(context !== "" && { context }), messages },
    temperature: prompt.temperature,
    topP: prompt.top_p,
    topK: prompt.top_k,
    candidateCount: prompt.choices,
  });
}

const stopped: FinishReason = { unified: "stop", raw: "stop" };
const blocked = (filters: readonly WireObject[]): FinishReason => ({
  unified: "content_filter",
  raw: text(filters[0]?.reason) || "BLOCKED",
});

/** There is no usage. A prompt that was blocked is an answer without content. */
function decodeAnswer(body: WireObject, id: string): ChatAnswer | undefined {
  const candidates = objects(body.candidates);
  const filters = objects(body.filters);
  if (candidates.length === 0 && filters.length === 0) return undefined;
  const content = (candidate: WireObject): Block[] =>
    text(candidate.content) === "" ? [] : [{ type: "text", text: text(candidate.content) }];
  const choices = candidates.map((candidate, index) => ({ index, content: content(candidate), finish: stopped }));
  return {
    id,
    model: "",
    choices: choices.length > 0 ? choices : [{ index: 0, content: [], finish: blocked(filters) }],
  };
}

class PalmStreamDecoder implements StreamDecoder {
  constructor(readonly id: string) {}

  decode(data: string, out: AnswerEvent[]): boolean {
    const body = dataObject(data);
    if (!body) return false;
    const error = readError(body);
    const answer = error ? undefined : decodeAnswer(body, this.id);
    if (error) out.push({ type: "error", error });
    if (!answer) return error !== undefined;
    out.push({ type: "message_start", id: this.id, model: "" });
    for (const { index, content, finish } of answer.choices) {
      const blocks = new BlockWriter(index);
      for (const block of content) if (block.type === "text") blocks.say("text", block.text, out);
      blocks.close(out);
      if (finish) out.push({ type: "finish", choice: index, finish });
    }
    out.push({ type: "done" });
    return true;
  }

  end(): void {}
}

export const palmDialect: VendorDialect = {
  encodeRequest,
  decodeAnswer,
  streamDecoder: (id) => new PalmStreamDecoder(id),
  readError,
  requestSupport,
  features: limitedTo("generateMessage takes and gives text, and few parameters", {
    text: true,
    system_prompt: true,
    mid_system: { partly: "as context before the conversation" },
    sampling: true,
    top_k: true,
    choices: true,
    usage: { no: "tokens are not counted; they are estimated from the text" },
    errors_in_stream: { partly: "it does not stream: the answer comes whole" },
  }),
};
