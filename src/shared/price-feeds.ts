/**
 * Price feeds: where prices are read from again and again, and which of their changes may be taken without a person.
 * What is read becomes a proposal (features/pricing/feed.ts) that shows the difference; see docs/price-feeds.md.
 */
import { z } from "zod";
import type { Shape } from "./options/kinds";
import type { PriceChange } from "./price-import";
import { priceKeys, type PriceNumbers, toDollars } from "./price-rows";

/** Most feeds of a server. */
const MOST_FEEDS = 20;

const feed = z.strictObject({
  name: z.string().trim().min(1).max(60),
  url: z.url({ protocol: /^https?$/ }).max(2000),
  /** Ed25519 public key, base64url: the file must be a JWS signed by it. Absent: the file is JSON. */
  key: z
    .string()
    .regex(/^[\w-]{43}$/, { error: "43 characters of base64url" })
    .optional(),
  /** Hours between two readings; 0 = by hand only. */
  hours: z.int().min(0).max(720).default(24),
  /** Takes changes within the bounds below without being asked. */
  automatic: z.boolean().default(false),
});
export type PriceFeed = z.infer<typeof feed>;

const feeds = z
  .array(feed)
  .max(MOST_FEEDS)
  .refine((list) => new Set(list.map(({ name }) => name)).size === list.length, { error: "a name appears twice" });

/** The option PriceFeeds. */
export function priceFeedsShape(): Shape<readonly PriceFeed[]> {
  return (value) => {
    const parsed = feeds.safeParse(value);
    if (parsed.success) return { value: parsed.data };
    const [issue] = parsed.error.issues;
    const place = issue?.path.join(".") ?? "";
    const problem = [place, issue?.message].filter(Boolean).join(": ");
    return { zh: `价格源不合法：${problem}`, en: `Not a valid list of price feeds: ${problem}` };
  };
}

/** The catalogues that everyone may read, for one press in the console. */
export const KNOWN_FEEDS = [
  {
    name: "LiteLLM",
    url: "https://raw.githubusercontent.com/BerriAI/litellm/main/model_prices_and_context_window.json",
  },
  { name: "models.dev", url: "https://models.dev/api.json" },
] as const;

/** Why a change waits for a person. */
export type HeldFor =
  /** The feed is not automatic. */
  | "by-hand"
  /** One of its prices falls by more than half within a day. */
  | "falls"
  /** One of its prices more than doubles. */
  | "rises"
  /** It becomes free, or stops being free. */
  | "free"
  /** It changes between per call and per token. */
  | "kind"
  /** No other feed has the same price for the new model. */
  | "new"
  /** It would be sold below what a channel pays for it. */
  | "below-cost"
  /** The feed moves most prices at once. */
  | "everything";

export interface JudgedChange extends PriceChange {
  /** undefined: within the bounds. */
  readonly held?: HeldFor | undefined;
}

const MOST_FALL = 0.5;
const MOST_RISE = 2;
/** A feed that moves the middle one of its models by this much, and most of them, is held as a whole. */
const MOST_SHIFT = 1.5;
/** Fewer are no "everything". */
const LEAST_COMPARED = 5;

/** What cached input costs where nothing says so (pricing.ts). */
const CACHE_DEFAULTS = { CacheRatio: 1, CreateCacheRatio: 1.25 };

/** Factors by which the prices of a model move, in dollars; a price that one side lacks follows the others. */
function moves(before: PriceNumbers, after: PriceNumbers): number[] {
  const [was, next] = [toDollars({ ...CACHE_DEFAULTS, ...before }), toDollars({ ...CACHE_DEFAULTS, ...after })];
  return priceKeys.flatMap((key) => {
    const [from, to] = [was[key], next[key]];
    return from === undefined || to === undefined || from === to ? [] : [to / from];
  });
}

const isByCall = (numbers: PriceNumbers): boolean => numbers.ModelPrice !== undefined;

export interface Surroundings {
  readonly automatic: boolean;
  /** Prices of the models at the beginning of the day, where they have changed since. */
  dayBefore(name: string): PriceNumbers | undefined;
  /** Whether another feed has this price for a new model. */
  isConfirmed(change: PriceChange): boolean;
  isBelowCost(change: PriceChange): boolean;
  /** Models of the feed that have a price here. */
  readonly compared: number;
}

function heldFor(change: PriceChange, around: Surroundings): HeldFor | undefined {
  const { before, after, name, kind } = change;
  if (!around.automatic) return "by-hand";
  if (kind === "new") {
    if (!around.isConfirmed(change)) return "new";
  } else {
    if (isByCall(before) !== isByCall(after)) return "kind";
    const factors = [...moves(before, after), ...moves(around.dayBefore(name) ?? before, after)];
    if (factors.some((factor) => factor === 0 || !Number.isFinite(factor))) return "free";
    if (factors.some((factor) => factor < MOST_FALL)) return "falls";
    if (factors.some((factor) => factor > MOST_RISE)) return "rises";
  }
  return around.isBelowCost(change) ? "below-cost" : undefined;
}

/** Whether most of what can be compared moves, and its middle by more than MOST_SHIFT: a wrong unit, or a bad file. */
function movesEverything(changes: readonly PriceChange[], compared: number): boolean {
  const shifts = changes
    .filter(({ kind }) => kind === "changed")
    .map(({ before, after }) => Math.max(...moves(before, after).map((factor) => Math.abs(Math.log(factor))), 0))
    .sort((a, b) => a - b);
  if (compared < LEAST_COMPARED || shifts.length * 2 <= compared) return false;
  return (shifts[Math.floor(shifts.length / 2)] ?? 0) >= Math.log(MOST_SHIFT);
}

/** Each change with what it is held for. */
export function judgeChanges(changes: readonly PriceChange[], around: Surroundings): JudgedChange[] {
  const everything = movesEverything(changes, around.compared);
  return changes.map((change) => {
    const held = around.automatic && everything ? "everything" : heldFor(change, around);
    return { ...change, ...(held !== undefined && { held }) };
  });
}

export const feedNameInput = z.object({ name: z.string().min(1).max(60) });

/** `models`: those that are taken over; the others are refused, and not proposed again while the feed says the same. */
export const decideInput = z.object({
  id: z.int().positive(),
  models: z.array(z.string().min(1).max(255)).max(20_000),
});

/** How a feed stands. Times are epoch seconds, 0 = never. */
export interface FeedState {
  readonly name: string;
  readonly url: string;
  readonly signed: boolean;
  readonly hours: number;
  readonly automatic: boolean;
  readonly read_at: number;
  /** Of the last reading, in the words of its error; "" = it worked. */
  readonly error: string;
  /** Models in the last file. */
  readonly models: number;
}

export const PROPOSAL_STATUSES = ["open", "approved", "automatic", "refused", "replaced"] as const;
export type ProposalStatus = (typeof PROPOSAL_STATUSES)[number];

export interface Proposal {
  readonly id: number;
  readonly source: string;
  readonly created_at: number;
  readonly status: ProposalStatus;
  readonly decided_at: number;
  readonly changes: readonly (JudgedChange & {
    /** What it would have added to yesterday's charges, in units; only of an open proposal. */
    readonly effect: number;
  })[];
}
