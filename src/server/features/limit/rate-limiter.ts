/**
 * The limits of a model call: requests and tokens a minute, calls at once and budgets of its token (C-262), its user,
 * its group and its model, and the options ModelRequestRateLimit* of its user (all requests, and successful ones). All
 * counters are asked in one step, budgets after them, so a call that one of them refuses takes nothing of the others. A
 * channel's limits are asked when it is tried.
 */
import type { DryRunLimit } from "../../../shared/dry-run";
import type { ErrorCode } from "../../../shared/errors";
import { LIMIT_FIELDS, type LimitScope, type LimitSet, limitScopes, limitsOf } from "../../../shared/limits";
import type { Services } from "../../contracts/context";
import type { Demand, Reservation } from "../../cluster/types";
import type { Admission, Limits, LimitState, LimitRequest, Used } from "../../contracts/rate-limits";
import type { PoolChannel } from "../../contracts/channel";
import type { Caller } from "../../contracts/caller";
import { periodsAt } from "./periods";
import type { Budget, SpendBook } from "./spend";

const MINUTE = 60;
/** Nobody knows when a running call ends. */
const RETRY_CONCURRENT_SECONDS = 1;

/** Whose a limit is, and which. */
type Whose = Pick<DryRunLimit, "scope" | "of" | "kind">;

interface Rule extends Demand, Whose {
  code: ErrorCode;
  /** What the call came to when it ended. */
  used(end: Used): number;
  /** Which header tells of it. */
  tells?: "requests" | "tokens";
}

interface BudgetRule extends Budget, Whose {
  code: ErrorCode;
}

interface Rules {
  counters: Rule[];
  budgets: BudgetRule[];
}

const one = (): number => 1;

/** What the limits need of a process's services. */
export interface LimitNeeds extends Pick<Services, "now"> {
  cluster: Pick<Services["cluster"], "counter">;
  options: Pick<Services["options"], "get">;
  spend: SpendBook;
}

export function createLimits(services: LimitNeeds): Limits {
  const { options, now } = services;

  function addRules(
    rules: Rules,
    scope: LimitScope,
    of: string | number,
    limits: LimitSet,
    { tokens, inside }: LimitRequest,
  ): void {
    const { rpm = 0, tpm = 0, concurrency = 0, budget_day = 0, budget_month = 0 } = limits;
    const add = (rule: Omit<Rule, "scope" | "of">): void => void rules.counters.push({ ...rule, scope, of });
    if (rpm > 0) {
      add({
        kind: "rpm",
        key: `rpm:${scope}:${of}`,
        amount: 1,
        limit: rpm,
        window_seconds: MINUTE,
        code: "rate_limited_requests",
        used: one,
        tells: "requests",
      });
    }
    if (tpm > 0) {
      // An estimate beyond the whole limit would never be let in: such a call needs the window for itself.
      const amount = Math.min(tokens, tpm);
      add({
        kind: "tpm",
        key: `tpm:${scope}:${of}`,
        amount,
        limit: tpm,
        window_seconds: MINUTE,
        code: "rate_limited_tokens",
        used: (end) => end.tokens,
        tells: "tokens",
      });
    }
    if (concurrency > 0 && !inside) {
      add({
        kind: "concurrency",
        key: `calls:${scope}:${of}`,
        amount: 1,
        limit: concurrency,
        window_seconds: 0,
        code: "rate_limited_concurrency",
        used: () => 0,
      });
    }
    if (budget_day <= 0 && budget_month <= 0) return;
    const { day, month } = periodsAt(now());
    const budget = (kind: "budget_day" | "budget_month", limit: number, { name, ends }: typeof day): void => {
      if (limit > 0)
        rules.budgets.push({ kind, scope, of, name: `${scope}:${of}:${name}`, limit, ends, code: `${kind}_used_up` });
    };
    budget("budget_day", budget_day, day);
    budget("budget_month", budget_month, month);
  }

  /** The options ModelRequestRateLimit*; a group's own pair replaces both numbers. */
  function addOptionRules(rules: Rules, { user_id, group }: Caller): void {
    if (!options.get("ModelRequestRateLimitEnabled")) return;
    const groups = options.get("ModelRequestRateLimitGroup");
    const own = Object.hasOwn(groups, group) ? groups[group] : undefined;
    const total = own?.[0] ?? options.get("ModelRequestRateLimitCount");
    const successful = own?.[1] ?? options.get("ModelRequestRateLimitSuccessCount");
    const shared = {
      scope: "user",
      of: user_id,
      amount: 1,
      code: "rate_limited_user",
      tells: "requests",
      window_seconds: options.get("ModelRequestRateLimitDurationMinutes") * MINUTE,
    } as const;
    if (total > 0)
      rules.counters.push({ ...shared, kind: "requests", key: `all:user:${user_id}`, limit: total, used: one });
    if (successful > 0) {
      // Taken before it is known: only so is the number exact while calls run side by side. A failure gives it back.
      rules.counters.push({
        ...shared,
        kind: "successful_requests",
        key: `done:user:${user_id}`,
        limit: successful,
        used: (end) => (end.success ? 1 : 0),
      });
    }
  }

  const groupLimits = (group: string): LimitSet | undefined => limitsOf(options.get("GroupLimits"), group);

  /** Everything but the channel; undefined when nothing limits the caller. A free call asks no budget. */
  function callerRules(caller: Caller, limitRequest: LimitRequest): Rules | undefined {
    const { model, units } = limitRequest;
    // With group auto the group is known when a channel is: enterChannel asks then.
    const group = caller.groups ? undefined : groupLimits(caller.group);
    const ofModel = model === "" ? undefined : limitsOf(options.get("ModelLimits"), model);
    const ofToken = LIMIT_FIELDS.some((field) => (caller[field] ?? 0) > 0);
    const { user_limits } = caller;
    if (!ofToken && !user_limits && !group && !ofModel && !options.get("ModelRequestRateLimitEnabled"))
      return undefined;
    const rules: Rules = { counters: [], budgets: [] };
    addOptionRules(rules, caller);
    if (ofToken && caller.token_id !== 0) addRules(rules, "token", caller.token_id, caller, limitRequest);
    if (user_limits) addRules(rules, "user", caller.user_id, user_limits, limitRequest);
    if (group) addRules(rules, "group", caller.group, group, limitRequest);
    if (ofModel) addRules(rules, "model", model, ofModel, limitRequest);
    return priced(rules, units);
  }

  function channelRules(channel: PoolChannel, caller: Caller, limitRequest: LimitRequest): Rules | undefined {
    const group = caller.groups ? groupLimits(caller.group) : undefined;
    if (!channel.limits && !group) return undefined;
    const rules: Rules = { counters: [], budgets: [] };
    if (group) addRules(rules, "group", caller.group, group, limitRequest);
    if (channel.limits) addRules(rules, "channel", channel.id, channel.limits, limitRequest);
    return priced(rules, limitRequest.units);
  }

  return {
    admit(caller, limitRequest) {
      const rules = callerRules(caller, limitRequest);
      return rules && ask(services, rules, limitRequest);
    },
    enterChannel(channel, caller, limitRequest) {
      const rules = channelRules(channel, caller, limitRequest);
      return rules && ask(services, rules, limitRequest);
    },
    async standing(caller, model, channels) {
      const limitRequest: LimitRequest = { model, tokens: 0, units: 1 };
      const all = [
        callerRules(caller, limitRequest),
        ...channels.map((channel) => channelRules(channel, caller, limitRequest)),
      ];
      const counters = all.flatMap((rules) => rules?.counters ?? []);
      const budgets = all.flatMap((rules) => rules?.budgets ?? []);
      // What takes nothing is never refused, and changes nothing.
      const { states } = await services.cluster.counter.reserve(counters.map((rule) => ({ ...rule, amount: 0 })));
      const spent = await services.spend.spent(budgets.map(({ name }) => name));
      return [
        ...counters.map(({ scope, of, kind, limit }, i) => {
          const { remaining = 0, reset_seconds = 0 } = states[i] ?? {};
          return { scope, of, kind, limit, remaining, reset_seconds };
        }),
        ...budgets.map(({ scope, of, kind, limit, name, ends }) => ({
          scope,
          of,
          kind,
          limit,
          remaining: Math.max(0, limit - (spent.get(name) ?? 0)),
          reset_seconds: secondsUntil(ends, now()),
        })),
      ];
    },
  };
}

