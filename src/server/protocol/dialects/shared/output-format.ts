/** JSON output at models that cannot be held to it. */
import type { OutputFormat } from "../../chat-events";

/** What a model is told instead. */
export function jsonInWords(format: Exclude<OutputFormat, { type: "text" }>): string {
  const schema = format.type === "json_schema" ? ` that fits this JSON schema: ${JSON.stringify(format.schema)}` : "";
  return `Answer with one JSON object${schema}. Write nothing else.`;
}
