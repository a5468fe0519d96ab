/** Where a JSON text breaks; lines and columns count from 1. */
export interface JsonFault {
  line: number;
  column: number;
}

const WHITESPACE = /[ \t\r\n]*/y;
const SCALAR =
  /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4}))*"/y;

/**
 * The first place where `text` is not JSON, or null when it is. Engines word their errors differently and some give no
 * place at all, so the console looks for itself.
 */
export function jsonFault(text: string): JsonFault | null {
  let at = 0;

  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at += found[0].length;
    return found !== null;
  };
  const sign = (character: string): boolean => {
    take(WHITESPACE);
    if (text[at] !== character) return false;
    at += 1;
    return true;
  };
  /** Reads `item` separated by commas up to `end`. */
  const list = (end: string, item: () => boolean): boolean => {
    if (sign(end)) return true;
    do {
      if (!item()) return false;
    } while (sign(","));
    return sign(end);
  };
  const value = (): boolean => {
    take(WHITESPACE);
    if (sign("{")) return list("}", () => (take(WHITESPACE), take(STRING)) && sign(":") && value());
    if (sign("[")) return list("]", value);
    return take(SCALAR);
  };

  const complete = value();
  take(WHITESPACE);
  if (complete && at === text.length) return null;
  const before = text.slice(0, at).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
