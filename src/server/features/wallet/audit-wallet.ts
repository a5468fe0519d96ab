/**
 * The audit of all credits: codes, orders, dividends, withdrawals, and rows without a user. Each rule is one statement
 * that returns (name, expected, found) for every row that breaks it.
 */
import { type SQL, sql } from "drizzle-orm";
import { LOG_TYPE } from "../../../shared/log";
import { REDEMPTION_STATUS } from "../../../shared/redemption";

export const WALLET_RULES = {
  refunds: "the refunds of a charge are at most the charge, and undone ones at most what was refunded",
  owners: "every credit, hold and charge is a user's",
  codes: "a used code is one credit of its worth to the user who used it, and no other code is any",
  code_credits: "a credit for a code has a used code of that user",
  orders: "a paid order is one credit of its units to the user who ordered, and no other order is any",
  order_credits: "a credit for an order has a paid order of that user",
  dividends: "a dividend comes from a paid order of the invited user, and not from the inviter's own",
  invite_earnings: "a user's aff_quota + transfers + withdrawals that were not refused = his aff_history_quota",
  dividends_earned: "a user's aff_history_quota is at least the sum of his dividends",
} as const;

const CHARGE = sql.raw(String(LOG_TYPE.consume));
const REFUND = sql.raw(String(LOG_TYPE.refund));
const USED = sql.raw(String(REDEMPTION_STATUS.used));
/** An order that was paid and refunded later keeps its credit; the deduction is a separate credit. */
const PAID = sql.raw("('success', 'refunded')");

/** Idempotency keys of credits. */
const codeKey = sql.raw("'redeem:' || r.id");
const orderKey = sql.raw("'order:' || o.trade_no");

/** Rows of `table` whose user does not exist. (Accounts are never removed, only marked as deleted.) */
const ownerless = (table: string, row: string, amount: string) => sql`
  SELECT '${sql.raw(table)} ' || ${sql.raw(row)} AS name, 0 AS expected, ${sql.raw(amount)} AS found
  FROM ${sql.raw(table)} AS x WHERE NOT EXISTS (SELECT 1 FROM users AS u WHERE u.id = x.user_id)`;

export const WALLET_STATEMENTS: Readonly<Record<keyof typeof WALLET_RULES, SQL>> = {
  refunds: sql`
    SELECT 'logs ' || c.request_id AS name, c.quota AS expected, sum(r.quota) AS found
    FROM logs AS r JOIN logs AS c ON c.request_id = r.refund_of
    WHERE r.refund_of <> '' AND r."type" = ${REFUND} AND c."type" = ${CHARGE}
    GROUP BY c.id, c.request_id, c.quota HAVING sum(r.quota) > c.quota OR sum(r.quota) < 0`,
  owners: sql`
    ${ownerless("credits", "x.id", "x.amount")}
    UNION ALL ${ownerless("holds", "x.request_id", "x.amount")}
    UNION ALL SELECT 'usage_hourly of user ' || x.user_id, 0, sum(x.quota) FROM usage_hourly AS x
      WHERE NOT EXISTS (SELECT 1 FROM users AS u WHERE u.id = x.user_id) GROUP BY x.user_id HAVING sum(x.quota) <> 0
    UNION ALL SELECT 'logs ' || x.request_id, 0, x.quota FROM logs AS x
      WHERE x.folded = 0 AND x."type" = ${CHARGE} AND x.quota <> 0
      AND NOT EXISTS (SELECT 1 FROM users AS u WHERE u.id = x.user_id)`,
  codes: sql`
    SELECT 'redemptions ' || r.id AS name, CASE r.status WHEN ${USED} THEN r.quota ELSE 0 END AS expected, coalesce(c.amount, 0) AS found
    FROM redemptions AS r LEFT JOIN credits AS c
      ON c.idempotency_key = ${codeKey} AND (r.status <> ${USED} OR c.user_id = r.used_user_id)
    WHERE CASE r.status WHEN ${USED} THEN r.quota ELSE 0 END <> coalesce(c.amount, 0)`,
  code_credits: sql`
    SELECT 'credits ' || c.id AS name, 0 AS expected, c.amount AS found
    FROM credits AS c WHERE c.kind = 'redeem' AND c.id NOT IN (
      SELECT k.id FROM redemptions AS r JOIN credits AS k ON k.idempotency_key = ${codeKey} AND k.user_id = r.used_user_id
      WHERE r.status = ${USED})`,
  orders: sql`
    SELECT 'orders ' || o.id AS name, CASE o.status WHEN 'success' THEN o.quota ELSE 0 END AS expected, coalesce(c.amount, 0) AS found
    FROM orders AS o LEFT JOIN credits AS c ON c.idempotency_key = ${orderKey} AND c.user_id = o.user_id
    WHERE o.status <> 'refunded' AND CASE o.status WHEN 'success' THEN o.quota ELSE 0 END <> coalesce(c.amount, 0)`,
  order_credits: sql`
    SELECT 'credits ' || c.id AS name, 0 AS expected, c.amount AS found
    FROM credits AS c WHERE c.kind = 'order' AND c.id NOT IN (
      SELECT k.id FROM orders AS o JOIN credits AS k ON k.idempotency_key = ${orderKey} AND k.user_id = o.user_id
      WHERE o.status IN ${PAID})`,
  dividends: sql`
    SELECT 'dividends ' || d.id AS name, 0 AS expected, d.amount AS found
    FROM dividends AS d WHERE d.user_id = d.invitee_id OR NOT EXISTS (
      SELECT 1 FROM orders AS o WHERE o.id = d.order_id AND o.user_id = d.invitee_id AND o.status IN ${PAID})`,
  invite_earnings: sql`
    SELECT 'users ' || u.id AS name, u.aff_history_quota AS expected,
      u.aff_quota + coalesce(t.n, 0) + coalesce(w.n, 0) AS found
    FROM users AS u
    LEFT JOIN (SELECT user_id, sum(amount) AS n FROM credits WHERE kind = 'transfer' GROUP BY user_id) AS t ON t.user_id = u.id
    LEFT JOIN (SELECT user_id, sum(amount) AS n FROM withdrawals WHERE status <> 'refused' GROUP BY user_id) AS w ON w.user_id = u.id
    WHERE u.aff_quota + coalesce(t.n, 0) + coalesce(w.n, 0) <> u.aff_history_quota`,
  dividends_earned: sql`
    SELECT 'users ' || u.id AS name, d.n AS expected, u.aff_history_quota AS found
    FROM users AS u JOIN (SELECT user_id, sum(amount) AS n FROM dividends GROUP BY user_id) AS d ON d.user_id = u.id
    WHERE u.aff_history_quota < d.n`,
};
