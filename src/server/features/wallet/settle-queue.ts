/**
 * Ends of calls that the ledger could not take (the database was away, its disk full): on disk in the journal, and
 * retried every few seconds until the ledger has them, as long as the process lives; the next process goes on with what
 * a killed one left. Every end is taken once, however often it is tried: the ledger knows it by its request id.
 *
 * In normal operation the queue is empty and nothing is written.
 */
import { eq } from "drizzle-orm";
import { AppError } from "../../../shared/errors";
import type { Services } from "../../contracts/context";
import type { Db } from "../../db/types";
import { CannotStart } from "../../lib/cannot-start";
import { isUnavailable } from "../../lib/unavailable";
import { logCompleteSince } from "../log/clean";
import { type Journal, openJournal, type Place } from "./journal";
import type { AdmittingLedger, LateEnd, Ledger } from "../../contracts/ledger";
import type { SettleQueue } from "../../contracts/settle-queue";

/** Pause between two rounds; a random part keeps instances from asking all at once. */
const ROUND_MS = 5_000;
/** An end without an answer after this time is tried again in the next round. */
const TIMEOUT_MS = 20_000;
/** Ends that are tried at once, after the first one went through. */
const AT_ONCE = 8;
/** From here on new calls are refused: the rest of the journal is for running calls. */
const FULL = 0.75;
/** A hold of unknown fate may still be under way at the database. */
const UNDO_AFTER_MS = 10_000;
/** Holds of unknown fate that are kept; those beyond are ended by the sweep when this process has gone. */
const MOST_UNDOS = 100_000;

interface Waiting {
  end: LateEnd;
  /** Its places in the journal; several after a process was killed while it wrote. */
  places: Place[];
  /** Earliest time of the first try, by performance.now(). */
  from: number;
}

/** A record of the journal. */
type Entry = LateEnd & {
  /** Id of the call's database: a data folder may be used with another one. */
  database: string;
};

const keyOf = (end: LateEnd): string =>
  "settle" in end
    ? `settle ${end.settle.request_id}`
    : "release" in end
      ? `release ${end.release}`
      : `undo ${end.undo}`;

/** The calls' side of the ledger: what fails is tried later, and no call is let in while there is no room for that. */
export const callLedger = (ledger: Ledger, queue: SettleQueue): AdmittingLedger => ({
  hold: (request) =>
    queue.full() ? Promise.reject(new AppError("database_unavailable", { retry_after_s: 15 })) : ledger.hold(request),
  jointHold: (request) => (queue.full() ? undefined : ledger.jointHold?.(request)),
  extend: ledger.extend,
  settle: ledger.settle,
  release: ledger.release,
  later: queue.later,
});

export async function openSettleQueue(services: Pick<Services, "env" | "db" | "ledger" | "log">): Promise<SettleQueue> {
  const database = await databaseId(services.db);
  const queue = new LateEnds(services, open(services.env.dataDir), database);
  await queue.takeOver();
  return {
    path: queue.journal.path,
    size: () => queue.size,
    full: () => queue.journal.used() >= FULL,
    later: (end) => queue.add(end),
    close: () => queue.close(),
  };
}

/** The ends that wait, and the rounds that try them. */
class LateEnds {
  readonly journal: Journal;
  readonly #services: Pick<Services, "db" | "ledger" | "log">;
  readonly #database: string;
  readonly #waiting = new Map<string, Waiting>();
  #undos = 0;
  #timer: ReturnType<typeof setInterval> | undefined;
  #running: Promise<void> | undefined;
  #closed = false;

  constructor(services: Pick<Services, "db" | "ledger" | "log">, journal: Journal, database: string) {
    this.#services = services;
    this.journal = journal;
    this.#database = database;
  }

  /** Ends without the holds of unknown fate. */
  get size(): number {
    return this.#waiting.size - this.#undos;
  }

