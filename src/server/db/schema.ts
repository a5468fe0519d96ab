/**
 * Every table, once, for both engines. Column names are the names on the wire (snake_case); there is no mapping layer.
 * Times are epoch seconds unless a name ends in `_ms`; quota is in units (500 000 = 1 USD); JSON is text.
 * Every index says which query it serves.
 */
import { sql } from "drizzle-orm";
import { type Kit, sqliteKit } from "./columns";

export const makeTables = (k: Kit) => {
  /** Accounts. Soft-deleted rows stay: a log must remain readable and a name must not be taken over. */
  const users = k.table(
    "users",
    {
      id: k.id(),
      username: k.text().notNull(),
      password_hash: k.text().notNull(),
      display_name: k.text().notNull().default(""),
      email: k.text().notNull().default(""),
      role: k.int().notNull().default(1),
      status: k.int().notNull().default(1),
      group: k.text().notNull().default("default"),
      /** Spendable units. Written by the ledger only. */
      quota: k.int().notNull().default(0),
      /** Units charged so far, net of refunds. Written by the ledger only. */
      used_quota: k.int().notNull().default(0),
      request_count: k.int().notNull().default(0),
      /** sha-256 of the system access token; '' = none. */
      access_token_hash: k.text(),
      aff_code: k.text(),
      aff_count: k.int().notNull().default(0),
      aff_quota: k.int().notNull().default(0),
      aff_history_quota: k.int().notNull().default(0),
      inviter_id: k.int().notNull().default(0),
      /** JSON: language, notification settings. */
      setting: k.text().notNull().default(""),
      created_at: k.int().notNull(),
      last_login_at: k.int().notNull().default(0),
      deleted_at: k.int(),
    },
    (t) => [
      // sign-in by name
      k.uniqueIndex("users_username_uq").on(t.username),
      // sign-in and reset by e-mail ('' is not unique)
      k.uniqueIndex("users_email_uq").on(t.email).where(sql`email <> ''`),
      // scripts: Authorization: <system access token>
      k.uniqueIndex("users_access_token_uq").on(t.access_token_hash),
      // registration with an invite code
      k.uniqueIndex("users_aff_code_uq").on(t.aff_code),
    ],
  );

  /** Console sessions; the cookie carries a random token, the row its sha-256. Role and status are read fresh per call. */
  const sessions = k.table(
    "sessions",
    {
      id: k.id(),
      token_hash: k.text().notNull(),
      user_id: k.int().notNull().references(() => users.id),
      created_at: k.int().notNull(),
      last_seen_at: k.int().notNull(),
      expires_at: k.int().notNull(),
      ip: k.text().notNull().default(""),
      user_agent: k.text().notNull().default(""),
    },
    (t) => [
      // every console call
      k.uniqueIndex("sessions_token_uq").on(t.token_hash),
      // sign out everywhere
      k.index("sessions_user_ix").on(t.user_id),
      // sweep of expired sessions
      k.index("sessions_expires_ix").on(t.expires_at),
    ],
  );

  /** API tokens (relay keys). The clear key is nowhere: hash for lookup, cipher for its owner, prefix for search and lists. */
  const tokens = k.table(
    "tokens",
    {
      id: k.id(),
      user_id: k.int().notNull().references(() => users.id),
      name: k.text().notNull(),
      key_hash: k.text().notNull(),
      key_cipher: k.text().notNull(),
      /** First 8 and last 4 characters, "AbCdEfGh…wxyz": shown in lists; its head serves search by prefix. */
      key_hint: k.text().notNull(),
      /** 1 enabled, 2 disabled; 3 expired and 4 exhausted are computed at read. */
      status: k.int().notNull().default(1),
      remain_quota: k.int().notNull().default(0),
      used_quota: k.int().notNull().default(0),
      unlimited_quota: k.bool().notNull().default(false),
      /** Epoch seconds, -1 = never. */
      expired_time: k.int().notNull().default(-1),
      created_time: k.int().notNull(),
      accessed_time: k.int().notNull().default(0),
      model_limits_enabled: k.bool().notNull().default(false),
      model_limits: k.text().notNull().default(""),
      /** One address or CIDR per line. */
      allow_ips: k.text().notNull().default(""),
      deny_ips: k.text().notNull().default(""),
      /** '' = the owner's group. */
      group: k.text().notNull().default(""),
      /** Limits a minute and concurrent calls; 0 = none. */
      rpm: k.int().notNull().default(0),
      tpm: k.int().notNull().default(0),
      concurrency: k.int().notNull().default(0),
      deleted_at: k.int(),
    },
    (t) => [
      // authentication of every relay call
      k.uniqueIndex("tokens_key_uq").on(t.key_hash),
      // a user's own list, newest first
      k.index("tokens_user_ix").on(t.user_id, t.id),
    ],
  );

  /** Upstream accounts. Keys: cipher and keyed hash, never sent back. */
  const channels = k.table(
    "channels",
    {
      id: k.id(),
      type: k.int().notNull(),
      name: k.text().notNull(),
      key_cipher: k.text().notNull().default(""),
      key_hash: k.text().notNull().default(""),
      base_url: k.text().notNull().default(""),
      other: k.text().notNull().default(""),
      models: k.text().notNull().default(""),
      group: k.text().notNull().default("default"),
      model_mapping: k.text().notNull().default(""),
      status_code_mapping: k.text().notNull().default(""),
      setting: k.text().notNull().default(""),
      param_override: k.text().notNull().default(""),
      header_override: k.text().notNull().default(""),
      test_model: k.text().notNull().default(""),
      auto_ban: k.int().notNull().default(1),
      tag: k.text().notNull().default(""),
      priority: k.int().notNull().default(0),
      weight: k.int().notNull().default(0),
      openai_organization: k.text().notNull().default(""),
      max_input_tokens: k.int().notNull().default(0),
      status: k.int().notNull().default(1),
      /** Milliseconds of the last test, 0 = untested. */
      response_time: k.int().notNull().default(0),
      /** Folded from the log, about a second behind it. */
      used_quota: k.int().notNull().default(0),
      /** USD. */
      balance: k.real().notNull().default(0),
      balance_updated_time: k.int().notNull().default(0),
      test_time: k.int().notNull().default(0),
      created_time: k.int().notNull(),
      /** JSON {status_reason, status_time} or ''. */
      other_info: k.text().notNull().default(""),
    },
    (t) => [
      // the channel list: priority first
      k.index("channels_priority_ix").on(t.priority, t.id),
      // search by whole key
      k.index("channels_key_ix").on(t.key_hash),
      // tag actions
      k.index("channels_tag_ix").on(t.tag),
    ],
  );

  /** Options that differ from their default; the registry is shared/options.ts. */
  const options = k.table("options", {
    key: k.text().primaryKey(),
    value: k.text().notNull(),
    updated_at: k.int().notNull(),
  });

  /**
   * One row per charge or notable event. `folded = 0` until channel totals and hourly roll-ups have taken it in.
   * The row of a charge is inserted in the transaction that moves the money; request_id is the second guard against a
   * double settle.
   */
  const logs = k.table(
    "logs",
    {
      id: k.id(),
      request_id: k.text().notNull(),
      created_at: k.int().notNull(),
      /** shared/log.ts: 1 top-up, 2 consumption, 3 admin, 4 system, 5 error, 6 refund. */
      type: k.int().notNull(),
      user_id: k.int().notNull(),
      username: k.text().notNull().default(""),
      token_id: k.int().notNull().default(0),
      token_name: k.text().notNull().default(""),
      /** Channel that served, 0 = none. */
      channel: k.int().notNull().default(0),
      channel_name: k.text().notNull().default(""),
      group: k.text().notNull().default(""),
      model_name: k.text().notNull().default(""),
      quota: k.int().notNull().default(0),
      prompt_tokens: k.int().notNull().default(0),
      completion_tokens: k.int().notNull().default(0),
      /** Whole seconds. */
      use_time: k.int().notNull().default(0),
      is_stream: k.bool().notNull().default(false),
      content: k.text().notNull().default(""),
      /** JSON object (price factors, usage buckets, frt, end_reason, admin_info) or ''. Never null. */
      other: k.text().notNull().default(""),
      end_reason: k.text().notNull().default(""),
      ip: k.text().notNull().default(""),
      upstream_request_id: k.text().notNull().default(""),
      /** False when LogConsumeEnabled was off: counted and audited, not listed. */
      visible: k.bool().notNull().default(true),
      /** shared/log.ts FOLDED. */
      folded: k.int().notNull().default(0),
    },
    (t) => [
      // second guard of settle; look-up by request id
      k.uniqueIndex("logs_request_uq").on(t.request_id),
      // administrators' list, retention
      k.index("logs_created_ix").on(t.created_at, t.id),
      // a user's own list
      k.index("logs_user_ix").on(t.user_id, t.created_at, t.id),
      // filters of administrators
      k.index("logs_channel_ix").on(t.channel, t.created_at),
      k.index("logs_model_ix").on(t.model_name, t.created_at),
      k.index("logs_token_ix").on(t.token_id, t.created_at),
      k.index("logs_upstream_ix").on(t.upstream_request_id).where(sql`upstream_request_id <> ''`),
      // the fold: what has not been taken in yet
      k.index("logs_unfolded_ix").on(t.id).where(sql`folded = 0`),
    ],
  );

  /** Money taken before a call and not yet settled. Deleting the row is the first guard of settle and release. */
  const holds = k.table(
    "holds",
    {
      request_id: k.text().primaryKey(),
      user_id: k.int().notNull(),
      token_id: k.int().notNull().default(0),
      /** Units taken from the user. */
      amount: k.int().notNull(),
      /** Units taken from the token (0 for an unlimited one and for calls without a token). */
      token_amount: k.int().notNull(),
      /** What `extend` last recorded as the running cost: the sweep settles a dead instance's stream at this. */
      running: k.int().notNull().default(0),
      created_at: k.int().notNull(),
      instance_id: k.text().notNull(),
      /** JSON draft of the log row, so that a sweep can write it. */
      draft: k.text().notNull().default(""),
    },
    (t) => [
      // sweep of holds whose instance is silent
      k.index("holds_instance_ix").on(t.instance_id),
      // audit per user; erasure
      k.index("holds_user_ix").on(t.user_id),
    ],
  );

  /** Running processes; a heartbeat in database time. */
  const instances = k.table("instances", {
    id: k.text().primaryKey(),
    started_at: k.int().notNull(),
    heartbeat_at: k.int().notNull(),
    version: k.text().notNull().default(""),
  });

  /** Every unit that ever came in (or was taken back): balance + holds + used_quota = sum(amount). */
  const credits = k.table(
    "credits",
    {
      id: k.id(),
      user_id: k.int().notNull(),
      /** Units, negative for a deduction by an administrator. */
      amount: k.int().notNull(),
      /** setup, adjust, redeem, order, reward, transfer */
      kind: k.text().notNull(),
      idempotency_key: k.text().notNull(),
      note: k.text().notNull().default(""),
      actor_id: k.int().notNull().default(0),
      created_at: k.int().notNull(),
    },
    (t) => [
      // one credit per cause, under any concurrency
      k.uniqueIndex("credits_key_uq").on(t.idempotency_key),
      // a user's ledger; audit
      k.index("credits_user_ix").on(t.user_id, t.id),
    ],
  );

  /** Hourly sums, folded from the log by one lease holder; equal to the log to the unit. */
  const usage_hourly = k.table(
    "usage_hourly",
    {
      /** Epoch seconds, start of the hour. */
      hour: k.int().notNull(),
      user_id: k.int().notNull(),
      token_id: k.int().notNull(),
      channel: k.int().notNull(),
      model_name: k.text().notNull(),
      group: k.text().notNull(),
      username: k.text().notNull().default(""),
      count: k.int().notNull().default(0),
      error_count: k.int().notNull().default(0),
      quota: k.int().notNull().default(0),
      prompt_tokens: k.int().notNull().default(0),
      completion_tokens: k.int().notNull().default(0),
      use_time: k.int().notNull().default(0),
    },
    (t) => [
      k.primaryKey({ columns: [t.hour, t.user_id, t.token_id, t.channel, t.model_name, t.group] }),
      // a user's dashboard
      k.index("usage_hourly_user_ix").on(t.user_id, t.hour),
      // health bars of a channel
      k.index("usage_hourly_channel_ix").on(t.channel, t.hour),
    ],
  );

  /** Bumped by every change that other instances cache; compared after a lost notification. */
  const versions = k.table("versions", {
    name: k.text().primaryKey(),
    value: k.int().notNull(),
  });

  /** One runner per timer among several instances (SQLite has one process; there the row is only for show). */
  const leases = k.table("leases", {
    name: k.text().primaryKey(),
    holder: k.text().notNull(),
    expires_at: k.int().notNull(),
  });

  /** Facts about this database: set-up done, schema release, secret canary. */
  const meta = k.table("meta", {
    name: k.text().primaryKey(),
    value: k.text().notNull(),
  });

  return {
    users, sessions, tokens, channels, options, logs, holds, instances, credits, usage_hourly, versions, leases, meta,
  };
};

export type Tables = ReturnType<typeof makeTables>;

/** Row types (SQLite is the canonical type; Postgres returns the same). */
type Row<K extends keyof Tables> = Tables[K]["$inferSelect"];
type NewRow<K extends keyof Tables> = Tables[K]["$inferInsert"];
export type UserRow = Row<"users">;
export type SessionRow = Row<"sessions">;
export type TokenRow = Row<"tokens">;
export type ChannelRow = Row<"channels">;
export type LogRow = Row<"logs">;
export type NewLogRow = NewRow<"logs">;
export type HoldRow = Row<"holds">;
export type CreditRow = Row<"credits">;

/** The SQLite tables; features read tables from `db.t`, which is these on SQLite and their twins on Postgres. */
export const sqliteTables: Tables = makeTables(sqliteKit);
