/** What the console knows of each way to sign in elsewhere, beside shared/identity.ts. */
import { CodeXml, type LucideIcon, MessageCircle, MessagesSquare, Send, ShieldCheck } from "lucide-react";
import { IDENTITY_PROVIDERS, type IdentityProvider, identityProviders } from "../../../shared/identity";
import { currentLanguage } from "../../lib/i18n";
import type { PublicStatus } from "../../lib/status";

export const providerIcons: Readonly<Record<IdentityProvider, LucideIcon>> = {
  github: CodeXml,
  linuxdo: MessagesSquare,
  oidc: ShieldCheck,
  wechat: MessageCircle,
  telegram: Send,
};

export const titleOf = (provider: IdentityProvider): string => IDENTITY_PROVIDERS[provider].title[currentLanguage()];

/** Whether the operator lets people sign in by it. */
export const isOffered = (status: Partial<PublicStatus>, provider: IdentityProvider): boolean =>
  status[IDENTITY_PROVIDERS[provider].status] === true;

/** Those that are offered, in the registry's order. */
export const offeredProviders = (status: Partial<PublicStatus>): IdentityProvider[] =>
  identityProviders.filter((provider) => isOffered(status, provider));
