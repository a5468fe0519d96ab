/**
 * Identity providers: one entry each. Sign-in and register pages, the cards of the personal page, the fields of an
 * account and the routes read it. To add one: an entry here, its options in options.ts, and its implementation in
 * server/features/identity/ (the compiler requires it).
 */
import * as z from "zod";
import type { OptionKey } from "./options";
import type { Text } from "./text";

/** The fields of an account with its ids at providers; "" when not bound. */
const UNBOUND = { github_id: "", wechat_id: "", telegram_id: "", linux_do_id: "", oidc_id: "" };
export type BoundIds = typeof UNBOUND;

/**
 * redirect: the browser goes to the provider's page and comes back with a code. code: the user reads a code on a phone
 * and types it. widget: the provider's frame returns signed facts.
 */
export type IdentityFlow = "redirect" | "code" | "widget";

interface ProviderFact {
  readonly title: Text;
  readonly flow: IdentityFlow;
  /** The option that switches it on. */
  readonly enabled: OptionKey;
  /** That option's name in GET /api/status. */
  readonly status: string;
  /** The field of an account with the id at the provider. */
  readonly field: keyof BoundIds;
  /** Prefix of usernames that it creates: `github_7` (D-69). */
  readonly prefix: string;
}

/** The origin of the Telegram button's frame. */
export const TELEGRAM_ORIGIN = "https://oauth.telegram.org";

const name = (text: string): Text => ({ zh: text, en: text });

export const IDENTITY_PROVIDERS = {
  github: {
    title: name("GitHub"),
    flow: "redirect",
    enabled: "GitHubOAuthEnabled",
    status: "github_oauth",
    field: "github_id",
    prefix: "github",
  },
  linuxdo: {
    title: name("LinuxDO"),
    flow: "redirect",
    enabled: "LinuxDOOAuthEnabled",
    status: "linuxdo_oauth",
    field: "linux_do_id",
    prefix: "linuxdo",
  },
  oidc: {
    title: name("OIDC"),
    flow: "redirect",
    enabled: "oidc.enabled",
    status: "oidc_enabled",
    field: "oidc_id",
    prefix: "oidc",
  },
  wechat: {
    title: { zh: "微信", en: "WeChat" },
    flow: "code",
    enabled: "WeChatAuthEnabled",
    status: "wechat_login",
    field: "wechat_id",
    prefix: "wechat",
  },
  telegram: {
    title: name("Telegram"),
    flow: "widget",
    enabled: "TelegramOAuthEnabled",
    status: "telegram_oauth",
    field: "telegram_id",
    prefix: "telegram",
  },
} as const satisfies Record<string, ProviderFact>;

export type IdentityProvider = keyof typeof IDENTITY_PROVIDERS;
/** Those of the flow "redirect". */
export type RedirectProvider = {
  [P in IdentityProvider]: (typeof IDENTITY_PROVIDERS)[P]["flow"] extends "redirect" ? P : never;
}[IdentityProvider];

export const isIdentityProvider = (text: string): text is IdentityProvider => Object.hasOwn(IDENTITY_PROVIDERS, text);
export const isRedirectProvider = (text: string): text is RedirectProvider =>
  isIdentityProvider(text) && IDENTITY_PROVIDERS[text].flow === "redirect";
export const identityProviders: readonly IdentityProvider[] =
  Object.keys(IDENTITY_PROVIDERS).filter(isIdentityProvider);

/** The fields of an account from its identities. */
export function boundIds(identities: readonly { provider: string; subject: string }[]): BoundIds {
  const ids = { ...UNBOUND };
  for (const { provider, subject } of identities)
    if (isIdentityProvider(provider)) ids[IDENTITY_PROVIDERS[provider].field] = subject;
  return ids;
}

/** The page to which a provider redirects. */
export const callbackPath = (provider: RedirectProvider): string => `/oauth/${provider}`;

const provider = z.string().max(40).refine(isIdentityProvider, "identity_provider_unknown");
const redirectProvider = z.string().max(40).refine(isRedirectProvider, "identity_provider_unknown");
const aff = z.string().max(64).optional();

/** With `provider`, the response contains the address to redirect to. */
export const stateInput = z.object({ aff, provider: redirectProvider.optional() });

export const callbackInput = z.object({
  code: z.string().max(2048).default(""),
  state: z.string().max(100).default(""),
  /** RFC 9207, where the provider sends it. */
  iss: z.string().max(2048).optional(),
  /** The provider's error in place of a code. */
  error: z.string().max(200).optional(),
});

export const wechatInput = z.object({
  code: z.string({ error: "wechat_code_missing" }).trim().min(1, "wechat_code_missing").max(200),
  aff,
});

/** The widget's own fields (core.telegram.org/widgets/login); `lang` and others that front-ends add are dropped. */
export const telegramInput = z.object({
  id: z.coerce.string().max(32).default(""),
  first_name: z.string().max(400).optional(),
  last_name: z.string().max(400).optional(),
  username: z.string().max(100).optional(),
  photo_url: z.string().max(2000).optional(),
  auth_date: z.coerce.string().max(20).default(""),
  hash: z.string().max(128).default(""),
  aff,
});
export type TelegramFields = z.output<typeof telegramInput>;

/**
 * Bound by the widget's own navigation, which sends no user-id header: the state of a signed-in page identifies the
 * user.
 */
export const telegramBindInput = telegramInput.extend({ state: z.string().max(100).default("") });

export const unbindInput = z.object({ provider });

/** An identity on the personal page. */
export interface BoundIdentity {
  provider: IdentityProvider;
  /** The provider's name of the account. */
  name: string;
  created_at: number;
}

/** Tests of the settings, before they are saved. */
export const oidcTrialInput = z.object({ address: z.string().max(2048) });
/** "" tries the saved token. */
export const telegramTrialInput = z.object({ token: z.string().max(200) });

/** `detail`: the reason, in the provider's own words. */
interface TrialFailed {
  ok: false;
  detail: string;
}
/** The endpoints of a discovery document; "" where it has none. */
export type OidcTrial =
  | { ok: true; issuer: string; authorization_endpoint: string; token_endpoint: string; user_info_endpoint: string }
  | TrialFailed;
/** The bot's user name, without its @. */
export type TelegramTrial = { ok: true; name: string } | TrialFailed;
