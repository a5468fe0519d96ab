/**
 * Databases of other gateways, made here from what is known of their columns: one description, written to SQLite,
 * Postgres or MySQL. The rows have the traps that an import meets.
 */
import { Database } from "bun:sqlite";
import type { SQL } from "bun";

type Type = "int" | "bigint" | "real" | "text" | "name" | "bool" | "time" | `char(${number})`;
type Value = string | number | boolean | null;
export interface SourceTable {
  columns: Record<string, Type>;
  rows: Record<string, Value>[];
}
export type SourceTables = Record<string, SourceTable>;
type Engine = "sqlite" | "postgres" | "mysql";

const TYPES: Record<Engine, Partial<Record<Type, string>>> = {
  sqlite: { time: "datetime", bool: "numeric", name: "text", char: "text" } as Partial<Record<Type, string>>,
  postgres: { time: "timestamptz", bool: "boolean", name: "varchar(191)", real: "double precision" },
  mysql: { time: "datetime", bool: "tinyint(1)", name: "varchar(191)", real: "double", text: "longtext" },
};

function quoted(engine: Engine, name: string): string {
  return engine === "mysql" ? `\`${name}\`` : `"${name}"`;
}

function createText(engine: Engine, table: string, { columns }: SourceTable): string {
  const parts = Object.entries(columns).map(([column, type], i) => {
    const name = quoted(engine, column);
    const key = i === 0 ? " primary key" : "";
    return `${name} ${TYPES[engine][type] ?? type}${key}`;
  });
  const end = engine === "mysql" ? " default charset=utf8mb3" : "";
  return `create table ${quoted(engine, table)} (${parts.join(", ")})${end}`;
}

function literal(engine: Engine, value: Value): string {
  if (value === null) return "null";
  if (typeof value === "boolean") return engine === "postgres" ? String(value) : value ? "1" : "0";
  if (typeof value === "number") return String(value);
  const text = engine === "mysql" ? value.replaceAll("\\", "\\\\") : value;
  return `'${text.replaceAll("'", "''")}'`;
}

function* statementsOf(engine: Engine, tables: SourceTables): Generator<string> {
  for (const [table, one] of Object.entries(tables)) {
    yield createText(engine, table, one);
    for (let i = 0; i < one.rows.length; i += 200) {
      const rows = one.rows.slice(i, i + 200);
      const names = Object.keys(one.columns);
      const values = rows.map((row) => `(${names.map((name) => literal(engine, row[name] ?? null)).join(", ")})`);
      yield `insert into ${quoted(engine, table)} (${names.map((name) => quoted(engine, name)).join(", ")}) values ${values.join(", ")}`;
    }
  }
}

/** A SQLite file of these tables. */
export function writeFile(path: string, tables: SourceTables): void {
  const file = new Database(path, { create: true });
  file.transaction(() => {
    for (const text of statementsOf("sqlite", tables)) file.exec(text);
  })();
  file.close();
}

/** The same on a server. */
export async function writeServer(client: SQL, engine: "postgres" | "mysql", tables: SourceTables): Promise<void> {
  for (const text of statementsOf(engine, tables)) await client.unsafe(text);
}

/** bcrypt of "correct horse", as the family writes it (cost lowered for speed). */
export const PASSWORD = "correct horse";
const HASH = Bun.password.hashSync(PASSWORD, { algorithm: "bcrypt", cost: 4 }).replace("$2b$", "$2a$");

