/**
 * The part of new-api's expression language that prices use (expr-lang.org, "Language Definition"): read as a tree, and
 * its conditions on the clock tried minute by minute.
 */

export type Formula =
  | { readonly kind: "value"; readonly value: number | string | boolean }
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "call"; readonly name: string; readonly of: readonly Formula[] }
  | { readonly kind: "choice"; readonly test: Formula; readonly yes: Formula; readonly no: Formula }
  | { readonly kind: "binary"; readonly sign: string; readonly left: Formula; readonly right: Formula };

const TOKEN = /\s*(?:(\d+(?:\.\d+)?)|"([^"\\]*)"|'([^'\\]*)'|([A-Za-z_]\w*)|(&&|\|\||[<>=!]=|[-+*/?:(),<>]))/y;
/** Words that stand for signs. */
const WORDS = new Map([
  ["and", "&&"],
  ["or", "||"],
]);
/** Binary signs, the loosest first. */
const LEVELS = [["||"], ["&&"], ["==", "!=", "<", "<=", ">", ">="], ["+", "-"], ["*", "/"]];

interface Token {
  readonly text: string;
  readonly literal?: number | string | undefined;
  readonly word?: boolean | undefined;
}

function tokens(text: string): Token[] | undefined {
  const found: Token[] = [];
  TOKEN.lastIndex = 0;
  const end = text.trimEnd().length;
  while (TOKEN.lastIndex < end) {
    const match = TOKEN.exec(text);
    if (!match) return undefined;
    const [, number, double, single, name, sign = ""] = match;
    const quoted = double ?? single;
    if (number !== undefined) found.push({ text: number, literal: Number(number) });
    else if (quoted !== undefined) found.push({ text: "", literal: quoted });
    else if (name !== undefined && !WORDS.has(name)) found.push({ text: name, word: true });
    else found.push({ text: WORDS.get(name ?? "") ?? sign });
  }
  return found;
}

/** The tree of an expression; undefined where it is not of this part of the language. */
export function parseFormula(text: string): Formula | undefined {
  const all = tokens(text);
  if (!all) return undefined;
  let at = 0;
  const take = (sign: string): boolean => all[at]?.word !== true && all[at]?.text === sign && ++at > 0;

  const primary = (): Formula | undefined => {
    const token = all[at];
    if (!token) return undefined;
    if (take("(")) {
      const inner = choice();
      return take(")") ? inner : undefined;
    }
    if (take("-")) {
      const of = primary();
      return of?.kind === "value" && typeof of.value === "number" ? { kind: "value", value: -of.value } : undefined;
    }
    at++;
    if (token.literal !== undefined) return { kind: "value", value: token.literal };
    if (!token.word) return undefined;
    if (token.text === "true" || token.text === "false") return { kind: "value", value: token.text === "true" };
    if (!take("(")) return { kind: "name", name: token.text };
    const of: Formula[] = [];
    if (take(")")) return { kind: "call", name: token.text, of };
    do {
      const one = choice();
      if (!one) return undefined;
      of.push(one);
    } while (take(","));
    return take(")") ? { kind: "call", name: token.text, of } : undefined;
  };
  const level = (depth: number): Formula | undefined => {
    const signs = LEVELS[depth];
    if (!signs) return primary();
    let left = level(depth + 1);
    for (let sign = signs.find(take); left && sign !== undefined; sign = signs.find(take)) {
      const right = level(depth + 1);
      left = right && { kind: "binary", sign, left, right };
    }
    return left;
  };
  const choice = (): Formula | undefined => {
    const test = level(0);
    if (!test || !take("?")) return test;
    const yes = choice();
    const no = take(":") ? choice() : undefined;
    return yes && no && { kind: "choice", test, yes, no };
  };

  const formula = choice();
  return at === all.length ? formula : undefined;
}

/** The operands of a chain of one sign. */
export const chain = (formula: Formula, sign: string): readonly Formula[] =>
  formula.kind === "binary" && formula.sign === sign
    ? [...chain(formula.left, sign), ...chain(formula.right, sign)]
    : [formula];

/** The value of a formula of numbers, comparisons and these functions; undefined for every other. */
export function valueAt(
  formula: Formula,
  call: (name: string, of: readonly Formula[]) => number | undefined,
): number | boolean | undefined {
  if (formula.kind === "value") return typeof formula.value === "string" ? undefined : formula.value;
  if (formula.kind === "call") return call(formula.name, formula.of);
  if (formula.kind !== "binary") return undefined;
  const [left, right] = [valueAt(formula.left, call), valueAt(formula.right, call)];
  if (left === undefined || right === undefined) return undefined;
  switch (formula.sign) {
    case "&&":
      return left === true && right === true;
    case "||":
      return left === true || right === true;
    case "==":
      return left === right;
    case "!=":
      return left !== right;
    case "<":
      return left < right;
    case "<=":
      return left <= right;
    case ">":
      return left > right;
    case ">=":
      return left >= right;
    default:
      return undefined;
  }
}
