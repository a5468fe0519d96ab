/** Third-party providers prove an identity, and nothing else. Tested with a provider that lies (docs/security.md). */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { type FakeIdentity, startFakeIdentity } from "../kit/fake-identity/server";
import { HOOK_MS } from "../kit/harness";
import { type ApiAnswer, type Session, startWeir, type Weir } from "../kit/weir";

const seen: string[] = [];
const trap = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch(request) {
    seen.push(request.url);
    return new Response("caught");
  },
});

let weir: Weir;
let fake: FakeIdentity;
let people = 50_000;
beforeAll(async () => {
  fake = await startFakeIdentity();
  weir = await startWeir({ env: { ...fake.env } });
  for (const [key, value] of Object.entries(fake.options)) await weir.setOption(key, value);
}, HOOK_MS);
afterAll(async () => {
  await weir?.stop();
  await fake?.stop();
  await trap.stop(true);
});
beforeEach(() => {
  people++;
  fake.person = { id: people, login: `person${people}`, trust_level: 2, sub: `sub-${people}` };
});
afterEach(() => {
  fake.claims = {};
  fake.signing = "key";
});

/** One browser: its cookies, and the user who is signed in on its page. */
function browserOf(user?: Session) {
  const jar = new Map<string, string>(user ? [["session", user.cookie.slice("session=".length)]] : []);
  const ownHeaders: Record<string, string> = user ? { "new-api-user": String(user.id) } : {};
  return {
    async get(path: string, headers: Record<string, string> = ownHeaders): Promise<ApiAnswer> {
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
      const answer = await weir.anonymous("GET", path, undefined, { cookie, ...headers });
      for (const line of answer.headers.getSetCookie()) {
        const [pair = ""] = line.split(";");
        jar.set(pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1));
      }
      return answer;
    },
  };
}
type Browser = ReturnType<typeof browserOf>;

/** Goes to the provider and confirms there; returns the call that the page makes afterwards. */
async function there(browser: Browser, provider: string): Promise<string> {
  const begun = await browser.get(`/api/oauth/state?provider=${provider}`);
  const back = await fake.agree(String(begun.body.url));
  return `/api/oauth/${provider}${back.search}`;
}
const idOf = (answer: ApiAnswer): number => (answer.body.data as { id: number }).id;
const userRow = async (id: number) => {
  const [row] = await weir.db.q.select().from(weir.db.t.users).where(eq(weir.db.t.users.id, id));
  return row;
};

test("Open WebUI CVE-2026-45338: an image URL from the provider is never fetched", async () => {
  for (const picture of [
    `http://127.0.0.1:${trap.port}/p.png`,
    "http://169.254.169.254/latest/meta-data/",
    "file:///etc/passwd",
  ]) {
    fake.claims = { picture, avatar_url: picture, profile: picture };
    const browser = browserOf();
    const answer = await browser.get(await there(browser, "oidc"));
    expect(answer.body.success).toBe(true);
    expect(JSON.stringify(answer.body)).not.toContain(picture);
  }
  expect(seen).toEqual([]);
});

test("Open WebUI CVE-2026-70482: an ID token for another client, of another issuer, with another nonce, expired or unsigned is refused", async () => {
  const now = Math.floor(Date.now() / 1000);
  const before = (await weir.db.q.select().from(weir.db.t.users)).length;
  for (const claims of [
    { aud: "another-client" },
    { aud: ["another-client"] },
    { iss: "https://evil.example" },
    { nonce: "replayed" },
    { nonce: undefined },
    { exp: now - 3600 },
    { iat: now + 90_000, nbf: now + 90_000 },
    { aud: [fake.options["oidc.client_id"] ?? "", "another-client"], azp: "another-client" },
    { sub: "" },
    { sub: undefined },
  ]) {
    fake.claims = claims;
    const browser = browserOf();
    const { body } = await browser.get(await there(browser, "oidc"));
    expect([claims, body.success]).toEqual([claims, false]);
  }
  fake.claims = {};
  for (const signing of ["none", "foreign", "embedded", "public"] as const) {
    fake.signing = signing;
    const browser = browserOf();
    expect([signing, (await browser.get(await there(browser, "oidc"))).body.success]).toEqual([signing, false]);
  }
  expect((await weir.db.q.select().from(weir.db.t.users)).length).toBe(before);
});