const USERS: SourceTable["columns"] = {
  id: "int",
  username: "name",
  password: "text",
  display_name: "text",
  email: "text",
  role: "int",
  status: "int",
  group: "text",
  quota: "bigint",
  used_quota: "bigint",
  request_count: "int",
  access_token: "char(32)",
  aff_code: "text",
  inviter_id: "int",
  github_id: "text",
  wechat_id: "text",
  deleted_at: "time",
};
const TOKENS: SourceTable["columns"] = {
  id: "int",
  user_id: "int",
  key: "char(48)",
  status: "int",
  name: "text",
  created_time: "bigint",
  accessed_time: "bigint",
  expired_time: "bigint",
  remain_quota: "bigint",
  unlimited_quota: "bool",
  used_quota: "bigint",
  deleted_at: "time",
};
const CHANNELS: SourceTable["columns"] = {
  id: "int",
  type: "int",
  key: "text",
  name: "text",
  status: "int",
  weight: "int",
  created_time: "bigint",
  test_time: "bigint",
  response_time: "int",
  base_url: "text",
  other: "text",
  balance: "real",
  balance_updated_time: "bigint",
  models: "text",
  group: "text",
  used_quota: "bigint",
  model_mapping: "text",
  priority: "bigint",
};
const CODES: SourceTable["columns"] = {
  id: "int",
  user_id: "int",
  key: "char(32)",
  status: "int",
  name: "text",
  quota: "int",
  created_time: "bigint",
  redeemed_time: "bigint",
};
const LOGS: SourceTable["columns"] = {
  id: "int",
  user_id: "int",
  created_at: "bigint",
  type: "int",
  content: "text",
  username: "text",
  token_name: "text",
  model_name: "text",
  quota: "int",
  prompt_tokens: "int",
  completion_tokens: "int",
  channel_id: "int",
};

const user = (id: number, username: string, more: Record<string, Value> = {}) => ({
  id,
  username,
  password: HASH,
  display_name: username,
  email: "",
  role: 1,
  status: 1,
  group: "default",
  quota: 1000 * id,
  used_quota: 0,
  request_count: 0,
  access_token: null,
  aff_code: `A${id}`,
  inviter_id: 0,
  github_id: "",
  wechat_id: "",
  deleted_at: null,
  ...more,
});
/** 48 characters. */
export const keyOfToken = (id: number): string =>
  `K${String(id).padStart(3, "0")}${"aB3".repeat(15)}`.slice(0, 48).padEnd(48, "x");
const token = (id: number, user_id: number, more: Record<string, Value> = {}) => ({
  id,
  user_id,
  key: keyOfToken(id),
  status: 1,
  name: `token ${id}`,
  created_time: 1_700_000_000,
  accessed_time: 0,
  expired_time: -1,
  remain_quota: 500,
  unlimited_quota: false,
  used_quota: 0,
  deleted_at: null,
  ...more,
});
const channel = (id: number, type: number, more: Record<string, Value> = {}) => ({
  id,
  type,
  key: `sk-upstream-${id}`,
  name: `channel ${id}`,
  status: 1,
  weight: 0,
  created_time: 1_700_000_000,
  test_time: 0,
  response_time: 0,
  base_url: "",
  other: "",
  balance: 0,
  balance_updated_time: 0,
  models: "gpt-4o",
  group: "default",
  used_quota: 0,
  model_mapping: "",
  priority: 0,
  ...more,
});
const log = (id: number, user_id: number, more: Record<string, Value> = {}) => ({
  id,
  user_id,
  created_at: 1_760_000_000 + id * 60,
  type: 2,
  content: "",
  username: "",
  token_name: "",
  model_name: "gpt-4o",
  quota: 10,
  prompt_tokens: 5,
  completion_tokens: 7,
  channel_id: 1,
  ...more,
});

