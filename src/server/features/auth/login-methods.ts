/** The last way to sign in to an account cannot be removed (D-70). */
import { eq } from "drizzle-orm";
import { fail } from "../../../shared/errors";
import { IDENTITY_PROVIDERS, isIdentityProvider } from "../../../shared/identity";
import type { Services } from "../../contracts/context";
import type { Q } from "../../db/types";
import { run, type Steps } from "../../db/transaction";
import { forUpdate } from "../../db/sql";
import { hasPassword } from "./password";

/** Before a way to sign in is removed: locks its user, so that of two removals at once the second sees the first. */
export function* lockLogins({ db }: Pick<Services, "db">, q: Q, id: number): Steps<void> {
  const { users } = db.t;
  yield* run(forUpdate(db, q.select({ id: users.id }).from(users).where(eq(users.id, id))));
}

/** Throws identity_last when neither a password, an enabled provider's identity, nor a passkey is left. */
export function* assertLoginRemains({ db, options }: Pick<Services, "db" | "options">, q: Q, id: number): Steps<void> {
  const { users, identities, passkeys } = db.t;
  const [user] = yield* run(q.select().from(users).where(eq(users.id, id)));
  if (user && hasPassword(user) && options.get("PasswordLoginEnabled")) return;
  const [passkey] = yield* run(q.select({ id: passkeys.id }).from(passkeys).where(eq(passkeys.user_id, id)).limit(1));
  if (passkey) return;
  const bound = yield* run(
    q.select({ provider: identities.provider }).from(identities).where(eq(identities.user_id, id)),
  );
  if (!bound.some(({ provider }) => isIdentityProvider(provider) && options.get(IDENTITY_PROVIDERS[provider].enabled)))
    fail("identity_last");
}