test("Dify CVE-2026-18266: signing in never redirects to an address from a parameter", async () => {
  for (const target of [
    "//evil.example",
    "\\\\evil.example",
    "https:evil.example",
    "https://evil.example/",
    "/\\evil.example",
    "javascript:alert(1)",
    "%2f%2fevil.example",
  ]) {
    const parameters = ["redirect", "redirect_uri", "next", "returnTo", "return_to", "callback", "url", "continue"]
      .map((name) => `${name}=${encodeURIComponent(target)}`)
      .join("&");
    const browser = browserOf();
    const begun = await browser.get(`/api/oauth/state?provider=github&${parameters}`);
    const asked = new URL(String(begun.body.url));
    expect(asked.origin).toBe(new URL(fake.url).origin);
    expect(asked.searchParams.get("redirect_uri")).toBe(`${weir.url}/oauth/github`);
    const back = await fake.agree(asked.href);
    const answer = await browser.get(`/api/oauth/github${back.search}&${parameters}`);
    expect([answer.headers.get("location"), JSON.stringify(answer.body).includes("evil.example")]).toEqual([
      null,
      false,
    ]);
    const page = await fetch(`${weir.url}/login?${parameters}`, { redirect: "manual" });
    expect([page.status >= 300 && page.status < 400, page.headers.get("location")]).toEqual([false, null]);
  }
});

test("Langfuse CVE-2026-24055: binding needs the session that started it, for every provider", async () => {
  const victim = await weir.newUser();
  const attacker = await weir.newUser();
  fake.wechat.set("999999", `wechat-${people}`);
  // Without a session nothing is bound.
  for (const path of [
    "/api/oauth/wechat/bind?code=999999",
    "/api/oauth/email/bind?email=a@b.example&code=123456",
    `/api/oauth/telegram/bind?id=1&auth_date=1&hash=${"0".repeat(64)}`,
  ]) {
    const { status, body, headers } = await weir.anonymous("GET", path, undefined, { cookie: victim.cookie });
    expect([path, body.success === true, status === 302 && headers.get("location")?.includes("bind=true")]).toEqual([
      path,
      false,
      false,
    ]);
  }
  // Started by the attacker in their browser, finished by a victim who follows the link.
  const path = await there(browserOf(attacker), "github");
  expect((await browserOf(victim).get(path)).status).toBe(403);
  expect((await browserOf().get(path)).status).toBe(403);
  expect(
    await weir.db.q.select().from(weir.db.t.identities).where(eq(weir.db.t.identities.user_id, victim.id)),
  ).toEqual([]);
});

test("Better Auth CVE-2026-53516: an account created with another person's address is not used when that person signs in", async () => {
  const squatter = await weir.newUser();
  await weir.db.q
    .update(weir.db.t.users)
    .set({ email: "victim@weir.example" })
    .where(eq(weir.db.t.users.id, squatter.id));
  for (const claims of [
    { email: "victim@weir.example", email_verified: true },
    { email: "VICTIM@weir.example", email_verified: "true" },
  ]) {
    fake.claims = claims;
    const browser = browserOf();
    const answer = await browser.get(await there(browser, "oidc"));
    expect(answer.body.success).toBe(true);
    expect(idOf(answer)).not.toBe(squatter.id);
    expect((await userRow(idOf(answer)))?.email).toBe("");
  }
  expect(
    await weir.db.q.select().from(weir.db.t.identities).where(eq(weir.db.t.identities.user_id, squatter.id)),
  ).toEqual([]);
});

test("Coolify CVE-2026-86117: the provider's mail address opens no account, verified or not, changed or not; its subject alone counts", async () => {
  fake.claims = { email: "first@weir.example", email_verified: true };
  const first = browserOf();
  const owner = idOf(await first.get(await there(first, "oidc")));
  const other = await weir.newUser();
  await weir.db.q.update(weir.db.t.users).set({ email: "other@weir.example" }).where(eq(weir.db.t.users.id, other.id));
  for (const claims of [
    { email: "other@weir.example", email_verified: false },
    { email: "other@weir.example" },
    { email: "other@weir.example", email_verified: true },
    { email: "root", preferred_username: "root" },
  ]) {
    fake.claims = claims;
    const browser = browserOf();
    expect(idOf(await browser.get(await there(browser, "oidc")))).toBe(owner);
  }
  // Another subject with the first one's address is another person.
  fake.person.sub = `another-${people}`;
  fake.claims = { email: "first@weir.example", email_verified: true };
  const stranger = browserOf();
  expect(idOf(await stranger.get(await there(stranger, "oidc")))).not.toBe(owner);
});