/** new-api of 2025 or later, with every trap. */
export function newApiTables(): SourceTables {
  return {
    setups: { columns: { id: "int", version: "text" }, rows: [{ id: 1, version: "v0.9" }] },
    options: {
      columns: { key: "name", value: "text" },
      rows: [
        { key: "QuotaPerUnit", value: "500000" },
        { key: "ModelRatio", value: '{"gpt-4o":1.25,"old-model":3}' },
        { key: "CompletionRatio", value: '{"gpt-4o":4}' },
        { key: "GroupRatio", value: '{"default":1,"vip":0.8}' },
        { key: "SMTPToken", value: "smtp-secret-value" },
        { key: "ServerAddress", value: "https://old.example" },
        { key: "CreemApiKey", value: "creem-secret-value" },
        { key: "SystemName", value: "Old gateway" },
        { key: "billing_setting.billing_mode", value: '{"expr-model":"tiered_expr","odd-model":"tiered_expr"}' },
        {
          key: "billing_setting.billing_expr",
          value:
            '{"expr-model":"v1:tier(\\"base\\", p * 2 + c * 8 + cr * 0.2)","odd-model":"p * 2 ||| when(hour() > 8) * 2"}',
        },
      ],
    },
    users: {
      columns: {
        ...USERS,
        aff_count: "int",
        aff_quota: "int",
        aff_history: "int",
        oidc_id: "text",
        linux_do_id: "text",
        telegram_id: "text",
        discord_id: "text",
        setting: "text",
      },
      rows: [
        user(1, "root", { role: 100, quota: 100_000, used_quota: 70, request_count: 7 }),
        user(2, "alice", {
          email: "Alice@x.example",
          inviter_id: 3,
          access_token: "a".repeat(32),
          used_quota: 30,
          request_count: 3,
          aff_quota: 40,
          aff_history: 100,
          setting:
            '{"notify_type":"webhook","webhook_url":"https://hook.example","webhook_secret":"hook-secret-value"}',
        }),
        user(3, "Bob", { group: "vip", linux_do_id: "77", discord_id: "d1" }),
        user(4, "bob", { email: "alice@x.example", quota: 5 }),
        user(5, "debtor", { quota: -250, used_quota: 900, request_count: 9 }),
        user(6, "gone", { quota: 60, deleted_at: "2025-01-02 03:04:05" }),
        user(7, "nopass", { password: "", github_id: "octocat", access_token: null }),
        user(9, "admin2", { role: 10, status: 2 }),
      ],
    },
    tokens: {
      columns: {
        ...TOKENS,
        model_limits_enabled: "bool",
        model_limits: "text",
        allow_ips: "text",
        group: "text",
        cross_group_retry: "bool",
      },
      rows: [
        token(1, 1, { used_quota: 50 }),
        token(2, 2, {
          status: 4,
          remain_quota: 0,
          used_quota: 20,
          model_limits_enabled: true,
          model_limits: "gpt-4o, old-model",
          allow_ips: "10.0.0.0/8\n,192.0.2.1",
        }),
        token(3, 2, { deleted_at: "2025-02-03 04:05:06", used_quota: 5 }),
        token(4, 3, { unlimited_quota: true, remain_quota: -1, group: "vip" }),
      ],
    },
    channels: {
      columns: {
        ...CHANNELS,
        test_model: "text",
        status_code_mapping: "text",
        auto_ban: "int",
        other_info: "text",
        tag: "text",
        setting: "text",
        settings: "text",
        param_override: "text",
        header_override: "text",
        openai_organization: "text",
        channel_info: "text",
        remark: "text",
        need_reconcile: "int",
      },
      rows: [
        channel(1, 1, {
          used_quota: 80,
          models: "gpt-4o,old-model,expr-model, odd-model,\n",
          auto_ban: 1,
          setting: '{"proxy":"","force_format":true}',
        }),
        channel(2, 14, {
          key: "k-a\nk-b\nk-c",
          channel_info: '{"is_multi_key":true,"multi_key_status_list":{"1":2},"multi_key_mode":"polling"}',
          models: "claude-sonnet-4-5",
          weight: 5,
          need_reconcile: 3,
        }),
        channel(3, 58, { models: "fork-model" }),
        channel(4, 24, {
          status: 2,
          header_override: '{"authorization":"Bearer up-secret-value"}',
          settings: '{"allow_speed":true,"azure_responses_version":"v1"}',
          used_quota: 12,
        }),
      ],
    },
    redemptions: {
      columns: { ...CODES, used_user_id: "int", expired_time: "bigint", deleted_at: "time" },
      rows: [
        {
          id: 1,
          user_id: 1,
          key: "0123456789abcdef0123456789abcdef",
          status: 1,
          name: "gift",
          quota: 77,
          created_time: 5,
          redeemed_time: 0,
          used_user_id: 0,
          expired_time: 0,
          deleted_at: null,
        },
        {
          id: 2,
          user_id: 1,
          key: "f".repeat(32),
          status: 3,
          name: "used",
          quota: 10,
          created_time: 5,
          redeemed_time: 9,
          used_user_id: 2,
          expired_time: 0,
          deleted_at: null,
        },
      ],
    },
    logs: {
      columns: {
        ...LOGS,
        use_time: "int",
        is_stream: "bool",
        token_id: "int",
        group: "text",
        ip: "text",
        other: "text",
      },
      rows: [
        ...[1, 2, 3, 4, 5].map((id) => log(id, 1, { token_id: 1, group: "default", is_stream: true, use_time: 2 })),
        log(6, 2, { token_id: 2, channel_id: 4, quota: 12 }),
        log(7, 2, { token_id: 3, quota: 5 }),
        log(8, 1, { type: 6, quota: 4, token_id: 1 }),
        log(9, 99, { token_id: 50 }),
        log(10, 2, { type: 5, quota: 0, token_id: 2, content: "upstream failed" }),
        log(11, 2, { type: 1, quota: 500, content: "top-up" }),
      ],
    },
    abilities: {
      columns: { group: "name", model: "text", channel_id: "int" },
      rows: [{ group: "default", model: "gpt-4o", channel_id: 1 }],
    },
    top_ups: { columns: { id: "int", user_id: "int", amount: "int" }, rows: [{ id: 1, user_id: 2, amount: 5 }] },
    fork_table: { columns: { id: "int", x: "text" }, rows: [{ id: 1, x: "y" }] },
  };
}

