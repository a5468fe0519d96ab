/**
 * Any OpenID provider, found by its discovery document (OpenID Connect Discovery 1.0). Endpoints that the operator
 * typed win over those of the document.
 */
import * as oauth from "oauth4webapi";
import * as z from "zod";
import type { Services } from "../../contracts/context";
import { egressFetch } from "../../lib/egress";
import { authorizationUrl, exchange, type RedirectFlow, userInfo } from "./oauth";

const SUFFIX = "/.well-known/openid-configuration";
/** A provider that moves an endpoint is followed within this time. */
const REMEMBERED_MS = 10 * 60_000;
const remembered = new Map<string, { server: oauth.AuthorizationServer; until: number }>();

const bare = (address: string): string => address.replace(/\/+$/, "");

/** The provider's document. Its issuer must be the one that the address belongs to. `fresh`: not from the cache. */
export async function discover(address: string, now: number, fresh = false): Promise<oauth.AuthorizationServer> {
  const known = remembered.get(address);
  if (!fresh && known && known.until > now) return known.server;
  const expected = address.endsWith(SUFFIX) ? address.slice(0, -SUFFIX.length) : address;
  const { status, headers, text } = await egressFetch(`${bare(expected)}${SUFFIX}`, {
    headers: { accept: "application/json" },
    allowPrivate: true,
  });
  if (status !== 200) throw new Error(`discovery: HTTP ${status}`);
  const { issuer } = z.object({ issuer: z.url() }).parse(JSON.parse(text));
  if (bare(issuer) !== bare(expected)) throw new Error(`discovery: the document is of ${issuer}`);
  const document = new Response(text, { status, headers: { "content-type": headers.get("content-type") ?? "" } });
  const server = await oauth.processDiscoveryResponse(new URL(issuer), document);
  remembered.set(address, { server, until: now + REMEMBERED_MS });
  return server;
}

async function providerOf({ options, now }: Services): Promise<oauth.AuthorizationServer> {
  const server = await discover(options.get("oidc.well_known"), now());
  const typed = {
    authorization_endpoint: options.get("oidc.authorization_endpoint"),
    token_endpoint: options.get("oidc.token_endpoint"),
    userinfo_endpoint: options.get("oidc.user_info_endpoint"),
  };
  return { ...server, ...Object.fromEntries(Object.entries(typed).filter(([, address]) => address !== "")) };
}

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

export const oidc: RedirectFlow = {
  ties: { verifier: true, nonce: true },
  authorization: async (services, attempt) => {
    const { authorization_endpoint = "" } = await providerOf(services);
    return authorizationUrl(authorization_endpoint, services.options.get("oidc.client_id"), "openid profile", attempt);
  },
  person: async (services, answered) => {
    const server = await providerOf(services);
    const client_id = services.options.get("oidc.client_id");
    const { access_token, claims } = await exchange(
      { server, client_id, secret: services.options.get("oidc.client_secret"), openid: true },
      answered,
    );
    if (!claims) throw new Error("no ID token");
    const known = text(claims.preferred_username) ?? text(claims.name);
    const said =
      known === undefined && server.userinfo_endpoint
        ? await userInfo(server, client_id, access_token, claims.sub)
        : undefined;
    const name = known ?? text(said?.preferred_username) ?? text(said?.name) ?? "";
    // An id is unique within its issuer only: at another provider the same number is another user.
    return { subject: `${server.issuer} ${claims.sub}`, name };
  },
};
