/**
 * Cohere: its v2 addresses, and embeddings and reranking in its own format (docs.cohere.com/reference: embed, rerank;
 * read November 2026).
 */
import type { WireObject } from "../../protocol/chat-events";
import { RequestFault } from "../../protocol/dialects/shared/fault";
import {
  compact,
  count,
  isObject,
  list,
  object,
  objects,
  optionalText,
  text,
} from "../../protocol/dialects/shared/json";
import { ordinary } from "./ordinary";
import type { DirectCodec, Provider } from "./provider";

/** The vendor's token count of a call that generates no text. */
const billedInput = (meta: unknown): number | undefined => count(object(object(meta).billed_units).input_tokens);

/** The vendor requires the purpose of the vectors; `input_type` and `truncate` are its own members. */
const embeddings: DirectCodec = {
  encode(body) {
    const texts = typeof body.input === "string" ? [body.input] : list(body.input);
    if (texts.length === 0 || !texts.every((input) => typeof input === "string")) throw new RequestFault("input");
    return compact({
      model: body.model,
      texts,
      input_type: optionalText(body.input_type) ?? "search_document",
      embedding_types: [body.encoding_format === "base64" ? "base64" : "float"],
      output_dimension: count(body.dimensions),
      truncate: optionalText(body.truncate),
    });
  },
  decode({ embeddings: made, meta }, { model }) {
    if (!isObject(made)) return undefined;
    const vectors = Array.isArray(made.float) ? made.float : made.base64;
    if (!Array.isArray(vectors)) return undefined;
    const tokens = billedInput(meta);
    return {
      object: "list",
      data: vectors.map((embedding: unknown, index) => ({ object: "embedding", index, embedding })),
      model,
      ...(tokens !== undefined && { usage: { prompt_tokens: tokens, total_tokens: tokens } }),
    };
  },
};

/** A document is its text; an object with several fields is sent as JSON. */
function documentText(document: unknown, index: number): string {
  if (typeof document === "string") return document;
  if (!isObject(document)) throw new RequestFault(`documents[${index}]`);
  return typeof document.text === "string" ? document.text : JSON.stringify(document);
}

/** The vendor returns indexes and scores; the documents are added here for callers that want them. */
const rerank: DirectCodec = {
  encode(body) {
    if (typeof body.query !== "string") throw new RequestFault("query");
    return compact({
      model: body.model,
      query: body.query,
      documents: list(body.documents).map(documentText),
      top_n: count(body.top_n),
      max_tokens_per_doc: count(body.max_tokens_per_doc),
    });
  },
  decode({ id, results, meta }, asked) {
    if (!Array.isArray(results)) return undefined;
    const documents = list(asked.documents);
    const placed = objects(results).map(({ index, relevance_score }): WireObject => {
      const document = asked.return_documents === true && typeof index === "number" ? documents[index] : undefined;
      const shown = typeof document === "string" ? { text: document } : document;
      return compact({ index, relevance_score, document: shown });
    });
    return compact({ id: text(id), model: asked.model, results: placed, meta });
  },
};

export const cohere: Provider = { ...ordinary, direct: { embeddings, rerank } };