const priced = (rules: Rules, units: number): Rules | undefined => {
  if (units <= 0) rules.budgets = [];
  return rules.counters.length + rules.budgets.length > 0 ? rules : undefined;
};

const secondsUntil = (ends: number, ms: number): number => Math.max(1, ends - Math.floor(ms / 1000));

const nothingReserved: Reservation = { refused: -1, states: [], end: () => undefined };

async function ask(services: LimitNeeds, { counters, budgets }: Rules, { units }: LimitRequest): Promise<Admission> {
  const reservation = counters.length > 0 ? await services.cluster.counter.reserve(counters) : nothingReserved;
  const admission = countersOf(counters, reservation);
  if (admission.refused || budgets.length === 0) return admission;
  const giveBack = (): void => reservation.end(counters.map(() => 0));
  let full: string | undefined;
  try {
    full = await services.spend.take(budgets, units);
  } catch (error) {
    giveBack();
    throw error;
  }
  const rule = budgets.find(({ name }) => name === full);
  if (rule) {
    giveBack();
    return { ...admission, refused: refusal(rule, secondsUntil(rule.ends, services.now())) };
  }
  return withBudgets(services.spend, admission, budgets, units);
}

/** The admission of a call that took `held` units from budgets. */
function withBudgets(spend: SpendBook, admission: Admission, budgets: readonly Budget[], held: number): Admission {
  const names = budgets.map(({ name }) => name);
  let ended = false;
  return {
    ...admission,
    budgets: names,
    async more(units) {
      if (ended || (await spend.take(budgets, units)) !== undefined) return false;
      // It ended while this was asked: what came too late goes back.
      if (ended) void spend.correct(names, -units);
      else held += units;
      return !ended;
    },
    end(used) {
      if (ended) return undefined;
      ended = true;
      void admission.end(used);
      return spend.correct(names, used.units - held);
    },
  };
}

function refusal(
  { code, scope, limit }: Pick<Rule, "code" | "scope" | "limit">,
  retry_after_s: number,
): NonNullable<Admission["refused"]> {
  const { zh, en } = limitScopes[scope];
  return { code, retry_after_s, values: { scope_zh: zh, scope_en: en, limit, retry_after_s } };
}

function countersOf(rules: readonly Rule[], { refused, states, end }: Reservation): Admission {
  const answer: Admission = { end: (used) => void end(rules.map((rule) => rule.used(used))) };
  rules.forEach(({ limit, tells }, i) => {
    const { remaining = 0, reset_seconds = 0 } = states[i] ?? {};
    const state: LimitState = { limit, remaining, reset_seconds };
    const known = tells && answer[tells];
    if (tells && (!known || remaining < known.remaining)) answer[tells] = state;
  });
  const rule = rules[refused];
  if (rule) {
    const reset = states[refused]?.reset_seconds ?? 0;
    answer.refused = refusal(rule, rule.window_seconds > 0 ? Math.max(1, reset) : RETRY_CONCURRENT_SECONDS);
  }
  return answer;
}
