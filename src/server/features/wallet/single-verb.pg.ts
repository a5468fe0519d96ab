/**
 * A verb of the ledger on Postgres alone: one statement, so one round trip and one commit. It costs half of what the
 * function for batches costs for one verb, which is every verb of a caller who is alone.
 *
 * A statement with several data-modifying CTEs does not undo the first when a later one finds nothing, and every CTE
 * sees the snapshot from before the waiting. So each verb first locks (FOR NO KEY UPDATE: user, then token; a locked
 * row is read in its newest version), decides from what it locked, and only then writes.
 */
import { FOLDED, LOG_TYPE } from "../../../shared/log";
import { CHARGE_LIMIT, UNITS_LIMIT } from "../../../shared/quota";
import { USER_STATUS } from "../../../shared/roles";
import { TOKEN_STATUS } from "../../../shared/token";
import type { LimitsAnswer } from "../../cluster/types";
import type { HoldRequest } from "../../contracts/ledger";
import { postgresText } from "../../db/arrays";
import type { Connections } from "../../db/connection-types";
import { isUniqueViolation } from "../../db/errors";
import { ADDED_TO_HOUR, firstTokenOf, HOUR_COLUMNS } from "../log/hour-sums";
import { MARKED_AFTER, SUMMED_UNTIL } from "../log/sums";
import { LOG_COLUMN_LIST, LOG_COLUMN_TYPES, LOG_COLUMNS, logValues } from "./call-log";
import { type Answer, CHARGED, FOUND, type Verb } from "./verb.pg";

/**
 * A hold waits for no disk: what a crash of the server takes back is the hold and its units, at once, and its call is
 * charged all the same when it ends. The setting ends with the statement.
 */
export const NO_DISK = "set_config('synchronous_commit', 'off', true)";

/** $1 request_id, $2 user, $3 token, $4 amount, $5 epoch seconds, $6 instance, $7 draft, $8 least */
export const HOLD = `
WITH u AS MATERIALIZED (
  SELECT id, quota, status = ${USER_STATUS.active} AND deleted_at IS NULL AS usable FROM users WHERE id = $2::bigint FOR NO KEY UPDATE
), t AS MATERIALIZED (
  SELECT tokens.id, remain_quota, unlimited_quota,
    tokens.status = ${TOKEN_STATUS.enabled} AND tokens.deleted_at IS NULL AND tokens.user_id = u.id
      AND (expired_time = -1 OR expired_time > $5::bigint) AS usable
  FROM u JOIN tokens ON tokens.id = $3::bigint FOR NO KEY UPDATE OF tokens
), purse AS MATERIALIZED (
  SELECT u.usable AS user_usable, u.quota, t.usable AS token_usable, t.remain_quota, coalesce(NOT t.unlimited_quota, false) AS limited,
    least(u.quota, CASE WHEN NOT t.unlimited_quota THEN t.remain_quota END) AS rest
  FROM (SELECT 1) AS one LEFT JOIN u ON true LEFT JOIN t ON true
), wanted AS MATERIALIZED (
  SELECT *, least($4::bigint, greatest($8::bigint, rest / 4)) AS held FROM purse
), verdict AS MATERIALIZED (
  SELECT CASE
      WHEN user_usable IS NOT TRUE THEN 'user_unusable'
      WHEN quota <= 0 OR quota < held THEN 'user_quota'
      WHEN $3::bigint <> 0 AND token_usable IS NOT TRUE THEN 'token_unusable'
      WHEN limited AND remain_quota < held THEN 'token_quota'
      ELSE 'ok'
    END AS reason,
    coalesce(quota, 0) AS user_balance, coalesce(remain_quota, 0) AS token_balance, coalesce(rest, 0) AS rest,
    held, CASE WHEN limited THEN held ELSE 0 END AS token_amount
  FROM wanted
), user_pays AS (
  UPDATE users SET quota = users.quota - held FROM verdict
  WHERE verdict.reason = 'ok' AND held > 0 AND users.id = $2::bigint
), token_pays AS (
  UPDATE tokens SET remain_quota = tokens.remain_quota - verdict.token_amount FROM verdict
  WHERE verdict.reason = 'ok' AND verdict.token_amount > 0 AND tokens.id = $3::bigint
), held AS (
  INSERT INTO holds (request_id, user_id, token_id, amount, token_amount, created_at, instance_id, draft)
  SELECT $1::text, $2::bigint, $3::bigint, held, token_amount, $5::bigint, $6::text, $7::text
  FROM verdict WHERE reason = 'ok'
)
SELECT reason, user_balance, token_balance, rest, held, ${NO_DISK} FROM verdict`;

