/**
 * Price feeds at work: what a feed says is compared with the prices here and kept as a proposal, whose changes a person
 * approves, or which are taken at once where feed and bounds allow it (shared/price-feeds.ts). A change is stored with
 * all tables in one transaction.
 */
import { and, desc, eq, gte, inArray } from "drizzle-orm";
import { canonicalModel } from "../../../shared/channel-types";
import { belowCost, parseCostPrices } from "../../../shared/cost";
import { AppError, type ErrorCode, errorText, type ErrorValues, fail } from "../../../shared/errors";
import { type FeedState, judgeChanges, type JudgedChange, type PriceFeed } from "../../../shared/price-feeds";
import { applyChanges, type IncomingPrices, type PriceChange, priceChanges } from "../../../shared/price-import";
import {
  changedOptions,
  numbersOf,
  priceKeys,
  type PriceNumbers,
  type RatioTables,
  sameNumbers,
} from "../../../shared/price-rows";
import { type PriceTables, priceTableKeys, resolvePrice } from "../../../shared/pricing";
import { type Held, NEVER_LOST } from "../../cluster/types";
import type { Actor } from "../../contracts/actor";
import { type Ctx, type Services, seconds } from "../../contracts/context";
import { auditRow } from "../audit/record";
import { shownChange } from "../option/shown-change";
import { run, type Steps } from "../../db/transaction";
import type { Q } from "../../db/types";
import { readFeedFile } from "./feed-file";

const HOUR = 3600;
const DAY = 24 * HOUR;
/** Refused proposals that are remembered, so that the same change does not come back every day. */
const REMEMBERED = 50;

type FeedServices = Pick<Services, "db" | "options" | "pool" | "env" | "now">;
export type Author = Parameters<typeof auditRow>[0];

/** The author of what a timer does. */
const timer = (services: Pick<Services, "now">): Author => ({
  actor: { kind: "system" } satisfies Actor,
  ip: "",
  request_id: "",
  now: services.now,
});

export const tablesNow = ({ options }: Pick<Services, "options">): PriceTables & RatioTables =>
  // Every key of PriceTables is an option of the same type (shared/pricing).
  Object.fromEntries(priceTableKeys.map((key) => [key, options.get(key)])) as unknown as PriceTables & RatioTables;

/** What is known of a feed's last reading: in `meta`, as JSON. */
interface Reading {
  readonly read_at: number;
  readonly problem?: { readonly code: ErrorCode; readonly values: ErrorValues } | undefined;
  readonly models: number;
  readonly signed_at: number;
  /** Prices that it had and this server had not: another feed's new model is confirmed by them. */
  readonly news: Readonly<Record<string, PriceNumbers>>;
}
const UNREAD: Reading = { read_at: 0, models: 0, signed_at: 0, news: {} };
const metaName = (feed: string): string => `price_feed:${feed}`;

async function readings({ db, options }: Pick<Services, "db" | "options">): Promise<Map<string, Reading>> {
  const names = options.get("PriceFeeds").map(({ name }) => name);
  if (names.length === 0) return new Map();
  const { meta } = db.t;
  const rows = await db.q
    .select()
    .from(meta)
    .where(inArray(meta.name, names.map(metaName)));
  return new Map(
    names.map((name) => {
      const row = rows.find((one) => one.name === metaName(name));
      return [name, row ? { ...UNREAD, ...(JSON.parse(row.value) as Partial<Reading>) } : UNREAD];
    }),
  );
}

async function keepReading({ db }: Pick<Services, "db">, feed: string, reading: Reading): Promise<void> {
  const value = JSON.stringify(reading);
  await db.q
    .insert(db.t.meta)
    .values({ name: metaName(feed), value })
    .onConflictDoUpdate({ target: db.t.meta.name, set: { value } });
}

/** Feeds in their order, with how they stand. */
export async function feedStates(ctx: Pick<Ctx, "db" | "options" | "lang">): Promise<FeedState[]> {
  const known = await readings(ctx);
  return ctx.options.get("PriceFeeds").map(({ name, url, key, hours, automatic }) => {
    const { read_at, problem, models } = known.get(name) ?? UNREAD;
    const error = problem ? errorText(problem.code, problem.values, ctx.lang) : "";
    return { name, url, signed: key !== undefined, hours, automatic, read_at, error, models };
  });
}

/** Models that have a price here or are served: a catalogue's thousands of others are of no interest. */
function concerned({ pool }: Pick<Services, "pool">, tables: RatioTables, prices: IncomingPrices): IncomingPrices {
  const served = new Set([...pool.enabledModels()].map(canonicalModel));
  return new Map(
    [...prices].filter(
      ([name]) => served.has(name) || Object.hasOwn(tables.ModelRatio, name) || Object.hasOwn(tables.ModelPrice, name),
    ),
  );
}

