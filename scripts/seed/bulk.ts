/**
 * Millions of past calls, made by the database itself: rows of the log, their roll-ups, and the totals of users, tokens
 * and channels, so that `weir audit` passes. The same every time except for the run's name.
 */
import { sql } from "drizzle-orm";
import type { Db } from "../../src/server/db/types";
import { startsWith } from "../../src/server/db/sql";
import { reopenSteps, sumHours } from "../../src/server/features/log/sums";
import type { Ledger } from "../../src/server/contracts/ledger";
import { LOG_TYPE } from "../../src/shared/log";
import type { Person, SeededChannel } from "./people";

export interface BulkSpec {
  people: readonly Person[];
  channels: readonly SeededChannel[];
  count: number;
  /** How far back they go from `end`, epoch seconds. */
  seconds: number;
  end: number;
}

/** Rows of one statement: SQLite's writer is busy for about a second. */
const CHUNK = 100_000;
/** One call in so many failed. */
const FAILED_EVERY = 40;

/** As long as that of a usual row. */
const OTHER = JSON.stringify({
  model_ratio: 1.25,
  completion_ratio: 4,
  model_price: -1,
  group_ratio: 1,
  user_group_ratio: -1,
  group: "default",
  frt: 420,
  cache_tokens: 0,
  cache_ratio: 0.5,
  request_path: "/v1/chat/completions",
  client_type: "openai-node",
  end_reason: "complete",
  bill: [],
  admin_info: {
    use_channel: ["1"],
    attempts: [
      {
        channel: 1,
        channel_name: "one",
        status: 200,
        failure: "",
        message: "",
        start_ms: 2,
        duration_ms: 2400,
        first_content_ms: 420,
        upstream_request_id: "",
      },
    ],
  },
});

const text = (value: string): string => `'${value.replaceAll("'", "''")}'`;

/** Runs statements that this script made, on either engine. */
async function exec(db: Db, statement: string): Promise<void> {
  if (db.driver.sqlite) db.driver.sqlite.run(statement);
  else await db.driver.postgres.within("command").unsafe(statement);
}

/** Every combination of caller and model: one line each, numbered from 0. */
function combinations({ people, channels }: BulkSpec): string[] {
  const lines: string[] = [];
  for (const person of people) {
    for (const token of person.tokens) {
      for (const channel of channels) {
        for (const model of channel.models) {
          lines.push(
            `(${lines.length}, ${person.id}, ${text(person.username)}, ${token.id}, ${text(token.name)}, ${channel.id}, ${text(channel.name)}, ${text(model)}, ${text(person.group)})`,
          );
        }
      }
    }
  }
  return lines;
}

