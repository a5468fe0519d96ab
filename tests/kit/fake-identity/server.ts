/**
 * GitHub, LinuxDO, an OpenID provider and a WeChat server for tests and development, on one port. Responses have the
 * formats of docs.github.com ("Authorizing OAuth apps", "Get the authenticated user"), connect.linux.do, OpenID Connect
 * Core 1.0 and the WeChat server's README (read 2026-11-22). They are as strict as the real ones: a code works once,
 * for the client, address and PKCE challenge that it was issued for.
 */
import { createHash } from "node:crypto";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from "jose";

const CLIENT = { id: "client-of-weir", secret: "secret-of-weir" } as const;
const WECHAT_TOKEN = "token-of-wechat-server";

export interface FakePerson {
  /** For GitHub and LinuxDO. */
  id: number;
  login: string;
  trust_level: number;
  /** For the OpenID provider. */
  sub: string;
}

export interface FakeIdentity {
  url: string;
  /** The options and environment that an operator sets. */
  options: Readonly<Record<string, string>>;
  env: Readonly<Record<string, string>>;
  /** The person who uses the provider's page from now on. */
  person: FakePerson;
  /** Merged over the next ID tokens' claims. */
  claims: JWTPayload;
  /**
   * How ID tokens are signed: by its key; not at all; by a key that it does not publish, which "embedded" writes into
   * the token's head; or, "public", by HMAC with its public key as the secret.
   */
  signing: "key" | "none" | "foreign" | "embedded" | "public";
  /** WeChat codes and their users. */
  wechat: Map<string, string>;
  /** Requests to token pages: form fields, by provider. */
  exchanges: { provider: string; form: Record<string, string>; authorization: string | null }[];
  /** Confirms on the page at `url` like a person, and returns the address of the redirect. */
  agree(url: string): Promise<URL>;
  stop(): Promise<void>;
}

interface Grant {
  provider: string;
  person: FakePerson;
  redirect_uri: string;
  challenge: string;
  nonce: string | undefined;
}

const page = (body: string): Response =>
  new Response(`<!doctype html><title>Fake provider</title>${body}`, {
    headers: { "content-type": "text/html; charset=utf-8" },
  });

/** HTTP Basic as RFC 6749, 2.3.1 has it: id and secret are percent-encoded first. */
function isClient(authorization: string | null): boolean {
  const [id = "", secret = ""] = Buffer.from((authorization ?? "").replace(/^Basic /, ""), "base64")
    .toString()
    .split(":");
  return decodeURIComponent(id) === CLIENT.id && decodeURIComponent(secret) === CLIENT.secret;
}

const random = (): string => crypto.randomUUID().replaceAll("-", "");

