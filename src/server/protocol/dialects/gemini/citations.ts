/** Google's grounding as citations (ai.google.dev/api/generate-content, GroundingMetadata; read November 2026). */
import type { Citation, Warn, WireObject } from "../../chat-events";
import { compact, isObject, list, object, objects, optionalText } from "../shared/json";
import { warnMembers } from "../shared/unsupported";
import { answerSupport } from "./support";

/**
 * One citation for each source of each supported piece of text; the pieces are counted in bytes, so offsets are left
 * out.
 */
export function decodeGrounding(grounding: unknown): Citation[] {
  if (!isObject(grounding)) return [];
  const chunks = objects(grounding.groundingChunks).map((chunk) => object(chunk.web ?? chunk.retrievedContext));
  return objects(grounding.groundingSupports).flatMap((support) =>
    list(support.groundingChunkIndices).flatMap((index) => {
      const source = typeof index === "number" ? chunks[index] : undefined;
      return source ? [citationOf(source, object(support.segment))] : [];
    }),
  );
}

function citationOf(source: WireObject, segment: WireObject): Citation {
  return compact({
    url: optionalText(source.uri),
    title: optionalText(source.title),
    cited_text: optionalText(segment.text),
    from: "gemini",
    raw: { source, segment },
  });
}

/** Citations for a caller: each its own chunk and support; those without an address are lost, with a warning. */
export function encodeGrounding(citations: readonly Citation[], warn: Warn): WireObject | undefined {
  const cited = citations.filter((citation) => citation.url !== undefined);
  if (cited.length < citations.length) warn("dropped_field", "citations");
  for (const citation of cited) warnMembers(citation, answerSupport.choices.citation, "citations", warn);
  if (cited.length === 0) return undefined;
  return {
    groundingChunks: cited.map(({ url, title }) => ({ web: compact({ uri: url, title }) })),
    groundingSupports: cited.map(({ cited_text, from, raw }, index) => ({
      segment: from === "gemini" ? raw.segment : compact({ text: cited_text }),
      groundingChunkIndices: [index],
    })),
  };
}
