/**
 * Input of REST calls: text becomes the type in the procedure's own schema. Front-ends made for the original API send
 * `group=null`, `end_timestamp=NaN`, numbers as text, floats and nulls.
 */
import type * as z from "zod";

type Schema = z.core.$ZodType;

/** The schema below optional, default, catch, nullable, readonly and transforms. */
function unwrap(schema: Schema): Schema {
  let current = schema;
  for (;;) {
    const def = current._zod.def as { type: string; innerType?: Schema; in?: Schema; out?: Schema };
    if (def.innerType) current = def.innerType;
    else if (def.type === "pipe" && def.in && def.out) {
      current = (def.in._zod.def as { type: string }).type === "transform" ? def.out : def.in;
    } else return current;
  }
}

const typeOf = (schema: Schema): string => (schema._zod.def as { type: string }).type;

const ABSENT_TEXT = new Set(["", "null", "undefined", "NaN"]);

/** Path and query are always text. `null`, `undefined` and `NaN` mean absent. */
function fromText(schema: Schema, text: string): unknown {
  if (ABSENT_TEXT.has(text)) return undefined;
  return convert(unwrap(schema), text);
}

/** A body's value: null is absent, "" is absent unless a text is expected. */
function fromBody(schema: Schema, value: unknown): unknown {
  if (value === null) return isNullable(schema) ? null : undefined;
  const inner = unwrap(schema);
  if (typeof value === "string") {
    if (acceptsText(inner)) return value;
    return ABSENT_TEXT.has(value) ? undefined : convert(inner, value);
  }
  if (typeof value === "number" && typeOf(inner) === "string") return String(value);
  if (typeof value === "object" && typeOf(inner) === "object" && !Array.isArray(value)) {
    return fromRecord(inner, value as Record<string, unknown>);
  }
  return value;
}

function isNullable(schema: Schema): boolean {
  let current: Schema | undefined = schema;
  while (current) {
    const def = current._zod.def as { type: string; innerType?: Schema };
    if (def.type === "nullable" || def.type === "null" || def.type === "any" || def.type === "unknown") return true;
    current = def.innerType;
  }
  return false;
}

function acceptsText(inner: Schema): boolean {
  const type = typeOf(inner);
  if (type === "string" || type === "enum" || type === "any" || type === "unknown" || type === "literal") return true;
  if (type !== "union") return false;
  return (inner._zod.def as unknown as { options: Schema[] }).options.some((option) => acceptsText(unwrap(option)));
}

function convert(inner: Schema, text: string): unknown {
  switch (typeOf(inner)) {
    case "number":
    case "int": {
      const number = Number(text);
      return Number.isNaN(number) ? text : number;
    }
    case "boolean":
      if (text === "true" || text === "1") return true;
      if (text === "false" || text === "0") return false;
      return text;
    case "array":
      return text
        .split(",")
        .map((item) => convert(unwrap((inner._zod.def as unknown as { element: Schema }).element), item));
    case "union": {
      const options = (inner._zod.def as unknown as { options: Schema[] }).options.map(unwrap);
      const number = options.find((o) => typeOf(o) === "number");
      if (number && text.trim() !== "" && !Number.isNaN(Number(text))) return Number(text);
      return text;
    }
    default:
      return text;
  }
}

function fromRecord(schema: Schema, record: Record<string, unknown>): Record<string, unknown> {
  const shape = (schema._zod.def as unknown as { shape: Record<string, Schema> }).shape;
  const out: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(shape)) {
    if (!Object.hasOwn(record, key)) continue;
    const value = fromBody(field, record[key]);
    if (value !== undefined) out[key] = value;
  }
  return out;
}

/** Names of a page's size in a query, by precedence (new-api common/page_info.go, read 2026-11). */
const PAGE_SIZE_NAMES = ["page_size", "ps", "size"];

/** A query's text for a field; undefined = absent. */
function inQuery(query: URLSearchParams, field: string): string | undefined {
  const names = field === "page_size" ? PAGE_SIZE_NAMES : [field];
  return names.map((name) => query.get(name) ?? "").find((text) => !ABSENT_TEXT.has(text));
}

/** Path over body over query; only the schema's keys. Without an object schema there is no input. */
export function buildInput(
  schema: Schema | undefined,
  sources: { path: Record<string, string>; query: URLSearchParams; body: unknown },
): unknown {
  if (!schema) return undefined;
  const inner = unwrap(schema);
  if (typeOf(inner) !== "object") return fromBody(schema, sources.body);
  const shape = (inner._zod.def as unknown as { shape: Record<string, Schema> }).shape;
  const out: Record<string, unknown> = {};
  const body =
    typeof sources.body === "object" && sources.body !== null ? (sources.body as Record<string, unknown>) : {};
  for (const [key, field] of Object.entries(shape)) {
    const inPath = sources.path[key];
    const text = inQuery(sources.query, key);
    let value: unknown;
    if (inPath !== undefined) value = fromText(field, inPath);
    else if (Object.hasOwn(body, key)) value = fromBody(field, body[key]);
    else if (text !== undefined) value = fromText(field, text);
    if (value !== undefined) out[key] = value;
  }
  return out;
}
