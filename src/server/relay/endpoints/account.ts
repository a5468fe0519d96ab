/**
 * GET /dashboard/billing/subscription and /usage: the pair that chat clients read a balance from. They compute
 * hard_limit_usd - total_usage / 100 (facts/compatibility.md 1.12).
 */
import type { ControlPlane } from "../../contracts/control-plane";
import type { Caller } from "../../contracts/caller";

/** What an unlimited token shows as its limit. */
const UNLIMITED = 100_000_000;

/** What a caller may spend and has spent, in the unit that balances are shown in. */
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

/** The dates that clients send are ignored: it is the total. */
export async function usage(controlPlane: ControlPlane, caller: Caller) {
  const { used } = await figures(controlPlane, caller);
  return { object: "list", total_usage: used * 100 };
}
