/**
 * Questions to a knowledge base of AI Proxy: POST /api/library/ask {libraryId, model, query, stream} -> {success,
 * answer, documents: [{title, url}]}, streamed as {content, finish, documents} (shapes of the vendor's public clients,
 * read November 2026; its documents are gone). Which knowledge base stands in the channel: providers/aiproxy-library.ts
 * puts it in.
 */
import type {
  AnswerEvent,
  Block,
  ChatAnswer,
  ChatPrompt,
  Citation,
  FinishReason,
  Warn,
  WireError,
  WireObject,
} from "../../chat-events";
import { BlockWriter } from "../shared/block-writer";
import { compact, dataObject, isObject, number, objects, optionalText, text } from "../shared/json";
import { limitedTo } from "../shared/limited";
import { questionOf } from "../shared/transcript";
import { warnUnsupported } from "../shared/unsupported";
import type { StreamDecoder } from "../translation";
import type { VendorDialect } from "../vendor-dialect";
import { requestSupport } from "./support";

const stopped: FinishReason = { unified: "stop", raw: "stop" };

/** What is looked up is the last question; what was said before would only blur it. */
function encodeRequest(prompt: ChatPrompt, warn: Warn): WireObject {
  warnUnsupported(prompt, requestSupport, warn);
  if (prompt.messages.length > 1) warn("dropped_block", "messages before the question");
  return { model: prompt.model, query: questionOf(prompt.messages, warn), stream: prompt.stream ?? false };
}

const citationOf = (document: WireObject): Citation =>
  compact({
    url: optionalText(document.url),
    title: optionalText(document.title),
    from: "aiproxy-library" as const,
    raw: document,
  });

/** {success: false, errCode, message}. */
function readError(body: unknown): WireError | undefined {
  if (!isObject(body)) return undefined;
  const code = text(body.errCode) || String(number(body.errCode) ?? number(body.errorCode) ?? "");
  const message = text(body.message);
  if (body.success === true || typeof body.answer === "string" || (message === "" && (code === "" || code === "0")))
    return undefined;
  return { message, type: "", code, param: null };
}

function decodeAnswer(body: WireObject, id: string): ChatAnswer | undefined {
  if (typeof body.answer !== "string" || body.success === false) return undefined;
  const citations = objects(body.documents).map(citationOf);
  const said: Block = { type: "text", text: body.answer, ...(citations.length > 0 && { citations }) };
  return { id, model: text(body.model), choices: [{ index: 0, content: [said], finish: stopped }] };
}

class LibraryStreamDecoder implements StreamDecoder {
  readonly #blocks = new BlockWriter();
  #started = false;

  constructor(readonly id: string) {}

  decode(data: string, out: AnswerEvent[]): boolean {
    if (data.trim() === "[DONE]") return true;
    const piece = dataObject(data);
    if (!piece) return false;
    const error = readError(piece);
    if (error) {
      out.push({ type: "error", error });
      return true;
    }
    if (typeof piece.content !== "string" && piece.finish !== true) return false;
    if (!this.#started) out.push({ type: "message_start", id: this.id, model: text(piece.model) });
    this.#started = true;
    this.#blocks.say("text", text(piece.content), out);
    for (const document of objects(piece.documents)) this.#blocks.cite(citationOf(document), out);
    if (piece.finish === true) {
      this.#blocks.close(out);
      out.push({ type: "finish", choice: 0, finish: stopped }, { type: "done" });
    }
    return true;
  }

  end(out: AnswerEvent[]): void {
    this.#blocks.close(out);
  }
}

export const aiproxyLibraryDialect: VendorDialect = {
  encodeRequest,
  decodeAnswer,
  streamDecoder: (id) => new LibraryStreamDecoder(id),
  readError,
  requestSupport,
  features: limitedTo("a knowledge base is asked one question", {
    text: true,
    citations: true,
    usage: { no: "tokens are not counted; they are estimated from the text" },
    errors_in_stream: true,
  }),
};
