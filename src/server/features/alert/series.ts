/**
 * Sums of calls by minute and subject, which rules are judged on. The lease holder keeps them in memory and reads the
 * sums of new rows only: by id, because rows are inserted when a call has ended. A holder that is new reads the longest
 * window once. A call counts in the minute in which it ended.
 */
import { and, asc, desc, gt, gte, inArray, lte, ne, sql } from "drizzle-orm";
import { type AlertSubject, type Measure } from "../../../shared/alert-rules";
import { FOLDED, LOG_TYPE } from "../../../shared/log";
import type { Services } from "../../contracts/context";
import { count, total } from "../../db/sql";
import { isFault, passedAttempts, severalAttempts } from "../log/failed-attempts";
import { inPartitions } from "../log/partitions";

export interface Sums {
  calls: number;
  errors: number;
  quota: number;
  seconds: number;
}

/** A subject's sums between two minutes (epoch minutes, both included). */
export interface SeriesReader {
  sums(per: AlertSubject, first: number, last: number): ReadonlyMap<string, Readonly<Sums>>;
}

/** The subjects of a call. */
export interface Item {
  /** 0: none was tried. */
  readonly channel: number;
  readonly model_name: string;
  readonly group: string;
  /** 0: not known. */
  readonly user_id: number;
}

const increase = (sums: Sums, more: Readonly<Sums>): void => {
  sums.calls += more.calls;
  sums.errors += more.errors;
  sums.quota += more.quota;
  sums.seconds += more.seconds;
};

export const measureOf = (sums: Readonly<Sums>, measure: Measure): number =>
  measure === "seconds" ? (sums.calls === 0 ? 0 : sums.seconds / sums.calls) : sums[measure];

export class Series implements SeriesReader {
  readonly #minutes = new Map<number, Map<AlertSubject, Map<string, Sums>>>();

  /** Adds calls that ended in a minute (of the epoch) and have these subjects. */
  add(minute: number, { channel, model_name, group, user_id }: Item, sums: Readonly<Sums>): void {
    this.#add(minute, "server", "", sums);
    if (channel !== 0) this.#add(minute, "channel", String(channel), sums);
    this.#add(minute, "model", model_name, sums);
    this.#add(minute, "group", group, sums);
    if (user_id !== 0) this.#add(minute, "user", String(user_id), sums);
  }

  /** Adds attempts at a channel that failed although their calls went on at another one. */
  addAttempts(minute: number, channel: number, attempts: number): void {
    this.#add(minute, "channel", String(channel), { calls: attempts, errors: attempts, quota: 0, seconds: 0 });
  }

  #add(minute: number, per: AlertSubject, item: string, sums: Readonly<Sums>): void {
    let bucket = this.#minutes.get(minute);
    if (!bucket) this.#minutes.set(minute, (bucket = new Map()));
    let items = bucket.get(per);
    if (!items) bucket.set(per, (items = new Map()));
    const known = items.get(item);
    if (known) increase(known, sums);
    else items.set(item, { ...sums });
  }

  sums(per: AlertSubject, first: number, last: number): ReadonlyMap<string, Readonly<Sums>> {
    const all = new Map<string, Sums>();
    for (const [minute, bucket] of this.#minutes) {
      if (minute < first || minute > last) continue;
      for (const [item, sums] of bucket.get(per) ?? []) {
        const known = all.get(item);
        if (known) increase(known, sums);
        else all.set(item, { ...sums });
      }
    }
    return all;
  }

  forgetBefore(minute: number): void {
    for (const known of this.#minutes.keys()) if (known < minute) this.#minutes.delete(known);
  }
}

/** On Postgres rows may be committed out of the order of their ids by so many; on SQLite there is one writer. */
const SLACK = 1_000;
const PAGE = 5_000;
/** Pages of one round; what is beyond is read in the next. */
const MOST_PAGES = 20;

/** Follows the log. */
export interface SeriesFeed {
  readonly series: Series;
  /** Reads what is new; the first time, and when the window grows, what the last `minutes` hold. */
  follow(minutes: number): Promise<void>;
}

/** Calls of one minute that have all of this in common; several attempts are a group of their own. */
interface Group extends Item {
  readonly minute: number;
  readonly type: number;
  readonly code: string;
  readonly end_reason: string;
  /** As `severalAttempts` selects it. */
  readonly several: string;
  readonly calls: number;
  readonly quota: number;
  readonly seconds: number;
}

