/** Whether a name is free. */
import { and, ne, sql } from "drizzle-orm";
import { fail } from "../../../shared/errors";
import type { Ctx } from "../../contracts/context";
import type { Q } from "../../db/types";
import { run, type Steps } from "../../db/transaction";

/**
 * Throws username_taken when another account has this name: a deleted one, too (D-35), and in any case (D-84). Of two
 * at the same moment with the same spelling, the unique index refuses one.
 */
export function* claimName({ db }: Pick<Ctx, "db">, q: Q, name: string, except = 0): Steps<void> {
  const { users } = db.t;
  const same = and(sql`lower(${users.username}) = lower(${name})`, ne(users.id, except));
  const [row] = yield* run(q.select({ id: users.id }).from(users).where(same).limit(1));
  if (row) fail("username_taken");
}
