/**
 * Conditional prices of new-api as a plain price and rules: a tree of choices whose leaves are prices, times factors
 * that apply under conditions (`price * (condition ? 2 : 1)`, also written `price ||| when(condition) * 2`).
 */
import type { ContextTier } from "../../../../shared/long-context";
import { parseRules, type PriceRule, type RuleConditions, type RuleKind } from "../../../../shared/price-rules";
import { chain, type Formula, parseFormula, valueAt } from "./new-api-formula";

/** A leaf: USD per million tokens by variable (p prompt, c completion, cr cache read, cc cache write, …), or a call. */
export interface LeafPrice {
  readonly name: string;
  readonly fixed?: number;
  readonly terms?: ReadonlyMap<string, number>;
}

export interface RuledPrice {
  readonly plain: LeafPrice;
  /** Factors of all input and all output above so many tokens. */
  readonly long?: ContextTier | undefined;
  readonly rules: readonly PriceRule[];
}

const OUTPUTS = new Set(["c", "img_o", "ao"]);
const VARIABLES = new Set(["p", "c", "cr", "cc", "cc1h", "img", "img_o", "ai", "ao"]);
/** Most characters of an expression. */
const MOST_LENGTH = 10_000;
/** Most factors under conditions: each doubles the number of rules. */
const MOST_FACTORS = 4;

interface Branch {
  readonly when: readonly Formula[];
  readonly leaf: LeafPrice;
}
interface Times {
  readonly when: Formula;
  readonly factor: number;
}

const numberOf = (formula: Formula | undefined): number | undefined =>
  formula?.kind === "value" && typeof formula.value === "number" ? formula.value : undefined;

/** A leaf; undefined for what is no sum of variables at their prices and no price of one call. */
function leafOf(formula: Formula): LeafPrice | undefined {
  if (formula.kind === "call" && formula.name === "tier") {
    const [name, inner] = formula.of;
    const leaf = inner && leafOf(inner);
    return leaf && name?.kind === "value" ? { ...leaf, name: String(name.value) } : undefined;
  }
  if (formula.kind === "call" && formula.name === "fixed") {
    const fixed = numberOf(formula.of[0]);
    return fixed === undefined ? undefined : { name: "price", fixed };
  }
  const terms = new Map<string, number>();
  for (const term of chain(formula, "+")) {
    if (term.kind !== "binary" || term.sign !== "*") return undefined;
    const [variable, price] = term.left.kind === "name" ? [term.left, term.right] : [term.right, term.left];
    const usd = numberOf(price);
    if (variable.kind !== "name" || !VARIABLES.has(variable.name) || usd === undefined || terms.has(variable.name))
      return undefined;
    terms.set(variable.name, usd);
  }
  return terms.has("p") ? { name: "price", terms } : undefined;
}

/** The leaves of a tree in their order, each under the conditions that lead to it; the last one has none. */
function branchesOf(formula: Formula): Branch[] | undefined {
  if (formula.kind !== "choice") {
    const leaf = leafOf(formula);
    return leaf && [{ when: [], leaf }];
  }
  const [yes, no] = [branchesOf(formula.yes), branchesOf(formula.no)];
  return yes && no && [...yes.map((one) => ({ ...one, when: [formula.test, ...one.when] })), ...no];
}

const flipped: Readonly<Record<string, string>> = { "<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==" };

/** `len` compared with a number as a range of input. */
function inputRange(part: Formula): RuleConditions["input"] {
  if (part.kind !== "binary") return undefined;
  const named = part.left.kind === "name";
  const [variable, limit] = named ? [part.left, part.right] : [part.right, part.left];
  const tokens = numberOf(limit);
  if (variable.kind !== "name" || variable.name !== "len" || tokens === undefined) return undefined;
  switch (named ? part.sign : flipped[part.sign]) {
    case "<=":
      return { up_to: tokens };
    case "<":
      return { up_to: tokens - 1 };
    case ">":
      return { over: tokens };
    case ">=":
      return { over: tokens - 1 };
    default:
      return undefined;
  }
}

/** `param("a.b") == "x" || param("a.b") == "y"` as a member and its values. */
function memberOf(part: Formula): { path: string; values: string[] } | undefined {
  const found = chain(part, "||").map((one) => {
    if (one.kind !== "binary" || one.sign !== "==") return undefined;
    const [call, value] = one.left.kind === "call" ? [one.left, one.right] : [one.right, one.left];
    const path = call.kind === "call" && call.name === "param" ? call.of[0] : undefined;
    return path?.kind === "value" && value.kind === "value" ? [String(path.value), String(value.value)] : undefined;
  });
  const [path] = found[0] ?? [];
  if (path === undefined || found.some((one) => one?.[0] !== path)) return undefined;
  return { path, values: found.flatMap((one) => one?.[1] ?? []) };
}

