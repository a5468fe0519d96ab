/** Items of the Responses API, as far as they are stored, listed and searched. Pure. */
import { isObject, type JsonObject } from "../../../lib/json-bytes";
import type { Bytes } from "../../../lib/sse";

/** A call's `input` as items: a string becomes a message of the user, and a message's string becomes a part. */
export function inputItems(input: unknown): JsonObject[] {
  const items =
    typeof input === "string" ? [{ role: "user", content: input }] : Array.isArray(input) ? input.filter(isObject) : [];
  return items.map((item) => {
    const { type, role, content } = item;
    if (typeof role !== "string" || (type !== undefined && type !== "message")) return item;
    const kind = role === "assistant" ? "output_text" : "input_text";
    const said =
      typeof content === "string"
        ? [role === "assistant" ? { type: kind, text: content, annotations: [] } : { type: kind, text: content }]
        : content;
    return { ...item, type: "message", role, content: said };
  });
}

const marks = ['"file_id', "\\u00"].map((mark) => Buffer.from(mark));
/** Members that may name files. The same words inside metadata or a function's parameters are data. */
const PLACES = ["input", "messages", "tools"] as const;
const NOT_INSIDE = new Set(["parameters", "function", "metadata", "arguments"]);

/** The ids of the files that a call of OpenAI's dialects names, each once. Fast where it names none. */
export function namedFiles(body: Bytes, json: JsonObject): string[] {
  if (!marks.some((mark) => body.includes(mark))) return [];
  const found = new Set<string>();
  const left: unknown[] = PLACES.map((place) => json[place]);
  while (left.length > 0) {
    const value = left.pop();
    if (Array.isArray(value)) for (const one of value) left.push(one);
    if (!isObject(value)) continue;
    for (const [name, inside] of Object.entries(value)) {
      if (name === "file_id" && typeof inside === "string") found.add(inside);
      else if (name === "file_ids" && Array.isArray(inside)) for (const id of inside) found.add(String(id));
      else if (!NOT_INSIDE.has(name)) left.push(inside);
    }
  }
  found.delete("");
  return [...found];
}
