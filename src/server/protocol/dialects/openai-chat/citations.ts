/** OpenAI's annotations of a message: url_citation (types of the `openai` SDK 7.55, read November 2026). */
import type { Citation, Warn, WireObject } from "../../chat-events";
import { compact, list, number, object, objects, optionalText } from "../shared/json";
import { warnMembers } from "../shared/unsupported";
import { answerSupport } from "./support";

export function decodeCitation(annotation: WireObject): Citation {
  const { url, title, start_index, end_index } = object(annotation.url_citation);
  return compact({
    url: optionalText(url),
    title: optionalText(title),
    start: number(start_index),
    end: number(end_index),
    from: "openai-chat",
    raw: annotation,
  });
}

export const decodeCitations = (annotations: unknown): Citation[] => objects(annotations).map(decodeCitation);

/**
 * What Perplexity searched, beside its answer (docs.perplexity.ai, Sonar API: search_results, and citations before
 * them; read November 2026), as annotations of the text; none for every other vendor.
 */
export function searchAnnotations({ search_results, citations }: WireObject): WireObject[] {
  const found = objects(search_results);
  const sources = found.length > 0 ? found : list(citations).map((url) => ({ url, title: undefined }));
  return sources.flatMap(({ url, title }) =>
    typeof url === "string" && url !== ""
      ? [
          {
            type: "url_citation",
            url_citation: { url, title: optionalText(title) ?? url, start_index: 0, end_index: 0 },
          },
        ]
      : [],
  );
}

/** undefined, with a warning, when the source has no address: OpenAI cites addresses only. */
export function encodeCitation(citation: Citation, warn: Warn): WireObject | undefined {
  if (citation.from === "openai-chat") return citation.raw;
  if (citation.url === undefined) {
    warn("dropped_field", "citations");
    return undefined;
  }
  warnMembers(citation, answerSupport.choices.citation, "citations", warn);
  const { url, title = "", start = 0, end = 0 } = citation;
  return { type: "url_citation", url_citation: { url, title, start_index: start, end_index: end } };
}