/** Whether a channel whose own costs are known pays more for the model than the new price brings, in any group. */
function isBelowCost(
  { options, pool, now }: FeedServices,
  tables: PriceTables & RatioTables,
  change: PriceChange,
): boolean {
  const after = { ...tables, ...applyChanges(tables, [change]) };
  for (const group of Object.keys(options.get("GroupRatio"))) {
    const price = resolvePrice(change.name, group, group, after);
    if (price.unpriced) continue;
    for (const { setting, model_mapping } of pool.candidates(group, change.name)) {
      const model = canonicalModel(model_mapping.get(change.name) ?? change.name);
      const own = setting.cost_prices === undefined ? undefined : parseCostPrices(setting.cost_prices);
      if (own && "table" in own && belowCost(price, setting, model, now(), options.get("CurrencyRates"))) return true;
    }
  }
  return false;
}

/** The prices of a day ago, of the models that a feed has changed by itself since: the oldest "before" of each. */
async function dayBefore({ db, now }: FeedServices): Promise<Map<string, PriceNumbers>> {
  const { price_proposals: t } = db.t;
  const rows = await db.q
    .select({ changes: t.changes })
    .from(t)
    .where(and(eq(t.status, "automatic"), gte(t.created_at, Math.floor(now() / 1000) - DAY)))
    .orderBy(desc(t.id));
  const found = new Map<string, PriceNumbers>();
  for (const { changes } of rows) for (const { name, before } of stored(changes)) found.set(name, before);
  return found;
}

export const stored = (changes: string): JudgedChange[] => JSON.parse(changes) as JudgedChange[];

const mark = ({ name, after }: PriceChange): string => `${name} ${JSON.stringify(priceKeys.map((key) => after[key]))}`;

/** Changes that were refused before, by the same feed. */
async function refusedMarks({ db }: Pick<Services, "db">, source: string): Promise<Set<string>> {
  const { price_proposals: t } = db.t;
  const rows = await db.q
    .select({ changes: t.changes })
    .from(t)
    .where(and(eq(t.source, source), eq(t.status, "refused")))
    .orderBy(desc(t.id))
    .limit(REMEMBERED);
  return new Set(rows.flatMap(({ changes }) => stored(changes).map(mark)));
}

/** Stores prices with their audit rows and the proposal's end, in one transaction. */
async function store(
  services: FeedServices,
  author: Author,
  changes: readonly PriceChange[],
  within: (tx: Q) => Steps<void>,
): Promise<void> {
  const tables = tablesNow(services);
  const options = changedOptions(tables, applyChanges(tables, changes));
  const rows = options.map(({ key, was, value }) =>
    auditRow(author, { action: "option.update", target: key, ...shownChange(key, was, value) }),
  );
  await services.options.setAll(
    options.map(({ key, value }) => [key, value] as const),
    function* (tx) {
      if (rows.length > 0) yield* run(tx.insert(services.db.t.audit_log).values(rows));
      yield* within(tx);
    },
  );
}

/** The changes that `file` asks for and that were not refused before, each with what it is held for. */
async function judged(services: FeedServices, feed: PriceFeed, prices: IncomingPrices): Promise<JudgedChange[]> {
  const tables = tablesNow(services);
  const asked = concerned(services, tables, prices);
  const refused = await refusedMarks(services, feed.name);
  const changes = priceChanges(tables, asked).filter((change) => !refused.has(mark(change)));
  const [before, others] = [await dayBefore(services), await readings(services)];
  others.delete(feed.name);
  return judgeChanges(changes, {
    automatic: feed.automatic,
    dayBefore: (name) => before.get(name),
    isConfirmed: ({ name, after }) =>
      [...others.values()].some(({ news }) => news[name] !== undefined && sameNumbers(news[name], after)),
    isBelowCost: (change) => isBelowCost(services, tables, change),
    compared: [...asked.keys()].filter(
      (name) => tables.ModelRatio[name] !== undefined || tables.ModelPrice[name] !== undefined,
    ).length,
  });
}

/** Keeps what a feed proposes: an open proposal of the same feed is replaced. */
async function propose({ db, now }: FeedServices, source: string, changes: readonly JudgedChange[]): Promise<void> {
  const { price_proposals: t } = db.t;
  const at = Math.floor(now() / 1000);
  await db.tx(function* (tx) {
    const old = and(eq(t.source, source), eq(t.status, "open"));
    yield* run(tx.update(t).set({ status: "replaced", decided_at: at }).where(old));
    const proposal = { source, created_at: at, changes: JSON.stringify(changes) };
    if (changes.length > 0) yield* run(tx.insert(t).values(proposal));
  });
}

