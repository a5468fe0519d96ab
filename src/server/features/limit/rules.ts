/** The rules that limit one call: counters of a time window, and budgets. */
import type { DryRunLimit } from "../../../shared/dry-run";
import type { ErrorCode } from "../../../shared/errors";
import { LIMIT_FIELDS, type LimitScope, type LimitSet, limitsOf } from "../../../shared/limits";
import type { Demand } from "../../cluster/types";
import type { Caller } from "../../contracts/caller";
import type { PoolChannel } from "../../contracts/channel";
import type { Services } from "../../contracts/context";
import type { LimitRequest, Used } from "../../contracts/rate-limits";
import { periodsAt } from "./periods";
import type { Budget } from "./spend";

const MINUTE = 60;

/** Which limit of whose it is. */
type LimitName = Pick<DryRunLimit, "scope" | "of" | "kind">;

export interface CounterRule extends Demand, LimitName {
  code: ErrorCode;
  /** The amount that counts when the call has ended. */
  used(end: Used): number;
  /** The response headers that report it. */
  reportedAs?: "requests" | "tokens";
}

interface BudgetRule extends Budget, LimitName {
  code: ErrorCode;
}

export interface Rules {
  counters: CounterRule[];
  budgets: BudgetRule[];
}

/** What rules are made from. */
interface RuleSources extends Pick<Services, "now"> {
  options: Pick<Services["options"], "get">;
}

const one = (): number => 1;
const none = (): number => 0;

/** The rules of everything but the channel; undefined when nothing limits the caller. A free call has no budgets. */
export function callerRules(sources: RuleSources, caller: Caller, limitRequest: LimitRequest): Rules | undefined {
  const { options, now } = sources;
  const { model, units } = limitRequest;
  // With group auto the group is known when a channel is: channelRules has its limits then.
  const group = caller.groups ? undefined : groupLimits(sources, caller.group);
  const ofModel = model === "" ? undefined : limitsOf(options.get("ModelLimits"), model);
  const ofToken = LIMIT_FIELDS.some((field) => (caller[field] ?? 0) > 0);
  const { user_limits } = caller;
  if (!ofToken && !user_limits && !group && !ofModel && !options.get("ModelRequestRateLimitEnabled")) return undefined;
  const rules: Rules = { counters: [], budgets: [] };
  addOptionRules(rules, options, caller);
  if (ofToken && caller.token_id !== 0) addRules(rules, "token", caller.token_id, caller, limitRequest, now);
  if (user_limits) addRules(rules, "user", caller.user_id, user_limits, limitRequest, now);
  if (group) addRules(rules, "group", caller.group, group, limitRequest, now);
  if (ofModel) addRules(rules, "model", model, ofModel, limitRequest, now);
  return priced(rules, units);
}

/** The channel's rules, and with group auto those of the group that serves. undefined when there are none. */
export function channelRules(
  sources: RuleSources,
  channel: PoolChannel,
  caller: Caller,
  limitRequest: LimitRequest,
): Rules | undefined {
  const group = caller.groups ? groupLimits(sources, caller.group) : undefined;
  if (!channel.limits && !group) return undefined;
  const rules: Rules = { counters: [], budgets: [] };
  if (group) addRules(rules, "group", caller.group, group, limitRequest, sources.now);
  if (channel.limits) addRules(rules, "channel", channel.id, channel.limits, limitRequest, sources.now);
  return priced(rules, limitRequest.units);
}

const groupLimits = ({ options }: RuleSources, group: string): LimitSet | undefined =>
  limitsOf(options.get("GroupLimits"), group);

const priced = (rules: Rules, units: number): Rules | undefined => {
  if (units <= 0) rules.budgets = [];
  return rules.counters.length + rules.budgets.length > 0 ? rules : undefined;
};

/** The options ModelRequestRateLimit*; a group's own pair replaces both numbers. */
function addOptionRules(rules: Rules, options: RuleSources["options"], { user_id, group }: Caller): void {
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
    reportedAs: "requests",
    window_seconds: options.get("ModelRequestRateLimitDurationMinutes") * MINUTE,
  } as const;
  if (total > 0)
    rules.counters.push({ ...shared, kind: "requests", key: `all:user:${user_id}`, limit: total, used: one });
  if (successful > 0) {
    // Taken before the outcome is known, so that calls side by side stay within the number. A failure gives it back.
    rules.counters.push({
      ...shared,
      kind: "successful_requests",
      key: `done:user:${user_id}`,
      limit: successful,
      used: (end) => (end.success ? 1 : 0),
    });
  }
}

function addRules(
  rules: Rules,
  scope: LimitScope,
  of: string | number,
  limits: LimitSet,
  { tokens, inside }: LimitRequest,
  now: () => number,
): void {
  const { rpm = 0, tpm = 0, concurrency = 0, budget_day = 0, budget_month = 0 } = limits;
  const { counters } = rules;
  if (rpm > 0) {
    counters.push({
      scope,
      of,
      kind: "rpm",
      key: `rpm:${scope}:${of}`,
      amount: 1,
      limit: rpm,
      window_seconds: MINUTE,
      code: "rate_limited_requests",
      used: one,
      reportedAs: "requests",
    });
  }
  if (tpm > 0) {
    counters.push({
      scope,
      of,
      kind: "tpm",
      key: `tpm:${scope}:${of}`,
      // An estimate beyond the whole limit would never be let in: such a call needs the window for itself.
      amount: Math.min(tokens, tpm),
      limit: tpm,
      window_seconds: MINUTE,
      code: "rate_limited_tokens",
      used: (end) => end.tokens,
      reportedAs: "tokens",
    });
  }
  if (concurrency > 0 && !inside) {
    counters.push({
      scope,
      of,
      kind: "concurrency",
      key: `calls:${scope}:${of}`,
      amount: 1,
      limit: concurrency,
      window_seconds: 0,
      code: "rate_limited_concurrency",
      used: none,
    });
  }
  if (budget_day > 0 || budget_month > 0) addBudgets(rules, scope, of, { budget_day, budget_month }, now());
}

function addBudgets(
  { budgets }: Rules,
  scope: LimitScope,
  of: string | number,
  limits: Record<"budget_day" | "budget_month", number>,
  ms: number,
): void {
  const { day, month } = periodsAt(ms);
  const add = (kind: "budget_day" | "budget_month", { name, ends }: typeof day): void => {
    const limit = limits[kind];
    if (limit > 0)
      budgets.push({ kind, scope, of, name: `${scope}:${of}:${name}`, limit, ends, code: `${kind}_used_up` });
  };
  add("budget_day", day);
  add("budget_month", month);
}