const CLOCK = new Set(["hour", "minute", "weekday"]);

/** The time zone of a condition on the clock alone. */
function zoneOf(formula: Formula): string | undefined {
  if (formula.kind === "call" && CLOCK.has(formula.name)) {
    const [zone] = formula.of;
    return zone?.kind === "value" ? String(zone.value) || "UTC" : "UTC";
  }
  return formula.kind === "binary" ? (zoneOf(formula.left) ?? zoneOf(formula.right)) : undefined;
}

const clock = (minute: number): string =>
  `${String(Math.floor(minute / 60)).padStart(2, "0")}:${String(minute % 60).padStart(2, "0")}`;

/** Conditions on one zone's clock as windows of hours, found by trying every minute of a week. */
function windowsOf(parts: readonly Formula[], zone: string): RuleConditions["hours"] {
  const days = new Map<string, number[]>();
  for (let day = 1; day <= 7; day++) {
    const runs: [number, number][] = [];
    for (let minute = 0; minute < 1440; minute++) {
      const now: Readonly<Record<string, number>> = {
        hour: Math.floor(minute / 60),
        minute: minute % 60,
        weekday: day % 7,
      };
      const values = parts.map((part) =>
        valueAt(part, (name, of) => {
          const own = of[0]?.kind === "value" ? String(of[0].value) || "UTC" : "UTC";
          return own === zone ? now[name] : undefined;
        }),
      );
      if (values.some((value) => typeof value !== "boolean")) return undefined;
      if (!values.every(Boolean)) continue;
      const last = runs.at(-1);
      if (last?.[1] === minute) last[1] = minute + 1;
      else runs.push([minute, minute + 1]);
    }
    const key = runs.map(([from, to]) => `${clock(from)} ${clock(to)}`).join(",");
    if (key !== "") days.set(key, [...(days.get(key) ?? []), day]);
  }
  return [...days].flatMap(([key, on]) =>
    key.split(",").map((run) => {
      const [from = "", to = ""] = run.split(" ");
      return { zone, ...(on.length < 7 && { days: on }), from, to };
    }),
  );
}

/** All of these conditions as those of one rule; undefined: rules cannot say it; "never": they exclude each other. */
function conditionsOf(tests: readonly Formula[]): RuleConditions | "never" | undefined {
  const parts = tests.flatMap((test) => chain(test, "&&"));
  const timed: Formula[] = [];
  const when: RuleConditions = {};
  for (const part of parts) {
    const range = inputRange(part);
    const member = range ? undefined : memberOf(part);
    if (range) {
      const over = Math.max(when.input?.over ?? -1, range.over ?? -1);
      const up_to = Math.min(when.input?.up_to ?? Infinity, range.up_to ?? Infinity);
      if (over >= up_to) return "never";
      when.input = { ...(over >= 0 && { over }), ...(up_to < Infinity && { up_to }) };
    } else if (member) {
      const { path, values } = member;
      const key = path === "service_tier" ? "service_tier" : path === "inference_geo" ? "region" : undefined;
      const before = key ? when[key] : when.member?.values;
      if (!key && when.member && when.member.path !== path) return undefined;
      const both = before ? values.filter((value) => before.includes(value)) : values;
      if (both.length === 0) return "never";
      if (key) when[key] = both;
      else when.member = { path, values: both };
    } else timed.push(part);
  }
  if (timed.length === 0) return when;
  const zone = timed[0] && zoneOf(timed[0]);
  const hours = zone === undefined ? undefined : windowsOf(timed, zone);
  if (!hours) return undefined;
  return hours.length === 0 ? "never" : { ...when, hours };
}

/** USD by kind; tokens that an expression does not name are a part of `p` and `c` (expr.md, "Variables are opt-in"). */
export function dollarsOf({ fixed, terms }: LeafPrice, factor: number): Partial<Record<RuleKind, number>> {
  const times = (usd: number): number => Number((usd * factor).toFixed(12));
  if (!terms) return { call: times(fixed ?? 0) };
  const [p = 0, c = 0] = [terms.get("p"), terms.get("c")];
  const all = {
    input: p,
    output: c,
    cache_read: terms.get("cr") ?? p,
    cache_write_5m: terms.get("cc") ?? p,
    cache_write_1h: terms.get("cc1h") ?? p,
    image_in: terms.get("img") ?? p,
    audio_in: terms.get("ai") ?? p,
    image_out: terms.get("img_o") ?? c,
    audio_out: terms.get("ao") ?? c,
  };
  return Object.fromEntries(Object.entries(all).map(([kind, usd]) => [kind, times(usd)]));
}