/** Reads one feed. Throws what readFeedFile throws; the reading says so too. */
async function read(
  services: FeedServices,
  feed: PriceFeed,
  author: Author,
  held: Held = NEVER_LOST,
): Promise<{ open: number; taken: number }> {
  const last = (await readings(services)).get(feed.name) ?? UNREAD;
  const read_at = Math.floor(services.now() / 1000);
  try {
    const file = await readFeedFile(services, feed, last.signed_at);
    // The prices that this process knows may be old.
    if (held.lost) return { open: 0, taken: 0 };
    const changes = await judged(services, feed, file.prices);
    const news = Object.fromEntries(
      changes.filter(({ kind }) => kind === "new").map(({ name, after }) => [name, after]),
    );
    await keepReading(services, feed.name, {
      read_at,
      models: file.prices.size,
      signed_at: file.signed_at,
      news,
    });
    const taken = changes.filter(({ held }) => held === undefined);
    if (taken.length > 0) {
      const { price_proposals: t } = services.db.t;
      const proposal = { source: feed.name, created_at: read_at, decided_at: read_at, changes: JSON.stringify(taken) };
      await store(services, author, taken, function* (tx) {
        yield* run(tx.insert(t).values({ ...proposal, status: "automatic" }));
      });
    }
    const open = changes.filter(({ held }) => held !== undefined);
    await propose(services, feed.name, open);
    return { open: open.length, taken: taken.length };
  } catch (error) {
    const { code, values } = error instanceof AppError ? error : new AppError("internal");
    await keepReading(services, feed.name, { ...last, read_at, problem: { code, values } });
    throw error;
  }
}

/** Reads the named feed now. Throws price_feed_unknown and what readFeedFile throws. */
export async function readFeed(services: FeedServices, name: string, author: Author) {
  const feed =
    services.options.get("PriceFeeds").find((one) => one.name === name) ?? fail("price_feed_unknown", { name });
  return read(services, feed, author);
}

/** Whether a feed's hours have passed; one that failed is tried again an hour later. `now`: epoch seconds. */
export const isDue = (
  { hours }: Pick<PriceFeed, "hours">,
  { read_at, problem }: Pick<Reading, "read_at" | "problem">,
  now: number,
): boolean => hours > 0 && now >= read_at + (problem ? HOUR : hours * HOUR);

/** Job "price feeds". */
export async function readFeedsWhenDue(services: Services, held: Held = NEVER_LOST): Promise<void> {
  const known = await readings(services);
  for (const feed of services.options.get("PriceFeeds")) {
    if (!isDue(feed, known.get(feed.name) ?? UNREAD, seconds(services))) continue;
    await read(services, feed, timer(services), held).catch((problem: unknown) =>
      services.log.warn({ feed: feed.name, err: problem }, "a price feed could not be read"),
    );
  }
}

/**
 * Takes the named changes of a proposal over and refuses the others. A proposal is decided once; one whose models have
 * got other prices meanwhile is refused as a whole. Throws price_proposal_gone, price_proposal_stale.
 */
export async function decide(
  services: FeedServices,
  author: Author,
  { id, models }: { id: number; models: readonly string[] },
): Promise<{ taken: number }> {
  const { db } = services;
  const { price_proposals: t } = db.t;
  const [row] = await db.q
    .select()
    .from(t)
    .where(and(eq(t.id, id), eq(t.status, "open")));
  if (!row) return fail("price_proposal_gone");
  const wanted = new Set(models);
  const all = stored(row.changes);
  const taken = all.filter(({ name }) => wanted.has(name));
  const refused = all.filter(({ name }) => !wanted.has(name));
  const tables = tablesNow(services);
  for (const { name, before, after } of taken) {
    const numbers = numbersOf(tables, name);
    if (!sameNumbers(numbers, before) && !sameNumbers(numbers, after)) fail("price_proposal_stale", { model: name });
  }
  const end = {
    decided_at: Math.floor(services.now() / 1000),
    actor_id: author.actor.kind === "user" ? author.actor.id : 0,
  };
  const [whole, status] = taken.length > 0 ? ([taken, "approved"] as const) : ([all, "refused"] as const);
  await store(services, author, taken, function* (tx) {
    const decided = yield* run(
      tx
        .update(t)
        .set({ ...end, status, changes: JSON.stringify(whole) })
        .where(and(eq(t.id, id), eq(t.status, "open")))
        .returning({ id: t.id }),
    );
    if (decided.length === 0) fail("price_proposal_gone");
    if (status === "refused" || refused.length === 0) return;
    const { source, created_at } = row;
    const rest = { ...end, source, created_at, status: "refused", changes: JSON.stringify(refused) };
    yield* run(tx.insert(t).values(rest));
  });
  return { taken: taken.length };
}
