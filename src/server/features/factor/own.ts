/** Which second factors an account has. */
import { and, count, eq, gt } from "drizzle-orm";
import type { Services } from "../../context";

export async function hasTotp({ db }: Pick<Services, "db">, user_id: number): Promise<boolean> {
  const { totps } = db.t;
  const rows = await db.q.select({ id: totps.user_id }).from(totps).where(and(eq(totps.user_id, user_id), gt(totps.enabled_at, 0)));
  return rows.length > 0;
}

export async function hasPasskey({ db }: Pick<Services, "db">, user_id: number): Promise<boolean> {
  const { passkeys } = db.t;
  const [row] = await db.q.select({ n: count() }).from(passkeys).where(eq(passkeys.user_id, user_id));
  return (row?.n ?? 0) > 0;
}
