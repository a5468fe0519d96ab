/**
 * Whether an upstream's count of tokens can be believed. Everything that turns usage into a charge asks here: whole
 * answers, streams, translations, pictures and sound, realtime responses, batches, background answers and other jobs.
 */
import { outputKinds, type TokenKind, tokenKinds, type Usage } from "../../shared/pricing";
import { DOUBTED_TOOL, type UsageDoubt, type UsageRule, type UsageSide } from "../../shared/usage-doubt";

/** More tokens than any call has: what is above is no count. */
const MOST_TOKENS = 2 ** 31;
/** Output tokens that are always possible: no model answers more at once (November 2026: at most 128,000). */
const USUAL_OUTPUT = 200_000;
/** Input tokens that are always possible: beyond the largest context windows (November 2026: 2 million). */
const USUAL_INPUT = 2_000_000;
const OUTPUT_TIMES = 4;
const INPUT_TIMES = 20;
/** Calls of one tool of the vendor's in one answer. */
const USUAL_TOOL_CALLS = 10_000;

/** A vendor's count of tokens: undefined where it is no number, NaN where it is a number that counts nothing. */
export const tokenCount = (value: unknown): number | undefined =>
  typeof value !== "number"
    ? undefined
    : Number.isInteger(value) && value >= 0 && value <= MOST_TOKENS
      ? value
      : Number.NaN;

/** The count unless it is 0, for buckets that are left out when they are empty; NaN stays, so that it is seen. */
export const unlessZero = (count: number | undefined): number | undefined => (count === 0 ? undefined : count);

const kindsOf: Readonly<Record<UsageSide, readonly TokenKind[]>> = {
  input: tokenKinds.filter((kind) => !outputKinds.has(kind)),
  output: tokenKinds.filter((kind) => outputKinds.has(kind)),
};
const sides = ["input", "output"] as const;

/** Tokens of one side; NaN when one of its counts is. */
export function tokensOn(side: UsageSide, usage: Usage): number {
  let total = 0;
  for (const kind of kindsOf[side]) total += usage[kind] ?? 0;
  return total;
}

/** Whether usage says anything of the output. */
export const countsOutput = (usage: Usage): boolean => tokensOn("output", usage) !== 0;

/** Whether content must be measured to judge a complete answer's usage: most counts of output are plainly possible. */
export function wantsContent(usage: Usage): boolean {
  const output = tokensOn("output", usage);
  return !(output > 0 && output <= USUAL_OUTPUT);
}

/** `usage` with the buckets of one side replaced by those of another. */
export function withSide(usage: Usage, side: UsageSide, from: Usage): Usage {
  const merged: { -readonly [Kind in keyof Usage]: Usage[Kind] } = { ...usage };
  for (const kind of kindsOf[side]) {
    const count = from[kind];
    if (count === undefined) delete merged[kind];
    else merged[kind] = count;
  }
  return merged;
}

/** What a caller may be shown: counts that count nothing are left out. */
export function tellable(usage: Usage): Usage {
  for (const kind of tokenKinds) {
    if (!Number.isNaN(usage[kind] ?? 0)) continue;
    return Object.fromEntries(Object.entries(usage).filter(([, value]) => !Number.isNaN(value)));
  }
  return usage;
}

/** What is known of a call besides what its vendor counted. */
export interface UsageFacts {
  /** What each side would count if the vendor had said nothing. Asked only where it matters. */
  readonly estimate: Readonly<Record<UsageSide, () => Usage>>;
  /** Most output tokens that the caller allows over all choices. */
  readonly max_output?: number | undefined;
  /**
   * The vendor may do more than is seen: tools of its own, agents, work in the background. Asked only where it matters.
   */
  readonly hidden: () => boolean;
  /** The vendor may count no output beside content: one sum of both sides, or calls of functions for nothing. */
  readonly zero_output?: boolean;
  /** The operator believes this channel, whatever it says that can be a count. */
  readonly trusted?: boolean;
}

export interface CheckedUsage {
  readonly usage: Usage;
  /** A side is an estimate. */
  readonly estimated: boolean;
  readonly doubts: readonly UsageDoubt[];
}

interface Seen {
  readonly side: UsageSide;
  readonly reported: number;
  /** Tokens of the estimate of this side; worked out once. */
  estimated(): number;
  readonly facts: UsageFacts;
  /** Tokens of the other side as reported. */
  readonly other: number;
}