export async function startFakeIdentity({ port = 0 }: { port?: number } = {}): Promise<FakeIdentity> {
  const codes = new Map<string, Grant>();
  const tokens = new Map<string, Grant>();
  const key = await generateKeyPair("RS256");
  const foreign = await generateKeyPair("RS256");
  const jwk = { ...(await exportJWK(key.publicKey)), kid: "k1", alg: "RS256", use: "sig" };
  const foreignJwk = { ...(await exportJWK(foreign.publicKey)), kid: "k1", alg: "RS256", use: "sig" };

  function authorize(provider: string, url: URL, agreed: boolean): Response {
    const given = url.searchParams;
    if (given.get("client_id") !== CLIENT.id) return page("<p>No such client</p>");
    if (!agreed)
      return page(`<form method="post"><p>${provider}: ${fake.person.login}</p><button>Authorize</button></form>`);
    const code = random();
    const redirect_uri = given.get("redirect_uri") ?? "";
    codes.set(code, {
      provider,
      person: { ...fake.person },
      redirect_uri,
      challenge: given.get("code_challenge") ?? "",
      nonce: given.get("nonce") ?? undefined,
    });
    const back = new URL(redirect_uri);
    back.searchParams.set("code", code);
    back.searchParams.set("state", given.get("state") ?? "");
    return new Response(null, { status: 302, headers: { location: back.href } });
  }

  async function token(provider: string, request: Request): Promise<Response> {
    const form = Object.fromEntries(new URLSearchParams(await request.text()));
    const authorization = request.headers.get("authorization");
    fake.exchanges.push({ provider, form, authorization });
    const known = isClient(authorization) || (form.client_id === CLIENT.id && form.client_secret === CLIENT.secret);
    const grant = codes.get(form.code ?? "");
    codes.delete(form.code ?? "");
    const proof = createHash("sha256")
      .update(form.code_verifier ?? "")
      .digest("base64url");
    const right =
      grant?.provider === provider &&
      grant.redirect_uri === form.redirect_uri &&
      (grant.challenge === "" || grant.challenge === proof);
    // GitHub says so with 200, the others with 400.
    const status = provider === "github" ? 200 : 400;
    if (!known)
      return Response.json(
        {
          error: "incorrect_client_credentials",
          error_description: "The client_id and/or client_secret passed are incorrect.",
        },
        { status },
      );
    if (!grant || !right)
      return Response.json(
        { error: "bad_verification_code", error_description: "The code passed is incorrect or expired." },
        { status },
      );
    const access_token = random();
    tokens.set(access_token, grant);
    const answer = { access_token, token_type: "bearer", scope: "" };
    return Response.json(
      provider === "oidc" ? { ...answer, id_token: await idToken(grant), expires_in: 3600 } : answer,
    );
  }

  function idToken({ person, nonce }: Grant): Promise<string> | string {
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      iss: `${fake.url}/oidc`,
      aud: CLIENT.id,
      sub: person.sub,
      iat: now,
      exp: now + 300,
      ...(nonce === undefined ? {} : { nonce }),
      ...fake.claims,
    };
    if (fake.signing === "none") return new UnsecuredJWT(claims).encode();
    if (fake.signing === "public")
      return new SignJWT(claims)
        .setProtectedHeader({ alg: "HS256", kid: "k1" })
        .sign(new TextEncoder().encode(JSON.stringify(jwk)));
    if (fake.signing === "embedded")
      return new SignJWT(claims)
        .setProtectedHeader({ alg: "RS256", kid: "k1", jwk: foreignJwk, jku: `${fake.url}/foreign/jwks` })
        .sign(foreign.privateKey);
    return new SignJWT(claims)
      .setProtectedHeader({ alg: "RS256", kid: "k1" })
      .sign(fake.signing === "key" ? key.privateKey : foreign.privateKey);
  }

  function about(provider: string, request: Request): Response {
    const grant = tokens.get((request.headers.get("authorization") ?? "").replace(/^Bearer /, ""));
    if (grant?.provider !== provider) return Response.json({ message: "Bad credentials" }, { status: 401 });
    const { id, login, trust_level, sub } = grant.person;
    if (provider === "github")
      return Response.json({
        login,
        id,
        node_id: "MDQ6VXNlcjE=",
        type: "User",
        name: `The ${login}`,
        email: "octocat@github.com",
      });
    if (provider === "linuxdo")
      return Response.json({ id, username: login, name: login, active: true, trust_level, silenced: false });
    return Response.json({
      sub,
      preferred_username: login,
      name: `The ${login}`,
      email: "victim@weir.example",
      email_verified: false,
      picture: "http://127.0.0.1:1/p.png",
    });
  }

  const discovery = () => ({
    issuer: `${fake.url}/oidc`,
    authorization_endpoint: `${fake.url}/oidc/authorize`,
    token_endpoint: `${fake.url}/oidc/token`,
    userinfo_endpoint: `${fake.url}/oidc/userinfo`,
    jwks_uri: `${fake.url}/oidc/jwks`,
    response_types_supported: ["code"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"],
    code_challenge_methods_supported: ["S256"],
  });

  const AUTHORIZE: Record<string, string> = {
    "/login/oauth/authorize": "github",
    "/oauth2/authorize": "linuxdo",
    "/oidc/authorize": "oidc",
  };
  const TOKEN: Record<string, string> = {
    "/login/oauth/access_token": "github",
    "/oauth2/token": "linuxdo",
    "/oidc/token": "oidc",
  };
  const PERSON: Record<string, string> = { "/api/v3/user": "github", "/api/user": "linuxdo", "/oidc/userinfo": "oidc" };

  const server = Bun.serve({
    port,
    hostname: "127.0.0.1",
    async fetch(request) {
      const url = new URL(request.url);
      const { pathname } = url;
      if (AUTHORIZE[pathname]) return authorize(AUTHORIZE[pathname], url, request.method === "POST");
      if (TOKEN[pathname]) return token(TOKEN[pathname], request);
      if (PERSON[pathname]) return about(PERSON[pathname], request);
      if (pathname === "/oidc/.well-known/openid-configuration") return Response.json(discovery());
      if (pathname === "/oidc/jwks") return Response.json({ keys: [jwk] });
      if (pathname === "/foreign/jwks") return Response.json({ keys: [foreignJwk] });
      if (pathname === "/api/wechat/user") {
        if (request.headers.get("authorization") !== WECHAT_TOKEN)
          return Response.json({ success: false, message: "无权访问" }, { status: 401 });
        const person = fake.wechat.get(url.searchParams.get("code") ?? "");
        return Response.json(
          person
            ? { success: true, message: "", data: person }
            : { success: false, message: "验证码错误或已过期", data: "" },
        );
      }
      return new Response("not found", { status: 404 });
    },
  });
  const address = `http://127.0.0.1:${server.port}`;

  const fake: FakeIdentity = {
    url: address,
    options: {
      GitHubClientId: CLIENT.id,
      GitHubClientSecret: CLIENT.secret,
      GitHubOAuthEnabled: "true",
      LinuxDOClientId: CLIENT.id,
      LinuxDOClientSecret: CLIENT.secret,
      LinuxDOOAuthEnabled: "true",
      "oidc.client_id": CLIENT.id,
      "oidc.client_secret": CLIENT.secret,
      "oidc.well_known": `${address}/oidc/.well-known/openid-configuration`,
      "oidc.enabled": "true",
      WeChatServerAddress: address,
      WeChatServerToken: WECHAT_TOKEN,
      WeChatAuthEnabled: "true",
      TelegramBotToken: "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw",
      TelegramBotName: "weir_test_bot",
      TelegramOAuthEnabled: "true",
    },
    env: { WEIR_GITHUB_URL: address, WEIR_LINUXDO_URL: address },
    person: { id: 583_231, login: "octocat", trust_level: 2, sub: "248289761001" },
    claims: {},
    signing: "key",
    wechat: new Map(),
    exchanges: [],
    agree: async (target) => {
      const response = await fetch(target, { method: "POST", redirect: "manual" });
      const back = response.headers.get("location");
      if (back === null) throw new Error(`the provider did not send back: ${await response.text()}`);
      return new URL(back);
    },
    stop: () => server.stop(true),
  };
  return fake;
}
