/**
 * Ends of calls that the ledger could not take (the database was away, its disk full): on disk in the journal, and
 * tried every few seconds until the ledger has them, as long as the process lives; the next process goes on with what a
 * killed one left. Every end is taken once, however often it is tried: the ledger knows it by its request id.
 *
 * On a normal day nothing comes here and nothing is written.
 */
import { eq } from "drizzle-orm";
import { AppError } from "../../../shared/errors";
import type { Services } from "../../contracts/context";
import type { Db } from "../../db/types";
import { CannotStart } from "../../lib/cannot-start";
import { isUnavailable } from "../../lib/unavailable";
import { logCompleteSince } from "../log/clean";
import { type Journal, openJournal, type Place } from "./journal";
import type { CallLedger, LateEnd, Ledger } from "../../contracts/ledger";
import type { SettleQueue } from "../../contracts/settle-queue";

/** Pause between two rounds; a random part keeps instances from asking all at once. */
const ROUND_MS = 5_000;
/** An end that has no answer for so long is tried again in the next round. */
const PATIENCE_MS = 20_000;
/** Ends that are tried at once, after the first one went through. */
const AT_ONCE = 8;
/** From here on new calls are refused: the rest of the journal is for those that run. */
const FULL = 0.75;
/** A hold of unknown fate may still be under way at the database. */
const UNDO_AFTER_MS = 10_000;
/** Holds of unknown fate that are kept in mind; those beyond end by the sweep when this process has gone. */
const MOST_UNDOS = 100_000;

interface Waiting {
  end: LateEnd;
  /** Where it is in the journal; several after a process was killed while it wrote. */
  places: Place[];
  /** Not tried before, by performance.now(). */
  from: number;
}

/** A record of the journal. */
type Entry = LateEnd & {
  /** Which database's call it was: a data folder may be pointed at another one. */
  database: string;
};

const keyOf = (end: LateEnd): string =>
  "settle" in end
    ? `settle ${end.settle.request_id}`
    : "release" in end
      ? `release ${end.release}`
      : `undo ${end.undo}`;

/** The calls' side of the ledger: what fails is tried later, and nobody is let in while there is no room for that. */
export const callLedger = (ledger: Ledger, queue: SettleQueue): CallLedger => ({
  hold: (request) =>
    queue.full() ? Promise.reject(new AppError("database_unavailable", { retry_after_s: 15 })) : ledger.hold(request),
  extend: ledger.extend,
  settle: ledger.settle,
  release: ledger.release,
  later: queue.later,
});