test("OAuth state: fixed, foreign, reused, absent, of another provider or of a binding, it is refused", async () => {
  const refused = async (browser: Browser, path: string) => {
    const { status, headers } = await browser.get(path, {});
    expect([path.slice(0, 40), status]).toEqual([path.slice(0, 40), 403]);
    expect(
      headers.getSetCookie().filter((line) => line.startsWith("session=") && !line.startsWith("session=;")),
    ).toEqual([]);
  };
  const browser = browserOf();
  const path = await there(browser, "github");
  const code = new URL(path, weir.url).searchParams.get("code");
  await refused(browserOf(), path);
  for (const state of ["", "fixed", "a".repeat(32), "null"])
    await refused(browser, `/api/oauth/github?code=${code}&state=${state}`);
  await refused(browser, `/api/oauth/github?code=${code}`);
  await refused(browser, path.replace("/github", "/linuxdo"));
  await refused(browser, path);
  const again = await there(browser, "github");
  expect((await browser.get(again)).body.success).toBe(true);
  await refused(browser, again);
  // A binding's callback is not a sign-in.
  const user = await weir.newUser();
  await refused(browserOf(user), await there(browserOf(user), "linuxdo"));
});

test("OAuth code: of another sign-in, of another provider, used already, or with another issuer's name, it signs no user in", async () => {
  const before = (await weir.db.q.select().from(weir.db.t.users)).length;
  const refused = async (browser: Browser, path: string) => {
    const { body, headers } = await browser.get(path);
    expect([path.slice(0, 40), body.success]).toEqual([path.slice(0, 40), false]);
    expect(headers.getSetCookie().join()).not.toContain("session=");
  };
  const withCode = (path: string, other: string) => {
    const url = new URL(path, weir.url);
    url.searchParams.set("code", new URL(other, weir.url).searchParams.get("code") ?? "");
    return url.pathname + url.search;
  };
  for (const provider of ["github", "oidc"] as const) {
    const [attacker, victim] = [browserOf(), browserOf()];
    // A stolen code in the attacker's own sign-in: its PKCE verifier is in the victim's browser's ticket.
    const stolen = await there(victim, provider);
    await refused(attacker, withCode(await there(attacker, provider), stolen));
    await refused(victim, stolen);
  }
  const browser = browserOf();
  await refused(browser, withCode(await there(browser, "linuxdo"), await there(browserOf(), "github")));
  await refused(browser, `${await there(browser, "oidc")}&iss=${encodeURIComponent("https://evil.example")}`);
  expect((await weir.db.q.select().from(weir.db.t.users)).length).toBe(before);
  const used = await there(browser, "oidc");
  expect((await browser.get(used)).body.success).toBe(true);
  await refused(browser, withCode(await there(browser, "oidc"), used));
});

test("OAuth state: of eight that come back with one at once, one signs in", async () => {
  const browser = browserOf();
  const path = await there(browser, "oidc");
  const answers = await Promise.all(Array.from({ length: 8 }, () => browser.get(path)));
  expect(answers.filter(({ body }) => body.success)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 403)).toHaveLength(7);
});

test("WeChat code: what is typed is one parameter of the question", async () => {
  fake.wechat.set("654321", `wechat-${people}`);
  const ask = (code: string) =>
    browserOf().get(`/api/oauth/wechat?code=${encodeURIComponent(code)}`, { "new-api-user": "-1" });
  for (const code of ["1&code=654321", "1#", "654321/../x?code=654321", "654321\r\nx: y", "%36%35%34%33%32%31", ""])
    expect([code, (await ask(code)).body.success]).toEqual([code, false]);
  expect((await ask("654321")).body.success).toBe(true);
});
