/**
 * Sign-in by providers. The browser that comes back from a provider must bring the state that it was given: so a link
 * that another person prepared can neither sign a user in nor bind an identity.
 */
import { eq } from "drizzle-orm";
import * as oauth from "oauth4webapi";
import * as z from "zod";
import { AppError, fail } from "../../../shared/errors";
import type { SignInAnswer } from "../../../shared/sign-in-answer";
import {
  callbackPath,
  type IdentityProvider,
  isRedirectProvider,
  type RedirectProvider,
} from "../../../shared/identity";
import {
  type callbackInput,
  type stateInput,
  type telegramBindInput,
  type TelegramFields,
} from "../../../shared/identity-input";
import type { Ctx, UserCtx } from "../../contracts/context";
import { siteOf } from "../../http/site";
import { signedIn } from "../../http/trpc";
import { ResponseTooLarge } from "../../lib/egress";
import { randomText } from "../../lib/secrets";
import { ROLE, USER_STATUS } from "../../../shared/roles";
import { signIn } from "../auth/sign-in";
import { requireStepUp } from "../auth/step-up";
import { issueTicket, takeTicket } from "../auth/tickets";
import { accountOf, bindIdentity, isOn, providerName } from "./account";
import type { ProvenPerson } from "./oauth";
import { redirectProviders } from "./redirect-providers";
import { telegramPerson } from "./telegram";
import { wechatPerson } from "./wechat";

const STATE_SECONDS = 600;

const remembered = z.object({
  aff: z.string().optional(),
  /** The user who was signed in when it began: the identity is bound to that account. */
  user_id: z.number().optional(),
  /** The time of that session's last proof. */
  verified_at: z.number().default(0),
  /** The address that the browser was sent to; absent for a front-end that builds the address itself. */
  provider: z.string().refine(isRedirectProvider).optional(),
  verifier: z.string().optional(),
  nonce: z.string().optional(),
});

const redirectUri = (ctx: Ctx, provider: RedirectProvider): string => `${siteOf(ctx).origin}${callbackPath(provider)}`;

/**
 * A state tied to the browser; with `provider` also the address to send the browser to. For a signed-in caller the
 * identity will be bound to their account.
 */
export async function beginSignIn(
  ctx: Ctx,
  { aff, provider }: z.output<typeof stateInput>,
): Promise<{ data: string; url?: string }> {
  const state = randomText(32);
  const binder = ctx.actor.kind === "user" ? signedIn(ctx, ROLE.user) : undefined;
  // A binding is a way to sign in, so the proof is required here, before the browser goes to the provider.
  if (binder && provider) requireStepUp(binder);
  const whose = binder && { user_id: binder.actor.id, verified_at: binder.actor.verified_at };
  if (provider === undefined) {
    await issueTicket(ctx, "oauth", state, { aff, ...whose }, STATE_SECONDS);
    return { data: state };
  }
  mustBeOn(ctx, provider);
  const { ties } = redirectProviders[provider];
  const secrets = {
    ...(ties.verifier ? { verifier: oauth.generateRandomCodeVerifier() } : {}),
    ...(ties.nonce ? { nonce: oauth.generateRandomNonce() } : {}),
  };
  const attempt = { state, redirect_uri: redirectUri(ctx, provider), ...secrets };
  const url = await asked(ctx, provider, () => redirectProviders[provider].authorization(ctx, attempt));
  await issueTicket(ctx, "oauth", state, { aff, ...whose, provider, ...secrets }, STATE_SECONDS);
  return { data: state, url: url.href };
}

/** Back from the provider: signs in, or binds (`message: "bind"`) when it began on a signed-in page. */
export async function finishSignIn(
  ctx: Ctx,
  provider: RedirectProvider,
  { code, state, iss, error }: z.output<typeof callbackInput>,
): Promise<{ data: SignInAnswer } | { message: "bind" }> {
  mustBeOn(ctx, provider);
  const begun = await takeTicket(ctx, "oauth", state, remembered);
  if (!begun || (begun.provider !== undefined && begun.provider !== provider)) return fail("identity_state_wrong");
  if (error || code === "")
    return fail("identity_refused", { provider: providerName(ctx, provider), detail: error ?? "" });
  const { verifier, nonce } = begun;
  const answered = { code, iss, state, redirect_uri: redirectUri(ctx, provider), verifier, nonce };
  const person = await asked(ctx, provider, () => redirectProviders[provider].person(ctx, answered));
  if (begun.user_id === undefined) return { data: await signInAs(ctx, provider, person, begun.aff) };
  await bindIdentity(actorOf(ctx, begun.user_id), provider, person);
  return { message: "bind" };
}

