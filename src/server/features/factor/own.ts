/** Which second factors an account has, and their removal. */
import { and, count, eq, gt } from "drizzle-orm";
import type { OwnedFactors } from "../../../shared/factor";
import type { Services } from "../../contracts/context";
import type { Q } from "../../db/types";
import { run, type Steps } from "../../db/transaction";

export async function hasTotp({ db }: Pick<Services, "db">, user_id: number): Promise<boolean> {
  const { totps } = db.t;
  const rows = await db.q
    .select({ id: totps.user_id })
    .from(totps)
    .where(and(eq(totps.user_id, user_id), gt(totps.enabled_at, 0)));
  return rows.length > 0;
}

async function passkeyCount({ db }: Pick<Services, "db">, user_id: number): Promise<number> {
  const { passkeys } = db.t;
  const [row] = await db.q.select({ n: count() }).from(passkeys).where(eq(passkeys.user_id, user_id));
  return row?.n ?? 0;
}

export const hasPasskey = async (services: Pick<Services, "db">, user_id: number): Promise<boolean> =>
  (await passkeyCount(services, user_id)) > 0;

export async function ownedFactors(services: Pick<Services, "db">, user_id: number): Promise<OwnedFactors> {
  const [totp, passkeys] = await Promise.all([hasTotp(services, user_id), passkeyCount(services, user_id)]);
  return { totp, passkeys };
}

export const FACTOR_KINDS = ["totp", "passkeys"] as const;
export type FactorKind = (typeof FACTOR_KINDS)[number];

/**
 * Removes second factors of an account, all unless named, recovery codes with the one-time codes; returns which were
 * removed. One-time codes that were never confirmed do not count.
 */
export function* removeFactorSteps(
  { db }: Pick<Services, "db">,
  q: Q,
  user_id: number,
  which: readonly FactorKind[] = FACTOR_KINDS,
): Steps<OwnedFactors> {
  const { totps, passkeys } = db.t;
  const codes = which.includes("totp")
    ? yield* run(q.delete(totps).where(eq(totps.user_id, user_id)).returning({ enabled_at: totps.enabled_at }))
    : [];
  const keys = which.includes("passkeys")
    ? yield* run(q.delete(passkeys).where(eq(passkeys.user_id, user_id)).returning({ id: passkeys.id }))
    : [];
  return { totp: codes.some(({ enabled_at }) => enabled_at > 0), passkeys: keys.length };
}
