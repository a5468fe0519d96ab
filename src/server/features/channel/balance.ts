/**
 * What is left on a channel's upstream account. One query per balance kind of the registry; wire formats from the
 * vendors' documentation (SiliconFlow get-user-info, DeepSeek get-user-balance, Moonshot balance, OpenRouter
 * get-credits; read November 2026). Figures stay in the vendor's unit.
 */
import { asc, eq } from "drizzle-orm";
import { CHANNEL_STATUS } from "../../../shared/channel";
import type { BalanceResult, ChannelRun } from "../../../shared/channel-operations";
import { type BalanceKind, channelType, isCodingPlan } from "../../../shared/channel-types";
import { AppError, fail } from "../../../shared/errors";
import { type Ctx, type Services, seconds } from "../../contracts/context";
import type { ChannelRow } from "../../db/schema";
import { readLimited } from "../../lib/egress";
import { fetchThrough } from "../../lib/proxy";
import { redact } from "../../relay/providers/redact";
import type { PoolChannel } from "../../contracts/channel";
import { autoDisable } from "./auto-disable";
import { loadKeys } from "./keys";
import { readRun, startRun, type StepResult } from "./runs";
import { findChannel } from "./service";
import { upstreamHeaders, upstreamInit, upstreamMessage } from "./upstream";

const BALANCE_TIMEOUT_MS = 15_000;
const MAX_BYTES = 256 * 1024;
const DAY_MS = 86_400_000;

type Json = Record<string, unknown>;
/** GETs a path of the channel's address and returns its JSON object. Throws channel_balance_failed. */
type Ask = (path: string, more?: { base_url?: string; headers?: Record<string, string> }) => Promise<Json>;
type Inquiry = (ask: Ask, channel: PoolChannel, now: number) => Promise<BalanceResult>;

const object = (value: unknown): Json => (typeof value === "object" && value !== null ? (value as Json) : {});

/** A number, or a text of one: vendors send both. */
function amount(value: unknown, name: string): number {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  if (typeof number !== "number" || !Number.isFinite(number))
    fail("channel_balance_failed", { detail: `${name} is missing` });
  return number;
}

const date = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const isMainland = (channel: PoolChannel): boolean => new URL(channel.base_url).hostname.endsWith(".cn");

const inquiries: Readonly<Record<BalanceKind, Inquiry>> = {
  /** OpenAI's billing calls, which other gateways serve as well: the limit less what was used (in cents). */
  "openai-billing": async (ask, _channel, now) => {
    const subscription = await ask("/v1/dashboard/billing/subscription");
    const limit = amount(subscription.hard_limit_usd, "hard_limit_usd");
    const start = subscription.has_payment_method === true ? `${date(now).slice(0, 7)}-01` : date(now - 100 * DAY_MS);
    const usage = await ask(`/v1/dashboard/billing/usage?start_date=${start}&end_date=${date(now)}`);
    return { balance: limit - amount(usage.total_usage, "total_usage") / 100, currency: "USD" };
  },
  aiproxy: async (ask, channel) => {
    // The report lives beside the API, not under its address.
    const base_url = channel.base_url === channel.type.base_url ? "https://aiproxy.io" : channel.base_url;
    const answer = await ask("/api/report/getUserOverview", { base_url, headers: { "Api-Key": channel.key } });
    if (answer.success === false)
      fail("channel_balance_failed", { detail: redact(channel, String(answer.message ?? "")) });
    return { balance: amount(object(answer.data).totalPoints, "data.totalPoints"), currency: "points" };
  },
  api2gpt: async (ask) => {
    const answer = await ask("/dashboard/billing/credit_grants");
    return { balance: amount(answer.total_remaining, "total_remaining"), currency: "USD" };
  },
  aigc2d: async (ask) => {
    const answer = await ask("/dashboard/billing/credit_grants");
    return { balance: amount(answer.total_available, "total_available"), currency: "USD" };
  },
  openrouter: async (ask) => {
    const data = object((await ask("/v1/credits")).data);
    const balance = amount(data.total_credits, "data.total_credits") - amount(data.total_usage, "data.total_usage");
    return { balance, currency: "USD" };
  },
  moonshot: async (ask, channel) => {
    const data = object((await ask("/v1/users/me/balance")).data);
    return {
      balance: amount(data.available_balance, "data.available_balance"),
      currency: isMainland(channel) ? "CNY" : "USD",
    };
  },
  siliconflow: async (ask, channel) => {
    const answer = await ask("/v1/user/info");
    if (answer.status === false)
      fail("channel_balance_failed", { detail: redact(channel, String(answer.message ?? "")) });
    const balance = amount(object(answer.data).totalBalance, "data.totalBalance");
    return { balance, currency: isMainland(channel) ? "CNY" : "USD" };
  },
  /** One entry per currency; accounts are kept in CNY unless there is none. */
  deepseek: async (ask) => {
    const { balance_infos } = await ask("/user/balance");
    const entries = Array.isArray(balance_infos) ? balance_infos.map(object) : [];
    const entry = entries.find(({ currency }) => currency === "CNY") ?? entries[0];
    const currency = entry?.currency === "USD" ? "USD" : "CNY";
    return { balance: amount(entry?.total_balance, "balance_infos[].total_balance"), currency };
  },
};

