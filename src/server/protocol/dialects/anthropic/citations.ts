/** Anthropic's citations of a text block (types of @anthropic-ai/sdk 1.11, TextCitation; read November 2026). */
import type { Citation, Warn, WireObject } from "../../chat-events";
import { compact, objects, optionalText } from "../shared/json";
import { warnMembers } from "../shared/unsupported";
import { answerSupport } from "./support";

/** Stands where Anthropic has an encrypted index of its own: such a citation is not given back to it. */
const FOREIGN = "";

export function decodeCitation(raw: WireObject): Citation {
  const foreign = raw.type === "web_search_result_location" && raw.encrypted_index === FOREIGN;
  return compact({
    url: optionalText(raw.url),
    title: optionalText(raw.title) ?? optionalText(raw.document_title),
    cited_text: optionalText(raw.cited_text),
    from: foreign ? ("openai-chat" as const) : ("anthropic" as const),
    raw: foreign
      ? { type: "url_citation", url_citation: { url: raw.url, title: raw.title, start_index: 0, end_index: 0 } }
      : raw,
  });
}

export const decodeCitations = (citations: unknown): Citation[] => objects(citations).map(decodeCitation);

/** For a caller. undefined, with a warning, when the source has no address. */
export function encodeCitation(citation: Citation, warn: Warn): WireObject | undefined {
  if (citation.from === "anthropic") return citation.raw;
  if (citation.url === undefined) {
    warn("dropped_field", "citations");
    return undefined;
  }
  warnMembers(citation, answerSupport.choices.citation, "citations", warn);
  const { url, title = null, cited_text = "" } = citation;
  return { type: "web_search_result_location", url, title, cited_text, encrypted_index: FOREIGN };
}
