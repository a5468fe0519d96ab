/**
 * Every table, once, for both engines. Column names are the names on the wire (snake_case); there is no mapping layer.
 * Times are epoch seconds unless a name ends in `_ms`; quota is in units (500 000 = 1 USD); JSON is text.
 * Every index says which query it serves.
 */
import { sql } from "drizzle-orm";
import { type Kit, sqliteKit } from "./columns";

export const makeTables = (k: Kit) => {
  /** Accounts. Deleted rows stay, marked: a log must remain readable and a name must not be taken by another person. */
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
      /** Limits of calls a minute and at a time, of units a day and a month; 0 = none. */
      rpm: k.int().notNull().default(0),
      tpm: k.int().notNull().default(0),
      concurrency: k.int().notNull().default(0),
      budget_day: k.int().notNull().default(0),
      budget_month: k.int().notNull().default(0),
      /** JSON: language, notification settings. */
      setting: k.text().notNull().default(""),
      created_at: k.int().notNull(),
      last_login_at: k.int().notNull().default(0),
      deleted_at: k.int(),
    },
    (t) => [
      // sign-in by name
      k.uniqueIndex("users_username_uq").on(t.username),
      // a name is taken in whatever case (D-84)
      k.uniqueIndex("users_username_lower_uq").on(sql`lower(username)`),
      // sign-in and reset by e-mail ('' is not unique)
      k.uniqueIndex("users_email_uq").on(t.email).where(sql`email <> ''`),
      // scripts: Authorization: <system access token>
      k.uniqueIndex("users_access_token_uq").on(t.access_token_hash),
      // registration with an invite code
      k.uniqueIndex("users_aff_code_uq").on(t.aff_code),
      // the accounts that a user invited
      k.index("users_inviter_ix").on(t.inviter_id).where(sql`inviter_id <> 0`),
    ],
  );

  /**
   * Console sessions; the cookie carries a random token, the row its sha-256. Role and status are read on each call.
   */
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
      /** When the user last passed password, second factor or passkey: step-up. */
      verified_at: k.int().notNull().default(0),
      /** When Turnstile was last passed; 0 = never. */
      turnstile_at: k.int().notNull().default(0),
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

  /**
   * API tokens (relay keys). The clear key is not stored: hash for lookup, cipher for its owner, prefix for search and
   * lists.
   */
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
      /** Midjourney mode of calls whose path names none: "" (the vendor's), fast, relax, turbo (C-263). */
      mj_mode: k.text().notNull().default(""),
      /** Limits of calls a minute and at a time; 0 = none. */
      rpm: k.int().notNull().default(0),
      tpm: k.int().notNull().default(0),
      concurrency: k.int().notNull().default(0),
      /** Limits of units a day and a month; 0 = none. */
      budget_day: k.int().notNull().default(0),
      budget_month: k.int().notNull().default(0),
      /** Keyed hash of another system's SHA-256 of the key; null = made here, or used since. */
      imported_hash: k.text(),
      deleted_at: k.int(),
    },
    (t) => [
      // authentication of every relay call
      k.uniqueIndex("tokens_key_uq").on(t.key_hash),
      // the first call with an imported key
      k.uniqueIndex("tokens_imported_uq").on(t.imported_hash).where(sql`imported_hash is not null`),
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
      /** In balance_currency. */
      balance: k.real().notNull().default(0),
      balance_updated_time: k.int().notNull().default(0),
      /** Of `balance`, ISO 4217; '' = USD. */
      balance_currency: k.text().notNull().default(""),
      /** How one of several keys is chosen: '' = there is one key, in this row; random; polling (in turn). */
      multi_key_mode: k.text().notNull().default(""),
      test_time: k.int().notNull().default(0),
      created_time: k.int().notNull(),
      /** JSON {status_reason, status_time} or ''. */
      other_info: k.text().notNull().default(""),
      /** No new calls since then, and running ones end by then; 0 = does not drain, or without a deadline. */
      draining_since: k.int().notNull().default(0),
      drain_deadline: k.int().notNull().default(0),
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
   * One row per charge or notable event. `folded = 0` until channel totals and hourly roll-ups contain it. The row of a
   * charge is inserted in the transaction that moves the money; request_id is the second guard against settling twice.
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
      /** A text as it was written: rows of earlier releases and of other systems. Else `code` says what to read. */
      content: k.text().notNull().default(""),
      /** Error, failure or event (shared/log-text.ts), '' = none. */
      code: k.text().notNull().default(""),
      /** JSON object: the values of the text's placeholders, or ''. */
      params: k.text().notNull().default(""),
      /** JSON object (price factors, usage buckets, frt, end_reason, admin_info) or ''. Never null. */
      other: k.text().notNull().default(""),
      end_reason: k.text().notNull().default(""),
      ip: k.text().notNull().default(""),
      upstream_request_id: k.text().notNull().default(""),
      /** What the upstream takes for the call, in billionths of a dollar (units are too coarse). Null = not known. */
      upstream_cost: k.int(),
      /** The rule of the model's price that applied, '' = its plain price. */
      price_rule: k.text().notNull().default(""),
      /** The part of `quota` that a plan paid; the balance paid the rest. */
      plan_quota: k.int().notNull().default(0),
      /** Of a refund: request id of the charge. */
      refund_of: k.text().notNull().default(""),
      /** Refusals that this row stands for besides its own, and when the last of them was. */
      repeated: k.int().notNull().default(0),
      repeated_until: k.int().notNull().default(0),
      /** JSON array of the texts that callers and operators mark calls with, or ''. */
      tags: k.text().notNull().default(""),
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
      // filter by a type; nearly every row is consumption, which the index on the time finds
      k.index("logs_type_ix").on(t.type, t.created_at, t.id).where(sql`type <> 2`),
      // filter by group
      k.index("logs_group_ix").on(t.group, t.created_at),
      // totals from roll-ups: rows that are only there, or only here
      k.index("logs_apart_ix").on(t.created_at).where(sql`folded = 2 or not visible`),
      // refunds of a charge
      k.index("logs_refund_ix").on(t.refund_of).where(sql`refund_of <> ''`),
      // the fold: rows that the roll-ups do not contain yet
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
    // No index but the key's: there are as many rows as running calls, so other queries can read them all, and each
    // call writes two.
  );

  /** Running processes; a heartbeat in database time. */
  const instances = k.table("instances", {
    id: k.text().primaryKey(),
    started_at: k.int().notNull(),
    heartbeat_at: k.int().notNull(),
    version: k.text().notNull().default(""),
    /** As of a channel. */
    draining_since: k.int().notNull().default(0),
    drain_deadline: k.int().notNull().default(0),
    /** JSON {running, channels: {id: n}, keys: {id: n}} while something drains: calls that it still serves; else ''. */
    running: k.text().notNull().default(""),
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
      /** Sum of logs.upstream_cost, and the part of `quota` that was charged for the calls whose cost is known. */
      upstream_cost: k.int().notNull().default(0),
      costed_quota: k.int().notNull().default(0),
      /** Milliseconds to the first content, summed over the calls that tell them, and how many do. */
      first_token_ms: k.int().notNull().default(0),
      first_tokens: k.int().notNull().default(0),
    },
    (t) => [
      k.primaryKey({ columns: [t.hour, t.user_id, t.token_id, t.channel, t.model_name, t.group] }),
      // a user's dashboard
      k.index("usage_hourly_user_ix").on(t.user_id, t.hour),
      // health bars of a channel
      k.index("usage_hourly_channel_ix").on(t.channel, t.hour),
    ],
  );

  /**
   * The same sums by one dimension at a time, for totals of all users: at most a tenth of the rows. For hours that are
   * over; how far they reach is in `meta` (features/log/sums.ts).
   */
  const usage_sums = k.table(
    "usage_sums",
    {
      /** shared/dashboard.ts: model, user, channel, token, group */
      dimension: k.text().notNull(),
      /** Epoch seconds, start of the hour. */
      hour: k.int().notNull(),
      /** The model or group, or the id as text. */
      item: k.text().notNull(),
      count: k.int().notNull(),
      error_count: k.int().notNull(),
      quota: k.int().notNull(),
      /** Prompt and completion. */
      tokens: k.int().notNull(),
      /** As of usage_hourly. */
      upstream_cost: k.int().notNull().default(0),
      costed_quota: k.int().notNull().default(0),
    },
    (t) => [k.primaryKey({ columns: [t.dimension, t.hour, t.item] })],
  );

  /**
   * Attempts that failed by the channel's own fault, whether another channel then served the call or none did; folded
   * with usage_hourly, which counts a call at one channel alone.
   */
  const failed_attempts = k.table(
    "failed_attempts",
    {
      /** As of usage_hourly. */
      hour: k.int().notNull(),
      channel: k.int().notNull(),
      /** '' = one of a virtual model's. */
      model_name: k.text().notNull(),
      count: k.int().notNull(),
    },
    (t) => [k.primaryKey({ columns: [t.hour, t.channel, t.model_name] })],
  );

  /** Bumped by every change that other instances cache; compared after a lost notification. */
  const versions = k.table("versions", {
    name: k.text().primaryKey(),
    value: k.int().notNull(),
  });

  /** One runner per timer among several instances. SQLite has one process and needs none. */
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

  /** The keys of a channel that has several, each with its own state. */
  const channel_keys = k.table(
    "channel_keys",
    {
      id: k.id(),
      channel_id: k.int().notNull().references(() => channels.id),
      /** Order in the list, from 0. */
      position: k.int().notNull(),
      key_cipher: k.text().notNull(),
      key_hash: k.text().notNull(),
      /** 1 enabled, 2 disabled by a person, 3 disabled by the relay. */
      status: k.int().notNull().default(1),
      reason: k.text().notNull().default(""),
      status_time: k.int().notNull().default(0),
      /** As of a channel. */
      draining_since: k.int().notNull().default(0),
      drain_deadline: k.int().notNull().default(0),
      created_at: k.int().notNull(),
    },
    (t) => [
      // the pool's snapshot, the drawer's list; a key is in a channel only once
      k.uniqueIndex("channel_keys_channel_uq").on(t.channel_id, t.key_hash),
      // search by whole key
      k.index("channel_keys_key_ix").on(t.key_hash),
    ],
  );

  /** What callers stored upstream or here: responses, files, batches. Only their owner sees them. */
  const stored_objects = k.table(
    "stored_objects",
    {
      /** response, file, batch */
      kind: k.text().notNull(),
      /** The id that its owner uses. */
      object_id: k.text().notNull(),
      user_id: k.int().notNull(),
      token_id: k.int().notNull().default(0),
      /** The channel that holds it; 0 = this server. */
      channel_id: k.int().notNull().default(0),
      channel_key_id: k.int().notNull().default(0),
      model: k.text().notNull().default(""),
      /** The response it continues, the file a batch reads. */
      parent_id: k.text().notNull().default(""),
      status: k.text().notNull().default(""),
      /** Base64 of compressed JSON, '' where the upstream keeps it. */
      data: k.text().notNull().default(""),
      /** Length of `data`, or of the file. */
      bytes: k.int().notNull().default(0),
      created_at: k.int().notNull(),
      /** 0 = never. */
      expires_at: k.int().notNull().default(0),
    },
    (t) => [
      k.primaryKey({ columns: [t.kind, t.object_id] }),
      // its owner's list; the cap per user
      k.index("stored_objects_user_ix").on(t.user_id, t.kind, t.created_at),
      // sweep
      k.index("stored_objects_expires_ix").on(t.expires_at).where(sql`expires_at <> 0`),
    ],
  );

  /** Units spent in a budget's period. Written where a hold or a settle of a caller with a budget is. */
  const budget_spend = k.table(
    "budget_spend",
    {
      /** Owner and period: "user:12:2026-11-21", "token:7:2026-11". */
      name: k.text().primaryKey(),
      amount: k.int().notNull().default(0),
      expires_at: k.int().notNull(),
    },
    (t) => [
      // sweep
      k.index("budget_spend_expires_ix").on(t.expires_at),
    ],
  );

  /** Codes that can be redeemed once for units. Administrators see the clear code; a lookup goes by its hash. */
  const redemptions = k.table(
    "redemptions",
    {
      id: k.id(),
      /** The administrator who made it. */
      user_id: k.int().notNull(),
      name: k.text().notNull(),
      key_hash: k.text().notNull(),
      key_cipher: k.text().notNull(),
      /** 1 unused, 2 disabled, 3 used. */
      status: k.int().notNull().default(1),
      quota: k.int().notNull(),
      created_time: k.int().notNull(),
      redeemed_time: k.int().notNull().default(0),
      used_user_id: k.int().notNull().default(0),
      /** Epoch seconds, 0 = never. */
      expired_time: k.int().notNull().default(0),
      deleted_at: k.int(),
    },
    (t) => [
      // redeeming
      k.uniqueIndex("redemptions_key_uq").on(t.key_hash),
    ],
  );

  /**
   * Orders of units. Money that is paid is text in the currency's major unit ("12.34"): it is compared, never summed.
   */
  const orders = k.table(
    "orders",
    {
      id: k.id(),
      /** Our id of the order, given to the payment provider. */
      trade_no: k.text().notNull(),
      user_id: k.int().notNull(),
      /** What was ordered, in dollars (or in tokens where balances are shown so). */
      amount: k.int().notNull(),
      /** Units credited when it is paid; fixed when it is made. */
      quota: k.int().notNull(),
      money: k.text().notNull(),
      currency: k.text().notNull().default(""),
      /** epay, stripe */
      provider: k.text().notNull(),
      /** alipay, wxpay, … */
      payment_method: k.text().notNull().default(""),
      /** pending, success, failed, expired, refunded */
      status: k.text().notNull().default("pending"),
      /** The provider's id of the order. */
      provider_ref: k.text().notNull().default(""),
      create_time: k.int().notNull(),
      complete_time: k.int().notNull().default(0),
      /** The administrator who completed it, 0 = the provider's callback. */
      completed_by: k.int().notNull().default(0),
      /** When the provider is next asked about it, 0 = never. */
      next_check_at: k.int().notNull().default(0),
      checks: k.int().notNull().default(0),
      note: k.text().notNull().default(""),
    },
    (t) => [
      // callbacks
      k.uniqueIndex("orders_trade_uq").on(t.trade_no),
      // a user's history
      k.index("orders_user_ix").on(t.user_id, t.id),
      // queries of pending ones
      k.index("orders_check_ix").on(t.next_check_at).where(sql`next_check_at <> 0`),
    ],
  );

  /** Every callback of a payment provider, accepted or not. */
  const payment_callbacks = k.table(
    "payment_callbacks",
    {
      id: k.id(),
      provider: k.text().notNull(),
      trade_no: k.text().notNull().default(""),
      received_at: k.int().notNull(),
      ip: k.text().notNull().default(""),
      /** As received, at most 16 KB, without signature secrets. */
      body: k.text().notNull().default(""),
      /** credited, repeated, or why it was refused. */
      verdict: k.text().notNull(),
    },
    (t) => [
      // the callbacks of an order
      k.index("payment_callbacks_trade_ix").on(t.trade_no),
      // retention
      k.index("payment_callbacks_time_ix").on(t.received_at),
    ],
  );

  /** What an inviter earned by an invited user's paid order. */
  const dividends = k.table(
    "dividends",
    {
      id: k.id(),
      user_id: k.int().notNull(),
      invitee_id: k.int().notNull(),
      order_id: k.int().notNull(),
      amount: k.int().notNull(),
      created_at: k.int().notNull(),
    },
    (t) => [
      // one for an order
      k.uniqueIndex("dividends_order_uq").on(t.order_id),
      // an inviter's list
      k.index("dividends_user_ix").on(t.user_id, t.id),
    ],
  );

  /** Invitation earnings that a user wants paid out. */
  const withdrawals = k.table(
    "withdrawals",
    {
      id: k.id(),
      user_id: k.int().notNull(),
      /** Units, taken from aff_quota with the request. */
      amount: k.int().notNull(),
      /** Where the money goes, in the user's words. */
      account: k.text().notNull(),
      /** pending, paid, refused */
      status: k.text().notNull().default("pending"),
      note: k.text().notNull().default(""),
      created_at: k.int().notNull(),
      settled_at: k.int().notNull().default(0),
      actor_id: k.int().notNull().default(0),
    },
    (t) => [
      // a user's list
      k.index("withdrawals_user_ix").on(t.user_id, t.id),
      // pending ones
      k.index("withdrawals_status_ix").on(t.status, t.id),
    ],
  );

  /** Request and response of a call, only while LogContentEnabled is on. */
  const log_bodies = k.table(
    "log_bodies",
    {
      request_id: k.text().primaryKey(),
      user_id: k.int().notNull(),
      created_at: k.int().notNull(),
      /** Base64 of compressed, redacted text. */
      request: k.text().notNull().default(""),
      response: k.text().notNull().default(""),
    },
    (t) => [
      // retention
      k.index("log_bodies_created_ix").on(t.created_at),
      // deletion of a user's data
      k.index("log_bodies_user_ix").on(t.user_id),
    ],
  );

  /** When a notice was last sent: at most one in its interval, among all instances. */
  const notices = k.table("notices", {
    /** "low-quota:12", "channel-disabled:3" */
    name: k.text().primaryKey(),
    sent_at: k.int().notNull(),
  });

  /** A user's accounts at identity providers. */
  const identities = k.table(
    "identities",
    {
      id: k.id(),
      user_id: k.int().notNull().references(() => users.id),
      /** github, linuxdo, oidc, wechat, telegram */
      provider: k.text().notNull(),
      /** The provider's unchangeable id of the account. */
      subject: k.text().notNull(),
      /** The provider's name of the account, for display. */
      name: k.text().notNull().default(""),
      created_at: k.int().notNull(),
    },
    (t) => [
      // sign-in; one account has one owner
      k.uniqueIndex("identities_subject_uq").on(t.provider, t.subject),
      // one account of a provider for each user; a user's list
      k.uniqueIndex("identities_user_uq").on(t.user_id, t.provider),
    ],
  );

  /** Single-use codes: mail verification, reset, state of a sign-in at a provider, push binding. Only hashes. */
  const codes = k.table(
    "codes",
    {
      /** verify-email, reset-password, oauth, bind-push */
      purpose: k.text().notNull(),
      /** Keyed hash of the address or state that it is for. */
      target: k.text().notNull(),
      code_hash: k.text().notNull(),
      /** JSON that is returned with a right code. */
      data: k.text().notNull().default(""),
      attempts: k.int().notNull().default(0),
      created_at: k.int().notNull(),
      expires_at: k.int().notNull(),
    },
    (t) => [
      k.primaryKey({ columns: [t.purpose, t.target] }),
      // sweep
      k.index("codes_expires_ix").on(t.expires_at),
    ],
  );

  /** Second factors: one authenticator app for each user. */
  const totps = k.table("totps", {
    user_id: k.int().primaryKey(),
    secret_cipher: k.text().notNull(),
    /** 0 = begun, not confirmed. */
    enabled_at: k.int().notNull().default(0),
    /** The last time step that was used: a code is accepted once. */
    last_step: k.int().notNull().default(0),
    /** JSON array of hashes of unused recovery codes. */
    recovery_hashes: k.text().notNull().default("[]"),
  });

  const passkeys = k.table(
    "passkeys",
    {
      id: k.id(),
      user_id: k.int().notNull().references(() => users.id),
      /** Base64url. */
      credential_id: k.text().notNull(),
      /** COSE key, base64url. */
      public_key: k.text().notNull(),
      counter: k.int().notNull().default(0),
      transports: k.text().notNull().default(""),
      backed_up: k.bool().notNull().default(false),
      name: k.text().notNull().default(""),
      created_at: k.int().notNull(),
      last_used_at: k.int().notNull().default(0),
    },
    (t) => [
      // sign-in
      k.uniqueIndex("passkeys_credential_uq").on(t.credential_id),
      // a user's list
      k.index("passkeys_user_ix").on(t.user_id),
    ],
  );

  /** Administrative acts, with the values before and after. Never a secret. */
  const audit_log = k.table(
    "audit_log",
    {
      id: k.id(),
      created_at: k.int().notNull(),
      actor_id: k.int().notNull(),
      actor_name: k.text().notNull().default(""),
      /** "user.update", "option.update", "channel.delete", … */
      action: k.text().notNull(),
      target_type: k.text().notNull().default(""),
      target_id: k.text().notNull().default(""),
      /** JSON or ''. */
      before: k.text().notNull().default(""),
      after: k.text().notNull().default(""),
      ip: k.text().notNull().default(""),
      request_id: k.text().notNull().default(""),
    },
    (t) => [
      // the list, retention
      k.index("audit_log_created_ix").on(t.created_at, t.id),
      // what happened to one thing
      k.index("audit_log_target_ix").on(t.target_type, t.target_id, t.id),
      // what one user did
      k.index("audit_log_actor_ix").on(t.actor_id, t.id),
    ],
  );

  /** Browsers that receive a user's notices by Web Push (RFC 8030). */
  const push_subscriptions = k.table(
    "push_subscriptions",
    {
      id: k.id(),
      user_id: k.int().notNull().references(() => users.id),
      /** The push service's address for this browser. */
      endpoint: k.text().notNull(),
      /** The browser's public key and shared secret (RFC 8291), base64url. */
      p256dh: k.text().notNull(),
      auth: k.text().notNull(),
      user_agent: k.text().notNull().default(""),
      created_at: k.int().notNull(),
    },
    (t) => [
      // a browser that subscribes again
      k.uniqueIndex("push_subscriptions_endpoint_uq").on(t.endpoint),
      // a notice to one user
      k.index("push_subscriptions_user_ix").on(t.user_id),
    ],
  );

  /** What was done for an idempotency key: a request that comes again is answered as before. */
  const answered_requests = k.table(
    "answered_requests",
    {
      /** Keyed hash of user, procedure and the key that the client sent. */
      name: k.text().primaryKey(),
      /** Hash of the input: the same key with another input is refused. */
      input_hash: k.text().notNull(),
      /** Sealed JSON, '' while the first request runs. */
      answer: k.text().notNull().default(""),
      created_at: k.int().notNull(),
    },
    (t) => [
      // sweep
      k.index("answered_requests_created_ix").on(t.created_at),
    ],
  );

  /** What an alert rule found: one row from its begin to its end. */
  const incidents = k.table(
    "incidents",
    {
      id: k.id(),
      /** Name of the rule. */
      rule: k.text().notNull(),
      /** What it is about: "channel:3", "user:12", "model:gpt-5", '' = the whole server. */
      subject: k.text().notNull().default(""),
      severity: k.text().notNull().default("warning"),
      /** Code of the text and its values (JSON), as of logs. */
      code: k.text().notNull(),
      params: k.text().notNull().default(""),
      opened_at: k.int().notNull(),
      last_at: k.int().notNull(),
      /** 0 = still on. */
      closed_at: k.int().notNull().default(0),
      /** Events that it stands for. */
      count: k.int().notNull().default(1),
      /** Until then it is not told again; who pressed "seen", 0 = not seen. */
      muted_until: k.int().notNull().default(0),
      seen_by: k.int().notNull().default(0),
    },
    (t) => [
      // one open incident of a rule and subject
      k.uniqueIndex("incidents_open_uq").on(t.rule, t.subject).where(sql`closed_at = 0`),
      // the list, retention
      k.index("incidents_last_ix").on(t.last_at, t.id),
    ],
  );

  /** Messages of incidents that are to be sent, and what became of them. */
  const alert_deliveries = k.table(
    "alert_deliveries",
    {
      id: k.id(),
      incident_id: k.int().notNull(),
      /** begin, end */
      kind: k.text().notNull(),
      /** Name of the target among the options. */
      target: k.text().notNull(),
      attempts: k.int().notNull().default(0),
      /** When it is next tried, 0 = over. */
      next_at: k.int().notNull(),
      sent_at: k.int().notNull().default(0),
      error: k.text().notNull().default(""),
      created_at: k.int().notNull(),
    },
    (t) => [
      // one message of an incident to a target
      k.uniqueIndex("alert_deliveries_uq").on(t.incident_id, t.kind, t.target),
      // what is to be sent
      k.index("alert_deliveries_next_ix").on(t.next_at).where(sql`next_at <> 0`),
      // retention
      k.index("alert_deliveries_created_ix").on(t.created_at),
    ],
  );

  /** Changes of prices that a feed proposes. */
  const price_proposals = k.table(
    "price_proposals",
    {
      id: k.id(),
      /** Name of the feed among the options. */
      source: k.text().notNull(),
      created_at: k.int().notNull(),
      /** open, approved, automatic, refused, replaced, held */
      status: k.text().notNull().default("open"),
      /** JSON: per model the prices now and then, and what it is held for. */
      changes: k.text().notNull(),
      decided_at: k.int().notNull().default(0),
      actor_id: k.int().notNull().default(0),
    },
    (t) => [
      // the list; what is open
      k.index("price_proposals_status_ix").on(t.status, t.id),
    ],
  );

  /** Results of long work that are read later: imports, reconciliations. */
  const reports = k.table(
    "reports",
    {
      id: k.id(),
      /** import, reconciliation */
      kind: k.text().notNull(),
      title: k.text().notNull().default(""),
      created_at: k.int().notNull(),
      actor_id: k.int().notNull().default(0),
      /** Base64 of compressed JSON. */
      data: k.text().notNull(),
    },
    (t) => [
      // the list of a kind
      k.index("reports_kind_ix").on(t.kind, t.id),
    ],
  );

  /** Runs of `weir import`: where each source stands. */
  const imports = k.table("imports", {
    /** Identity of the source (its system and a hash of what names it). */
    source: k.text().primaryKey(),
    /** new-api, one-api, one-hub, litellm, weir */
    system: k.text().notNull(),
    /** JSON: per table how far it is read. Written with the rows themselves. */
    cursor: k.text().notNull().default(""),
    started_at: k.int().notNull(),
    finished_at: k.int().notNull().default(0),
  });

  /** Which row here a row of a source became: the same row is taken once. */
  const imported_rows = k.table(
    "imported_rows",
    {
      source: k.text().notNull(),
      /** user, token, channel, log, … */
      kind: k.text().notNull(),
      source_id: k.text().notNull(),
      target_id: k.text().notNull(),
      /** Hash of the row as it was taken: what the source changed since is seen. */
      row_hash: k.text().notNull().default(""),
    },
    (t) => [k.primaryKey({ columns: [t.source, t.kind, t.source_id] })],
  );

  /** Jobs that take minutes: drawing, music, video, batches, background responses. */
  const tasks = k.table(
    "tasks",
    {
      id: k.id(),
      /** The id that its owner uses. */
      task_id: k.text().notNull(),
      /** suno, kling, jimeng, mj, … (shared/task.ts) */
      platform: k.text().notNull(),
      action: k.text().notNull(),
      user_id: k.int().notNull(),
      username: k.text().notNull().default(""),
      token_id: k.int().notNull().default(0),
      group: k.text().notNull().default(""),
      channel_id: k.int().notNull(),
      channel_key_id: k.int().notNull().default(0),
      model: k.text().notNull().default(""),
      /** The vendor's id; '' until the submit is answered. */
      upstream_id: k.text().notNull().default(""),
      /** The job that it follows. */
      parent_id: k.text().notNull().default(""),
      /** A caller's idempotency key, hashed with the user id; null = none. */
      client_key: k.text(),
      /** Compare-and-set on it decides who settles. */
      status: k.text().notNull(),
      /** "45%" */
      progress: k.text().notNull().default(""),
      fail_reason: k.text().notNull().default(""),
      prompt: k.text().notNull().default(""),
      submit_time_ms: k.int().notNull(),
      start_time_ms: k.int().notNull().default(0),
      finish_time_ms: k.int().notNull().default(0),
      /** Units charged, minus refunds. */
      quota: k.int().notNull().default(0),
      /** Request id of its charge: what a refund reverses. */
      charge_id: k.text().notNull().default(""),
      refunded: k.int().notNull().default(0),
      /** JSON: the caller's request (without media). */
      input: k.text().notNull().default(""),
      /** JSON: the vendor's last answer. */
      data: k.text().notNull().default(""),
      /** JSON: internal state, never shown. */
      state: k.text().notNull().default(""),
      next_poll_at_ms: k.int().notNull().default(0),
      polls: k.int().notNull().default(0),
      deadline_ms: k.int().notNull().default(0),
    },
    (t) => [
      // a query of its owner
      k.uniqueIndex("tasks_task_uq").on(t.platform, t.task_id),
      // a repeated submit
      k.uniqueIndex("tasks_client_uq").on(t.client_key).where(sql`client_key is not null`),
      // a user's list
      k.index("tasks_user_ix").on(t.user_id, t.submit_time_ms),
      // administrators' list
      k.index("tasks_submit_ix").on(t.submit_time_ms, t.id),
      // polling
      k.index("tasks_poll_ix").on(t.next_poll_at_ms).where(sql`next_poll_at_ms <> 0`),
      // a vendor's callback
      k.index("tasks_upstream_ix").on(t.channel_id, t.upstream_id),
    ],
  );

  return {
    users, sessions, tokens, channels, channel_keys, options, logs, log_bodies, holds, instances, credits, usage_hourly, usage_sums, failed_attempts, versions,
    leases, meta, stored_objects, budget_spend, redemptions, orders, payment_callbacks, dividends, withdrawals, notices, identities,
    codes, totps, passkeys, audit_log, push_subscriptions, tasks, answered_requests, incidents, alert_deliveries, price_proposals,
    reports, imports, imported_rows,
  };
};

export type Tables = ReturnType<typeof makeTables>;

/** Row types (SQLite is the canonical type; Postgres returns the same). */
type Row<K extends keyof Tables> = Tables[K]["$inferSelect"];
type NewRow<K extends keyof Tables> = Tables[K]["$inferInsert"];
export type UserRow = Row<"users">;
export type TokenRow = Row<"tokens">;
export type ChannelRow = Row<"channels">;
export type LogRow = Row<"logs">;
export type NewLogRow = NewRow<"logs">;
export type HoldRow = Row<"holds">;
export type ChannelKeyRow = Row<"channel_keys">;
export type RedemptionRow = Row<"redemptions">;
export type OrderRow = Row<"orders">;
export type WithdrawalRow = Row<"withdrawals">;
export type PasskeyRow = Row<"passkeys">;
export type PushSubscriptionRow = Row<"push_subscriptions">;
export type TaskRow = Row<"tasks">;

/** The SQLite tables; features read tables from `db.t`, which is these or their Postgres counterparts. */
export const sqliteTables: Tables = makeTables(sqliteKit);
