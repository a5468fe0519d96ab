/**
 * Members of Google's objects. Its REST doors take both spellings, systemInstruction and system_instruction (proto3
 * JSON mapping), and answer in the first.
 */
import type { WireObject } from "../../chat-events";

const snakes = new Map<string, string>();

function snake(name: string): string {
  const known = snakes.get(name);
  if (known !== undefined) return known;
  const spelled = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  snakes.set(name, spelled);
  return spelled;
}

/** A member by its camelCase name, in either spelling. */
export const member = (value: WireObject, name: string): unknown => value[name] ?? value[snake(name)];

/** Both spellings of names. */
export const bothSpellings = (...names: string[]): ReadonlySet<string> =>
  new Set(names.flatMap((name) => [name, snake(name)]));
