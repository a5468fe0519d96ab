/**
 * The way back: a SQLite database with the tables of QuantumNous/new-api (1.0), which adds the columns that it misses
 * when it starts. It knows bcrypt alone: users with another hash must set a new password.
 */
import { createSqliteFile } from "../../db/foreign/sqlite";
import { jsonObject } from "../../../shared/channel";
import type { Exported } from "./export";
import type { SourceChannel } from "./records";

const TABLES = {
  options: `"key" varchar(191) PRIMARY KEY, value text`,
  users: `id integer PRIMARY KEY AUTOINCREMENT, username text UNIQUE, password text NOT NULL, display_name text, role integer DEFAULT 1,
    status integer DEFAULT 1, email text, github_id text, oidc_id text, wechat_id text, telegram_id text, linux_do_id text,
    access_token char(32), quota integer DEFAULT 0, used_quota integer DEFAULT 0, request_count integer DEFAULT 0,
    "group" varchar(64) DEFAULT 'default', aff_code varchar(32) UNIQUE, aff_count integer DEFAULT 0, aff_quota integer DEFAULT 0,
    aff_history integer DEFAULT 0, inviter_id integer, deleted_at datetime, setting text, created_at integer, last_login_at integer`,
  tokens: `id integer PRIMARY KEY AUTOINCREMENT, user_id integer, "key" varchar(128) UNIQUE, status integer DEFAULT 1, name text,
    created_time bigint, accessed_time bigint, expired_time bigint DEFAULT -1, remain_quota integer DEFAULT 0, unlimited_quota numeric,
    model_limits_enabled numeric, model_limits text, allow_ips text DEFAULT '', used_quota integer DEFAULT 0, "group" text DEFAULT '',
    deleted_at datetime`,
  channels: `id integer PRIMARY KEY AUTOINCREMENT, type integer DEFAULT 0, "key" text NOT NULL, openai_organization text, test_model text,
    status integer DEFAULT 1, name text, weight integer DEFAULT 0, created_time bigint, test_time bigint, response_time integer,
    base_url text DEFAULT '', other text, balance real, balance_updated_time bigint, models text, "group" varchar(64) DEFAULT 'default',
    used_quota bigint DEFAULT 0, model_mapping text, status_code_mapping varchar(1024) DEFAULT '', priority bigint DEFAULT 0,
    auto_ban integer DEFAULT 1, other_info text, tag text, setting text, settings text, param_override text, header_override text,
    channel_info text`,
  abilities: `"group" varchar(64), model varchar(255), channel_id integer, enabled numeric, priority bigint DEFAULT 0, weight integer DEFAULT 0,
    tag text, PRIMARY KEY ("group", model, channel_id)`,
  redemptions: `id integer PRIMARY KEY AUTOINCREMENT, user_id integer, "key" char(32) UNIQUE, status integer DEFAULT 1, name text,
    quota integer DEFAULT 100, created_time bigint, redeemed_time bigint, used_user_id integer, deleted_at datetime, expired_time bigint`,
  setups: `id integer PRIMARY KEY AUTOINCREMENT, version varchar(50), initialized_at bigint`,
} as const;

type Table = keyof typeof TABLES;

/** It draws by weight + 10: weights are 10 lower there; where one is too small for that, all are 10 times as high. */
const WEIGHT = 10;

const BINDINGS = { github_id: "github", wechat_id: "wechat", telegram_id: "telegram", linux_do_id: "linuxdo" } as const;

