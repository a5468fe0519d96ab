/**
 * One server that is every vendor, in four dialects. How it answers is planned for each call and each attempt; what it
 * sent is recorded.
 */
import type { JournalEntry } from "../fake-upstream/journal";
import { startFakeUpstream } from "../fake-upstream/server";

/** What an answer of this fate sends: no content, some or all of it; and what its usage says. */
interface FateFacts {
  /** Words of the behaviour language (tests/kit/fake-upstream/behaviours.ts). */
  behaviour: string;
  sends: "nothing" | "some" | "all";
  usage: "honest" | "missing" | "lying";
}

const honest = (behaviour: string, sends: FateFacts["sends"]): FateFacts => ({ behaviour, sends, usage: "honest" });

/** Everything that may happen to an attempt at a vendor. */
export const FATES = {
  answers: honest("", "all"),
  dead: honest("drop", "nothing"),
  bad_key: honest("error-401", "nothing"),
  unpaid: honest("error-402", "nothing"),
  no_quota: honest("no-quota", "nothing"),
  rate_limited: honest("error-429", "nothing"),
  fails: honest("error-500", "nothing"),
  overloaded: honest("error-529", "nothing"),
  stalls_before_head: honest("hang-before-headers", "nothing"),
  stalls_in_stream: honest("hang-in-frame:3", "some"),
  cut_in_stream: honest("cut-midstream:3", "some"),
  ends_early: honest("cut-clean:3", "some"),
  error_in_stream: honest("error-midstream:3", "some"),
  malformed: honest("bad-json", "some"),
  no_usage: { behaviour: "no-usage", sends: "all", usage: "missing" },
  claims_too_much: { behaviour: "usage:9000000:9000000", sends: "all", usage: "lying" },
  claims_nothing: { behaviour: "usage:0:0", sends: "all", usage: "lying" },
} as const satisfies Record<string, FateFacts>;
export type Fate = keyof typeof FATES;
export const FATE_NAMES = Object.keys(FATES) as Fate[];

/** How the vendors answer one call. */
export interface AnswerPlan {
  /** By attempt; the last one is every later attempt's too. */
  fates: readonly Fate[];
  /** Tokens that an honest answer claims. */
  input: number;
  output: number;
  /** Pieces of content, and milliseconds between two. */
  pieces: number;
  paceMs: number;
  /** Milliseconds before the head. */
  headMs: number;
}

/** One answer that a vendor gave, or began. */
export interface VendorAnswer {
  fate: Fate;
  dialect: string;
  /** Whether a byte was sent, and whether all of it was taken by the other side's kernel. */
  started: boolean;
  whole: boolean;
}

export interface Vendors {
  readonly url: string;
  /** Every call's requests carry this text, so that its answers are found. */
  textOf(call: number): string;
  plan(call: number, plan: AnswerPlan): void;
  /** From now on the channel with this key fails so, whatever was planned; undefined: it has healed. */
  setFate(key: string, fate: Fate | undefined): void;
  /** The answers to a call, oldest first. */
  answersTo(call: number): VendorAnswer[];
  /** Requests without a planned call: a vendor was asked something that no caller asked. */
  readonly strangers: number;
  /** From now on answers wait before their end. */
  holdBack(): void;
  /** Those that wait end, and later ones do not wait. */
  letGo(): void;
  /** Forgets the requests of calls that are over. */
  forget(): void;
  stop(): void;
}

interface Planned {
  plan: AnswerPlan;
  answers: { fate: Fate; dialect: string; entry: JournalEntry }[];
}

const behaviourOf = (fate: Fate, { input, output, pieces, paceMs, headMs }: AnswerPlan): string =>
  [
    "trial",
    `paced:${pieces}:${paceMs}`,
    `slow-head:${headMs}`,
    `usage:${input}:${output}`,
    ...(FATES[fate].behaviour === "" ? [] : [FATES[fate].behaviour]),
  ].join("+");

const dialectOf = (path: string): string =>
  path.endsWith("/chat/completions")
    ? "chat"
    : path.endsWith("/responses")
      ? "responses"
      : path.endsWith("/messages")
        ? "anthropic"
        : "gemini";

/** A request whose call is not planned is answered as its model's name says. */
export function startVendors(): Vendors {
  const calls = new Map<number, Planned>();
  const broken = new Map<string, Fate>();
  let strangers = 0;
  let gate = Promise.withResolvers<void>();
  gate.resolve();
  const upstream = startFakeUpstream({
    beforeEnd: () => gate.promise,
    behave: (entry) => {
      const call = Number(/call number (\d+)/.exec(entry.body)?.[1] ?? Number.NaN);
      const planned = calls.get(call);
      if (!planned) {
        // Lists of models are read by the watch over upstream accounts.
        if (entry.method !== "GET") strangers++;
        return undefined;
      }
      const { fates } = planned.plan;
      const fate = broken.get(entry.key) ?? fates[Math.min(planned.answers.length, fates.length - 1)] ?? "answers";
      planned.answers.push({ fate, dialect: dialectOf(entry.path), entry });
      return behaviourOf(fate, planned.plan);
    },
  });
  return {
    url: upstream.url,
    textOf: (call) => `Tell me a story about call number ${call}, please.`,
    setFate: (key, fate) => void (fate ? broken.set(key, fate) : broken.delete(key)),
    plan: (call, plan) => void calls.set(call, { plan, answers: [] }),
    answersTo: (call) => {
      // Reading the entries brings the numbers of running ones up to date.
      void upstream.journal.entries;
      return (calls.get(call)?.answers ?? []).map(({ fate, dialect, entry }) => ({
        fate,
        dialect,
        started: entry.bytesWritten > 0,
        whole: entry.finished && !entry.aborted && FATES[fate].sends === "all",
      }));
    },
    get strangers() {
      return strangers;
    },
    holdBack: () => void (gate = Promise.withResolvers()),
    letGo: () => gate.resolve(),
    forget: () => {
      broken.clear();
      calls.clear();
      upstream.journal.clear();
    },
    stop: () => upstream.close(),
  };
}
