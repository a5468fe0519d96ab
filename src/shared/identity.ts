/**
 * Identity providers: one entry each. Sign-in and register pages, the cards of the personal page, the fields of an
 * account and the routes read it. To add one: an entry here, its options in options.ts, and its implementation in
 * server/features/identity/ (the compiler requires it).
 */
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

/** An identity on the personal page. */
export interface BoundIdentity {
  provider: IdentityProvider;
  /** The provider's name of the account. */
  name: string;
  created_at: number;
}

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
