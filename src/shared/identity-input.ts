/** What the routes of identity providers take. Apart from identity.ts: the sign-in page needs no schemas. */
import * as z from "zod";
import { isIdentityProvider, isRedirectProvider } from "./identity";

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

/** Tests of the settings, before they are saved. */
export const oidcTrialInput = z.object({ address: z.string().max(2048) });
/** "" tries the saved token. */
export const telegramTrialInput = z.object({ token: z.string().max(200) });
