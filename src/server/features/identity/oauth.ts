/**
 * The code flow of OAuth 2 and OpenID Connect, by oauth4webapi (RFC 6749, 7636, 9207, OpenID Connect Core 1.0). Every
 * request goes through lib/egress.ts: the operator typed the addresses, so they may be private ones, but size, time and
 * redirects stay bounded.
 */
import { decodeProtectedHeader, jwtVerify } from "jose";
import * as oauth from "oauth4webapi";
import type { Services } from "../../contracts/context";
import { egressFetch } from "../../lib/egress";

/**
 * What a sign-in that began here keeps in the browser's ticket. Without verifier and nonce, none was sent to the
 * provider.
 */
export interface Attempt {
  state: string;
  redirect_uri: string;
  verifier?: string | undefined;
  nonce?: string | undefined;
}

/** The parameters of the provider's redirect. */
export interface Answered extends Attempt {
  code: string;
  iss?: string | undefined;
}

/** The identity that a provider reports. */
export interface ProvenPerson {
  /** The provider's id, which never changes. */
  subject: string;
  /** For the screen: may change, and proves nothing. */
  name: string;
}

/**
 * A provider of the flow "redirect". Both methods may throw any error of the provider's answer; service.ts words it.
 */
export interface RedirectFlow {
  /** Which secrets the provider's standard ties to the sign-in: a PKCE verifier, an ID token's nonce. */
  readonly ties: { readonly verifier: boolean; readonly nonce: boolean };
  /** The address that the browser is sent to. */
  authorization(services: Services, attempt: Attempt): Promise<URL>;
  person(services: Services, answered: Answered): Promise<ProvenPerson>;
}

const TIMEOUT_MS = 15_000;

const carried = {
  [oauth.customFetch]: async (url: string, init: oauth.CustomFetchOptions<string, unknown>): Promise<Response> => {
    const body = init.body instanceof URLSearchParams ? init.body.toString() : undefined;
    const { status, headers, text } = await egressFetch(url, {
      method: init.method === "POST" ? "POST" : "GET",
      headers: { ...init.headers },
      ...(body === undefined ? {} : { body }),
      allowPrivate: true,
      timeoutMs: TIMEOUT_MS,
    });
    // The text is decompressed already.
    return new Response(text, {
      status: isRefusal(text) ? Math.max(status, 400) : status,
      headers: { "content-type": headers.get("content-type") ?? "", ...challengeOf(headers) },
    });
  },
  // Whether a provider uses https is the operator's choice: inside a private network some do not.
  [oauth.allowInsecureRequests]: true,
};

/** GitHub answers an error of RFC 6749, 5.2 with status 200. */
function isRefusal(text: string): boolean {
  try {
    const answer: unknown = JSON.parse(text);
    return typeof answer === "object" && answer !== null && "error" in answer && typeof answer.error === "string";
  } catch {
    return false;
  }
}

const challengeOf = (headers: Headers): Record<string, string> => {
  const challenge = headers.get("www-authenticate");
  return challenge === null ? {} : { "www-authenticate": challenge };
};

/** The address that the browser is sent to, with state, PKCE and nonce. */
export async function authorizationUrl(
  endpoint: string,
  client_id: string,
  scope: string,
  { state, redirect_uri, verifier, nonce }: Attempt,
): Promise<URL> {
  const url = new URL(endpoint);
  const members = {
    response_type: "code",
    client_id,
    redirect_uri,
    scope,
    state,
    nonce,
    ...(verifier === undefined
      ? {}
      : { code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: "S256" }),
  };
  for (const [name, value] of Object.entries(members)) if (value) url.searchParams.set(name, value);
  return url;
}

export interface CodeClient {
  server: oauth.AuthorizationServer;
  client_id: string;
  secret: string;
  /** An ID token must come and is checked. */
  openid: boolean;
}

/** Exchanges the code. Throws oauth4webapi's error when an answer does not follow the standards. */
export async function exchange(
  { server, client_id, secret, openid }: CodeClient,
  answered: Answered,
): Promise<{ access_token: string; claims: oauth.IDToken | undefined }> {
  const client: oauth.Client = { client_id };
  // In the form where the provider takes it: of HTTP Basic not all of them undo the percent-encoding that RFC 6749,
  // 2.3.1 wants.
  const inForm = server.token_endpoint_auth_methods_supported?.includes("client_secret_post") ?? false;
  const auth = inForm ? oauth.ClientSecretPost(secret) : oauth.ClientSecretBasic(secret);
  const { code, state, iss, redirect_uri, verifier, nonce } = answered;
  const given = new URLSearchParams({ code, state, ...(iss === undefined ? {} : { iss }) });
  const params = oauth.validateAuthResponse(server, client, given, state);
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    auth,
    params,
    redirect_uri,
    verifier ?? oauth.nopkce,
    carried,
  );
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
    requireIdToken: openid,
    ...(nonce === undefined ? {} : { expectedNonce: nonce }),
  });
  if (openid) await checkSignature(server, response, tokens.id_token ?? "", secret);
  return { access_token: tokens.access_token, claims: oauth.getValidatedIdTokenClaims(tokens) };
}

/**
 * Checks the ID token's signature by the provider's published keys; or by the shared secret where the provider signs
 * with that.
 */
async function checkSignature(
  server: oauth.AuthorizationServer,
  response: Response,
  token: string,
  secret: string,
): Promise<void> {
  const { alg } = decodeProtectedHeader(token);
  if (alg?.startsWith("HS")) await jwtVerify(token, new TextEncoder().encode(secret));
  else await oauth.validateApplicationLevelSignature(server, response, carried);
}

/** A provider's user page for the access token: JSON. */
export async function askWithToken(access_token: string, url: string, accept = "application/json"): Promise<unknown> {
  const response = await oauth.protectedResourceRequest(
    access_token,
    "GET",
    new URL(url),
    new Headers({ accept, "user-agent": "Weir" }),
    null,
    carried,
  );
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return response.json();
}

/** OpenID Connect's userinfo page; refused when its subject is not the ID token's. */
export async function userInfo(
  server: oauth.AuthorizationServer,
  client_id: string,
  access_token: string,
  subject: string,
): Promise<oauth.UserInfoResponse> {
  const response = await oauth.userInfoRequest(server, { client_id }, access_token, carried);
  return oauth.processUserInfoResponse(server, { client_id }, subject, response);
}
