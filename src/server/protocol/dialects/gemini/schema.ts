/**
 * JSON Schema as the subset of OpenAPI 3.0 that Gemini takes for tools and output, and back (ai.google.dev/api/caching,
 * Schema; errors for unknown fields, read November 2026). Cyclic references end after some turns.
 */
import type { WireObject } from "../../chat-events";
import { isObject, list, objects, text } from "../shared/json";

const kept = new Set([
  "type",
  "format",
  "title",
  "description",
  "nullable",
  "enum",
  "maxItems",
  "minItems",
  "required",
  "minProperties",
  "maxProperties",
  "minLength",
  "maxLength",
  "pattern",
  "example",
  "propertyOrdering",
  "default",
  "minimum",
  "maximum",
]);
/** Formats that are no error. */
const formats = new Set(["enum", "date-time", "int32", "int64", "float", "double"]);
const DEPTH = 24;
const TURNS = 2;

class Cleaner {
  /** Something was left out or put in other words. */
  changed = false;

  constructor(readonly root: WireObject) {}

  clean(schema: WireObject, depth: number, turns: number): WireObject {
    if (depth > DEPTH) return this.#lossy({});
    const reference = text(schema.$ref);
    if (reference !== "") return this.#follow(reference, schema, depth, turns);
    const out: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(schema)) {
      if (kept.has(key)) out[key] = value;
      else if (!known.has(key)) this.changed = true;
    }
    this.#type(schema, out);
    this.#values(schema, out);
    if (isObject(schema.properties)) {
      const entries = Object.entries(schema.properties);
      out.properties = Object.fromEntries(entries.map(([key, value]) => [key, this.#sub(value, depth, turns)]));
      // A required name that does not exist is an error.
      if (Array.isArray(out.required)) {
        const names = new Set(entries.map(([key]) => key));
        const required = out.required.filter((key) => names.has(key));
        if (required.length > 0) out.required = required;
        else delete out.required;
      }
    } else delete out.required;
    if (schema.items !== undefined || out.type === "array")
      out.items = this.#sub(schema.items ?? { type: "string" }, depth, turns);
    this.#alternatives(schema, out, depth, turns);
    return out;
  }

  #sub(value: unknown, depth: number, turns: number): WireObject {
    if (isObject(value)) return this.clean(value, depth + 1, turns);
    // true: anything.
    return this.#lossy({ type: "string" });
  }

  #lossy<T>(value: T): T {
    this.changed = true;
    return value;
  }

  #follow(reference: string, schema: WireObject, depth: number, turns: number): WireObject {
    if (turns >= TURNS * 8) return this.#lossy({ type: "object" });
    let target: unknown = this.root;
    for (const part of reference.replace(/^#\/?/, "").split("/").filter(Boolean)) {
      target = isObject(target) ? target[part.replaceAll("~1", "/").replaceAll("~0", "~")] : undefined;
    }
    if (!isObject(target)) return this.#lossy({ type: "object" });
    const { $ref: _reference, ...beside } = schema;
    this.changed = true;
    return this.clean({ ...target, ...beside }, depth + 1, turns + 1);
  }

  #type(schema: WireObject, out: Record<string, unknown>): void {
    const { type } = schema;
    if (!Array.isArray(type)) return;
    const types = type.filter((entry) => entry !== "null");
    if (types.length < type.length) out.nullable = true;
    if (types.length === 1) out.type = types[0];
    else {
      delete out.type;
      out.anyOf = types.map((entry) => ({ type: entry }));
    }
    this.changed = true;
  }

  #values(schema: WireObject, out: Record<string, unknown>): void {
    if (schema.const !== undefined) {
      out.enum = [schema.const];
      this.changed = true;
    }
    if (Array.isArray(out.enum)) {
      const values = out.enum.filter((value) => typeof value === "string");
      if (values.length < out.enum.length) this.changed = true;
      if (values.length > 0 && (out.type === undefined || out.type === "string")) {
        out.enum = values;
        out.type = "string";
      } else delete out.enum;
    }
    if (typeof out.format === "string" && !formats.has(out.format)) {
      delete out.format;
      this.changed = true;
    }
    for (const [from, to] of [
      ["exclusiveMinimum", "minimum"],
      ["exclusiveMaximum", "maximum"],
    ] as const) {
      if (typeof schema[from] !== "number") continue;
      out[to] ??= schema[from];
      this.changed = true;
    }
  }

  #alternatives(schema: WireObject, out: Record<string, unknown>, depth: number, turns: number): void {
    const either = [...objects(schema.anyOf), ...objects(schema.oneOf)];
    const some = either.filter((option) => option.type !== "null");
    if (some.length < either.length) out.nullable = true;
    if (schema.oneOf !== undefined || some.length < either.length) this.changed = true;
    const [only, second] = some;
    if (only && !second) Object.assign(out, this.clean(only, depth + 1, turns));
    else if (only) out.anyOf = some.map((option) => this.clean(option, depth + 1, turns));
    for (const part of objects(schema.allOf)) {
      const { properties, required, ...rest } = this.clean(part, depth + 1, turns);
      Object.assign(out, rest);
      if (isObject(properties)) out.properties = { ...(isObject(out.properties) ? out.properties : {}), ...properties };
      if (required) out.required = [...new Set([...list(out.required), ...list(required)])];
      this.changed = true;
    }
  }
}

/** Read above, or without meaning for a model. */
const known = new Set([
  "$ref",
  "$schema",
  "$id",
  "$defs",
  "definitions",
  "properties",
  "items",
  "anyOf",
  "oneOf",
  "allOf",
  "const",
  "additionalProperties",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "strict",
]);

/** The schema for Gemini; `changed` when it says less than before or says it otherwise. */
export function toGeminiSchema(schema: WireObject): { schema: WireObject; changed: boolean } {
  const cleaner = new Cleaner(schema);
  return { schema: cleaner.clean(schema, 0, 0), changed: cleaner.changed };
}

/** 64-bit numbers, which Google's own SDKs write as texts (proto3 JSON mapping). */
const counts = new Set(["minItems", "maxItems", "minProperties", "maxProperties", "minLength", "maxLength"]);

/** Gemini's schema as JSON Schema: types in lower case, nullable as a type. */
export function fromGeminiSchema(schema: WireObject): WireObject {
  const out: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === "type" && typeof value === "string") out.type = value.toLowerCase();
    else if (key === "properties" && isObject(value)) {
      out.properties = Object.fromEntries(
        Object.entries(value).map(([name, sub]) => [name, isObject(sub) ? fromGeminiSchema(sub) : sub]),
      );
    } else if (counts.has(key) && typeof value === "string") out[key] = Number(value);
    else if (key === "items" && isObject(value)) out.items = fromGeminiSchema(value);
    else if (key === "anyOf") out.anyOf = objects(value).map(fromGeminiSchema);
    else if (key === "propertyOrdering" || key === "nullable") continue;
    else out[key] = value;
  }
  if (schema.nullable === true && typeof out.type === "string") out.type = [out.type, "null"];
  return out;
}