/** one-api of 2025: its own type numbers, secrets of AWS in config, tests of channels as log rows of type 5. */
export function oneApiTables(): SourceTables {
  return {
    options: {
      columns: { key: "name", value: "text" },
      rows: [
        { key: "ModelRatio", value: '{"moonshot-v1-8k":6}' },
        { key: "LarkClientId", value: "lark" },
      ],
    },
    users: {
      columns: { ...USERS, lark_id: "text", oidc_id: "text" },
      rows: [
        user(1, "root", { role: 100 }),
        user(2, "carol", { used_quota: 3, request_count: 1 }),
        user(3, "deleted_abc", { status: 3 }),
      ],
    },
    tokens: {
      columns: { ...TOKENS, models: "text", subnet: "text" },
      rows: [
        token(1, 2, {
          models: "moonshot-v1-8k",
          subnet: "10.0.0.0/8,::1",
          remain_quota: -1,
          unlimited_quota: true,
          status: 3,
        }),
      ],
    },
    channels: {
      columns: { ...CHANNELS, config: "text", system_prompt: "text" },
      rows: [
        channel(1, 45, { models: "grok-4", weight: 9 }),
        channel(2, 4, { models: "gpt-4o" }),
        channel(3, 33, {
          key: "",
          models: "claude",
          config: '{"ak":"AKIA","sk":"secret","region":"us-east-1"}',
          system_prompt: "Be brief.",
        }),
        channel(4, 38, { models: "deepl-zh" }),
        channel(5, 50, { base_url: "https://api.example/v1/", models: "m" }),
        channel(6, 50, { base_url: "https://api.example/openai", models: "m" }),
      ],
    },
    redemptions: { columns: CODES, rows: [] },
    logs: {
      columns: { ...LOGS, elapsed_time: "int", is_stream: "bool", request_id: "text" },
      rows: [
        log(1, 2, { quota: 3, elapsed_time: 2400, model_name: "moonshot-v1-8k" }),
        log(2, 2, { type: 5, quota: 0 }),
      ],
    },
    abilities: { columns: { group: "name", model: "text", channel_id: "int" }, rows: [] },
  };
}

