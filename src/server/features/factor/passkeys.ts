/**
 * Passkeys (WebAuthn Level 3) by @simplewebauthn. Each is made and used with user verification by the device (PIN,
 * finger, face): it is two factors by itself. A challenge is a ticket: once, in time, in the browser that requested it.
 */
import "../../lib/reflect";
import { and, desc, eq, lt } from "drizzle-orm";
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from "@simplewebauthn/server";
import * as z from "zod";
import { fail } from "../../../shared/errors";
import {
  PASSKEY_USES,
  type PasskeyUse,
  PASSKEYS_MAX,
  type passkeyAnswerInput,
  type passkeyRegisterInput,
  type PasskeyView,
} from "../../../shared/factor";
import { type Ctx, seconds, type UserCtx } from "../../contracts/context";
import type { Q } from "../../db/types";
import { run, type Steps } from "../../db/transaction";
import type { PasskeyRow } from "../../db/schema";
import { count, forUpdate, withoutNul } from "../../db/sql";
import { siteOf } from "../../http/site";
import { recordAct } from "../audit/record";
import { requirePerson, requireStepUp } from "../auth/step-up";
import { issueTicket, takeTicket } from "../auth/tickets";
import { assertLoginRemains, lockLogins } from "../auth/login-methods";

/** Extensions are sent, but their type has buffers that JSON does not have. */
export type AskedPasskey = Omit<PublicKeyCredentialRequestOptionsJSON, "extensions">;

const CHALLENGE_SECONDS = 300;
/** Loaded only when a passkey is used: its certificate library is a tenth of a second of every start. */
const loadWebAuthn = () => import("@simplewebauthn/server");
const challengeShape = z.object({ use: z.enum([...PASSKEY_USES, "register"]), user_id: z.number().optional() });

/** A browser runs WebAuthn on https and on localhost only, so the scheme needs no second check. */
const originsOf = (ctx: Ctx): string[] => [`https://${siteOf(ctx).host}`, `http://${siteOf(ctx).host}`];

const rowsOf = (ctx: Ctx, user_id: number): Promise<PasskeyRow[]> =>
  ctx.db.q
    .select()
    .from(ctx.db.t.passkeys)
    .where(eq(ctx.db.t.passkeys.user_id, user_id))
    .orderBy(desc(ctx.db.t.passkeys.id));

const listed = (row: PasskeyRow) => ({
  id: row.credential_id,
  transports: row.transports === "" ? [] : row.transports.split(","),
});

export async function ownPasskeys(ctx: UserCtx): Promise<PasskeyView[]> {
  const rows = await rowsOf(ctx, ctx.actor.id);
  return rows.map(({ id, name, backed_up, created_at, last_used_at }) => ({
    id,
    name,
    backed_up,
    created_at,
    last_used_at,
  }));
}

/** The options for making a passkey. */
export async function beginRegistration(
  ctx: UserCtx,
): Promise<Omit<PublicKeyCredentialCreationOptionsJSON, "extensions">> {
  requireStepUp(ctx);
  const { id, username } = ctx.actor;
  const rows = await rowsOf(ctx, id);
  if (rows.length >= PASSKEYS_MAX) fail("passkeys_full", { max: PASSKEYS_MAX });
  const { generateRegistrationOptions } = await loadWebAuthn();
  const options = await generateRegistrationOptions({
    rpName: ctx.options.get("SystemName"),
    rpID: siteOf(ctx).hostname,
    userName: username,
    userID: new TextEncoder().encode(String(id)),
    attestationType: "none",
    excludeCredentials: rows.map(listed),
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
  });
  await issueTicket(ctx, "passkey", options.challenge, { use: "register", user_id: id }, CHALLENGE_SECONDS);
  return options;
}

/** Keeps the passkey that the browser has made. */
export async function finishRegistration(
  ctx: UserCtx,
  { name, response }: z.output<typeof passkeyRegisterInput>,
): Promise<PasskeyView> {
  requirePerson(ctx);
  const challenge = await challengeOf(response.response.clientDataJSON);
  const begun = await takeTicket(ctx, "passkey", challenge, challengeShape);
  if (begun?.use !== "register" || begun.user_id !== ctx.actor.id) return fail("passkey_expired");
  const { verifyRegistrationResponse } = await loadWebAuthn();
  const { registrationInfo } = await judged(() =>
    verifyRegistrationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: originsOf(ctx),
      expectedRPID: siteOf(ctx).hostname,
      requireUserVerification: true,
    }),
  );
  if (!registrationInfo) return fail("passkey_refused");
  const { credential, credentialBackedUp } = registrationInfo;
  const { passkeys } = ctx.db.t;
  const [row] = await ctx.db.tx(function* (q) {
    yield* claimPlace(ctx, q);
    return yield* run(
      q
        .insert(passkeys)
        .values({
          user_id: ctx.actor.id,
          credential_id: credential.id,
          public_key: Buffer.from(credential.publicKey).toString("base64url"),
          counter: credential.counter,
          transports: response.response.transports.filter((word) => /^[a-z-]+$/.test(word)).join(","),
          backed_up: credentialBackedUp,
          name: withoutNul(name),
          created_at: seconds(ctx),
        })
        .onConflictDoNothing()
        .returning(),
    );
  });
  if (!row) return fail("passkey_known");
  await recordAct(ctx, { action: "user.factor", target: ctx.actor.id, after: { passkey: row.name || row.id } });
  const { id, backed_up, created_at, last_used_at } = row;
  return { id, name: row.name, backed_up, created_at, last_used_at };
}