/** Where billing calls go: a complete URL (custom channels) ends before its version. */
const billingBase = ({ type, base_url }: PoolChannel): string =>
  type.complete_url ? base_url.replace(/\/v\d+\w*\/.*$|\?.*$/, "").replace(/\/+$/, "") : base_url;

function askOf(channel: PoolChannel, signal: AbortSignal | undefined): Ask {
  // A plan is a subscription: it has a quota and no balance.
  if (isCodingPlan(channel.base_url)) fail("channel_balance_unsupported");
  const init = upstreamInit(channel, BALANCE_TIMEOUT_MS, signal);
  return async (path, { base_url = billingBase(channel), headers = {} } = {}) => {
    let status = 0;
    let text = "";
    try {
      const auth = upstreamHeaders(channel) ?? fail("channel_balance_unsupported");
      const response = await fetchThrough(base_url + path, {
        ...init,
        headers: { ...auth, accept: "application/json", ...headers },
      });
      status = response.status;
      text = await readLimited(response, MAX_BYTES);
      if (response.ok) return object(JSON.parse(text));
    } catch (error) {
      if (error instanceof AppError) throw error;
      signal?.throwIfAborted();
      if (status === 0) fail("channel_balance_failed", { detail: networkProblem(error) }, error);
    }
    return fail("channel_balance_failed", { detail: upstreamMessage(channel, status, text) });
  };
}

function networkProblem(error: unknown): string {
  if (error instanceof Error && error.name === "TimeoutError") return `timeout (${BALANCE_TIMEOUT_MS / 1000} s)`;
  return String((error as { code?: unknown } | null)?.code ?? "unreachable");
}

interface Updated extends BalanceResult {
  disabled: boolean;
}

/** Keys of one channel that are queried at a time. */
const AT_A_TIME = 5;

/** The balance of every key's account, in the order of `keys`; an error of one is thrown when all have been queried. */
async function askAll(
  services: Services,
  keys: readonly PoolChannel[],
  inquiry: Inquiry,
  signal: AbortSignal | undefined,
): Promise<BalanceResult[]> {
  const found: BalanceResult[] = [];
  const failures: unknown[] = [];
  for (let i = 0; i < keys.length; i += AT_A_TIME) {
    const asked = keys
      .slice(i, i + AT_A_TIME)
      .map(async (channel) => inquiry(askOf(channel, signal), channel, services.now()));
    for (const outcome of await Promise.allSettled(asked)) {
      if (outcome.status === "fulfilled") found.push(outcome.value);
      else failures.push(outcome.reason);
    }
  }
  if (failures.length > 0) throw failures[0];
  return found;
}