/** Every subset, the largest first. */
const subsets = <Item>(items: readonly Item[]): Item[][] =>
  items
    .reduce<Item[][]>((all, item) => [...all, ...all.map((one) => [...one, item])], [[]])
    .toSorted((a, b) => b.length - a.length);

/** `price * (condition ? 2 : 1)`: the price, and its factors. */
function factorsOf(formula: Formula): { price: Formula; times: Times[] } | undefined {
  const found: Times[] = [];
  const prices: Formula[] = [];
  for (const part of chain(formula, "*")) {
    const factor = part.kind === "choice" && numberOf(part.no) === 1 ? numberOf(part.yes) : undefined;
    if (part.kind === "choice" && factor !== undefined) found.push({ when: part.test, factor });
    else prices.push(part);
  }
  // A sum is a price; so is one product, `p * 2`, which has no factors then.
  if (found.length === 0) return { price: formula, times: [] };
  const [price] = prices;
  return price && prices.length === 1 && found.length <= MOST_FACTORS ? { price, times: found } : undefined;
}

/** `a ||| when(b) * 2 ||| …` as a product. */
function joined(text: string): Formula | undefined {
  const [first = "", ...rest] = text.split("|||");
  let formula = parseFormula(first);
  for (const part of rest.join("*").split(/(?=\bwhen\s*\()/)) {
    if (part.trim() === "") continue;
    const read = parseFormula(part.replace(/[*\s]+$/, ""));
    if (!formula || read?.kind !== "binary" || read.sign !== "*" || read.left.kind !== "call") return undefined;
    const [test] = read.left.of;
    if (read.left.name !== "when" || !test) return undefined;
    const one: Formula = { kind: "value", value: 1 };
    const right: Formula = { kind: "choice", test, yes: read.right, no: one };
    formula = { kind: "binary", sign: "*", left: formula, right };
  }
  return formula;
}

/** Two leaves of which the second is the first for long inputs, at one factor for input and one for output. */
function longOf(branches: readonly Branch[]): ContextTier | undefined {
  const [short, long, ...others] = branches;
  const [usual, more] = [short?.leaf.terms, long?.leaf.terms];
  const when = short && conditionsOf(short.when);
  if (!usual || !more || others.length > 0 || usual.size !== more.size || !when || when === "never") return undefined;
  const { input, ...rest } = when;
  if (input?.up_to === undefined || Object.keys(rest).length > 0) return undefined;
  const factor = (variable: string): number =>
    Number(((more.get(variable) ?? 0) / (usual.get(variable) ?? 0)).toFixed(12));
  const times = { input: factor("p"), output: usual.has("c") ? factor("c") : 1 };
  const same = [...usual.keys()].every((name) => factor(name) === (OUTPUTS.has(name) ? times.output : times.input));
  return same && times.input > 0 && times.output > 0 ? { over: input.up_to, ...times } : undefined;
}

/** The plain price and the rules of an expression (without its version); undefined where they cannot say it. */
export function ruledPrice(text: string): RuledPrice | undefined {
  // An expression is nested as deep as it is long.
  if (text.length > MOST_LENGTH) return undefined;
  const formula = joined(text);
  const product = formula && factorsOf(formula);
  const branches = product && branchesOf(product.price);
  const plain = branches?.at(-1)?.leaf;
  if (!branches || !plain || branches.some(({ leaf }) => (leaf.fixed === undefined) !== (plain.fixed === undefined)))
    return undefined;
  const long = product.times.length === 0 ? longOf(branches) : undefined;
  if (long && branches[0]) return { plain: branches[0].leaf, long, rules: [] };
  const rules: PriceRule[] = [];
  for (const [place, { when, leaf }] of branches.entries()) {
    const last = place === branches.length - 1;
    for (const times of subsets(product.times)) {
      if (last && times.length === 0) continue;
      const conditions = conditionsOf([...when, ...times.map((one) => one.when)]);
      if (conditions === "never") continue;
      if (!conditions) return undefined;
      const factor = Number(times.reduce((all, one) => all * one.factor, 1).toFixed(12));
      const asked = conditions.member ?? conditions.service_tier ?? conditions.region;
      const name = [leaf.name, ...times.map((one) => `× ${one.factor}`)].join(" ").slice(0, 50);
      const taken = rules.filter((rule) => rule.name === name || rule.name.startsWith(`${name} (`)).length;
      rules.push({
        name: taken > 0 ? `${name} (${taken + 1})` : name,
        when: conditions,
        then: last ? { factor } : { usd: dollarsOf(leaf, factor) },
        // The expression said what it costs.
        ...(asked && (!last || factor < 1) && { cheaper: true }),
      });
    }
  }
  const parsed = parseRules(rules);
  return "rules" in parsed ? { plain, rules: parsed.rules } : undefined;
}