/**
 * Locks user and token of the hold named by $1; `locked` has a row when that hold was there, and comes after the locks.
 */
const LOCK_BY_HOLD = `
WITH h AS MATERIALIZED (
  SELECT user_id, token_id FROM holds WHERE request_id = $1::text
), u AS MATERIALIZED (
  SELECT users.id, quota FROM h JOIN users ON users.id = h.user_id FOR NO KEY UPDATE OF users
), t AS MATERIALIZED (
  SELECT tokens.id, remain_quota, unlimited_quota
  FROM h CROSS JOIN u JOIN tokens ON tokens.id = h.token_id FOR NO KEY UPDATE OF tokens
), locked AS MATERIALIZED (
  SELECT u.id AS user_id, u.quota, t.id AS token_id, t.remain_quota, coalesce(NOT t.unlimited_quota, false) AS limited
  FROM u LEFT JOIN t ON true
)`;

/** $1 request_id, $2 amount, $3 running */
export const EXTEND = `${LOCK_BY_HOLD}, verdict AS MATERIALIZED (
  SELECT user_id, token_id, limited,
    quota >= $2::bigint AND (NOT limited OR remain_quota >= $2::bigint) AS covered
  FROM locked
), extended AS (
  UPDATE holds SET
    amount = holds.amount + CASE WHEN covered THEN $2::bigint ELSE 0 END,
    token_amount = holds.token_amount + CASE WHEN covered AND limited THEN $2::bigint ELSE 0 END,
    running = $3::bigint
  FROM verdict WHERE holds.request_id = $1::text
  RETURNING verdict.user_id, verdict.token_id, limited, covered
), user_pays AS (
  UPDATE users SET quota = users.quota - $2::bigint FROM extended
  WHERE covered AND $2::bigint > 0 AND users.id = extended.user_id
), token_pays AS (
  UPDATE tokens SET remain_quota = tokens.remain_quota - $2::bigint FROM extended
  WHERE covered AND limited AND $2::bigint > 0 AND tokens.id = extended.token_id
)
SELECT covered, ${NO_DISK} FROM extended`;

/** $1 request_id */
export const RELEASE = `${LOCK_BY_HOLD}, gone AS (
  DELETE FROM holds USING locked WHERE holds.request_id = $1::text
  RETURNING holds.user_id, holds.token_id, holds.amount, holds.token_amount
), user_gets AS (
  UPDATE users SET quota = users.quota + gone.amount FROM gone WHERE users.id = gone.user_id
), token_gets AS (
  UPDATE tokens SET remain_quota = tokens.remain_quota + gone.token_amount FROM gone
  WHERE gone.token_amount > 0 AND tokens.id = gone.token_id
)
SELECT 1 AS released FROM gone`;

/** The log row's columns are the parameters from $9 on. */
const FIRST_LOG_PARAMETER = 9;

/**
 * $1 request_id, $2 user, $3 token, $4 charge, $5 epoch seconds, $6 whether nothing may happen without a hold, $7 the
 * row's `folded`, $8 milliseconds to the first content or null, then the log row. `due` is the part of the charge
 * within UNITS_LIMIT, as in `chargeable` of call-log.ts. `charged` comes after the locks, so of two settles the second
 * waits at the user's row and then meets the first one's log row.
 */
