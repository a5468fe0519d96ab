/** Budgets that are used up to a step, as findings: from what was spent and is held in the present day and month. */
import { and, inArray, like, or } from "drizzle-orm";
import { type BudgetRule, severityOf } from "../../../shared/alert-rules";
import { limitsOf } from "../../../shared/limits";
import type { Services } from "../../contracts/context";
import { type Period, periodsAt } from "../limit/periods";
import type { Finding } from "./incidents";
import { targetsFor } from "./target-list";

type Needs = Pick<Services, "db" | "options" | "pool" | "now">;
type Kind = "day" | "month";

interface Spent {
  scope: string;
  of: string;
  kind: Kind;
  period: string;
  amount: number;
}

/** "user:12:2026-11" of the present periods; models and groups may have colons in their names. */
async function spentNow({ db, now }: Needs): Promise<Spent[]> {
  const { budget_spend } = db.t;
  const periods = periodsAt(now());
  const ends = ({ name }: Period) => like(budget_spend.name, `%:${name}`);
  const rows = await db.read
    .select()
    .from(budget_spend)
    .where(or(ends(periods.day), ends(periods.month)));
  return rows.flatMap(({ name, amount }) => {
    const parts = /^(\w+):(.*):([\d-]+)$/.exec(name);
    if (!parts) return [];
    const [, scope = "", of = "", period = ""] = parts;
    return [{ scope, of, kind: period === periods.day.name ? "day" : "month", period, amount } satisfies Spent];
  });
}

interface Owner {
  name: string;
  /** The user who owns it, 0 = none. */
  user_id: number;
  limits: Readonly<Record<Kind, number>>;
}

const numbers = (spent: readonly Spent[], scope: string): number[] => [
  ...new Set(spent.filter((one) => one.scope === scope).map(({ of }) => Number(of))),
];

/** Owners of budgets by "user:12". */
async function ownersOf({ db, options, pool }: Needs, spent: readonly Spent[]): Promise<Map<string, Owner>> {
  const { users, tokens } = db.t;
  const owners = new Map<string, Owner>();
  const day = (limits: { budget_day?: number; budget_month?: number } | undefined) => ({
    day: limits?.budget_day ?? 0,
    month: limits?.budget_month ?? 0,
  });
  const all = numbers(spent, "user");
  for (let from = 0; from < all.length; from += 500) {
    const some = and(inArray(users.id, all.slice(from, from + 500)));
    const rows = await db.read
      .select({ id: users.id, name: users.username, budget_day: users.budget_day, budget_month: users.budget_month })
      .from(users)
      .where(some);
    for (const row of rows) owners.set(`user:${row.id}`, { name: row.name, user_id: row.id, limits: day(row) });
  }
  const keys = numbers(spent, "token");
  for (let from = 0; from < keys.length; from += 500) {
    const rows = await db.read
      .select({
        id: tokens.id,
        name: tokens.name,
        user_id: tokens.user_id,
        budget_day: tokens.budget_day,
        budget_month: tokens.budget_month,
      })
      .from(tokens)
      .where(inArray(tokens.id, keys.slice(from, from + 500)));
    for (const row of rows) owners.set(`token:${row.id}`, { name: row.name, user_id: row.user_id, limits: day(row) });
  }
  for (const id of numbers(spent, "channel")) {
    const channel = pool.byId(id)?.channel;
    if (channel) owners.set(`channel:${id}`, { name: channel.name, user_id: 0, limits: day(channel.limits) });
  }
  for (const { scope, of } of spent) {
    if (scope !== "group" && scope !== "model") continue;
    const limits = limitsOf(options.get(scope === "group" ? "GroupLimits" : "ModelLimits"), of);
    owners.set(`${scope}:${of}`, { name: of, user_id: 0, limits: day(limits) });
  }
  return owners;
}

/**
 * The highest step that each budget has reached, one finding each; its subject names the period and the step, so that
 * each step is told once in a period.
 */
export async function budgetFindings(services: Needs, rule: BudgetRule): Promise<Finding[]> {
  const spent = await spentNow(services);
  if (spent.length === 0) return [];
  const owners = await ownersOf(services, spent);
  const steps = rule.steps.toSorted((a, b) => b - a);
  return spent.flatMap(({ scope, of, kind, period, amount }): Finding[] => {
    const owner = owners.get(`${scope}:${of}`);
    const limit = owner?.limits[kind] ?? 0;
    if (!owner || limit <= 0) return [];
    const step = steps.find((one) => amount * 100 >= limit * one);
    if (step === undefined) return [];
    const told = owner.user_id !== 0 && rule.owner !== false ? [`user:${owner.user_id}`] : [];
    return [
      {
        rule: rule.name,
        subject: `${scope}:${of}:${period}:${step}`,
        severity: severityOf(rule),
        code: "budget_step",
        params: { name: owner.name, period: kind, percent: step, spent: amount, limit },
        targets: [...targetsFor(services, rule), ...told],
      },
    ];
  });
}
