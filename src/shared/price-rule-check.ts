/** What an operator should see of a model's rules: the week drawn, rules that overlap, rules that never apply, gaps. */
import { type DateRange, holdsAt, isTimed, type NumberRange, type PriceRule, type RuleConditions } from "./price-rules";
import { nextDate, startOfDay } from "./zone-time";

const STEP_MS = 60_000;
const WEEK_MS = 7 * 86_400_000;

/** A stretch of time in which the same rules of hours and dates hold. Epoch milliseconds, `to` exclusive. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
  /** The first that holds, which counts; undefined: none does. */
  readonly rule: PriceRule | undefined;
  /** Those that hold as well and do not count. */
  readonly others: readonly PriceRule[];
}

/** The rules of hours and dates alone over the week from a moment on (whole minutes). */
export function weekOf(rules: readonly PriceRule[], start: number, length = WEEK_MS): Stretch[] {
  const timed = rules.filter(isTimed);
  const stretches: { from: number; to: number; rule: PriceRule | undefined; others: PriceRule[] }[] = [];
  const begin = Math.floor(start / STEP_MS) * STEP_MS;
  for (let moment = begin; moment < begin + length; moment += STEP_MS) {
    const [rule, ...others] = timed.filter((one) => holdsAt(one, moment));
    const last = stretches.at(-1);
    const same = last?.rule === rule && last?.others.length === others.length;
    if (last && same && others.every((other, i) => other === last.others[i])) last.to = moment + STEP_MS;
    else stretches.push({ from: moment, to: moment + STEP_MS, rule, others });
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

/** Ranges of dates as stretches of time, in order and joined where they touch. */
function spans(ranges: readonly DateRange[]): readonly (readonly [from: number, to: number])[] {
  const ordered = ranges
    .map(({ zone, from, until }): [number, number] => [
      from === undefined ? -Infinity : startOfDay(zone, from),
      until === undefined ? Infinity : startOfDay(zone, nextDate(until)),
    ])
    .toSorted(([a], [b]) => a - b);
  const joined: [number, number][] = [];
  for (const [from, to] of ordered) {
    const last = joined.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else joined.push([from, to]);
  }
  return joined;
}

function datesRelation(one: RuleConditions["dates"], other: RuleConditions["dates"]): Relation {
  if (!one) return ALL;
  if (!other) return meetsOnly;
  const [ours, theirs] = [spans(one), spans(other)];
  return {
    meets: theirs.some(([from, to]) => ours.some(([start, end]) => from < end && start < to)),
    covers: theirs.every(([from, to]) => ours.some(([start, end]) => start <= from && to <= end)),
  };
}

/** For each minute of the week whether the rule's hours hold; undefined: it has none. */
type Minutes = Uint8Array | undefined;

function minutesOf({ when: { hours } }: PriceRule, start: number): Minutes {
  if (!hours) return undefined;
  const rule = { when: { hours } };
  return Uint8Array.from({ length: WEEK_MS / STEP_MS }, (_, i) => Number(holdsAt(rule, start + i * STEP_MS)));
}

function hoursRelation(one: Minutes, other: Minutes): Relation {
  if (!one) return ALL;
  if (!other) return meetsOnly;
  let [meets, covers] = [false, true];
  for (let i = 0; i < other.length; i++) {
    if (other[i] === 0) continue;
    if (one[i] === 1) meets = true;
    else covers = false;
  }
  return { meets, covers };
}

/** Rules that wait for the usage of one call hold for no batch. */
const waits = ({ input, cached }: RuleConditions): boolean => input !== undefined || cached !== undefined;

function batchRelation(one: RuleConditions, other: RuleConditions): Relation {
  if ((one.batch && waits(other)) || (other.batch && waits(one))) return { meets: false, covers: false };
  return one.batch && !other.batch ? meetsOnly : ALL;
}

interface Checked {
  readonly rule: PriceRule;
  readonly minutes: Minutes;
}

function relation(
  { rule: { when: a }, minutes: one }: Checked,
  { rule: { when: b }, minutes: other }: Checked,
): Relation {
  const sameMember = a.member?.path === b.member?.path;
  const relations = [
    rangeRelation(a.input, b.input),
    rangeRelation(a.seconds, b.seconds),
    datesRelation(a.dates, b.dates),
    ...(["service_tier", "region", "size", "quality", "resolution"] as const).map((key) =>
      listRelation(a[key], b[key]),
    ),
    a.member && !sameMember ? meetsOnly : listRelation(a.member?.values, b.member?.values),
    batchRelation(a, b),
    a.cached === undefined ? ALL : b.cached === undefined ? meetsOnly : { meets: a.cached === b.cached, covers: true },
  ];
  const all = relations.every(({ meets }) => meets) ? [...relations, hoursRelation(one, other)] : relations;
  return { meets: all.every(({ meets }) => meets), covers: all.every(({ covers }) => covers) };
}

/** Overlaps and gaps of a list of rules, hours in the week from `start` on. The first of two that overlap counts. */
export function checkRules(rules: readonly PriceRule[], start: number): RuleReport {
  const begin = Math.floor(start / STEP_MS) * STEP_MS;
  const checked = rules.map((rule): Checked => ({ rule, minutes: minutesOf(rule, begin) }));
  const overlaps = checked.flatMap((one, first) =>
    checked.slice(first + 1).flatMap((other, i) => {
      const { meets, covers } = relation(one, other);
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
