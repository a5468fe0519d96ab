/**
 * Roll-ups: folds new log rows into channel totals and hourly sums, once a second, by one lease holder. A row is
 * claimed (`folded` 0 -> 1) in the transaction that adds it, so sums equal the log to the unit and lag it by about a
 * second. Not a watermark on ids: rows commit out of the order of their ids. The ledger counts charges in
 * the commit that charges (docs/decisions/0011-hot-path.md); what is left to fold are errors, refunds, charges that
 * took several attempts, those of the release before on Postgres, and there what charges added to channels.
 */
import { and, asc, eq, inArray, type SQL, sql } from "drizzle-orm";
import { LOG_TYPE, type RepeatedRefusal } from "../../../shared/log";
import type { Cluster } from "../../cluster/types";
import type { Db, Q } from "../../db/types";
import { run, type Steps } from "../../db/transaction";
import { jsonNumber } from "../../db/sql";
import { type FailedAttempt, failedAttempts, severalAttempts } from "./failed-attempts";
import { type CallFigures, figuresOf } from "./hour-sums";
import { rowKey } from "./partitions";
import { reopenSteps, sumHours } from "./sums";

/** Small, because on SQLite the main thread waits: measured 2.4 ms. */
const BATCH = 200;
/** A round ends after this many batches; the next timer goes on. */
const MAX_BATCHES = 50;

/** How long an instance leaves the fold to another that was found at it: eight that asked each second took 50 ms. */
const BELIEVED_MS = 5_000;

/** Folds new rows, if this instance has the lease. Returns how many rows were folded here. */
export async function fold({ db, cluster, now }: { db: Db; cluster: Cluster; now: () => number }): Promise<number> {
  let folded = 0;
  const work = async (): Promise<void> => {
    for (let batch = 0; batch < MAX_BATCHES; batch++) {
      const rows = await foldBatch(db);
      folded += rows;
      if (rows < BATCH) break;
      await new Promise((resolve) => setImmediate(resolve)); // streams first
    }
    await sumHours(db, Math.floor(now() / 1000));
  };
  await cluster.lease.hold("fold", work, { believedMs: BELIEVED_MS });
  return folded;
}

/** One transaction: claims up to 200 rows and adds them. Exactly once, even if two run at the same time. */
export const foldBatch = (db: Db): Promise<number> => db.tx((q) => foldSteps(db, q), { long: true });

type HourRow = Db["t"]["usage_hourly"]["$inferInsert"];
type Sums = Required<
  Pick<HourRow, "count" | "error_count" | "quota" | "prompt_tokens" | "completion_tokens" | "use_time">
> &
  CallFigures;
/** The sums of one user, token, channel, model and group that are added to one hour. */
export type Hour = HourRow & Sums;
export const NOTHING: Sums = {
  count: 0,
  error_count: 0,
  quota: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  use_time: 0,
  upstream_cost: 0,
  costed_quota: 0,
  first_token_ms: 0,
  first_tokens: 0,
};

/** How many more refusals a row stands for (refusals.ts). */
export const repeatedOf = (db: Pick<Db, "engine">): SQL<number> =>
  sql<number>`case when "type" = ${sql.raw(String(LOG_TYPE.error))} then ${jsonNumber(db, sql`other`, "repeated" satisfies keyof RepeatedRefusal)} else 0 end`;

/** Milliseconds to the first content of a charged stream, below 0 for every other row. */
const firstToken = (db: Pick<Db, "engine">): SQL<number> =>
  sql`case when "type" = ${sql.raw(String(LOG_TYPE.consume))} then ${jsonNumber(db, sql`other`, "frt", sql.raw("-1"))} else -1 end`;

/**
 * Marks up to 200 rows as folded and returns them. The condition is a literal: with a parameter the partial index is
 * not used.
 */
export function claim(db: Db, q: Q) {
  const { logs } = db.t;
  const unfolded = q
    .select({ key: rowKey(db) })
    .from(logs)
    .where(sql`${logs.folded} = 0`)
    .orderBy(asc(logs.id))
    .limit(BATCH);
  return q
    .update(logs)
    .set({ folded: 1 })
    .where(and(inArray(rowKey(db), unfolded), sql`${logs.folded} = 0`))
    .returning({
      type: logs.type,
      created_at: logs.created_at,
      user_id: logs.user_id,
      username: logs.username,
      token_id: logs.token_id,
      channel: logs.channel,
      model_name: logs.model_name,
      group: logs.group,
      quota: logs.quota,
      prompt_tokens: logs.prompt_tokens,
      completion_tokens: logs.completion_tokens,
      use_time: logs.use_time,
      upstream_cost: logs.upstream_cost,
      code: logs.code,
      end_reason: logs.end_reason,
      several: severalAttempts(db),
      first_token: firstToken(db).mapWith(Number),
      repeated: repeatedOf(db).mapWith(Number),
    });
}