/** The most that is charged of a side. */
const boundOf = ({ side, estimated, facts }: Seen): number =>
  side === "output"
    ? Math.max(OUTPUT_TIMES * (facts.max_output ?? 0), OUTPUT_TIMES * estimated(), USUAL_OUTPUT)
    : Math.max(INPUT_TIMES * estimated(), USUAL_INPUT);

/** What is wrong with a side's count, and what is charged instead; the first rule that holds is the one. */
const rules: readonly {
  readonly rule: UsageRule;
  readonly charged: "estimate" | "bound";
  holds(seen: Seen): boolean;
}[] = [
  { rule: "impossible", charged: "estimate", holds: ({ reported }) => !(reported <= MOST_TOKENS) },
  {
    rule: "zero",
    charged: "estimate",
    holds: ({ side, reported, estimated, facts, other }) =>
      reported === 0 && !facts.trusted && !(facts.zero_output && side === "output" && other > 0) && estimated() > 0,
  },
  {
    rule: "implausible",
    charged: "bound",
    // The cheap half first: hardly any call is beyond it.
    holds: (seen) =>
      seen.reported > (seen.side === "output" ? USUAL_OUTPUT : USUAL_INPUT) &&
      !seen.facts.trusted &&
      seen.reported > boundOf(seen) &&
      !seen.facts.hidden(),
  },
];

/** The buckets of a side, made smaller in proportion so that they come to `most`. */
function scaled(usage: Usage, side: UsageSide, most: number): Usage {
  const total = tokensOn(side, usage);
  const less: Partial<Record<TokenKind, number>> = {};
  let left = most;
  for (const kind of kindsOf[side]) left -= less[kind] = Math.floor(((usage[kind] ?? 0) / total) * most);
  const [first] = kindsOf[side].filter((kind) => (usage[kind] ?? 0) > 0);
  if (first !== undefined) less[first] = (less[first] ?? 0) + left;
  return Object.fromEntries(Object.entries(less).filter(([, count]) => count > 0));
}

/** Calls of the vendor's tools, none beyond what is possible. */
function checkTools(usage: Usage, facts: UsageFacts, doubts: UsageDoubt[]): Usage {
  const { server_tools } = usage;
  if (server_tools === undefined) return usage;
  let changed = false;
  const calls = Object.fromEntries(
    Object.entries(server_tools).map(([tool, count]) => {
      if (count <= (facts.trusted ? MOST_TOKENS : USUAL_TOOL_CALLS)) return [tool, count];
      changed = true;
      doubts.push({ side: DOUBTED_TOOL, rule: "implausible", reported: count, charged: USUAL_TOOL_CALLS });
      return [tool, USUAL_TOOL_CALLS];
    }),
  );
  return changed ? { ...usage, server_tools: calls } : usage;
}

/** Whether nothing in usage can be doubted, whatever the call: both sides count something usual, and no tools. */
export function isPlain(usage: Usage): boolean {
  if (usage.server_tools !== undefined) return false;
  const [input, output] = [tokensOn("input", usage), tokensOn("output", usage)];
  return input > 0 && input <= USUAL_INPUT && output > 0 && output <= USUAL_OUTPUT;
}

/** What is charged of what an upstream reported. Pure. */
export function checkUsage(reported: Usage, facts: UsageFacts): CheckedUsage {
  const doubts: UsageDoubt[] = [];
  // Our own word for a failure that is not charged: no vendor's count reads as nothing at all.
  if (Object.keys(reported).length === 0) return { usage: reported, estimated: false, doubts };
  let usage = reported;
  let estimated = false;
  for (const side of sides) {
    let estimate: Usage | undefined;
    const guess = (): Usage => (estimate ??= facts.estimate[side]());
    const seen: Seen = {
      side,
      facts,
      reported: tokensOn(side, reported),
      other: tokensOn(side === "input" ? "output" : "input", reported),
      estimated: () => tokensOn(side, guess()),
    };
    const broken = rules.find((rule) => rule.holds(seen));
    if (!broken) continue;
    if (broken.charged === "estimate") {
      usage = withSide(usage, side, guess());
      estimated = true;
    } else usage = withSide(usage, side, scaled(usage, side, boundOf(seen)));
    doubts.push({
      side,
      rule: broken.rule,
      reported: Number.isNaN(seen.reported) ? null : seen.reported,
      charged: tokensOn(side, usage),
    });
  }
  return { usage: checkTools(usage, facts, doubts), estimated, doubts };
}
