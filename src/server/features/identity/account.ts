/** Identities in the database: their accounts, new accounts for new ones, binding and unbinding. */
import { and, eq, sql } from "drizzle-orm";
import { AppError, type ErrorCode, fail } from "../../../shared/errors";
import {
  type BoundIdentity,
  IDENTITY_PROVIDERS,
  identityProviders,
  type IdentityProvider,
} from "../../../shared/identity";
import { cut, TEXT_LIMITS } from "../../../shared/text-limits";
import { type Ctx, seconds, type UserCtx } from "../../contracts/context";
import type { Q } from "../../db/types";
import { run, type Steps } from "../../db/transaction";
import type { UserRow } from "../../db/schema";
import { withoutNul } from "../../db/sql";
import { isUniqueViolation } from "../../db/errors";
import { NO_PASSWORD } from "../auth/password";
import { registerSteps } from "../auth/register";
import { requireStepUp } from "../auth/step-up";
import { assertLoginRemains, lockLogins } from "../auth/login-methods";
import type { ProvenPerson } from "./oauth";

/** A provider's name in the caller's language, for messages. */
export const providerName = (ctx: Pick<Ctx, "lang">, provider: IdentityProvider): string =>
  IDENTITY_PROVIDERS[provider].title[ctx.lang];

const shown = (name: string): string => cut(withoutNul(name).trim(), TEXT_LIMITS.identity_name);

/** Lost races before a sign-in is given up: each is another sign-in at the same moment. */
const MOST_RACES = 20;

function* ownerSteps(ctx: Ctx, q: Q, provider: IdentityProvider, subject: string): Steps<UserRow | undefined> {
  const { users, identities } = ctx.db.t;
  const [row] = yield* run(
    q
      .select({ user: users })
      .from(identities)
      .innerJoin(users, eq(users.id, identities.user_id))
      .where(and(eq(identities.provider, provider), eq(identities.subject, subject))),
  );
  return row?.user;
}

/**
 * The account of an identity that a provider vouches for; a new one when no account has this identity yet and
 * registration is open. Never found by a name or a mail address: a provider's claims about those prove nothing here.
 */
export async function accountOf(
  ctx: Ctx,
  provider: IdentityProvider,
  person: ProvenPerson,
  aff: string | undefined,
): Promise<UserRow> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await ctx.db.tx((q) => accountSteps(ctx, q, provider, person, aff), { durable: true });
    } catch (error) {
      // Two first sign-ins at once: the other one has made this user's account, or has taken the free name.
      if (
        attempt >= MOST_RACES ||
        !(isUniqueViolation(error) || (error instanceof AppError && error.code === "username_taken"))
      )
        throw error;
    }
  }
}

function* accountSteps(
  ctx: Ctx,
  q: Q,
  provider: IdentityProvider,
  person: ProvenPerson,
  aff: string | undefined,
): Steps<UserRow> {
  const { users, identities } = ctx.db.t;
  const known = yield* ownerSteps(ctx, q, provider, person.subject);
  if (known) return known.deleted_at === null ? known : fail("user_deleted");
  if (!ctx.options.get("RegisterEnabled")) fail("registration_disabled");
  const username = yield* freeNameSteps(ctx, q, provider);
  const name = shown(person.name);
  const user = yield* registerSteps(ctx, q, {
    username,
    display_name: name || username,
    password_hash: NO_PASSWORD,
    email: "",
    aff_code: aff,
  });
  yield* run(
    q
      .insert(identities)
      .values({ user_id: user.id, provider, subject: person.subject, name, created_at: user.created_at })
      .returning({ id: identities.id }),
  );
  const [fresh] = yield* run(q.select().from(users).where(eq(users.id, user.id)));
  return fresh ?? fail("user_not_found");
}

/** `github_7`: the number is raised until the name is free (D-69). */
function* freeNameSteps(ctx: Ctx, q: Q, provider: IdentityProvider): Steps<string> {
  const { users } = ctx.db.t;
  const [last] = yield* run(q.select({ id: sql<number>`coalesce(max(${users.id}), 0)`.mapWith(Number) }).from(users));
  for (let n = (last?.id ?? 0) + 1; ; n++) {
    const username = `${IDENTITY_PROVIDERS[provider].prefix}_${n}`;
    const [taken] = yield* run(
      q
        .select({ id: users.id })
        .from(users)
        .where(eq(sql`lower(${users.username})`, username)),
    );
    if (!taken) return username;
  }
}

const refuse = (ctx: Ctx, code: ErrorCode & `identity_${string}`, provider: IdentityProvider): never =>
  fail(code, { provider: providerName(ctx, provider) });

/** Binds an identity to the account that is signed in; binding it twice changes nothing. */
export async function bindIdentity(ctx: UserCtx, provider: IdentityProvider, person: ProvenPerson): Promise<void> {
  const { identities } = ctx.db.t;
  const row = {
    user_id: ctx.actor.id,
    provider,
    subject: person.subject,
    name: shown(person.name),
    created_at: seconds(ctx),
  };
  const [bound] = await ctx.db.q.insert(identities).values(row).onConflictDoNothing().returning({ id: identities.id });
  if (bound) return;
  const [owner] = await ctx.db.q
    .select()
    .from(identities)
    .where(and(eq(identities.provider, provider), eq(identities.subject, person.subject)));
  if (owner && owner.user_id !== ctx.actor.id) refuse(ctx, "identity_already_bound", provider);
  if (!owner) refuse(ctx, "identity_other_bound", provider);
}

/** Removes a binding, unless it is the last way to sign in (D-70). */
export async function unbindIdentity(ctx: UserCtx, provider: IdentityProvider): Promise<void> {
  const { identities } = ctx.db.t;
  const id = ctx.actor.id;
  requireStepUp(ctx);
  await ctx.db.tx(function* (q) {
    yield* lockLogins(ctx, q, id);
    const removed = yield* run(
      q
        .delete(identities)
        .where(and(eq(identities.user_id, id), eq(identities.provider, provider)))
        .returning({ id: identities.id }),
    );
    if (removed.length === 0) refuse(ctx, "identity_not_bound", provider);
    yield* assertLoginRemains(ctx, q, id);
  });
}

/** The identities bound to the signed-in account, in the registry's order. */
export async function boundIdentities(ctx: UserCtx): Promise<BoundIdentity[]> {
  const { identities } = ctx.db.t;
  const rows = await ctx.db.q.select().from(identities).where(eq(identities.user_id, ctx.actor.id));
  return identityProviders.flatMap((provider) => {
    const row = rows.find((candidate) => candidate.provider === provider);
    return row ? [{ provider, name: row.name, created_at: row.created_at }] : [];
  });
}

/** Whether the operator lets people sign in by this provider. */
export const isOn = (ctx: Pick<Ctx, "options">, provider: IdentityProvider): boolean =>
  ctx.options.get(IDENTITY_PROVIDERS[provider].enabled);