/** one-hub: prices and groups in tables, limits of tokens in JSON, keys of 59 characters. */
export function oneHubTables(): SourceTables {
  const { access_token: _none, ...columns } = USERS;
  return {
    options: {
      columns: { key: "name", value: "text" },
      rows: [
        { key: "PaymentUSDRate", value: "7" },
        { key: "SystemName", value: "Hub" },
      ],
    },
    prices: {
      columns: {
        model: "name",
        type: "text",
        channel_type: "int",
        input: "real",
        output: "real",
        locked: "bool",
        extra_ratios: "text",
      },
      rows: [
        {
          model: "gpt-4o",
          type: "tokens",
          channel_type: 1,
          input: 1.25,
          output: 5,
          locked: false,
          extra_ratios: '{"cached_read_tokens":0.5,"reasoning_tokens":1}',
        },
        { model: "dall-e-3", type: "times", channel_type: 1, input: 20, output: 20, locked: false, extra_ratios: null },
        {
          model: "grok-*",
          type: "tokens",
          channel_type: 56,
          input: 1.5,
          output: 7.5,
          locked: false,
          extra_ratios: null,
        },
      ],
    },
    user_groups: {
      columns: {
        id: "int",
        symbol: "text",
        name: "text",
        ratio: "real",
        api_rate: "int",
        public: "bool",
        promotion: "bool",
        enable: "bool",
      },
      rows: [
        {
          id: 1,
          symbol: "default",
          name: "Everyone",
          ratio: 1,
          api_rate: 600,
          public: true,
          promotion: false,
          enable: true,
        },
        { id: 2, symbol: "pro", name: "Pro", ratio: 0.5, api_rate: 0, public: false, promotion: true, enable: true },
      ],
    },
    users: {
      columns: { ...columns, github_id_new: "bigint", telegram_id: "bigint" },
      rows: [
        user(1, "root", { role: 100, github_id: "octo", github_id_new: 583231, telegram_id: 0 }),
        user(2, "dora", { used_quota: 8, request_count: 2, group: "pro" }),
      ],
    },
    tokens: {
      columns: { ...TOKENS, key: "text", setting: "text", group: "text", backup_group: "text" },
      rows: [
        token(1, 2, {
          key: `${"s".repeat(15)}_${"H".repeat(43)}`,
          used_quota: 8,
          setting:
            '{"limits":{"limit_model_setting":{"enabled":true,"models":["gpt-4o"]},"limits_ip_setting":{"enabled":true,"whitelist":["10.1.0.0/16"]}}}',
          group: "",
          backup_group: "pro",
        }),
      ],
    },
    channels: {
      columns: {
        ...CHANNELS,
        test_model: "text",
        tag: "text",
        model_headers: "text",
        custom_parameter: "text",
        proxy: "text",
        pre_cost: "int",
      },
      rows: [
        channel(1, 56, {
          models: "grok-4",
          weight: 1,
          proxy: "socks5://user:proxy-secret-value@10.0.0.1:1080",
          model_headers: '{"x-team":"a"}',
          pre_cost: 1,
        }),
        channel(2, 25, { models: "gpt-4o,dall-e-3", weight: 3 }),
      ],
    },
    redemptions: { columns: CODES, rows: [] },
    logs: {
      columns: { ...LOGS, request_time: "int", is_stream: "bool", source_ip: "text", metadata: "text" },
      rows: [log(1, 2, { quota: 4, request_time: 1600, source_ip: "192.0.2.7" }), log(2, 2, { quota: 4 })],
    },
  };
}

const JOB: SourceTable["columns"] = {
  id: "int",
  user_id: "int",
  channel_id: "int",
  action: "text",
  status: "text",
  progress: "text",
  fail_reason: "text",
  submit_time: "bigint",
  start_time: "bigint",
  finish_time: "bigint",
  quota: "int",
};
const job = (id: number, user_id: number, more: Record<string, Value>) => ({
  id,
  user_id,
  channel_id: 1,
  status: "SUCCESS",
  progress: "100%",
  fail_reason: "",
  submit_time: 1_760_000_000 + id,
  start_time: 0,
  finish_time: 1_760_000_100 + id,
  quota: 40,
  ...more,
});
const drawing = (id: number, user_id: number, more: Record<string, Value>) =>
  job(id, user_id, {
    action: "IMAGINE",
    code: 1,
    mj_id: `mj-${id}`,
    prompt: "一只猫",
    prompt_en: "a cat",
    description: "",
    state: "",
    image_url: "",
    buttons: "",
    properties: "",
    submit_time: 1_760_000_000_123 + id,
    finish_time: 1_760_000_100_123,
    ...more,
  });
