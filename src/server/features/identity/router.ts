/** Routes of sign-in by providers. GETs that change something need the user-id header like every call (D-65). */
import { IDENTITY_PROVIDERS, type RedirectProvider } from "../../../shared/identity";
import {
  callbackInput,
  oidcTrialInput,
  stateInput,
  telegramBindInput,
  telegramInput,
  telegramTrialInput,
  unbindInput,
  wechatInput,
} from "../../../shared/identity-input";
import { publicProcedure, rootProcedure, router, userProcedure } from "../../http/trpc";
import { boundIdentities, unbindIdentity } from "./account";
import { beginSignIn, finishSignIn, telegramBind, telegramSignIn, wechatBind, wechatSignIn } from "./service";
import { tryOidc, tryTelegram } from "./try";

const callback = (provider: RedirectProvider) =>
  publicProcedure
    .meta({
      rest: `GET /api/oauth/${provider}`,
      summary: `Sign in by, or bind, an account at ${IDENTITY_PROVIDERS[provider].title.en}`,
      answer: "top",
      critical: "sign-in",
    })
    .input(callbackInput)
    .mutation(({ ctx, input }) => finishSignIn(ctx, provider, input));

const callbacks = { github: callback("github"), linuxdo: callback("linuxdo"), oidc: callback("oidc") } satisfies Record<
  RedirectProvider,
  unknown
>;

export const identityRouter = router({
  begin: publicProcedure
    .meta({
      silent: true,
      rest: "GET /api/oauth/state",
      summary: "A state for a sign-in elsewhere, and where to go when a provider is named",
      answer: "top",
      critical: "sign-in",
    })
    .input(stateInput)
    .mutation(({ ctx, input }) => beginSignIn(ctx, input)),
  finish: router(callbacks),
  // Six digits can be guessed: an invented address must not have tries of its own.
  wechat: publicProcedure
    .meta({ rest: "GET /api/oauth/wechat", summary: "Sign in by a WeChat code", critical: true, ownPage: "named" })
    .input(wechatInput)
    .mutation(({ ctx, input }) => wechatSignIn(ctx, input.code, input.aff)),
  wechatBind: userProcedure
    .meta({
      rest: ["GET /api/oauth/wechat/bind", "POST /api/oauth/wechat/bind"],
      summary: "Bind a WeChat account",
      critical: true,
    })
    .input(wechatInput)
    .mutation(({ ctx, input }) => wechatBind(ctx, input.code)),
  telegram: publicProcedure
    .meta({
      rest: "GET /api/oauth/telegram/login",
      summary: "Sign in by the Telegram widget",
      critical: "sign-in",
      ownPage: "named",
    })
    .input(telegramInput)
    .mutation(({ ctx, input }) => telegramSignIn(ctx, input)),
  telegramBind: publicProcedure
    .meta({
      rest: "GET /api/oauth/telegram/bind",
      summary: "Bind a Telegram account; leads to the settings",
      answer: "redirect",
      critical: true,
      ownPage: "by-ticket",
    })
    .input(telegramBindInput)
    .mutation(({ ctx, input }) => telegramBind(ctx, input)),
  /** The buttons of the settings that try what is typed; a failure is an answer. */
  tryOidc: rootProcedure
    .meta({ silent: true })
    .input(oidcTrialInput)
    .mutation(({ ctx, input }) => tryOidc(ctx, input.address)),
  tryTelegram: rootProcedure
    .meta({ silent: true })
    .input(telegramTrialInput)
    .mutation(({ ctx, input }) => tryTelegram(ctx, input.token)),
  list: userProcedure
    .meta({ rest: "GET /api/user/oauth/bindings", summary: "What is bound to one's account" })
    .query(({ ctx }) => boundIdentities(ctx)),
  unbind: userProcedure
    .meta({
      rest: "DELETE /api/user/oauth/bindings/{provider}",
      summary: "Remove a binding, unless it is the last way to sign in",
    })
    .input(unbindInput)
    .mutation(({ ctx, input }) => unbindIdentity(ctx, input.provider)),
});
