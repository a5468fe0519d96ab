/**
 * The limits of a model call: requests and tokens a minute, calls at once and budgets of its token (C-262), its user,
 * its group and its model, and the options ModelRequestRateLimit* of its user (all requests, and successful ones). All
 * counters are taken in one step, budgets after them, so a call that one of them refuses takes nothing from the others.
 * A channel's limits are checked at each attempt.
 */
import type { DryRunLimit } from "../../../shared/dry-run";
import { limitScopes } from "../../../shared/limits";
import type { JointStatement, Reservation } from "../../cluster/types";
import type { Services } from "../../contracts/context";
import type { Admission, Limits, LimitRequest, LimitState } from "../../contracts/rate-limits";
import { callerRules, channelRules, type CounterRule, type Rules } from "./rules";
import type { Budget, SpendStore } from "./spend";

/** When a running call will end is not known. */
const RETRY_CONCURRENT_SECONDS = 1;

/** What the limits need of a process's services. */
export interface LimitNeeds extends Pick<Services, "now"> {
  cluster: Pick<Services["cluster"], "counter">;
  options: Pick<Services["options"], "get">;
  spend: SpendStore;
}

export const createLimits = (services: LimitNeeds): Limits => ({
  admit(caller, limitRequest, ahead, joint) {
    const rules = callerRules(services, caller, limitRequest);
    return rules && reserve(services, rules, limitRequest, ahead, joint);
  },
  enterChannel(channel, caller, limitRequest) {
    const rules = channelRules(services, channel, caller, limitRequest);
    return rules && reserve(services, rules, limitRequest);
  },
  async standing(caller, model, channels) {
    const limitRequest: LimitRequest = { model, tokens: 0, units: 1 };
    const all = [
      callerRules(services, caller, limitRequest),
      ...channels.map((channel) => channelRules(services, channel, caller, limitRequest)),
    ];
    return standingOf(services, {
      counters: all.flatMap((rules) => rules?.counters ?? []),
      budgets: all.flatMap((rules) => rules?.budgets ?? []),
    });
  },
});

async function standingOf({ cluster, spend, now }: LimitNeeds, { counters, budgets }: Rules): Promise<DryRunLimit[]> {
  // A demand of 0 is never refused and changes nothing.
  const { states } = await cluster.counter.reserve(counters.map((rule) => ({ ...rule, amount: 0 })));
  const spent = await spend.spent(budgets.map(({ name }) => name));
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
}

const secondsUntil = (ends: number, ms: number): number => Math.max(1, ends - Math.floor(ms / 1000));

const nothingReserved: Reservation = { refused: -1, states: [], end: () => undefined };

async function reserve(
  services: LimitNeeds,
  { counters, budgets }: Rules,
  { units, hold }: LimitRequest,
  ahead = false,
  joint?: JointStatement,
): Promise<Admission> {
  // Budgets are taken between limits and hold.
  const together = budgets.length === 0 ? joint : undefined;
  const reservation =
    counters.length > 0 ? await services.cluster.counter.reserve(counters, together) : nothingReserved;
  const admission = countersOf(counters, reservation);
  if (admission.refused || budgets.length === 0) return admission;
  const giveBack = (): void => reservation.end(counters.map(() => 0));
  let full: string | undefined;
  try {
    full = await services.spend.take(budgets, units, ahead ? undefined : hold);
  } catch (error) {
    giveBack();
    throw error;
  }
  const rule = budgets.find(({ name }) => name === full);
  if (rule) {
    giveBack();
    return { ...admission, refused: refusal(rule, secondsUntil(rule.ends, services.now())) };
  }
  return withBudgets(services.spend, admission, budgets, { units, hold });
}

/** The admission of a call that took units from budgets. */
function withBudgets(
  spend: SpendStore,
  admission: Admission,
  budgets: readonly Budget[],
  { units: first, hold: hold_id }: Pick<LimitRequest, "units" | "hold">,
): Admission {
  const names = budgets.map(({ name }) => name);
  let held = first;
  let ended = false;
  return {
    ...admission,
    budgets: names,
    async more(units) {
      if (ended || (await spend.take(budgets, units, hold_id)) !== undefined) return false;
      // The call ended while the budgets were asked: what was taken too late goes back.
      if (ended) void spend.correct(names, -units);
      else held += units;
      return !ended;
    },
    cover(units) {
      const above = units - held;
      if (ended || above <= 0) return undefined;
      held = units;
      return spend.correct(names, above, hold_id);
    },
    end(used, hold) {
      if (ended) return undefined;
      ended = true;
      void admission.end(used);
      if (hold === "stays") return spend.correct(names, used.units - held, hold_id);
      const correct = (swept?: number): Promise<void> => spend.correct(names, used.units - (swept ?? held));
      return hold ? hold.then(correct, () => correct()) : correct();
    },
  };
}

function refusal(
  { code, scope, limit }: Pick<CounterRule, "code" | "scope" | "limit">,
  retry_after_s: number,
): NonNullable<Admission["refused"]> {
  const { zh, en } = limitScopes[scope];
  return { code, retry_after_s, values: { scope_zh: zh, scope_en: en, limit, retry_after_s } };
}

function countersOf(rules: readonly CounterRule[], { refused, states, end }: Reservation): Admission {
  const answer: Admission = { end: (used) => void end(rules.map((rule) => rule.used(used))) };
  rules.forEach(({ limit, reportedAs }, i) => {
    const { remaining = 0, reset_seconds = 0 } = states[i] ?? {};
    const state: LimitState = { limit, remaining, reset_seconds };
    const known = reportedAs && answer[reportedAs];
    if (reportedAs && (!known || remaining < known.remaining)) answer[reportedAs] = state;
  });
  const rule = rules[refused];
  if (rule) {
    const reset = states[refused]?.reset_seconds ?? 0;
    answer.refused = refusal(rule, rule.window_seconds > 0 ? Math.max(1, reset) : RETRY_CONCURRENT_SECONDS);
  }
  return answer;
}