function* foldSteps(db: Db, q: Q): Steps<number> {
  const { channels } = db.t;
  const rows = yield* run(claim(db, q));
  const hours: Hour[] = [];
  const failed: FailedInHour[] = [];
  const perChannel = new Map<number, number>();
  for (const row of rows) {
    const part = sumsOf(row);
    if (!part) continue;
    const hour = row.created_at - (row.created_at % 3600);
    for (const attempt of failedAttempts(row)) failed.push({ ...attempt, hour });
    const { user_id, username, token_id, channel, model_name, group } = row;
    hours.push({ ...part, hour, user_id, username, token_id, channel, model_name, group });
    if (channel !== 0) perChannel.set(channel, (perChannel.get(channel) ?? 0) + part.quota);
  }
  yield* addToHours(db, q, hours);
  yield* addFailedAttempts(db, q, failed);
  for (const [id, quota] of [...perChannel].sort(([a], [b]) => a - b)) {
    if (quota === 0) continue;
    yield* run(
      q
        .update(channels)
        .set({ used_quota: sql`${channels.used_quota} + ${quota}` })
        .where(eq(channels.id, id)),
    );
  }
  if (db.engine === "postgres") yield* run(q.select({ done: sql`done::text` }).from(sql`channel_spend_1() AS done`));
  return rows.length;
}

const keyOf = ({ hour, user_id, token_id, channel, model_name, group }: Hour): string =>
  [hour, user_id, token_id, channel, model_name, group].join("\n");

/** The order in which everyone locks hours, `ledger_batch_2` included, so that two transactions never deadlock. */
const inOrder = (a: Hour, b: Hour): number =>
  a.hour - b.hour ||
  a.user_id - b.user_id ||
  a.token_id - b.token_id ||
  a.channel - b.channel ||
  Buffer.from(a.model_name).compare(Buffer.from(b.model_name)) ||
  Buffer.from(a.group).compare(Buffer.from(b.group));

/** Adds to roll-ups. */
export function* addToHours(db: Db, q: Q, hours: readonly Hour[]): Steps<void> {
  if (hours.length === 0) return;
  const { usage_hourly: t } = db.t;
  const sums = new Map<string, Hour>();
  for (const part of hours) {
    const key = keyOf(part);
    const sum = sums.get(key);
    if (!sum) sums.set(key, { ...part });
    else for (const name of SUM_NAMES) sum[name] += part[name];
  }
  const values = [...sums.values()].sort(inOrder);
  yield* run(
    q
      .insert(t)
      .values(values)
      .onConflictDoUpdate({
        target: [t.hour, t.user_id, t.token_id, t.channel, t.model_name, t.group],
        set: {
          username: sql`excluded.username`,
          ...Object.fromEntries(SUM_NAMES.map((name) => [name, sql`${t[name]} + ${sql.raw(`excluded.${name}`)}`])),
        },
      }),
  );
  yield* reopenSteps(db, q, Math.min(...values.map(({ hour }) => hour)));
}

type FailedInHour = FailedAttempt & { hour: number };

/** Adds one for each. */
function* addFailedAttempts(db: Db, q: Q, failed: readonly FailedInHour[]): Steps<void> {
  if (failed.length === 0) return;
  const { failed_attempts: t } = db.t;
  const counts = Map.groupBy(failed, ({ hour, channel, model_name }) => [hour, channel, model_name].join("\n"));
  // A fixed order, so that two transactions never deadlock.
  const values = [...counts.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, same]) => same.slice(0, 1).map((one) => ({ ...one, count: same.length })));
  yield* run(
    q
      .insert(t)
      .values(values)
      .onConflictDoUpdate({
        target: [t.hour, t.channel, t.model_name],
        set: { count: sql`${t.count} + ${sql.raw('excluded."count"')}` },
      }),
  );
}

const SUM_NAMES = Object.keys(NOTHING) as (keyof Sums)[];

/**
 * What a row adds: a consumption its charge, an error its count and the refusals it stands for, a refund takes its
 * charge back, others nothing.
 */
function sumsOf(row: Folded): Sums | undefined {
  const { quota, prompt_tokens, completion_tokens, use_time } = row;
  if (row.type === LOG_TYPE.consume) {
    const figures = figuresOf(quota, row.upstream_cost, row.first_token);
    return { count: 1, error_count: 0, quota, prompt_tokens, completion_tokens, use_time, ...figures };
  }
  if (row.type === LOG_TYPE.error) return { ...NOTHING, error_count: 1 + row.repeated };
  if (row.type === LOG_TYPE.refund) {
    // Without a cost the charge had none either, and is no part of the margin.
    const { upstream_cost: cost } = row;
    return { ...NOTHING, quota: -quota, ...(cost !== null && { upstream_cost: cost, costed_quota: -quota }) };
  }
  return undefined;
}

type Folded = Pick<Sums, "quota" | "prompt_tokens" | "completion_tokens" | "use_time"> & {
  type: number;
  repeated: number;
  upstream_cost: number | null;
  first_token: number;
};