export function createFeed({ db, now }: Pick<Services, "db" | "now">): SeriesFeed {
  const { logs } = db.t;
  const slack = db.engine === "postgres" ? SLACK : 0;
  let series = new Series();
  /** Rows up to this id are counted for good. */
  let settled = -1;
  /** Of rows after it: counted again in every round, because others may still appear between them. */
  let unsettled: readonly Group[] = [];
  let known = 0;

  /** Added up by the database: there may be thousands of rows a second. `upTo` undefined: to the end. */
  const groups = async (after: number, upTo: number | undefined, since: number): Promise<Group[]> =>
    db.read
      .select({
        minute: sql<number>`cast((${logs.created_at} + ${logs.use_time}) / 60 as integer)`.mapWith(Number).as("minute"),
        type: logs.type,
        channel: logs.channel,
        model_name: logs.model_name,
        group: logs.group,
        user_id: logs.user_id,
        code: logs.code,
        end_reason: logs.end_reason,
        several: severalAttempts(db).as("several"),
        calls: count(),
        quota: total(logs.quota),
        seconds: total(logs.use_time),
      })
      .from(logs)
      .where(
        and(
          gt(logs.id, after),
          upTo === undefined ? undefined : lte(logs.id, upTo),
          gte(logs.created_at, since),
          inArray(logs.type, [LOG_TYPE.consume, LOG_TYPE.error]),
          ne(logs.folded, FOLDED.never),
          await inPartitions(db, since, 0),
        ),
      )
      .groupBy(
        sql`minute`,
        logs.type,
        logs.channel,
        logs.model_name,
        logs.group,
        logs.user_id,
        logs.code,
        logs.end_reason,
        sql`several`,
      );

  /** By the index on the time: a look by id would walk through all older rows. */
  const firstSince = async (since: number): Promise<number> => {
    const [row] = await db.read
      .select({ id: logs.id })
      .from(logs)
      .where(and(gte(logs.created_at, since), await inPartitions(db, since, 0)))
      .orderBy(asc(logs.created_at), asc(logs.id))
      .limit(1);
    return row?.id ?? 0;
  };

  /** Ids of rows: of the newest one, and of the one PAGE rows after another, if there is one. */
  const newest = async (since: number): Promise<number> => {
    const within = await inPartitions(db, since, 0);
    const [row] = await db.read.select({ id: logs.id }).from(logs).where(within).orderBy(desc(logs.id)).limit(1);
    return row?.id ?? 0;
  };
  const pageAfter = async (id: number, since: number): Promise<number | undefined> => {
    const within = and(gt(logs.id, id), await inPartitions(db, since, 0));
    const rows = db.read.select({ id: logs.id }).from(logs).where(within).orderBy(asc(logs.id));
    return (await rows.limit(1).offset(PAGE - 1))[0]?.id;
  };

  /** `sign`: 1 counts them, -1 takes them back. */
  const add = (found: readonly Group[], sign: 1 | -1): void => {
    for (const group of found) {
      const failed = group.type === LOG_TYPE.error;
      // A caller's own mistake is no call that the channel served badly or well.
      if (failed && !isFault(group.code)) continue;
      const calls = sign * group.calls;
      const errors = failed || group.end_reason === "upstream_error" ? calls : 0;
      series.add(group.minute, group, { calls, errors, quota: sign * group.quota, seconds: sign * group.seconds });
      for (const { channel } of passedAttempts(group)) series.addAttempts(group.minute, channel, calls);
    }
  };

  return {
    get series() {
      return series;
    },
    async follow(minutes) {
      if (minutes > known) {
        series = new Series();
        settled = -1;
        unsettled = [];
        known = minutes;
      }
      const second = Math.floor(now() / 1000);
      const since = second - minutes * 60;
      const read = async (upTo: number | undefined): Promise<Group[]> => {
        const lastMinute = Math.floor(second / 60);
        const found = await groups(settled, upTo, since);
        return found.map((group) => ({ ...group, minute: Math.min(lastMinute, group.minute) }));
      };
      if (settled < 0) settled = (await firstSince(since)) - 1;
      const end = (await newest(since)) - slack;
      for (let page = 0; page < MOST_PAGES && settled < end; page++) {
        const upTo = Math.min((await pageAfter(settled, since)) ?? end, end);
        add(await read(upTo), 1);
        settled = upTo;
      }
      // Read before anything is taken back: a round that fails here changes nothing.
      const tail = settled >= end ? await read(undefined) : [];
      add(unsettled, -1);
      add(tail, 1);
      unsettled = tail;
      series.forgetBefore(Math.floor(since / 60));
    },
  };
}
