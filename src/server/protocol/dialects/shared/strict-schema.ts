/**
 * Whether a schema is one that OpenAI enforces (`strict`): every object is closed and demands all its members. Another
 * one is an error there (developers.openai.com, structured outputs, supported schemas; read November 2026).
 */
import type { FunctionTool, Warn, WireObject } from "../../chat-events";
import { isObject, list, object, objects } from "./json";

const DEPTH = 64;

function isStrictSchema(schema: WireObject | undefined, depth = 0): boolean {
  if (!schema || depth > DEPTH) return false;
  const inner = (value: unknown): boolean => isStrictSchema(object(value), depth + 1);
  const { properties, items } = schema;
  if (schema.type === "object" || isObject(properties)) {
    const names = Object.keys(object(properties));
    const required = new Set(list(schema.required));
    if (schema.additionalProperties !== false || !names.every((name) => required.has(name))) return false;
  }
  const named = [properties, schema.$defs, schema.definitions].flatMap((members) => Object.values(object(members)));
  return [...named, ...objects(schema.anyOf), ...(isObject(items) ? [items] : [])].every(inner);
}

/** The strictness of a function as OpenAI takes it: nothing that it would refuse. */
export function strictFor({ parameters, strict }: FunctionTool, warn: Warn): boolean | undefined {
  if (strict === "if_possible") return undefined;
  if (strict !== true || isStrictSchema(parameters)) return strict;
  warn("dropped_field", "tools.strict");
  return undefined;
}
