/** How long the balances of upstream accounts last at the present pace. */
import { and, eq, gte, sql } from "drizzle-orm";
import { type AlertRule, severityOf } from "../../../shared/alert-rules";
import { type Services, seconds } from "../../contracts/context";
import type { ChannelRow } from "../../db/schema";
import type { Finding } from "./incidents";
import { targetsFor } from "./target-list";

const HOUR = 3600;
/** The pace is the mean of so many hours. */
const PACE_HOURS = 6;
/** A balance that is older says nothing about today. */
const OLDEST_SECONDS = 30 * 86_400;
/** Units of a dollar in other currencies, roughly: an estimate of hours does not need the day's rate. */
const RATES: Readonly<Record<string, number>> = { "": 1, USD: 1, CNY: 7.1 };

export interface Spent {
  /** Dollars since the balance was read, and in the hours of the pace. */
  since: number;
  lately: number;
}

/** Hours that a balance (in its currency) lasts, and the pace an hour; undefined: it does not run dry, or who knows. */
export function hoursLeft(balance: number, currency: string, { since, lately }: Spent) {
  const rate = RATES[currency];
  if (rate === undefined || lately <= 0) return undefined;
  const left = balance - since * rate;
  const pace = (lately * rate) / PACE_HOURS;
  return { left, pace, hours: Math.max(0, left / pace) };
}

/**
 * Channels whose balance lasts no longer than the rule's hours: what was left when it was read, less what calls have
 * cost since. Calls whose upstream cost is not known count with what was charged for them.
 */
export async function balanceFindings(
  services: Pick<Services, "db" | "options" | "now">,
  rule: Extract<AlertRule, { kind: "balance" }>,
  rows: readonly ChannelRow[],
): Promise<Finding[]> {
  const now = seconds(services);
  const known = rows.filter(({ balance_updated_time: at }) => at > now - OLDEST_SECONDS);
  const found: Finding[] = [];
  for (const { id, name, balance, balance_currency, balance_updated_time } of known) {
    const left = hoursLeft(balance, balance_currency, await spentBy(services, id, balance_updated_time));
    if (!left || left.hours > rule.hours) continue;
    const round = (value: number): number => Math.round(value * 100) / 100;
    found.push({
      rule: rule.name,
      subject: `channel:${id}`,
      severity: severityOf(rule),
      code: "balance_dry",
      params: {
        name,
        hours: Math.round(left.hours),
        balance: round(left.left),
        pace: round(left.pace),
        currency: balance_currency || "USD",
      },
      targets: targetsFor(services, rule),
    });
  }
  return found;
}

async function spentBy(
  { db, options, now }: Pick<Services, "db" | "options" | "now">,
  channel: number,
  since: number,
): Promise<Spent> {
  const { usage_hourly: usage } = db.t;
  const hour = Math.floor(now() / 1000 / HOUR) * HOUR;
  const unit = options.get("QuotaPerUnit");
  // The hour that is under way counts in full: the pace is rather a little too low than taken from minutes.
  const recent = hour - (PACE_HOURS - 1) * HOUR;
  const cost = sql<number>`sum(${usage.upstream_cost} / 1e9 + (${usage.quota} - ${usage.costed_quota}) * 1.0 / ${unit})`;
  const from = Math.min(recent, since);
  const rows = await db.read
    .select({ hour: usage.hour, cost: cost.mapWith(Number) })
    .from(usage)
    .where(and(eq(usage.channel, channel), gte(usage.hour, from)))
    .groupBy(usage.hour);
  const sum = (after: number): number => rows.reduce((total, row) => total + (row.hour >= after ? row.cost : 0), 0);
  return { since: sum(since), lately: sum(recent) };
}
