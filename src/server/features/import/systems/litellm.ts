/**
 * BerriAI/litellm: Postgres with the tables of proxy/schema.prisma (1.109), or the model_list of config.yaml. Its keys
 * are known by their SHA-256 alone; its budgets are of windows of time, while a user here has a balance.
 */
import { LOG_TYPE } from "../../../../shared/log";
import { isOptionKey } from "../../../../shared/options";
import { memorySource } from "../../../db/foreign/memory";
import type { Catalogue, Row, Source } from "../../../db/foreign/source";
import {
  type Left,
  type SourceChannel,
  type SourceLimits,
  type SourceSpend,
  NO_LIMITS,
  type SourceToken,
  type SourceUser,
} from "../records";
import type { Environment, System } from "../system";
import { flagOf, numberOf, objectOf, textOf, timeOf, wholeOf } from "../values";
import { channelsOf, pricesOf } from "./litellm-models";

const USERS = "LiteLLM_UserTable";
const TOKENS = "LiteLLM_VerificationToken";
const MODELS = "LiteLLM_ProxyModelTable";
const CONFIG = "model_list";

/** Balance of a user without a budget for life, USD: windows of time limit what is spent of it. */
const ALLOWANCE = 1_000_000;
/** Words in place of names of models. */
const ALL_MODELS = new Set(["all-team-models", "all-proxy-models"]);

/** Budgets of these durations have an equal here. */
const DAY = /^(1d|24h)$/;
const MONTH = /^(30d|1mo|31d)$/;

interface Budget {
  limits: SourceLimits;
  /** Of a budget of days or months, in its running window: it is not given a second time. */
  spend?: SourceSpend;
  /** Units that are left for life; undefined: as many as wanted. */
  left: number | undefined;
}

function budgetOf(row: Row, units: number, now = Date.now()): Budget {
  const limits = {
    ...NO_LIMITS,
    rpm: Math.max(0, wholeOf(row, "rpm_limit")),
    tpm: Math.max(0, wholeOf(row, "tpm_limit")),
    concurrency: Math.max(0, wholeOf(row, "max_parallel_requests")),
  };
  if (row.max_budget === null || row.max_budget === undefined) return { limits, left: undefined };
  const budget = Math.round(numberOf(row, "max_budget") * units);
  const duration = textOf(row, "budget_duration");
  // Of the running window alone; LiteLLM resets it some time after its end.
  const over = (timeOf(row, "budget_reset_at") ?? Infinity) * 1000 <= now;
  const spent = over ? 0 : Math.max(0, Math.round(numberOf(row, "spend") * units));
  const spend = (period: keyof SourceSpend) => spent > 0 && { spend: { day: 0, month: 0, [period]: spent } };
  if (DAY.test(duration)) return { limits: { ...limits, budget_day: budget }, left: undefined, ...spend("day") };
  if (MONTH.test(duration)) return { limits: { ...limits, budget_month: budget }, left: undefined, ...spend("month") };
  return { limits, left: budget - spendOf(row, units) };
}

const spendOf = (row: Row, units: number): number =>
  Math.round((numberOf(row, "total_spend") || numberOf(row, "spend")) * units);

/** An array of Postgres, as the driver or as text ({a,b}). */
function arrayOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.map(String);
  const text = typeof value === "string" ? value.replace(/^\{|\}$/g, "") : "";
  return text
    .split(",")
    .map((one) => one.replace(/^"|"$/g, "").trim())
    .filter(Boolean);
}

