/** JSON output at models that cannot be held to it. */
import type { JsonSchemaFormat, OutputFormat, WireObject } from "../../chat-events";
import { compact } from "./json";

/** The schema with the format's name and description in it, for vendors whose formats have neither. */
export const annotatedSchema = ({ name, description, schema }: JsonSchemaFormat): WireObject =>
  compact({ title: name, description, ...schema });

/** What a model is told instead. */
export function jsonInWords(format: Exclude<OutputFormat, { type: "text" }>): string {
  const schema =
    format.type === "json_schema" ? ` that fits this JSON schema: ${JSON.stringify(annotatedSchema(format))}` : "";
  return `Answer with one JSON object${schema}. Write nothing else.`;
}