/** Only the user who began is signed in now; for any other nothing is bound. */
function actorOf(ctx: Ctx, id: number): UserCtx {
  if (ctx.actor.kind !== "user" || ctx.actor.id !== id) fail("identity_state_wrong");
  const user = signedIn(ctx, ROLE.user);
  requireStepUp(user);
  return user;
}

async function signInAs(
  ctx: Ctx,
  provider: IdentityProvider,
  person: ProvenPerson,
  aff: string | undefined,
): Promise<SignInAnswer> {
  return signIn(ctx, await accountOf(ctx, provider, person, aff));
}

export async function wechatSignIn(ctx: Ctx, code: string, aff: string | undefined): Promise<SignInAnswer> {
  mustBeOn(ctx, "wechat");
  return signInAs(ctx, "wechat", await asked(ctx, "wechat", () => wechatPerson(ctx, code)), aff);
}

export async function wechatBind(ctx: UserCtx, code: string): Promise<void> {
  requireStepUp(ctx);
  mustBeOn(ctx, "wechat");
  await bindIdentity(ctx, "wechat", await asked(ctx, "wechat", () => wechatPerson(ctx, code)));
}

export async function telegramSignIn(ctx: Ctx, { aff, ...fields }: TelegramFields): Promise<SignInAnswer> {
  mustBeOn(ctx, "telegram");
  return signInAs(ctx, "telegram", await telegramPerson(ctx, fields), aff);
}

/** Called by the console with its headers; or reached by the widget's own navigation, which sends none (D-65, D-66). */
export async function telegramBind(
  ctx: Ctx,
  { state, ...fields }: z.output<typeof telegramBindInput>,
): Promise<{ location: string }> {
  const user = await whose(ctx, state);
  requireStepUp(user);
  mustBeOn(ctx, "telegram");
  await bindIdentity(user, "telegram", await telegramPerson(ctx, fields));
  return { location: "/setting?tab=personal" };
}

/** The signed-in user; without the user-id header the one whose page was given this state, in this browser. */
async function whose(ctx: Ctx, state: string): Promise<UserCtx> {
  if (ctx.actor.kind === "user" || state === "") return signedIn(ctx, ROLE.user);
  const { user_id: id, verified_at } =
    (await takeTicket(ctx, "oauth", state, remembered)) ?? fail("identity_state_wrong");
  if (id === undefined) return fail("identity_state_wrong");
  const { users } = ctx.db.t;
  const [user] = await ctx.db.q.select().from(users).where(eq(users.id, id));
  if (!user || user.deleted_at !== null || user.status !== USER_STATUS.active) return fail("not_signed_in");
  return {
    ...ctx,
    actor: {
      kind: "user",
      id,
      username: user.username,
      role: user.role,
      group: user.group,
      via: "session",
      session_id: 0,
      verified_at,
    },
  };
}

function mustBeOn(ctx: Ctx, provider: IdentityProvider): void {
  if (!isOn(ctx, provider)) fail("identity_provider_off", { provider: providerName(ctx, provider) });
}

/** Calls a provider. An error is reported in the provider's own words, shortened; never with what was sent to it. */
async function asked<T>(ctx: Ctx, provider: IdentityProvider, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof AppError) throw error;
    ctx.log.warn({ request_id: ctx.request_id, provider, err: error }, "a provider did not confirm a sign-in");
    return fail(
      "identity_provider_failed",
      { provider: providerName(ctx, provider), detail: reasonOf(error).slice(0, 200) },
      error,
    );
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof oauth.ResponseBodyError)
    return [error.error, error.error_description].filter(Boolean).join(": ");
  if (error instanceof z.ZodError || error instanceof SyntaxError || error instanceof ResponseTooLarge)
    return "unreadable answer";
  if (error instanceof Error) return error.name === "TimeoutError" ? "timeout" : error.message;
  return "";
}
