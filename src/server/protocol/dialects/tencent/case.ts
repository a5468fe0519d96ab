/** Tencent Cloud's names and OpenAI's: the same words, PascalCase there and snake_case here. */
import { isObject } from "../shared/json";
import type { WireObject } from "../../chat-events";

const snakeName = (name: string): string =>
  name
    .replace(/([a-z\d])([A-Z])/g, "$1_$2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1_$2")
    .toLowerCase();

/** A snake_case name as Tencent writes it. */
export const pascalName = (name: string): string =>
  name.replace(/(?:^|_)([a-z])/g, (_, first: string) => first.toUpperCase());

function snakeValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeValue);
  return isObject(value) ? snake(value) : value;
}

/** An object with all its names in snake_case. What users wrote is text there, never names. */
export const snake = (value: WireObject): WireObject =>
  Object.fromEntries(Object.entries(value).map(([name, member]) => [snakeName(name), snakeValue(member)]));