/** The sum of several accounts. Throws channel_balance_failed where they are kept in several currencies. */
function sumOf(found: readonly BalanceResult[]): BalanceResult {
  const { currency } = found[0] ?? fail("channel_key_unreadable");
  if (found.some((one) => one.currency !== currency))
    fail("channel_balance_failed", { detail: [...new Set(found.map((one) => one.currency))].join(" + ") });
  return { balance: found.reduce((total, one) => total + one.balance, 0), currency };
}

/**
 * Queries with every enabled key, keeps the sum, and disables what has nothing left where that is allowed (C-514): the
 * channel, or of several keys those whose account is empty. An error leaves the figure as it was.
 */
async function refresh(services: Services, row: ChannelRow, signal?: AbortSignal): Promise<Updated> {
  const kind = channelType(row.type)?.balance ?? fail("channel_balance_unsupported");
  const loaded = await loadKeys(services, row);
  const enabled = loaded.filter(({ autoDisabled }) => !autoDisabled);
  const keys = enabled.length > 0 ? enabled : loaded;
  const found = await askAll(services, keys, inquiries[kind], signal);
  const { balance, currency } = sumOf(found);
  const { channels } = services.db.t;
  await services.db.q
    .update(channels)
    .set({ balance, balance_currency: currency, balance_updated_time: seconds(services) })
    .where(eq(channels.id, row.id))
    .returning({ id: channels.id });
  let disabled = false;
  for (const [i, key] of keys.entries()) {
    const left = found[i]?.balance ?? 0;
    if (left <= 0 && (await autoDisable(services, key, { code: "channel_balance_used_up", values: { balance: left } })))
      disabled = true;
  }
  return { balance, currency, disabled };
}

/**
 * One channel's balance. Throws channel_not_found, channel_balance_unsupported, channel_balance_failed,
 * channel_key_unreadable.
 */
export async function updateBalance(ctx: Ctx, id: number): Promise<BalanceResult> {
  const { balance, currency } = await refresh(ctx, await findChannel(ctx, id));
  return { balance, currency };
}

/**
 * Updates all enabled channels whose type has a balance. `done` resolves when it has ended. Throws
 * channel_balance_running.
 */
function startBalanceRun(services: Services, started_by: string) {
  const { channels } = services.db.t;
  return startRun<ChannelRow>(services, {
    kind: "balance",
    started_by,
    items: () =>
      services.db.read
        .select()
        .from(channels)
        .where(eq(channels.status, CHANNEL_STATUS.enabled))
        .orderBy(asc(channels.id)),
    step: async (row, signal): Promise<StepResult> => {
      try {
        const { disabled } = await refresh(services, row, signal);
        return { result: "ok", ...(disabled ? { status: "disabled" } : {}) };
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        return { result: error.code === "channel_balance_unsupported" ? "skipped" : "failed" };
      }
    },
  });
}

/** How long the call waits for the run before it answers with the result so far. */
const WAIT_MS = 60_000;

/** Updates all balances; answers when that is done, or after a minute while it goes on. */
export async function updateAllBalances(ctx: Ctx): Promise<ChannelRun> {
  const { run, done } = await startBalanceRun(ctx, ctx.actor.kind === "user" ? ctx.actor.username : "");
  const waited = Promise.withResolvers<void>();
  const timer = setTimeout(waited.resolve, WAIT_MS);
  try {
    await Promise.race([done, waited.promise]);
  } finally {
    clearTimeout(timer);
  }
  return (await readRun(ctx, "balance")) ?? run;
}

/** For the timer: updates all balances when CHANNEL_UPDATE_FREQUENCY minutes have passed since the last time. */
export async function updateBalancesWhenDue(services: Services): Promise<void> {
  const minutes = services.env.CHANNEL_UPDATE_FREQUENCY;
  if (minutes === 0) return;
  const last = await readRun(services, "balance");
  if (last && (last.running || Math.abs(seconds(services) - last.started_at) < minutes * 60)) return;
  await startBalanceRun(services, "").catch((error: unknown) => {
    // Another instance was faster.
    if (!(error instanceof AppError && error.code === "channel_balance_running")) throw error;
  });
}
