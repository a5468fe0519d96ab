/** Tries the settings that root has typed for a provider before a user signs in by it. */
import * as z from "zod";
import type { OidcTrial, TelegramTrial } from "../../../shared/identity";
import type { UserCtx } from "../../contracts/context";
import { egressFetch } from "../../lib/egress";
import { discover } from "./oidc";

const words = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The provider's discovery document, not from the cache. */
export async function tryOidc({ now }: Pick<UserCtx, "now">, address: string): Promise<OidcTrial> {
  try {
    const {
      issuer,
      authorization_endpoint = "",
      token_endpoint = "",
      userinfo_endpoint = "",
    } = await discover(address.trim(), now(), true);
    return { ok: true, issuer, authorization_endpoint, token_endpoint, user_info_endpoint: userinfo_endpoint };
  } catch (error) {
    return { ok: false, detail: words(error) };
  }
}

/** Where bots are asked about themselves (core.telegram.org/bots/api, "Making requests"). */
const BOT_API = "https://api.telegram.org";
/** A number and a secret: nothing else may get into the address. */
const BOT_TOKEN = /^\d{1,20}:[\w-]{1,100}$/;
/** The answer to getMe; a refusal has `description` ("Making requests"). */
const botAnswer = z.object({
  ok: z.boolean(),
  description: z.string().optional(),
  result: z.object({ username: z.string() }).optional(),
});

/** The token; "" = the saved one. */
export async function tryTelegram(
  { options }: Pick<UserCtx, "options">,
  typed: string,
  api: string = BOT_API,
): Promise<TelegramTrial> {
  const token = typed.trim() || options.get("TelegramBotToken");
  if (!BOT_TOKEN.test(token)) return { ok: false, detail: "expected <bot_id>:<secret>" };
  try {
    const { status, text } = await egressFetch(`${api}/bot${token}/getMe`, { allowPrivate: true, maxRedirects: 0 });
    const { ok, description, result } = botAnswer.parse(JSON.parse(text));
    return ok && result ? { ok: true, name: result.username } : { ok: false, detail: description ?? `HTTP ${status}` };
  } catch (error) {
    // The error names the address, which contains the token.
    return { ok: false, detail: words(error).replaceAll(token, "…") };
  }
}
