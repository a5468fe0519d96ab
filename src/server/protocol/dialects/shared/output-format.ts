/** JSON output at models that cannot be held to it. */
import type { JsonSchemaFormat, OutputFormat, Warn, WireObject } from "../../chat-events";
import { compact } from "./json";

/** The schema with the format's name and description as its own, for vendors whose formats have neither. */
export function annotatedSchema({ name, description, schema }: JsonSchemaFormat, warn: Warn): WireObject {
  if (name !== undefined && (schema.title ?? name) !== name) warn("dropped_field", "format.name");
  if (description !== undefined && (schema.description ?? description) !== description)
    warn("dropped_field", "format.description");
  return compact({ title: name, description, ...schema });
}

/** What a model is asked instead. */
export function jsonInWords(format: Exclude<OutputFormat, { type: "text" }>, warn: Warn): string {
  if (format.type === "json_schema" && format.strict) warn("dropped_field", "format.strict");
  const schema =
    format.type === "json_schema"
      ? ` that fits this JSON schema: ${JSON.stringify(annotatedSchema(format, warn))}`
      : "";
  return `Answer with one JSON object${schema}. Write nothing else.`;
}