/** Refuses one passkey too many. Locks the user, so that calls at the same time count one after another. */
function* claimPlace(ctx: UserCtx, q: Q): Steps<void> {
  const { users, passkeys } = ctx.db.t;
  const { id } = ctx.actor;
  yield* run(forUpdate(ctx.db, q.select({ id: users.id }).from(users).where(eq(users.id, id))));
  const [found] = yield* run(q.select({ n: count() }).from(passkeys).where(eq(passkeys.user_id, id)));
  if ((found?.n ?? 0) >= PASSKEYS_MAX) fail("passkeys_full", { max: PASSKEYS_MAX });
}

export async function renamePasskey(ctx: UserCtx, id: number, name: string): Promise<void> {
  requirePerson(ctx);
  const { passkeys } = ctx.db.t;
  const renamed = await ctx.db.q
    .update(passkeys)
    .set({ name: withoutNul(name) })
    .where(and(eq(passkeys.id, id), eq(passkeys.user_id, ctx.actor.id)))
    .returning({ id: passkeys.id });
  if (renamed.length === 0) fail("passkey_not_found");
}

/** Removes a passkey, unless it is the last way to sign in. */
export async function removePasskey(ctx: UserCtx, id: number): Promise<void> {
  requireStepUp(ctx);
  const { passkeys } = ctx.db.t;
  await ctx.db.tx(function* (q) {
    yield* lockLogins(ctx, q, ctx.actor.id);
    const [removed] = yield* run(
      q
        .delete(passkeys)
        .where(and(eq(passkeys.id, id), eq(passkeys.user_id, ctx.actor.id)))
        .returning(),
    );
    if (!removed) return fail("passkey_not_found");
    yield* assertLoginRemains(ctx, q, ctx.actor.id);
  });
  await recordAct(ctx, { action: "user.factor", target: ctx.actor.id, before: { passkey: id } });
}

/** Removes all own passkeys, unless they are the last way to sign in. */
export async function removePasskeys(ctx: UserCtx): Promise<void> {
  requireStepUp(ctx);
  const { passkeys } = ctx.db.t;
  const removed = await ctx.db.tx(function* (q) {
    const gone = yield* run(
      q.delete(passkeys).where(eq(passkeys.user_id, ctx.actor.id)).returning({ id: passkeys.id }),
    );
    if (gone.length === 0) return fail("passkey_not_found");
    yield* assertLoginRemains(ctx, q, ctx.actor.id);
    return gone.length;
  });
  await recordAct(ctx, { action: "user.factor", target: ctx.actor.id, before: { passkeys: removed } });
}

/** The options for using a passkey: any of this site, or one of `user_id`'s. */
export async function askPasskey(ctx: Ctx, use: PasskeyUse, user_id?: number): Promise<AskedPasskey> {
  const { generateAuthenticationOptions } = await loadWebAuthn();
  const options = await generateAuthenticationOptions({
    rpID: siteOf(ctx).hostname,
    userVerification: "required",
    ...(user_id === undefined ? {} : { allowCredentials: (await rowsOf(ctx, user_id)).map(listed) }),
  });
  await issueTicket(ctx, "passkey", options.challenge, { use, user_id }, CHALLENGE_SECONDS);
  return options;
}

/** The id of the account that the passkey belongs to. Throws passkey_expired, passkey_refused. */
export async function passkeyOwner(
  ctx: Ctx,
  use: PasskeyUse,
  response: z.output<typeof passkeyAnswerInput>["response"],
): Promise<number> {
  const challenge = await challengeOf(response.response.clientDataJSON);
  const begun = await takeTicket(ctx, "passkey", challenge, challengeShape);
  if (begun?.use !== use) return fail("passkey_expired");
  const { passkeys } = ctx.db.t;
  const [row] = await ctx.db.q.select().from(passkeys).where(eq(passkeys.credential_id, response.id));
  if (!row || (begun.user_id !== undefined && begun.user_id !== row.user_id)) return fail("passkey_refused");
  const { verifyAuthenticationResponse } = await loadWebAuthn();
  const { authenticationInfo } = await judged(() =>
    verifyAuthenticationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: originsOf(ctx),
      expectedRPID: siteOf(ctx).hostname,
      requireUserVerification: true,
      credential: {
        ...listed(row),
        publicKey: new Uint8Array(Buffer.from(row.public_key, "base64url")),
        counter: row.counter,
      },
    }),
  );
  const counter = authenticationInfo.newCounter;
  // A counter that goes back is a copied key; those that never count stay at 0.
  const counted = await ctx.db.q
    .update(passkeys)
    .set({ counter, last_used_at: seconds(ctx) })
    .where(and(eq(passkeys.id, row.id), counter === 0 ? eq(passkeys.counter, 0) : lt(passkeys.counter, counter)))
    .returning({ id: passkeys.id });
  if (counted.length === 0) fail("passkey_refused");
  return row.user_id;
}

async function challengeOf(clientDataJSON: string): Promise<string> {
  const { decodeClientDataJSON } = await import("@simplewebauthn/server/helpers");
  try {
    return decodeClientDataJSON(clientDataJSON).challenge;
  } catch (error) {
    return fail("passkey_refused", {}, error);
  }
}

/** The library throws for every fault: all of it is one refusal to the caller. */
async function judged<T extends { verified: boolean }>(verify: () => Promise<T>): Promise<T> {
  let result: T;
  try {
    result = await verify();
  } catch (error) {
    return fail("passkey_refused", {}, error);
  }
  return result.verified ? result : fail("passkey_refused");
}