const settleText = (whenLogged: string): string => `
WITH u AS MATERIALIZED (
  SELECT id, quota, used_quota FROM users WHERE id = $2::bigint FOR NO KEY UPDATE
), t AS MATERIALIZED (
  SELECT tokens.id, remain_quota, unlimited_quota FROM u JOIN tokens ON tokens.id = $3::bigint FOR NO KEY UPDATE OF tokens
), locked AS MATERIALIZED (
  SELECT u.id, u.quota, u.used_quota, CASE WHEN t.unlimited_quota THEN NULL ELSE t.remain_quota END AS remain_quota FROM u LEFT JOIN t ON true
), gone AS (
  DELETE FROM holds USING locked WHERE holds.request_id = $1::text RETURNING holds.amount, holds.token_amount
), due AS MATERIALIZED (
  SELECT greatest(0, least($4::bigint, ${CHARGE_LIMIT}, ${UNITS_LIMIT} - used_quota,
    quota + coalesce((SELECT amount FROM gone), 0) + ${UNITS_LIMIT},
    remain_quota + coalesce((SELECT token_amount FROM gone), 0) + ${UNITS_LIMIT})) AS units
  FROM locked
), charged AS (
  INSERT INTO logs (${LOG_COLUMN_LIST}, "type", folded)
  SELECT ${LOG_COLUMN_TYPES.map((type, i) => (LOG_COLUMNS[i] === "quota" ? `least(due.units, $${i + FIRST_LOG_PARAMETER}::bigint)` : `$${i + FIRST_LOG_PARAMETER}::${type}`)).join(", ")}, ${LOG_TYPE.consume}, $7::int
  FROM locked CROSS JOIN due WHERE NOT $6::boolean OR EXISTS (SELECT 1 FROM gone)
  ${whenLogged}
  RETURNING created_at - created_at % 3600 AS "hour", user_id, token_id, channel, model_name, "group", username, quota,
    prompt_tokens, completion_tokens, use_time, upstream_cost
), counted AS (
  INSERT INTO usage_hourly AS h (${HOUR_COLUMNS})
  SELECT "hour", user_id, token_id, channel, model_name, "group", username, 1, quota, prompt_tokens, completion_tokens, use_time,
    coalesce(upstream_cost, 0), CASE WHEN upstream_cost IS NULL THEN 0 ELSE quota END, coalesce($8::bigint, 0), ($8::bigint IS NOT NULL)::int
  FROM charged WHERE $7::int = ${FOLDED.done}
  ${ADDED_TO_HOUR}
  RETURNING h."hour"
), spent AS (
  INSERT INTO channel_spend (channel, amount)
  SELECT channel, quota FROM charged WHERE $7::int = ${FOLDED.done} AND channel <> 0 AND quota <> 0
), marked AS (
  INSERT INTO meta AS m (name, value)
  SELECT '${SUMMED_UNTIL}', '0' FROM counted WHERE "hour" + ${MARKED_AFTER} < extract(epoch FROM clock_timestamp())
  ON CONFLICT (name) DO UPDATE SET value =
    CASE WHEN m.value::bigint > (SELECT "hour" FROM counted) THEN (SELECT "hour" FROM counted)::text ELSE m.value END
), moves AS MATERIALIZED (
  SELECT EXISTS (SELECT 1 FROM charged) AS charged, EXISTS (SELECT 1 FROM gone) AS found,
    coalesce((SELECT amount FROM gone), 0) AS back, coalesce((SELECT token_amount FROM gone), 0) AS token_back,
    coalesce((SELECT units FROM due), 0) AS due_units
), user_pays AS (
  UPDATE users SET
    quota = users.quota + back - CASE WHEN charged THEN due_units ELSE 0 END,
    used_quota = users.used_quota + CASE WHEN charged THEN due_units ELSE 0 END,
    request_count = users.request_count + CASE WHEN charged THEN 1 ELSE 0 END
  FROM moves WHERE (charged OR found) AND users.id = $2::bigint
), token_pays AS (
  UPDATE tokens SET
    remain_quota = tokens.remain_quota + token_back
      - CASE WHEN charged AND NOT tokens.unlimited_quota THEN due_units ELSE 0 END,
    used_quota = tokens.used_quota + CASE WHEN charged THEN due_units ELSE 0 END,
    accessed_time = CASE WHEN charged THEN $5::bigint ELSE tokens.accessed_time END
  FROM moves WHERE (charged OR found) AND tokens.id = $3::bigint
)
SELECT charged, found FROM moves`;

export const SETTLE = settleText("ON CONFLICT (request_id) DO NOTHING");
/**
 * Undone by the unique key where the row is there, which is rare. Without a look into a partitioned table the statement
 * costs a sixth less.
 */
const SETTLE_FIRST = settleText("");

interface HoldAnswer {
  reason: "ok" | Refused[0];
  /** int8 is returned as text. */
  user_balance: string;
  token_balance: string;
  rest: string;
  held: string;
}
type Refused = Extract<Answer, readonly unknown[]>;

interface Moved {
  charged: boolean;
  found: boolean;
}

