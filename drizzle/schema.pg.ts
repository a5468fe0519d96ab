/** What drizzle-kit reads to write drizzle/postgres. The tables are declared in src/server/db/schema.ts. */
import { pgKit } from "../src/server/db/columns";
import { makeTables } from "../src/server/db/schema";

export const {
  users, sessions, tokens, channels, channel_keys, options, logs, log_bodies, holds, instances, credits, usage_hourly, usage_sums,
  failed_attempts,
  versions, leases, meta, stored_objects, budget_spend, redemptions, orders, payment_callbacks, dividends, withdrawals, notices, identities,
  codes, totps, passkeys, audit_log, push_subscriptions, tasks, answered_requests, incidents, alert_deliveries, price_proposals,
  reports, imports, imported_rows,
} = makeTables(pgKit);
