/**
 * Sums of calls by minute and subject, which rules are judged on. The lease holder keeps them in memory and reads only
 * rows that are new: by id, because rows are inserted when a call has ended. A holder that is new reads the longest
 * window once. A call counts in the minute in which it ended.
 */
import { and, asc, gt, gte, inArray, ne } from "drizzle-orm";
import { ALERT_SUBJECTS, type AlertSubject, type Measure } from "../../../shared/alert-rules";
import { FOLDED, LOG_TYPE } from "../../../shared/log";
import type { Services } from "../../contracts/context";
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

/** A call as the series count it. */
export interface SeriesRow {
  /** Epoch seconds at its end. */
  ended: number;
  channel: number;
  model_name: string;
  group: string;
  user_id: number;
  failed: boolean;
  quota: number;
  seconds: number;
}

const NONE: Readonly<Sums> = { calls: 0, errors: 0, quota: 0, seconds: 0 };
const add = (sums: Sums, more: Readonly<Sums>): void => {
  sums.calls += more.calls;
  sums.errors += more.errors;
  sums.quota += more.quota;
  sums.seconds += more.seconds;
};

export const measureOf = (sums: Readonly<Sums>, measure: Measure): number =>
  measure === "seconds" ? (sums.calls === 0 ? 0 : sums.seconds / sums.calls) : sums[measure];

export class Series implements SeriesReader {
  readonly #minutes = new Map<number, Map<AlertSubject, Map<string, Sums>>>();

  add({ ended, failed, quota, seconds, ...row }: SeriesRow): void {
    const sums = { calls: 1, errors: failed ? 1 : 0, quota, seconds };
    const items: Record<AlertSubject, string> = {
      server: "",
      channel: row.channel === 0 ? "0" : String(row.channel),
      model: row.model_name,
      group: row.group,
      user: row.user_id === 0 ? "0" : String(row.user_id),
    };
    for (const per of ALERT_SUBJECTS) if (items[per] !== "0") this.#add(ended, per, items[per], sums);
  }

  /** An attempt at a channel that failed although the call went on at another one. */
  addAttempt(ended: number, channel: number): void {
    this.#add(ended, "channel", String(channel), { ...NONE, calls: 1, errors: 1 });
  }

  #add(ended: number, per: AlertSubject, item: string, sums: Readonly<Sums>): void {
    const minute = Math.floor(ended / 60);
    let bucket = this.#minutes.get(minute);
    if (!bucket) this.#minutes.set(minute, (bucket = new Map()));
    let items = bucket.get(per);
    if (!items) bucket.set(per, (items = new Map()));
    const known = items.get(item);
    if (known) add(known, sums);
    else items.set(item, { ...sums });
  }

  sums(per: AlertSubject, first: number, last: number): ReadonlyMap<string, Readonly<Sums>> {
    const all = new Map<string, Sums>();
    for (const [minute, bucket] of this.#minutes) {
      if (minute < first || minute > last) continue;
      for (const [item, sums] of bucket.get(per) ?? []) {
        const known = all.get(item);
        if (known) add(known, sums);
        else all.set(item, { ...sums });
      }
    }
    return all;
  }

  forgetBefore(minute: number): void {
    for (const known of this.#minutes.keys()) if (known < minute) this.#minutes.delete(known);
  }
}

/** Rows may be committed out of the order of their ids by so many. */
const SLACK = 1_000;
const PAGE = 5_000;
/** Rows of one round; what is beyond is read in the next. */
const MOST_PAGES = 20;

/** Follows the log. */
export interface SeriesFeed {
  readonly series: Series;
  /** Reads what is new; the first time, and when the window grows, what the last `minutes` hold. */
  follow(minutes: number): Promise<void>;
}

export function createFeed({ db, now }: Pick<Services, "db" | "now">): SeriesFeed {
  const { logs } = db.t;
  let series = new Series();
  let newest = -1;
  let seen = new Set<number>();
  let known = 0;

  const page = async (after: number, since: number) =>
    db.read
      .select({
        id: logs.id,
        type: logs.type,
        created_at: logs.created_at,
        use_time: logs.use_time,
        channel: logs.channel,
        model_name: logs.model_name,
        group: logs.group,
        user_id: logs.user_id,
        code: logs.code,
        end_reason: logs.end_reason,
        quota: logs.quota,
        several: severalAttempts(db),
      })
      .from(logs)
      .where(
        and(
          gt(logs.id, after),
          gte(logs.created_at, since),
          inArray(logs.type, [LOG_TYPE.consume, LOG_TYPE.error]),
          ne(logs.folded, FOLDED.never),
          await inPartitions(db, since, 0),
        ),
      )
      .orderBy(asc(logs.id))
      .limit(PAGE);

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

  return {
    get series() {
      return series;
    },
    async follow(minutes) {
      if (minutes > known) {
        series = new Series();
        seen = new Set();
        newest = -1;
        known = minutes;
      }
      const second = Math.floor(now() / 1000);
      const since = second - minutes * 60;
      let after = (newest < 0 ? await firstSince(since) : newest) - SLACK;
      for (let round = 0; round < MOST_PAGES; round++) {
        const rows = await page(after, since);
        for (const row of rows) {
          after = row.id;
          if (seen.has(row.id)) continue;
          seen.add(row.id);
          newest = Math.max(newest, row.id);
          const ended = Math.min(second, row.created_at + row.use_time);
          const failed = row.type === LOG_TYPE.error;
          // A caller's own mistake is no call that the channel served badly or well.
          if (failed && !isFault(row.code)) continue;
          series.add({ ...row, ended, failed: failed || row.end_reason === "upstream_error", seconds: row.use_time });
          for (const { channel } of passedAttempts(row)) series.addAttempt(ended, channel);
        }
        if (rows.length < PAGE) break;
      }
      for (const id of seen) if (id < newest - SLACK) seen.delete(id);
      series.forgetBefore(Math.floor(since / 60));
    },
  };
}
