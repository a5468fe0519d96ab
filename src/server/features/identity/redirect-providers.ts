/** GitHub and LinuxDO: the redirect of each, and how it reports the user. OIDC is in oidc.ts. */
import * as z from "zod";
import { fail } from "../../../shared/errors";
import type { RedirectProvider } from "../../../shared/identity";
import { askWithToken, authorizationUrl, type CodeClient, exchange, type RedirectFlow } from "./oauth";
import { oidc } from "./oidc";
import type { Services } from "../../contracts/context";

/**
 * docs.github.com, "Authorizing OAuth apps", and github.blog 2025-07-14 on PKCE (read 2026-11-22). No scope: the public
 * profile is enough. The numeric id is the identity; a login name can be given up and taken by another user.
 */
const github: RedirectFlow = {
  ties: { verifier: true, nonce: false },
  authorization: ({ env, options }, attempt) =>
    authorizationUrl(`${env.WEIR_GITHUB_URL}/login/oauth/authorize`, options.get("GitHubClientId"), "", attempt),
  person: async (services, answered) => {
    const { access_token } = await exchange(githubClient(services), answered);
    const { id, login } = githubUser.parse(
      await askWithToken(
        access_token,
        `${githubApi(services.env.WEIR_GITHUB_URL)}/user`,
        "application/vnd.github+json",
      ),
    );
    return { subject: String(id), name: login };
  },
};

const githubUser = z.object({ id: z.int().positive(), login: z.string() });

const githubClient = ({ env, options }: Services): CodeClient => ({
  server: {
    issuer: env.WEIR_GITHUB_URL,
    token_endpoint: `${env.WEIR_GITHUB_URL}/login/oauth/access_token`,
    token_endpoint_auth_methods_supported: ["client_secret_post"],
  },
  client_id: options.get("GitHubClientId"),
  secret: options.get("GitHubClientSecret"),
  openid: false,
});

/** An Enterprise Server has its API below its own address. */
const githubApi = (site: string): string =>
  new URL(site).host === "github.com" ? "https://api.github.com" : `${site}/api/v3`;

/** connect.linux.do: HTTP Basic at the token endpoint, no PKCE. */
const linuxdo: RedirectFlow = {
  ties: { verifier: false, nonce: false },
  authorization: ({ env, options }, attempt) =>
    authorizationUrl(`${env.WEIR_LINUXDO_URL}/oauth2/authorize`, options.get("LinuxDOClientId"), "", attempt),
  person: async ({ env, options }, answered) => {
    const client: CodeClient = {
      server: { issuer: env.WEIR_LINUXDO_URL, token_endpoint: `${env.WEIR_LINUXDO_URL}/oauth2/token` },
      client_id: options.get("LinuxDOClientId"),
      secret: options.get("LinuxDOClientSecret"),
      openid: false,
    };
    const { access_token } = await exchange(client, answered);
    const { id, username, trust_level } = linuxdoUser.parse(
      await askWithToken(access_token, `${env.WEIR_LINUXDO_URL}/api/user`),
    );
    const least = options.get("LinuxDOMinimumTrustLevel");
    if (trust_level < least) fail("identity_trust_too_low", { level: trust_level, least });
    return { subject: String(id), name: username };
  },
};

const linuxdoUser = z.object({ id: z.int().positive(), username: z.string(), trust_level: z.int().default(0) });

export const redirectProviders: Readonly<Record<RedirectProvider, RedirectFlow>> = { github, linuxdo, oidc };