/** Makes `count` rows with their roll-ups and totals. */
export async function makeBulk({ db, ledger }: { db: Db; ledger: Ledger }, spec: BulkSpec): Promise<void> {
  const run = crypto.randomUUID().slice(0, 8);
  const lines = combinations(spec);
  const columns = "k, user_id, username, token_id, token_name, channel, channel_name, model_name, grp";
  const first = spec.end - spec.seconds;
  for (let made = 0; made < spec.count; made += CHUNK) {
    const last = Math.min(made + CHUNK, spec.count);
    const numbers =
      db.engine === "sqlite"
        ? `numbers(n) AS (SELECT ${made} UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ${last})`
        : `numbers(n) AS (SELECT generate_series(${made}::bigint, ${last - 1}::bigint))`;
    // A hash of the number instead of a random one: the multiplier is Knuth's, 2^32 divided by the golden ratio.
    await exec(
      db,
      `
      INSERT INTO logs (request_id, created_at, type, user_id, username, token_id, token_name, channel, channel_name, "group", model_name,
        quota, prompt_tokens, completion_tokens, use_time, is_stream, content, other, end_reason, ip, upstream_request_id, folded)
      WITH RECURSIVE ${numbers},
        ways(${columns}) AS (VALUES ${lines.join(",")}),
        calls AS (SELECT n, n * 2654435761 % 4294967296 AS h, n % ${FAILED_EVERY} = ${FAILED_EVERY - 1} AS failed FROM numbers)
      SELECT 'bulk-${run}-' || n, ${first} + n * ${spec.seconds} / ${spec.count}, CASE WHEN failed THEN ${LOG_TYPE.error} ELSE ${LOG_TYPE.consume} END,
        user_id, username, token_id, token_name, channel, channel_name, grp, model_name,
        CASE WHEN failed THEN 0 ELSE 100 + h % 5000 END, CASE WHEN failed THEN 0 ELSE 20 + h % 3000 END, CASE WHEN failed THEN 0 ELSE 10 + h % 900 END,
        h % 20, h % 10 < 7, '', ${text(OTHER)}, CASE WHEN failed THEN 'upstream_error' ELSE 'complete' END, '10.0.0.' || h % 250, 'req_bulk${run}' || n, 1
      FROM calls JOIN ways ON ways.k = (h / 7) % ${lines.length}`,
    );
  }
  await exec(
    db,
    `
    INSERT INTO usage_hourly ("hour", user_id, token_id, channel, model_name, "group", username, "count", error_count, quota, prompt_tokens, completion_tokens, use_time)
    SELECT created_at - created_at % 3600, user_id, token_id, channel, model_name, "group", max(username),
      sum(CASE type WHEN ${LOG_TYPE.consume} THEN 1 ELSE 0 END), sum(CASE type WHEN ${LOG_TYPE.error} THEN 1 ELSE 0 END),
      sum(quota), sum(prompt_tokens), sum(completion_tokens), sum(CASE type WHEN ${LOG_TYPE.consume} THEN use_time ELSE 0 END)
    FROM logs WHERE substr(request_id, 1, ${run.length + 6}) = 'bulk-${run}-'
    GROUP BY created_at - created_at % 3600, user_id, token_id, channel, model_name, "group"
    ON CONFLICT ("hour", user_id, token_id, channel, model_name, "group") DO UPDATE SET
      ${["count", "error_count", "quota", "prompt_tokens", "completion_tokens", "use_time"].map((name) => `"${name}" = usage_hourly."${name}" + excluded."${name}"`).join(", ")}`,
  );
  await exec(
    db,
    `
    INSERT INTO failed_attempts ("hour", channel, model_name, "count")
    SELECT created_at - created_at % 3600, channel, model_name, count(*)
    FROM logs WHERE substr(request_id, 1, ${run.length + 6}) = 'bulk-${run}-' AND type = ${LOG_TYPE.error}
    GROUP BY created_at - created_at % 3600, channel, model_name
    ON CONFLICT ("hour", channel, model_name) DO UPDATE SET "count" = failed_attempts."count" + excluded."count"`,
  );
  // An earlier run may have summed these hours.
  await db.tx((q) => reopenSteps(db, q, 0));
  while ((await sumHours(db, spec.end)) > 0);
  await settleTotals({ db, ledger }, spec, run);
  await exec(db, "ANALYZE");
}

/** Credits every user with the cost of their calls and takes it again, as if each had been charged. */
async function settleTotals(
  { db, ledger }: { db: Db; ledger: Ledger },
  { people, channels }: BulkSpec,
  run: string,
): Promise<void> {
  const { logs } = db.t;
  const calls = sql<number>`sum(CASE ${logs.type} WHEN ${LOG_TYPE.consume} THEN 1 ELSE 0 END)`.mapWith(Number);
  const spent = await db.q
    .select({
      user_id: logs.user_id,
      token_id: logs.token_id,
      channel: logs.channel,
      quota: sql<number>`sum(${logs.quota})`.mapWith(Number),
      calls,
    })
    .from(logs)
    .where(startsWith(logs.request_id, `bulk-${run}-`))
    .groupBy(logs.user_id, logs.token_id, logs.channel);
  const of = (field: "user_id" | "token_id" | "channel", id: number) => {
    const rows = spent.filter((row) => row[field] === id);
    return {
      quota: rows.reduce((sum, row) => sum + row.quota, 0),
      calls: rows.reduce((sum, row) => sum + row.calls, 0),
    };
  };
  for (const person of people) {
    const { quota, calls } = of("user_id", person.id);
    if (quota > 0)
      await ledger.credit({
        user_id: person.id,
        amount: quota,
        kind: "adjust",
        idempotency_key: `bulk:${run}:${person.id}`,
      });
    await exec(
      db,
      `UPDATE users SET quota = quota - ${quota}, used_quota = used_quota + ${quota}, request_count = request_count + ${calls} WHERE id = ${person.id}`,
    );
    for (const token of person.tokens)
      await exec(
        db,
        `UPDATE tokens SET used_quota = used_quota + ${of("token_id", token.id).quota} WHERE id = ${token.id}`,
      );
  }
  for (const channel of channels)
    await exec(
      db,
      `UPDATE channels SET used_quota = used_quota + ${of("channel", channel.id).quota} WHERE id = ${channel.id}`,
    );
}