/** `seconds`: epoch seconds. */
export async function runAlone(on: Connections, verb: Verb, instanceId: string, seconds: number): Promise<Answer> {
  const { kind, request_id, amount, other } = verb;
  switch (kind) {
    case "h":
      return hold(on, verb, instanceId, seconds);
    case "e":
      return Number((await one<{ covered: boolean }>(on, EXTEND, [request_id, amount, other]))?.covered ?? false);
    case "x":
      return Number((await one(on, RELEASE, [request_id])) !== undefined);
    case "s":
    case "o":
      return settle(on, verb, seconds);
  }
}

/** One row or none, as the statement's SELECT names it. */
async function one<Row>(
  on: { unsafe(text: string, values: unknown[]): PromiseLike<Row[]> },
  statement: string,
  values: unknown[],
): Promise<Row | undefined> {
  const [row] = await on.unsafe(statement, values);
  return row;
}

async function hold(on: Connections, verb: Verb, instanceId: string, seconds: number): Promise<Answer> {
  const { request_id, user_id, token_id, amount, draft, other: least } = verb;
  const values = [request_id, user_id, token_id, amount, seconds, instanceId, draft, least];
  try {
    const answer = await one<HoldAnswer>(on, HOLD, values);
    if (!answer) throw new Error("The hold statement answered nothing");
    const { reason, held, user_balance, token_balance, rest } = answer;
    if (reason === "ok") return Number(held);
    return [reason, Number(user_balance), Number(token_balance), Number(rest)];
  } catch (error) {
    // A repeated hold: its row is there, and this statement was undone as a whole.
    if (isUniqueViolation(error)) return "again";
    throw error;
  }
}

/** Limits and hold wait for each other's locks for no longer than this: then each is decided by itself. */
const JOINT_LOCK_TIMEOUT_MS = 200;

/** `admit_1` of drizzle/postgres/0011_admit_in_one.sql. */
const ADMIT = `SELECT CASE WHEN ${NO_DISK} <> '' AND set_config('lock_timeout', '${JOINT_LOCK_TIMEOUT_MS}', true) <> ''
  THEN admit_1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) END AS answer`;

/** Limits and hold of a call in one statement. `limits`: of a `JointStatement`; no `hold` where they refuse. */
export async function holdWithLimits(
  on: Connections,
  { request_id, user_id, token_id, amount, draft, least = amount }: HoldRequest,
  seconds: number,
  limits: readonly unknown[],
): Promise<{ limits: LimitsAnswer; hold: Answer | undefined }> {
  const hold = [seconds, request_id, user_id, token_id, amount, least, postgresText(draft)];
  const row = await one<{ answer: string }>(on, ADMIT, [...limits, ...hold]);
  if (!row) throw new Error("The statement for limits and hold answered nothing");
  // made by the function
  const [counted, decided] = JSON.parse(row.answer) as [
    LimitsAnswer,
    ["ok" | Refused[0], number, number, number, number],
  ];
  if (counted[1].some((refused) => refused > 0)) return { limits: counted, hold: undefined };
  const [reason, of_user, of_token, rest, held] = decided;
  return { limits: counted, hold: reason === "ok" ? held : [reason, of_user, of_token, rest] };
}

/**
 * A hold that commits while SETTLE waits for the user's row is not in its snapshot. So without a hold nothing is done
 * at first, and the rare call that has none locks the user in a separate statement, after which a new snapshot sees
 * everything. (Found by tests/money/histories.test.ts.)
 */
async function settle(on: Connections, verb: Verb, seconds: number): Promise<Answer> {
  const { kind, request_id, user_id, token_id, amount: quota, log, folded_later } = verb;
  if (!log) throw new Error("A settle without a row");
  const first_token = firstTokenOf(log);
  const row = [
    folded_later ? FOLDED.not_yet : FOLDED.done,
    first_token < 0 ? null : first_token,
    ...logValues(log, { request_id, user_id, token_id, quota }),
  ];
  const values = (only_with_hold: boolean) => [request_id, user_id, token_id, quota, seconds, only_with_hold, ...row];
  let moved = await one<Moved>(on, SETTLE_FIRST, values(true)).catch((error: unknown) => {
    if (isUniqueViolation(error)) return one<Moved>(on, SETTLE, values(true));
    throw error;
  });
  if (!moved?.found && kind === "s") {
    moved = await on.begin(async (tx) => {
      await tx`SELECT id FROM users WHERE id = ${user_id} FOR NO KEY UPDATE`;
      return one<Moved>(tx, SETTLE, values(false));
    });
  }
  return (moved?.charged ? CHARGED : 0) + (moved?.found ? FOUND : 0);
}
