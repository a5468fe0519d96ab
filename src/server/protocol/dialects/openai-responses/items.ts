/** Names and pieces that requests, answers and streams of the Responses dialect share. */
import type { Citation, ReasoningBlock, ReasoningSignature, Warn, WireObject } from "../../chat-events";
import { compact, number, object, objects, optionalText, text } from "../shared/json";
import { signatureOfField, encodeSignature } from "../shared/reasoning-signature";
import { warnMembers } from "../shared/unsupported";
import { answerSupport } from "./support";

export const KEY = "openai-responses";

/** Parts of a summary are paragraphs. */
export const PARAGRAPH = "\n\n";

/** A reasoning item's words: its summary, else its content. */
function wordsOf(item: WireObject): string {
  const summary = objects(item.summary).map((part) => text(part.text));
  const said = summary.length > 0 ? summary : objects(item.content).map((part) => text(part.text));
  return said.join(PARAGRAPH);
}

/** The item's own signature; undefined without encrypted content, which is what can be given back. */
export function signatureOfItem(item: WireObject): ReasoningSignature | undefined {
  const data = text(item.encrypted_content);
  const id = text(item.id);
  return data === "" ? undefined : { from: KEY, kind: "encrypted", data, ...(id !== "" && { id }) };
}

/** `returned`: a caller gives it back, so that the signature may be another vendor's. */
export function thoughtsOfItem(item: WireObject, returned: boolean): ReasoningBlock {
  const own = signatureOfItem(item);
  const reasoningSignature = own && returned ? signatureOfField(own) : own;
  return { type: "reasoning", text: wordsOf(item), ...(reasoningSignature && { reasoningSignature }) };
}

/** A reasoning item for a caller: every signature, wrapped where it is another's. */
export function itemOfThoughts(
  words: string,
  reasoningSignature: ReasoningSignature | undefined,
  id: string,
): WireObject {
  return compact({
    type: "reasoning",
    id: reasoningSignature?.from === KEY ? (reasoningSignature.id ?? id) : id,
    summary: words === "" ? [] : [{ type: "summary_text", text: words }],
    encrypted_content:
      reasoningSignature &&
      (reasoningSignature.from === KEY ? reasoningSignature.data : encodeSignature(reasoningSignature)),
  });
}

export function decodeAnnotation(annotation: WireObject): Citation {
  return compact({
    url: optionalText(annotation.url),
    title: optionalText(annotation.title) ?? optionalText(annotation.filename),
    start: number(annotation.start_index),
    end: number(annotation.end_index),
    from: KEY,
    raw: annotation,
  });
}

/** undefined, with a warning, when the source has no address. */
export function encodeAnnotation(citation: Citation, warn: Warn): WireObject | undefined {
  if (citation.from === KEY) return citation.raw;
  if (citation.url === undefined) {
    warn("dropped_field", "citations");
    return undefined;
  }
  warnMembers(citation, answerSupport.choices.citation, "citations", warn);
  const { url, title = "", start = 0, end = 0 } = citation;
  return { type: "url_citation", url, title, start_index: start, end_index: end };
}

/** The text of a free-form call that a vendor without such tools wrote as {"input": text}. */
export function freeFormInput(json: string): string {
  try {
    const { input } = object(JSON.parse(json));
    return typeof input === "string" ? input : json;
  } catch {
    return json;
  }
}