function userOf(row: Row, units: number): SourceUser {
  const { limits, left, spend } = budgetOf(row, units);
  const used_quota = spendOf(row, units);
  const password = textOf(row, "password");
  return {
    id: textOf(row, "user_id"),
    username: (textOf(row, "user_alias") || textOf(row, "user_email") || textOf(row, "user_id")).trim(),
    password_hash: password.startsWith("scrypt:") ? password : "",
    display_name: textOf(row, "user_alias"),
    email: textOf(row, "user_email").trim().toLowerCase(),
    role: textOf(row, "user_role") === "proxy_admin" ? 10 : 1,
    status: 1,
    group: "default",
    quota: left ?? ALLOWANCE * units,
    used_quota,
    request_count: 0,
    access_token: "",
    aff_code: "",
    aff_count: 0,
    aff_quota: 0,
    aff_history_quota: 0,
    inviter: "",
    setting: "",
    created_at: timeOf(row, "created_at") ?? 0,
    last_login_at: 0,
    deleted_at: null,
    identities: [],
    limits,
    ...(spend && { spend }),
  };
}

function tokenOf(row: Row, units: number): SourceToken | Left {
  const digest = textOf(row, "token").toLowerCase();
  if (!/^[0-9a-f]{64}$/.test(digest)) return { left: "not a hash of a key" };
  const { limits, left, spend } = budgetOf(row, units);
  const models = arrayOf(row.models);
  const limited = models.length > 0 && !models.some((one) => ALL_MODELS.has(one));
  return {
    id: digest,
    user: textOf(row, "user_id"),
    name: textOf(row, "key_alias") || textOf(row, "key_name") || "key",
    key: "",
    sha256: digest,
    hint: textOf(row, "key_name"),
    status: flagOf(row, "blocked") ? 2 : 1,
    remain_quota: Math.max(0, left ?? 0),
    used_quota: spendOf(row, units),
    unlimited_quota: left === undefined,
    expired_time: timeOf(row, "expires") ?? -1,
    created_time: timeOf(row, "created_at") ?? 0,
    accessed_time: 0,
    model_limits_enabled: limited,
    model_limits: limited ? models.join(",") : "",
    allow_ips: "",
    group: "",
    limits,
    ...(spend && { spend }),
  };
}

/** All rows of a table that may not be there. */
async function allRows(source: Source, catalogue: Catalogue, table: string, key: string): Promise<Row[]> {
  return catalogue.has(table) ? source.rows(table, key, undefined, 1_000_000) : [];
}

/** Keys of a team, and of no user, get an account of their own. */
function withOwners(
  users: readonly Row[],
  tokens: readonly Row[],
  teams: readonly Row[],
): { users: Row[]; tokens: Row[] } {
  const known = new Set(users.map((row) => textOf(row, "user_id")));
  const names = new Map(teams.map((row) => [textOf(row, "team_id"), textOf(row, "team_alias")]));
  const made = new Map<string, Row>();
  const owned = tokens.map((row) => {
    const user = textOf(row, "user_id");
    if (known.has(user)) return row;
    const team = textOf(row, "team_id");
    const user_id = user || (team ? `team:${team}` : "keys-without-user");
    const user_alias = user || (team ? `team ${names.get(team) || team}` : user_id);
    made.set(user_id, { user_id, user_alias, user_role: "team" });
    return { ...row, user_id };
  });
  return { users: [...users, ...made.values()], tokens: owned };
}