export async function openSettleQueue({
  env,
  db,
  ledger,
  log,
}: Pick<Services, "env" | "db" | "ledger" | "log">): Promise<SettleQueue> {
  const database = await databaseId(db);
  const journal = open(env.dataDir);
  const waiting = new Map<string, Waiting>();
  let undos = 0;
  let timer: ReturnType<typeof setInterval> | undefined;
  let running: Promise<void> | undefined;
  let closed = false;

  await takeOver();
  if (waiting.size > 0) {
    start();
    void round();
  }

  /** What a process that was killed had not got done. */
  async function takeOver(): Promise<void> {
    if (journal.torn > 0) log.error({ records: journal.torn }, "the journal has records that are not whole");
    if (journal.found.length === 0) return;
    // Where the log has been cleaned, no row tells any more that a call was settled: only its hold does.
    const [mark] = await db.q
      .select({ since: logCompleteSince().mapWith(Number) })
      .from(db.t.meta)
      .limit(1);
    let foreign = 0;
    for (const { text, place } of journal.found) {
      const entry = JSON.parse(text) as Entry; // its checksum was right: it is what `later` wrote
      if (entry.database !== database) {
        foreign++;
        continue;
      }
      if ("settle" in entry && entry.settle.log.created_at < (mark?.since ?? 0)) entry.settle.held_only = true;
      const known = waiting.get(keyOf(entry));
      if (known) known.places.push(place);
      else waiting.set(keyOf(entry), { end: entry, places: [place], from: 0 });
    }
    if (foreign > 0)
      log.warn({ records: foreign }, "the journal has ends of calls of another database; they are left alone");
    log.info({ waiting: waiting.size }, "calls that were not settled when the last process ended are settled now");
  }

  function start(): void {
    timer ??= setInterval(() => void round(), ROUND_MS * (0.8 + 0.4 * Math.random()));
  }

  /** Never two at a time. */
  function round(): Promise<void> {
    return (running ??= tryAll().finally(() => (running = undefined)));
  }

  async function tryAll(): Promise<void> {
    const now = performance.now();
    const due = [...waiting]
      .filter(([, { from }]) => from <= now)
      // Taken from the end: calls before holds of unknown fate.
      .sort(([, a], [, b]) => Number("undo" in b.end) - Number("undo" in a.end))
      .map(([key]) => key);
    const next = async (): Promise<void> => {
      for (let key = due.pop(); key !== undefined; key = due.pop()) {
        // The database is away for all of them.
        if (!(await tryOne(key))) due.length = 0;
      }
    };
    const first = due.pop();
    if (first === undefined || !(await tryOne(first))) return;
    await Promise.all(Array.from({ length: AT_ONCE }, next));
    if (waiting.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  /** False: the database is away. */
  async function tryOne(key: string): Promise<boolean> {
    const one = waiting.get(key);
    if (!one) return true;
    try {
      const done = finish(one.end).then(() => true);
      if (!(await Promise.race([done, Bun.sleep(PATIENCE_MS).then(() => false)]))) {
        done.catch(() => undefined);
        return false;
      }
    } catch (err) {
      if (isUnavailable(err)) return false;
      log.error({ err, end: key }, "a call could not be settled; it is tried again");
      return true;
    }
    waiting.delete(key);
    if ("undo" in one.end) undos--;
    for (const place of one.places) place.free();
    return true;
  }

  const finish = (end: LateEnd): Promise<unknown> =>
    "settle" in end ? ledger.settle(end.settle) : ledger.release("release" in end ? end.release : end.undo);

  return {
    path: journal.path,
    size: () => waiting.size - undos,
    full: () => journal.used() >= FULL,
    later: async (end) => {
      const key = keyOf(end);
      if (waiting.has(key)) return;
      if (closed) return log.error({ end: key }, "the journal is closed: this call is left to the sweep");
      if ("undo" in end) {
        if (undos >= MOST_UNDOS) return;
        undos++;
        waiting.set(key, { end, places: [], from: performance.now() + UNDO_AFTER_MS });
        return start();
      }
      const one: Waiting = { end, places: [], from: 0 };
      waiting.set(key, one);
      start();
      try {
        const place = journal.append(JSON.stringify({ ...end, database } satisfies Entry));
        if (!place) return log.error({ end: key }, "the journal is full: this call waits in memory only");
        one.places.push(place);
        await journal.sync();
      } catch (err) {
        log.error({ err, end: key }, "the journal could not be written: this call waits in memory only");
      }
    },
    close: async () => {
      clearInterval(timer);
      if (waiting.size > 0) await Promise.race([round(), Bun.sleep(2_000)]);
      closed = true;
      if (waiting.size > 0)
        log.warn({ waiting: waiting.size }, "calls that are not settled wait in the journal for the next process");
      journal.close();
    },
  };
}

function open(folder: string): Journal {
  try {
    return openJournal(folder);
  } catch (error) {
    throw new CannotStart(
      `the journal of unsettled calls in the data folder cannot be opened: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** A name that the database has for ever. */
async function databaseId(db: Db): Promise<string> {
  const { meta } = db.t;
  await db.q.insert(meta).values({ name: "database_id", value: crypto.randomUUID() }).onConflictDoNothing();
  const [row] = await db.q.select({ value: meta.value }).from(meta).where(eq(meta.name, "database_id"));
  if (!row) throw new Error("the database's id could not be stored");
  return row.value;
}
