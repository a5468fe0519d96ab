/** What an operator should see of a model's rules: the week drawn, rules that overlap, rules that never apply, gaps. */
import { inWindow, type NumberRange, type PriceRule } from "./price-rules";

const STEP_MS = 60_000;
const WEEK_MS = 7 * 86_400_000;

/** A stretch of time in which one rule of hours holds; undefined: none does. Epoch milliseconds, `to` exclusive. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly rule: PriceRule | undefined;
}

const holdsAt = ({ when }: PriceRule, moment: number): boolean =>
  when.hours?.some((window) => inWindow(window, moment)) ?? false;

/** The rules of hours alone over the week from a moment on (whole minutes). The first that holds is shown. */
export function weekOf(rules: readonly PriceRule[], start: number, length = WEEK_MS): Stretch[] {
  const timed = rules.filter(({ when }) => when.hours !== undefined);
  const stretches: { from: number; to: number; rule: PriceRule | undefined }[] = [];
  const begin = Math.floor(start / STEP_MS) * STEP_MS;
  for (let moment = begin; moment < begin + length; moment += STEP_MS) {
    const rule = timed.find((one) => holdsAt(one, moment));
    const last = stretches.at(-1);
    if (last && last.rule === rule) last.to = moment + STEP_MS;
    else stretches.push({ from: moment, to: moment + STEP_MS, rule });
  }
  return stretches;
}

/** Two rules, by their places in the list. */
export interface Overlap {
  readonly first: number;
  readonly second: number;
  /** The second never applies: the first does wherever it would. */
  readonly hidden: boolean;
}

export interface RuleReport {
  readonly overlaps: readonly Overlap[];
  /** Ranges of input between two rules that no rule has: the plain price counts there. */
  readonly gaps: readonly NumberRange[];
}

interface Relation {
  readonly meets: boolean;
  readonly covers: boolean;
}
const ALL: Relation = { meets: true, covers: true };
const meetsOnly: Relation = { meets: true, covers: false };

function listRelation(one: readonly string[] | undefined, other: readonly string[] | undefined): Relation {
  if (!one) return ALL;
  if (!other) return meetsOnly;
  return { meets: other.some((value) => one.includes(value)), covers: other.every((value) => one.includes(value)) };
}

function rangeRelation(one: NumberRange | undefined, other: NumberRange | undefined): Relation {
  if (!one) return ALL;
  if (!other) return meetsOnly;
  const [low, high] = [one.over ?? -1, one.up_to ?? Infinity];
  const [from, to] = [other.over ?? -1, other.up_to ?? Infinity];
  return { meets: Math.max(low, from) < Math.min(high, to), covers: low <= from && high >= to };
}

function hoursRelation(one: PriceRule, other: PriceRule, start: number): Relation {
  if (!one.when.hours) return ALL;
  if (!other.when.hours) return meetsOnly;
  let [meets, covers] = [false, true];
  for (let moment = start; moment < start + WEEK_MS; moment += STEP_MS) {
    if (!holdsAt(other, moment)) continue;
    if (holdsAt(one, moment)) meets = true;
    else covers = false;
  }
  return { meets, covers };
}

function relation({ when: a, ...one }: PriceRule, { when: b, ...other }: PriceRule, start: number): Relation {
  const sameMember = a.member?.path === b.member?.path;
  const relations = [
    rangeRelation(a.input, b.input),
    rangeRelation(a.seconds, b.seconds),
    ...(["service_tier", "region", "size", "quality", "resolution"] as const).map((key) =>
      listRelation(a[key], b[key]),
    ),
    a.member && !sameMember ? meetsOnly : listRelation(a.member?.values, b.member?.values),
    a.cached === undefined ? ALL : b.cached === undefined ? meetsOnly : { meets: a.cached === b.cached, covers: true },
  ];
  const both = (): Relation => hoursRelation({ ...one, when: a }, { ...other, when: b }, start);
  const all = relations.every(({ meets }) => meets) ? [...relations, both()] : relations;
  return { meets: all.every(({ meets }) => meets), covers: all.every(({ covers }) => covers) };
}

/** Overlaps and gaps of a list of rules, hours in the week from `start` on. The first of two that overlap counts. */
export function checkRules(rules: readonly PriceRule[], start: number): RuleReport {
  const begin = Math.floor(start / STEP_MS) * STEP_MS;
  const overlaps = rules.flatMap((one, first) =>
    rules.slice(first + 1).flatMap((other, i) => {
      const { meets, covers } = relation(one, other, begin);
      return meets ? [{ first, second: first + 1 + i, hidden: covers }] : [];
    }),
  );
  const ranges = rules
    .flatMap(({ when }) => (when.input ? [[when.input.over ?? -1, when.input.up_to ?? Infinity] as const] : []))
    .toSorted(([a], [b]) => a - b);
  const gaps: NumberRange[] = [];
  let reached = ranges[0]?.[1] ?? Infinity;
  for (const [from, to] of ranges) {
    if (from > reached) gaps.push({ over: reached, up_to: from });
    reached = Math.max(reached, to);
  }
  return { overlaps, gaps };
}
