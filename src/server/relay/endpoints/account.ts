/**
 * GET /dashboard/billing/subscription and /usage: chat clients compute the balance from the two, as hard_limit_usd -
 * total_usage / 100. Others read it from /credit_grants.
 */
import type { ControlPlane } from "../../contracts/control-plane";
import type { Caller } from "../../contracts/caller";

/** The limit reported for an unlimited token. */
const UNLIMITED = 100_000_000;

/** What a caller may spend and has spent, in the unit in which balances are shown. */
async function figures(
  controlPlane: ControlPlane,
  caller: Caller,
): Promise<{ limit: number; used: number; expires: number }> {
  const { remain, used, unlimited, expires } = await controlPlane.funds(caller);
  const unit = controlPlane.option.balanceUnit;
  return { limit: unlimited ? UNLIMITED : (remain + used) / unit, used: used / unit, expires };
}

export async function subscription(controlPlane: ControlPlane, caller: Caller) {
  const { limit, expires } = await figures(controlPlane, caller);
  return {
    object: "billing_subscription",
    has_payment_method: true,
    soft_limit_usd: limit,
    hard_limit_usd: limit,
    system_hard_limit_usd: limit,
    access_until: expires,
  };
}

/** The date range that clients send is ignored: the answer is the total. */
export async function usage(controlPlane: ControlPlane, caller: Caller) {
  const { used } = await figures(controlPlane, caller);
  return { object: "list", total_usage: used * 100 };
}

/** What OpenAI's earlier billing page read; no grants are listed. */
export async function creditGrants(controlPlane: ControlPlane, caller: Caller) {
  const { limit, used } = await figures(controlPlane, caller);
  return {
    object: "credit_summary",
    total_granted: limit,
    total_used: used,
    total_available: limit - used,
    grants: { object: "list", data: [] },
  };
}
