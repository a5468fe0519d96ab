/**
 * Removal of second factors by an administrator, for a user who has lost them. It needs the right to change the
 * account.
 */
import { fail } from "../../../shared/errors";
import type { OwnedFactors } from "../../../shared/factor";
import type { UserCtx } from "../../contracts/context";
import { run } from "../../db/transaction";
import { auditRow } from "../audit/record";
import { requireStepUp } from "../auth/step-up";
import { FACTOR_KINDS, type FactorKind, ownedFactors, removeFactorSteps } from "../factor/own";
import { lockedTarget } from "./manage";
import { readableUser } from "./manage-list";

export async function factorsOfUser(ctx: UserCtx, id: number): Promise<OwnedFactors> {
  await readableUser(ctx, id);
  return ownedFactors(ctx, id);
}

/**
 * Removes one-time codes with their recovery codes, passkeys, or both, of another account; the password and the
 * sessions stay. It opens a way to sign in, so the administrator needs a step-up. Throws step_up_required,
 * user_no_factors, and the errors of the hierarchy.
 */
export async function removeFactorsOfUser(
  ctx: UserCtx,
  id: number,
  which: readonly FactorKind[] = FACTOR_KINDS,
): Promise<void> {
  requireStepUp(ctx);
  await ctx.db.tx(function* (q) {
    yield* lockedTarget(ctx, q, id, "update");
    const before = yield* removeFactorSteps(ctx, q, id, which);
    if (!before.totp && before.passkeys === 0) fail("user_no_factors");
    const act = {
      action: "user.factor",
      target: id,
      before: { ...before },
      after: { totp: false, passkeys: 0 },
    } as const;
    yield* run(q.insert(ctx.db.t.audit_log).values(auditRow(ctx, act)));
  });
}
