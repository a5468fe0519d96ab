/**
 * A Google access token for a service account (developers.google.com/identity/protocols/oauth2/service-account,
 * "HTTP/REST"; November 2026): a signed assertion is exchanged for it.
 */
import { importPKCS8, SignJWT } from "jose";
import { splitKey } from "../../../shared/channel-types";
import { isObject, tryParse } from "../../lib/json-bytes";
import type { PoolChannel } from "../../contracts/channel";
import { tokenRefused } from "./provider-context";
import type { FreshToken, ProviderContext } from "./provider";

const TOKEN_URI = "https://oauth2.googleapis.com/token";
const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
const GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer";
/** Lifetime of an assertion in seconds: the longest that Google accepts. */
const LIFE = 3600;

export interface ServiceAccount {
  project_id: string;
  client_email: string;
  private_key: string;
  token_uri: string;
}

/** The service account in a channel's key; undefined when the key is none. */
export function serviceAccount({ type, key }: PoolChannel): ServiceAccount | undefined {
  const { project_id = "", client_email = "", private_key = "", token_uri = TOKEN_URI } = splitKey(type.id, key) ?? {};
  return project_id && client_email && private_key ? { project_id, client_email, private_key, token_uri } : undefined;
}

async function assertion({ client_email, private_key, token_uri }: ServiceAccount, now: number): Promise<string> {
  const issued = Math.floor(now / 1000);
  const key = await importPKCS8(private_key, "RS256").catch(() => {
    throw tokenRefused(401, "the private key cannot be read");
  });
  return new SignJWT({ scope: SCOPE })
    .setProtectedHeader({ alg: "RS256", typ: "JWT" })
    .setIssuer(client_email)
    .setAudience(token_uri)
    .setIssuedAt(issued)
    .setExpirationTime(issued + LIFE)
    .sign(key);
}

/** A new token. Throws Failed when Google refuses. */
export async function googleToken(
  account: ServiceAccount,
  { fetch, now, redact }: ProviderContext,
): Promise<FreshToken> {
  const response = await fetch(account.token_uri, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ grant_type: GRANT, assertion: await assertion(account, now()) }).toString(),
  });
  const answer = tryParse(new Uint8Array(await response.arrayBuffer()));
  const said = isObject(answer) ? answer : {};
  const { access_token, expires_in, error, error_description } = said;
  if (!response.ok || typeof access_token !== "string" || access_token === "") {
    throw tokenRefused(
      response.status,
      [error, error_description].filter((text) => typeof text === "string").join(": "),
      redact,
    );
  }
  return { token: access_token, expires_in: typeof expires_in === "number" ? expires_in : LIFE };
}
