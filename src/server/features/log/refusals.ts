/**
 * Rows of calls that were refused before any channel was tried. A refused call costs its caller nothing, so refusals
 * must not fill the disk: in an hour the first hundred of a caller with the same code and model are rows, the rest are
 * counted on the last of them (`other.repeated`), and in the roll-ups as errors like any. Counted in memory and written
 * once a second; each instance counts for itself.
 */
import { eq } from "drizzle-orm";
import { FOLDED, type RepeatedRefusal } from "../../../shared/log";
import type { Services } from "../../contracts/context";
import type { Q } from "../../db/types";
import { run, type Steps } from "../../db/transaction";
import { forUpdate } from "../../db/sql";
import type { CallLog } from "../../contracts/ledger";
import { addToHours, type Hour, NOTHING, repeatedOf } from "./fold";
import { recordFailure } from "./record";
import type { Refusals } from "../../contracts/refusals";

/** Rows in an hour of one caller, code and model. */
const MOST_ROWS = 100;
/**
 * Pairs of code and model in an hour that are counted separately, of one caller and of all; all others of a caller are
 * one pair.
 */
const PAIRS_OF_CALLER = 50;
const MOST_PAIRS = 20_000;
const HOUR = 3600;
const WRITE_MS = 1000;
/** Counts written in one transaction. */
const BATCH = 50;

interface Pair {
  rows: number;
  /** The last row of this pair in this hour; what follows is counted on it. */
  last: { request_id: string; other: string } | undefined;
  repeated: number;
  until: number;
}

type Needs = Pick<Services, "db" | "log" | "background">;

export function createRefusals(services: Needs): Refusals {
  const { db, background } = services;
  let hour = 0;
  let pairs = 0;
  let callers = new Map<number, Map<string, Pair>>();
  const waiting = new Set<Pair>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let writing: Promise<void> | undefined;

  function pairOf({ user_id, created_at, model_name = "" }: CallLog, code: string): Pair {
    const now = Math.floor(created_at / HOUR);
    if (now > hour || now < hour - 1) {
      hour = now;
      pairs = 0;
      callers = new Map();
    }
    let own = callers.get(user_id);
    if (!own) callers.set(user_id, (own = new Map()));
    const wanted = `${code}\n${model_name}`;
    const name = own.has(wanted) || (own.size < PAIRS_OF_CALLER && pairs < MOST_PAIRS) ? wanted : "";
    let pair = own.get(name);
    if (!pair) {
      own.set(name, (pair = { rows: 0, last: undefined, repeated: 0, until: 0 }));
      pairs++;
    }
    return pair;
  }

  function schedule(): void {
    if (timer || writing || waiting.size === 0 || background.signal.aborted) return;
    timer = setTimeout(() => {
      timer = undefined;
      background.track("counting refusals", flush());
    }, WRITE_MS);
    timer.unref();
  }

  async function write(): Promise<void> {
    const due = [...waiting];
    for (let at = 0; at < due.length; at += BATCH) {
      const counts = due.slice(at, at + BATCH).map((pair) => ({ pair, repeated: pair.repeated, until: pair.until }));
      await db.tx((q) => countSteps(services, q, counts));
      for (const { pair, repeated } of counts) if (pair.repeated === repeated) waiting.delete(pair);
    }
  }

  async function flush(): Promise<void> {
    await writing?.catch(() => undefined);
    writing = write().finally(() => {
      writing = undefined;
      schedule();
    });
    return writing;
  }

  background.signal.addEventListener("abort", () => clearTimeout(timer));
  return {
    flush,
    async record(row, code) {
      const pair = pairOf(row, code);
      if (!pair.last) {
        pair.rows++;
        if (pair.rows === MOST_ROWS) pair.last = { request_id: row.request_id, other: row.other ?? "{}" };
        return recordFailure(services, row);
      }
      pair.repeated++;
      pair.until = Math.max(pair.until, row.created_at);
      if (waiting.size < MOST_PAIRS) waiting.add(pair);
      schedule();
    },
  };
}

interface Count {
  pair: Pair;
  repeated: number;
  until: number;
}

/** `other` of a row with the count, where the release before this one counts; it is JSON of an object. */
const withCount = (other: string, { repeated, until }: Count): string =>
  `${other.slice(0, -1)},${JSON.stringify({ repeated, repeated_until: until } satisfies RepeatedRefusal).slice(1)}`;

/** Rows first and hours after them, like the fold, so that the two never deadlock. */
function* countSteps({ db }: Pick<Services, "db">, q: Q, counts: readonly Count[]): Steps<void> {
  const { logs } = db.t;
  const hours: Hour[] = [];
  for (const count of counts) {
    const { pair, repeated } = count;
    if (!pair.last) continue;
    const { request_id, other } = pair.last;
    const known = q
      .select({
        folded: logs.folded,
        counted: repeatedOf(db).mapWith(Number),
        created_at: logs.created_at,
        user_id: logs.user_id,
        username: logs.username,
        token_id: logs.token_id,
        channel: logs.channel,
        model_name: logs.model_name,
        group: logs.group,
      })
      .from(logs)
      .where(eq(logs.request_id, request_id));
    const [row] = yield* run(forUpdate(db, known));
    // Cleaned meanwhile, with its count.
    if (!row) continue;
    yield* run(
      q
        .update(logs)
        .set({ other: withCount(other, count), repeated, repeated_until: count.until })
        .where(eq(logs.request_id, request_id))
        .returning({ id: logs.id }),
    );
    const { folded, counted: before, created_at, ...whose } = row;
    // A row that is not folded yet brings its count along.
    if (folded === FOLDED.done)
      hours.push({ ...NOTHING, ...whose, hour: created_at - (created_at % HOUR), error_count: repeated - before });
  }
  yield* addToHours(db, q, hours);
}
