/**
 * The live log: new rows as server-sent events. One read of the table's end a second serves every listener of this
 * process, and there is none without a listener; rows of other instances are in the table as well. A listener that
 * reads slowly, and every listener when more rows come than a screen can show, gets a notice that rows were left out.
 * The caller is authenticated again before each row: what was logged after a demotion or sign-out is not shown.
 */
import { desc, gt } from "drizzle-orm";
import { fail } from "../../../shared/errors";
import { logTailRest, type LogTail, MAX_TAIL_ROWS } from "../../../shared/log-list";
import { ROLE } from "../../../shared/roles";
import type { Services } from "../../contracts/context";
import type { LogRow } from "../../db/schema";
import { buildInput } from "../../http/coerce";
import { liveResponse } from "../../http/live-stream";
import type { PlainRoute } from "../../http/plain";
import { stillHolds } from "../../http/standing";
import { signedIn } from "../../http/trpc";
import { fits } from "./filter";
import { present, scopeOf } from "./service";

const LOOK_EVERY_MS = 1000;
/** Postgres commits rows out of the order of their ids: one that comes this late is still seen. */
const LATE_MS = 10_000;
const MOST_LISTENERS = 200;
const MOST_PER_USER = 4;

interface Listener {
  user_id: number;
  /** `end`: id of the newest row read. */
  take(rows: readonly LogRow[], end: number, skipped: boolean): Promise<void>;
}

type Needs = Pick<Services, "db" | "log">;

export interface LiveTail {
  /**
   * `GET /api/log/live` with the filters of the list; `since` = id of the last row that a listener saw, when it
   * reconnects.
   */
  route: PlainRoute;
  /** Ends every stream and refuses new ones: the process stops. */
  close(): void;
}

/** The rows after `floor`, newest first, at most a screenful. */
const newest = ({ db }: Needs, floor: number): Promise<LogRow[]> =>
  db.read.select().from(db.t.logs).where(gt(db.t.logs.id, floor)).orderBy(desc(db.t.logs.id)).limit(MAX_TAIL_ROWS);

/** Reads the table's end while there are listeners. */
class Watcher {
  readonly #services: Needs;
  readonly listeners = new Set<Listener>();
  #begun = Promise.resolve();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Rows up to this id are handled. */
  #floor = 0;
  /** Rows above it that were sent, and when. */
  #seen = new Map<number, number>();

  constructor(services: Needs) {
    this.#services = services;
  }

  /** Returns the id of the newest row that was handled; later ones are sent to the listener. */
  async join(listener: Listener): Promise<number> {
    if (this.listeners.size === 0) this.#begun = this.#begin();
    this.listeners.add(listener);
    try {
      await this.#begun;
    } catch (error) {
      this.listeners.delete(listener);
      throw error;
    }
    return this.#end();
  }

  async #begin(): Promise<void> {
    clearTimeout(this.#timer);
    const { db } = this.#services;
    const [last] = await db.read.select({ id: db.t.logs.id }).from(db.t.logs).orderBy(desc(db.t.logs.id)).limit(1);
    this.#floor = last?.id ?? 0;
    this.#seen.clear();
    this.#next();
  }

  #end(): number {
    return Math.max(this.#floor, ...this.#seen.keys());
  }

  #next(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#look(), LOOK_EVERY_MS);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    if (this.listeners.size === 0) return;
    try {
      const rows = await newest(this.#services, this.#floor);
      const fresh = rows.filter((row) => !this.#seen.has(row.id));
      const now = performance.now();
      for (const row of fresh) this.#seen.set(row.id, now);
      // A whole screen without a known row: the rows between were not read.
      const skipped = rows.length === MAX_TAIL_ROWS && fresh.length === rows.length;
      for (const [id, at] of this.#seen) {
        if (now - at < LATE_MS) continue;
        this.#floor = Math.max(this.#floor, id);
        this.#seen.delete(id);
      }
      const end = this.#end();
      if (fresh.length > 0)
        await Promise.all([...this.listeners].map((listener) => listener.take(fresh, end, skipped)));
    } catch (err) {
      this.#services.log.warn({ err }, "the live log could not look for new rows");
    }
    this.#next();
  }
}

export function createLogTail(services: Needs): LiveTail {
  const watcher = new Watcher(services);
  const over = new AbortController();
  const route: PlainRoute = {
    line: "GET /api/log/live",
    answer: async (base, request) => {
      const ctx = signedIn(base, ROLE.user);
      if (over.signal.aborted) fail("draining");
      const scope = scopeOf(ctx);
      const query = new URL(request.url).searchParams;
      const { since, ...filter } = logTailRest.parse(buildInput(logTailRest, { path: {}, query, body: undefined }));
      const user_id = ctx.actor.id;
      const mine = [...watcher.listeners].filter((other) => other.user_id === user_id).length;
      if (watcher.listeners.size >= MOST_LISTENERS || mine >= MOST_PER_USER) fail("log_tail_full");
      const wanted = fits(user_id, scope, filter);
      const show = present(ctx, scope);
      let missed = false;
      let listener: Listener | undefined;
      return liveResponse(ctx, {
        request,
        actor: ctx.actor,
        over: over.signal,
        began: async ({ ready, say: send, close }) => {
          const say = (tail: LogTail) => send(tail);
          /** Asked when rows have been read: those of a later time are not among them. */
          const mayRead = async (): Promise<boolean> => {
            if (!(await stillHolds(ctx, request, ctx.actor))) close();
            return listener !== undefined && watcher.listeners.has(listener);
          };
          listener = {
            user_id,
            take: async (rows, end, skipped) => {
              const items = rows.filter(wanted).map(show);
              missed ||= skipped;
              if (items.length === 0 || !(await mayRead())) return;
              if (!ready()) {
                missed = true;
                return;
              }
              say({ items, end, skipped: missed });
              missed = false;
            },
          };
          const end = await watcher.join(listener);
          const before = since === undefined ? [] : await newest(services, since);
          if (!(await mayRead())) return close();
          say({
            items: before.filter(wanted).map(show),
            end: Math.max(end, before[0]?.id ?? 0),
            skipped: before.length === MAX_TAIL_ROWS,
          });
        },
        ended: () => void (listener && watcher.listeners.delete(listener)),
      });
    },
  };
  return { route, close: () => over.abort() };
}