  /** Takes over what a killed process had not done. */
  async takeOver(): Promise<void> {
    const { log, db } = this.#services;
    const { torn, found } = this.journal;
    if (torn > 0) log.error({ records: torn }, "the journal has records that are not whole");
    if (found.length === 0) return;
    // Where the log has been cleaned, a settled call has no row any more: only its hold says whether it was settled.
    const [mark] = await db.q
      .select({ since: logCompleteSince().mapWith(Number) })
      .from(db.t.meta)
      .limit(1);
    let foreign = 0;
    for (const { text, place } of found) {
      const entry = JSON.parse(text) as Entry; // its checksum was right: it is what `add` wrote
      if (entry.database !== this.#database) {
        foreign++;
        continue;
      }
      if ("settle" in entry && entry.settle.log.created_at < (mark?.since ?? 0)) entry.settle.held_only = true;
      const known = this.#waiting.get(keyOf(entry));
      if (known) known.places.push(place);
      else this.#waiting.set(keyOf(entry), { end: entry, places: [place], from: 0 });
    }
    if (foreign > 0)
      log.warn({ records: foreign }, "the journal has ends of calls of another database; they are left alone");
    log.info(
      { waiting: this.#waiting.size },
      "calls that were not settled when the last process ended are settled now",
    );
    if (this.#waiting.size === 0) return;
    this.#start();
    void this.#round();
  }

  /** Resolves when the end is on disk; never rejects. */
  async add(end: LateEnd): Promise<void> {
    const { log } = this.#services;
    const key = keyOf(end);
    if (this.#waiting.has(key)) return;
    if (this.#closed) return log.error({ end: key }, "the journal is closed: this call is left to the sweep");
    if ("undo" in end) {
      if (this.#undos >= MOST_UNDOS) return;
      this.#undos++;
      this.#waiting.set(key, { end, places: [], from: performance.now() + UNDO_AFTER_MS });
      return this.#start();
    }
    const one: Waiting = { end, places: [], from: 0 };
    this.#waiting.set(key, one);
    this.#start();
    try {
      const place = this.journal.append(JSON.stringify({ ...end, database: this.#database } satisfies Entry));
      if (!place) return log.error({ end: key }, "the journal is full: this call waits in memory only");
      one.places.push(place);
      await this.journal.sync();
    } catch (err) {
      log.error({ err, end: key }, "the journal could not be written: this call waits in memory only");
    }
  }

  async close(): Promise<void> {
    const waiting = this.#waiting;
    clearInterval(this.#timer);
    if (waiting.size > 0) await Promise.race([this.#round(), Bun.sleep(2_000)]);
    this.#closed = true;
    if (waiting.size > 0)
      this.#services.log.warn(
        { waiting: waiting.size },
        "calls that are not settled wait in the journal for the next process",
      );
    this.journal.close();
  }

  #start(): void {
    this.#timer ??= setInterval(() => void this.#round(), ROUND_MS * (0.8 + 0.4 * Math.random()));
  }

  /** Never two at a time. */
  #round(): Promise<void> {
    return (this.#running ??= this.#tryAll().finally(() => (this.#running = undefined)));
  }

  async #tryAll(): Promise<void> {
    const now = performance.now();
    const due = [...this.#waiting]
      .filter(([, { from }]) => from <= now)
      // Taken from the end: calls before holds of unknown fate.
      .sort(([, a], [, b]) => Number("undo" in b.end) - Number("undo" in a.end))
      .map(([key]) => key);
    const next = async (): Promise<void> => {
      for (let key = due.pop(); key !== undefined; key = due.pop()) {
        // The database is away for all of them.
        if (!(await this.#tryOne(key))) due.length = 0;
      }
    };
    const first = due.pop();
    if (first === undefined || !(await this.#tryOne(first))) return;
    await Promise.all(Array.from({ length: AT_ONCE }, next));
    if (this.#waiting.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** False: the database is away. */
  async #tryOne(key: string): Promise<boolean> {
    const one = this.#waiting.get(key);
    if (!one) return true;
    try {
      const done = this.#finish(one.end).then(() => true);
      if (!(await Promise.race([done, Bun.sleep(TIMEOUT_MS).then(() => false)]))) {
        done.catch(() => undefined);
        return false;
      }
    } catch (err) {
      if (isUnavailable(err)) return false;
      this.#services.log.error({ err, end: key }, "a call could not be settled; it is tried again");
      return true;
    }
    this.#waiting.delete(key);
    if ("undo" in one.end) this.#undos--;
    for (const place of one.places) place.free();
    return true;
  }

  #finish(end: LateEnd): Promise<unknown> {
    const { ledger } = this.#services;
    return "settle" in end ? ledger.settle(end.settle) : ledger.release("release" in end ? end.release : end.undo);
  }
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

/** A random id that the database keeps forever. */
async function databaseId(db: Db): Promise<string> {
  const { meta } = db.t;
  await db.q.insert(meta).values({ name: "database_id", value: crypto.randomUUID() }).onConflictDoNothing();
  const [row] = await db.q.select({ value: meta.value }).from(meta).where(eq(meta.name, "database_id"));
  if (!row) throw new Error("the database's id could not be stored");
  return row.value;
}