const DRAWINGS: SourceTable["columns"] = {
  ...JOB,
  code: "int",
  mj_id: "text",
  prompt: "text",
  prompt_en: "text",
  description: "text",
  state: "text",
  image_url: "text",
  buttons: "text",
  properties: "text",
};
const TASKS: SourceTable["columns"] = {
  ...JOB,
  task_id: "text",
  platform: "text",
  group: "text",
  properties: "text",
  data: "text",
  private_data: "text",
};

/** new-api with what `--records` takes: orders, paid or not; used codes; jobs that ended, run, or are unknown here. */
export function newApiHistory(): SourceTables {
  const topUp = (id: number, more: Record<string, Value>) => ({
    id,
    user_id: 2,
    amount: 3,
    money: 21.9,
    trade_no: `USR2NO${id}`,
    payment_method: "alipay",
    create_time: 1_750_000_000,
    complete_time: 1_750_000_050,
    status: "success",
    ...more,
  });
  const video = { action: "generate", platform: "50", data: "{}", properties: '{"input":"a dog"}' };
  return {
    ...newApiTables(),
    top_ups: {
      columns: {
        id: "int",
        user_id: "int",
        amount: "bigint",
        money: "real",
        trade_no: "text",
        payment_method: "text",
        create_time: "bigint",
        complete_time: "bigint",
        status: "text",
      },
      rows: [
        topUp(1, {}),
        topUp(2, { status: "pending", complete_time: 0 }),
        topUp(3, { payment_method: "stripe", money: 4.5, amount: 5 }),
        topUp(4, { user_id: 99 }),
        topUp(5, { trade_no: "", money: 7 }),
      ],
    },
    midjourneys: {
      columns: DRAWINGS,
      rows: [
        drawing(1, 2, { image_url: "https://cdn.example/1.png", buttons: '[{"customId":"MJ::1","label":"U1"}]' }),
        drawing(2, 2, { status: "FAILURE", fail_reason: "banned", mj_id: "" }),
        drawing(3, 2, { status: "IN_PROGRESS", progress: "40%" }),
      ],
    },
    tasks: {
      columns: TASKS,
      rows: [
        job(1, 2, {
          task_id: "song-1",
          platform: "suno",
          action: "MUSIC",
          group: "default",
          data: '[{"audio_url":"https://cdn.example/1.mp3"}]',
        }),
        job(2, 3, { ...video, task_id: "film-1", fail_reason: "https://cdn.example/1.mp4" }),
        job(3, 3, { ...video, task_id: "film-2", platform: "plugin-of-a-fork" }),
      ],
    },
  };
}

/** one-hub with orders: their units stand in the row. */
export function oneHubHistory(): SourceTables {
  return {
    ...oneHubTables(),
    orders: {
      columns: {
        id: "int",
        user_id: "int",
        gateway_id: "int",
        trade_no: "text",
        gateway_no: "text",
        amount: "int",
        order_amount: "real",
        order_currency: "text",
        quota: "int",
        status: "text",
        created_at: "int",
        updated_at: "int",
      },
      rows: [
        {
          id: 1,
          user_id: 2,
          gateway_id: 1,
          trade_no: "hub1",
          gateway_no: "g1",
          amount: 2,
          order_amount: 14.6,
          order_currency: "CNY",
          quota: 900,
          status: "success",
          created_at: 1_750_000_000,
          updated_at: 1_750_000_010,
        },
      ],
    },
  };
}