function channelRow(channel: SourceChannel, times: number): Record<string, string | number | null> {
  const { keys, multi_key_mode, notes: _notes, was: _was, weight, setting, ...plain } = channel;
  const statuses = Object.fromEntries(keys.flatMap(({ status }, i) => (status === 1 ? [] : [[String(i), status]])));
  const reasons = Object.fromEntries(keys.flatMap(({ reason }, i) => (reason === "" ? [] : [[String(i), reason]])));
  const info = {
    is_multi_key: true,
    multi_key_size: keys.length,
    multi_key_status_list: statuses,
    multi_key_disabled_reason: reasons,
    multi_key_mode,
  };
  const { allow_service_tier, allow_inference_geo, allow_speed, ...members } = jsonObject(setting) ?? {};
  const settings = { allow_service_tier, allow_inference_geo, allow_speed };
  return {
    ...plain,
    id: Number(plain.id),
    type: plain.type ?? 0,
    key: keys.map(({ key }) => key).join("\n"),
    channel_info: multi_key_mode === "" ? "{}" : JSON.stringify(info),
    weight: Math.max(0, weight * times - WEIGHT),
    setting: Object.keys(members).length > 0 ? JSON.stringify(members) : "",
    settings: Object.values(settings).some(Boolean) ? JSON.stringify(settings) : "",
  };
}

/**
 * Writes the file, readable for its owner alone. `mustReset`: names of users without a password that new-api can read.
 * Throws CannotStart for a file that exists.
 */
export async function writeNewApi(path: string, records: AsyncIterable<Exported>): Promise<{ mustReset: string[] }> {
  const file = createSqliteFile(path);
  const mustReset: string[] = [];
  const channels: SourceChannel[] = [];
  const insert = (table: Table, row: Readonly<Record<string, string | number | boolean | null | undefined>>): void =>
    file.insert(table, row);
  for (const [table, columns] of Object.entries(TABLES)) file.create(table, columns);
  insert("setups", { id: 1, version: "v1.0.0", initialized_at: Math.floor(Date.now() / 1000) });
  for await (const one of records) {
    if (one.kind === "option") insert("options", { key: one.id, value: one.value });
    if (one.kind === "user") {
      const {
        identities,
        limits: _limits,
        spend: _spend,
        access_token: _access,
        password_hash,
        aff_history_quota,
        inviter,
        deleted_at,
        aff_code,
        ...user
      } = one.record;
      const bcrypt = password_hash.startsWith("$2");
      if (!bcrypt && deleted_at === null) mustReset.push(user.username);
      const subject = (provider: string): string =>
        identities.find((bound) => bound.provider === provider)?.subject ?? "";
      insert("users", {
        ...user,
        id: Number(user.id),
        password: bcrypt ? password_hash : "",
        aff_code: aff_code || null,
        aff_history: aff_history_quota,
        inviter_id: Number(inviter || 0),
        deleted_at:
          deleted_at === null
            ? null
            : new Date(deleted_at * 1000).toISOString().replace("T", " ").replace(".000Z", "+00:00"),
        ...Object.fromEntries(Object.entries(BINDINGS).map(([column, provider]) => [column, subject(provider)])),
        // Its issuer is an option there.
        oidc_id: subject("oidc").split(" ").at(-1) ?? "",
      });
    }
    if (one.kind === "token") {
      const { user, sha256: _digest, hint: _hint, limits: _limits, spend: _spend, ...token } = one.record;
      insert("tokens", { ...token, id: Number(token.id), user_id: Number(user) });
    }
    if (one.kind === "channel") channels.push(one.record);
    if (one.kind === "code") {
      const { user, used: _used, ...code } = one.record;
      insert("redemptions", { ...code, id: Number(code.id), user_id: Number(user), redeemed_time: 0, used_user_id: 0 });
    }
  }
  const times = channels.some(({ weight }) => weight > 0 && weight < WEIGHT) ? WEIGHT : 1;
  for (const channel of channels) {
    const row = channelRow(channel, times);
    const { priority, tag } = channel;
    insert("channels", row);
    for (const group of channel.group.split(","))
      for (const model of channel.models.split(",").filter(Boolean))
        insert("abilities", {
          group,
          model,
          channel_id: Number(channel.id),
          enabled: channel.status === 1,
          priority,
          weight: Number(row.weight),
          tag,
        });
  }
  file.close();
  return { mustReset };
}