export const litellm: System = {
  name: "litellm",
  recognise: (catalogue) =>
    catalogue.has(TOKENS) ? "LiteLLM's database" : catalogue.has(CONFIG) ? "LiteLLM's config.yaml" : undefined,
  prepare: async (source, catalogue, env: Environment) => {
    const config = await allRows(source, catalogue, CONFIG, "place");
    const deployments = await allRows(source, catalogue, MODELS, "model_id");
    const credentials = await allRows(source, catalogue, "LiteLLM_CredentialsTable", "credential_name");
    const byName = new Map(
      credentials.map((row) => [textOf(row, "credential_name"), objectOf(row, "credential_values")]),
    );
    const found =
      config.length > 0 ? channelsOf(config, new Map(), false, env) : channelsOf(deployments, byName, true, env);
    const owners = withOwners(
      await allRows(source, catalogue, USERS, "user_id"),
      await allRows(source, catalogue, TOKENS, "token"),
      await allRows(source, catalogue, "LiteLLM_TeamTable", "team_id"),
    );
    const tables = new Map<string, Row[]>([
      [USERS, owners.users],
      [TOKENS, owners.tokens],
      [MODELS, found.map((channel) => ({ model_id: channel.id, channel }))],
      ["prices", [...config, ...deployments]],
    ]);
    // Only how many there are is told of them: a log of spends may have millions of rows.
    const counted = new Map<string, number>();
    for (const table of catalogue.keys()) {
      if (tables.has(table) || table === CONFIG || table.startsWith("_prisma")) continue;
      const n = await source.count(table);
      if (n > 0) counted.set(table, n);
    }
    return memorySource(tables, source.engine, counted);
  },
  tables: (_catalogue, asked) => {
    const units = Number(asked.units ?? 500_000);
    return {
      users: {
        table: USERS,
        key: "user_id",
        taken: [
          "user_id",
          "user_alias",
          "user_email",
          "user_role",
          "password",
          "max_budget",
          "spend",
          "total_spend",
          "budget_duration",
          "rpm_limit",
          "tpm_limit",
          "max_parallel_requests",
          "created_at",
          "updated_at",
          "teams",
        ],
        left: {
          budget_reset_at: "windows begin with the day or month here; what is spent in the running one is taken",
          models: "models are limited by keys here",
        },
        read: (row) => userOf(row, units),
      },
      tokens: {
        table: TOKENS,
        key: "token",
        owner: "user_id",
        taken: [
          "token",
          "user_id",
          "team_id",
          "key_name",
          "key_alias",
          "blocked",
          "max_budget",
          "spend",
          "total_spend",
          "budget_duration",
          "rpm_limit",
          "tpm_limit",
          "max_parallel_requests",
          "expires",
          "models",
          "created_at",
          "updated_at",
        ],
        left: { aliases: "a key has no names of its own for models here", metadata: "Weir has no data on keys" },
        read: (row) => tokenOf(row, units),
      },
      channels: {
        table: MODELS,
        key: "model_id",
        taken: ["model_id", "channel"],
        // Made by `prepare`.
        read: (row) => row.channel as SourceChannel,
      },
    };
  },
  calls: (units) => ({
    table: "LiteLLM_SpendLogs",
    key: "startTime",
    read: (row) => ({
      id: textOf(row, "request_id"),
      type: LOG_TYPE.consume,
      // As callers name it.
      model_name: textOf(row, "model_group") || textOf(row, "model"),
      group: "",
      quota: Math.round(numberOf(row, "spend") * units),
      prompt_tokens: wholeOf(row, "prompt_tokens"),
      completion_tokens: wholeOf(row, "completion_tokens"),
      cache_read: 0,
      cache_write: 0,
    }),
  }),
  options: async (source, _catalogue, here) => {
    const prices = pricesOf(await source.rows("prices", "model_name", undefined, 1_000_000));
    const values = new Map<string, string>();
    for (const [key, entries] of prices)
      if (isOptionKey(key)) values.set(key, JSON.stringify({ ...(JSON.parse(here(key)) as object), ...entries }));
    return {
      values,
      left: [],
      differs: [
        `budgets: a window of a day or a month is a budget here, and its user has a balance of $${ALLOWANCE}; a budget of another duration becomes a balance that must be topped up`,
        "teams, organisations and projects: here a key belongs to one user; keys of a team get an account of their own",
        "fallbacks, aliases and routing strategies of the router: here channels of one model are tried by priority and weight",
      ],
      issuer: "",
      stated: [],
    };
  },
  leftTables: {
    prices: "read for prices",
    LiteLLM_CredentialsTable: "part of the channels",
    LiteLLM_TeamTable: "Weir has no teams: their keys get an account",
    LiteLLM_SpendLogs: "not moved: what was spent is in the totals",
    LiteLLM_DailyUserSpend: "not moved: what was spent is in the totals",
    LiteLLM_Config: "settings of the router and the server are made by hand",
  },
};
