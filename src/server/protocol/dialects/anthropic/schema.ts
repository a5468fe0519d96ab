/**
 * JSON Schema as Anthropic enforces it: closed objects, no limits on numbers, lengths and counts, no recursion;
 * everything else is answered with 400 (platform.claude.com/docs, structured outputs, JSON Schema limitations;
 * @anthropic-ai/sdk 1.11, lib/transform-json-schema; read November 2026).
 */
import type { WireObject } from "../../chat-events";
import { isObject, list, object, text } from "../shared/json";

const kept = new Set([
  "$ref",
  "$schema",
  "$id",
  "title",
  "description",
  "default",
  "const",
  "enum",
  "type",
  "required",
]);
/** Rewritten below; `pattern` and the like are written in words. */
const handled = new Set([
  "$defs",
  "definitions",
  "properties",
  "additionalProperties",
  "items",
  "anyOf",
  "oneOf",
  "allOf",
  "format",
  "minItems",
  "nullable",
]);
const formats = new Set(["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"]);

/** The schema leaves something open for which Anthropic has no word. */
class Inexpressible extends Error {
  override readonly name = "Inexpressible";
}

class Closer {
  /** It says less than before, or says it in words. */
  changed = false;
  /** References that are being followed, and those that were. */
  readonly #path = new Set<string>();
  readonly #known = new Set<string>();

  constructor(readonly root: WireObject) {}

  close(value: unknown): WireObject {
    if (!isObject(value)) throw new Inexpressible();
    const reference = text(value.$ref);
    if (reference !== "") this.#follow(reference);
    const out: Record<string, unknown> = {};
    const words: string[] = [];
    for (const [key, member] of Object.entries(value)) {
      if (kept.has(key)) out[key] = member;
      else if (!handled.has(key)) words.push(`${key}: ${JSON.stringify(member)}`);
    }
    for (const name of ["$defs", "definitions"]) if (isObject(value[name])) out[name] = this.#each(value[name]);
    this.#object(value, out);
    this.#array(value, out, words);
    this.#alternatives(value, out);
    if (formats.has(text(value.format))) out.format = value.format;
    else if (value.format !== undefined) words.push(`format: ${JSON.stringify(value.format)}`);
    if (words.length > 0) {
      this.changed = true;
      out.description = [text(value.description), words.join(", ")].filter((part) => part !== "").join("\n");
    }
    const says = ["$ref", "type", "const", "enum", "anyOf", "allOf"].some((key) => out[key] !== undefined);
    if (!says || list(out.enum).some((one) => isObject(one) || Array.isArray(one))) throw new Inexpressible();
    return out;
  }

  #each(members: WireObject): WireObject {
    return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, this.close(member)]));
  }

  #object(value: WireObject, out: Record<string, unknown>): void {
    const { type, properties, additionalProperties } = value;
    if (!isObject(properties) && type !== "object" && !list(type).includes("object")) return;
    const open = additionalProperties !== undefined && additionalProperties !== false;
    // A schema that names no members allows any.
    if (open || (!isObject(properties) && additionalProperties !== false)) throw new Inexpressible();
    if (additionalProperties === undefined) this.changed = true;
    out.type ??= "object";
    out.properties = this.#each(object(properties));
    out.additionalProperties = false;
  }

  #array(value: WireObject, out: Record<string, unknown>, words: string[]): void {
    if (value.items !== undefined) out.items = this.close(value.items);
    const { minItems } = value;
    if (minItems === 0 || minItems === 1) out.minItems = minItems;
    else if (minItems !== undefined) words.push(`minItems: ${JSON.stringify(minItems)}`);
  }

  #alternatives(value: WireObject, out: Record<string, unknown>): void {
    const either = [...list(value.anyOf), ...list(value.oneOf)].map((option) => this.close(option));
    if (either.length > 0) out.anyOf = either;
    if (value.oneOf !== undefined) this.changed = true;
    if (value.allOf !== undefined) out.allOf = list(value.allOf).map((part) => this.close(part));
    if (value.nullable === true && typeof out.type === "string") out.type = [out.type, "null"];
  }

  /** Looks for what leads back to itself. */
  #follow(reference: string): void {
    if (this.#known.has(reference)) return;
    if (this.#path.has(reference) || !reference.startsWith("#/")) throw new Inexpressible();
    let target: unknown = this.root;
    for (const part of reference.slice(2).split("/")) {
      target = isObject(target) ? target[part.replaceAll("~1", "/").replaceAll("~0", "~")] : undefined;
    }
    this.#path.add(reference);
    this.close(target);
    this.#path.delete(reference);
    this.#known.add(reference);
  }
}

/**
 * The schema as Anthropic takes it; undefined when it cannot say it. `changed` when it says less, or something in
 * words.
 */
export function closedSchema(schema: WireObject): { schema: WireObject; changed: boolean } | undefined {
  const closer = new Closer(schema);
  try {
    const closed = closer.close(schema);
    return { schema: closed, changed: closer.changed };
  } catch (error) {
    if (error instanceof Inexpressible) return undefined;
    throw error;
  }
}
