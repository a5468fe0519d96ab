/**
 * The audit: does the ledger balance? Every check is one statement, so one snapshot: it may run beside live traffic. On
 * SQLite it uses the read connections. Returns every row that breaks a rule; an empty answer is a clean audit.
 */
import { type SQL, sql } from "drizzle-orm";
import { DIMENSIONS } from "../../../shared/dashboard";
import { LOG_TYPE } from "../../../shared/log";
import type { Db } from "../../db/types";
import { logCompleteSince } from "../log/clean";
import { repeatedOf } from "../log/fold";
import { DIMENSION_COLUMN, SUMMED } from "../log/sums";
import { WALLET_RULES, WALLET_STATEMENTS } from "./audit-wallet";

export interface Finding {
  /** Which rule, a key of AUDIT_RULES. */
  rule: keyof typeof AUDIT_RULES;
  /** Which row: "users 7", "usage_hourly 1795262400/7/1/1/gpt-4o/default". */
  row: string;
  /** Units (or calls) by the rule, and as found. */
  expected: number;
  found: number;
}

export const AUDIT_RULES = {
  balance: "a user's quota + holds + used_quota = the sum of his credits",
  user_charges: "a user's used_quota = the charges minus refunds in roll-ups and unfolded log",
  user_calls: "a user's request_count = the calls in roll-ups and unfolded log",
  token_charges: "a token's used_quota = the charges minus refunds in roll-ups and unfolded log",
  channel_total: "a channel's used_quota = the sum of its roll-ups, but for what is not added to it yet",
  hourly_quota: "an hour's charges minus refunds = those of the folded log",
  hourly_count: "an hour's calls and errors = those of the folded log",
  sums_quota: "an hour's units by model, user, channel, token or group = those of its roll-ups",
  sums_count: "an hour's calls and errors by one of these = those of its roll-ups",
  ...WALLET_RULES,
} as const;

/** Net units of a log row. */
const NET = sql.raw(`CASE "type" WHEN ${LOG_TYPE.consume} THEN quota WHEN ${LOG_TYPE.refund} THEN -quota ELSE 0 END`);
const CALL = sql.raw(`CASE "type" WHEN ${LOG_TYPE.consume} THEN 1 ELSE 0 END`);
const entries = (db: Db): SQL =>
  sql`CASE WHEN "type" IN (${sql.raw(`${LOG_TYPE.consume}, ${LOG_TYPE.error}`)}) THEN 1 + ${repeatedOf(db)} ELSE 0 END`;

/** Sum of `hourly` in roll-ups plus `log` in the unfolded log, by `column`. */
const counted = (column: "user_id" | "token_id", hourly: SQL, log: SQL) => sql`
  SELECT owner, sum(n) AS n FROM (
    SELECT ${sql.raw(column)} AS owner, ${hourly} AS n FROM usage_hourly
    UNION ALL SELECT ${sql.raw(column)}, ${log} FROM logs WHERE folded = 0
  ) AS parts GROUP BY owner`;

/** Rows of `table` whose `column` differs from `sums` (owner, n). */
const differing = (table: string, column: string, sums: SQL) => sql`
  SELECT '${sql.raw(table)} ' || x.id AS name, coalesce(s.n, 0) AS expected, x.${sql.raw(column)} AS found
  FROM ${sql.raw(table)} AS x LEFT JOIN (${sums}) AS s ON s.owner = x.id
  WHERE x.${sql.raw(column)} <> coalesce(s.n, 0)`;

/**
 * The first hour whose rows are all there: cleaning removes rows and keeps roll-ups. Part of the statement, so that a
 * cleaning that begins meanwhile is not a finding.
 */
const SINCE = sql`(${logCompleteSince()} + 3599) / 3600 * 3600`;

/** Hours whose roll-up differs from the folded log in either direction. */
const hours = (hourly: SQL, log: SQL) => sql`
  SELECT 'usage_hourly ' || "hour" || '/' || user_id || '/' || token_id || '/' || channel || '/' || model_name
      || '/' || "group" AS name,
    sum(logged) AS expected, sum(rolled) AS found
  FROM (
    SELECT "hour", user_id, token_id, channel, model_name, "group", ${hourly} AS rolled, 0 AS logged
    FROM usage_hourly WHERE "hour" >= ${SINCE}
    UNION ALL
    SELECT created_at - created_at % 3600, user_id, token_id, channel, model_name, "group", 0, ${log}
    FROM logs WHERE folded = 1 AND created_at >= ${SINCE}
  ) AS both_sides
  GROUP BY "hour", user_id, token_id, channel, model_name, "group"
  HAVING sum(logged) <> sum(rolled)`;

/** Items of usage_sums that differ from the hours they were added up from, in either direction. */
const sums = (value: SQL) => sql`
  SELECT 'usage_sums ' || dimension || '/' || "hour" || '/' || item AS name, sum(rolled) AS expected, sum(summed) AS found
  FROM (
    SELECT dimension, "hour", item, 0 AS rolled, ${value} AS summed FROM usage_sums
    ${sql.join(
      DIMENSIONS.map(
        (dimension) => sql`
        UNION ALL SELECT '${sql.raw(dimension)}', "hour", cast(${sql.raw(DIMENSION_COLUMN[dimension])} AS text), ${value}, 0 FROM usage_hourly`,
      ),
      sql``,
    )}
  ) AS both_sides
  WHERE "hour" < ${SUMMED}
  GROUP BY dimension, "hour", item
  HAVING sum(rolled) <> sum(summed)`;

function statements(db: Db): Record<Finding["rule"], SQL> {
  return {
    balance: sql`
      SELECT 'users ' || u.id AS name, coalesce(c.n, 0) AS expected, u.quota + u.used_quota + coalesce(h.n, 0) AS found
      FROM users AS u
      LEFT JOIN (SELECT user_id, sum(amount) AS n FROM credits GROUP BY user_id) AS c ON c.user_id = u.id
      LEFT JOIN (SELECT user_id, sum(amount) AS n FROM holds GROUP BY user_id) AS h ON h.user_id = u.id
      WHERE u.quota + u.used_quota + coalesce(h.n, 0) <> coalesce(c.n, 0)`,
    user_charges: differing("users", "used_quota", counted("user_id", sql`quota`, NET)),
    user_calls: differing("users", "request_count", counted("user_id", sql`"count"`, CALL)),
    token_charges: differing("tokens", "used_quota", counted("token_id", sql`quota`, NET)),
    channel_total: differing(
      "channels",
      "used_quota",
      sql`SELECT channel AS owner, sum(n) AS n FROM (
        SELECT channel, quota AS n FROM usage_hourly ${db.engine === "postgres" ? sql`UNION ALL SELECT channel, -amount FROM channel_spend` : sql``}
      ) AS parts GROUP BY channel`,
    ),
    hourly_quota: hours(sql`quota`, NET),
    hourly_count: hours(sql`"count" + error_count`, entries(db)),
    sums_quota: sums(sql`quota`),
    sums_count: sums(sql`"count" + error_count`),
    ...WALLET_STATEMENTS,
  };
}

/** Yields every row that breaks a rule of AUDIT_RULES. */
export async function* audit(db: Db): AsyncGenerator<Finding> {
  for (const [rule, statement] of Object.entries(statements(db)) as [Finding["rule"], SQL][]) {
    const rows = await db.read
      .select({
        row: sql<string>`name`,
        expected: sql<number>`expected`.mapWith(Number),
        found: sql<number>`found`.mapWith(Number),
      })
      .from(sql`(${statement}) AS findings`)
      .orderBy(sql`name`);
    for (const row of rows) yield { rule, ...row };
  }
}
