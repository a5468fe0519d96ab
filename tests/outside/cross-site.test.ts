/** Pages of other sites can do nothing here through a visitor's browser; all other callers are unaffected. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chromium } from "playwright-core";
import { findChromium, HOW_TO_GET_CHROMIUM } from "../../scripts/chromium";
import { type Nginx, startBareNginx } from "../deploy/nginx-process";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { HOOK_MS } from "../kit/harness";
import { required } from "../kit/required";
import { type ApiAnswer, ROOT, type Session, startWeir, type Weir } from "../kit/weir";

const nginx = required("nginx");

const upstream = startFakeUpstream();
let weir: Weir;
let user: Session;
beforeAll(async () => {
  weir = await startWeir();
  await weir.newChannel({ base_url: upstream.url, models: ["echo"] });
  await weir.priceModels({ echo: 1 });
  user = await weir.newUser({ quota: 5_000_000 });
}, HOOK_MS);
afterAll(async () => {
  await weir?.stop();
  upstream.close();
});

type Headers_ = Record<string, string>;

/**
 * What browsers send for a page of another site: over https or to localhost with Sec-Fetch-Site, over plain http
 * without.
 */
const FOREIGN: readonly Headers_[] = [
  { origin: "https://evil.example", "sec-fetch-site": "cross-site" },
  { "sec-fetch-site": "cross-site" },
  { origin: "https://other.weir.example", "sec-fetch-site": "same-site" },
  { origin: "http://evil.example" },
  { origin: "null" },
];
const REFUSED = /"(code|app)":"(cross_site|origin_unknown|json_needed)"/;
/** The set-up accepts an unknown Origin with its code: before the first run the server does not know its address. */
const REFUSED_SET_UP = /"(code|app)":"(cross_site|json_needed|setup_done)"/;

const chat = { model: "echo", messages: [{ role: "user", content: "hi" }] };
const login = { username: ROOT.username, password: ROOT.password };

/** Calls that open or end a session, and calls that act by cookie, over each of the three interfaces. */
const ACTING: readonly (readonly [method: string, path: string, body?: object])[] = [
  ["POST", "/api/setup", { ...login, confirmPassword: ROOT.password }],
  ["POST", "/api/user/login", login],
  ["POST", "/api/user/login/2fa", { code: "123456" }],
  ["POST", "/api/user/register", { username: "newcomer", password: ROOT.password }],
  ["POST", "/api/user/reset", { email: "a@example.com", token: "x" }],
  ["GET", "/api/user/logout"],
  ["GET", "/api/oauth/state"],
  ["GET", "/api/oauth/github?code=x&state=y"],
  ["GET", "/api/oauth/wechat?code=x"],
  ["GET", "/api/oauth/telegram/login?id=1&auth_date=1&hash=x"],
  ["GET", "/api/verification?email=a@example.com"],
  ["GET", "/api/reset_password?email=a@example.com"],
  ["GET", "/api/user/token"],
  ["GET", "/api/user/aff"],
  ["GET", "/api/channel/test"],
  ["GET", "/api/channel/test/1"],
  ["GET", "/api/channel/update_balance"],
  ["PUT", "/api/option/", { key: "Notice", value: "planted" }],
  ["POST", "/api/token/", { name: "planted", unlimited_quota: true }],
  ["DELETE", "/api/user/self"],
  ["POST", "/trpc/setup.run", { ...login, code: "x" }],
  ["POST", "/trpc/auth.login", login],
  ["POST", "/trpc/auth.logout", {}],
  ["POST", "/trpc/auth.register", { username: "newcomer", password: ROOT.password }],
  ["POST", "/trpc/auth.resetPassword", { email: "a@example.com", token: "x" }],
  ["POST", "/trpc/factor.secondStep", { code: "123456" }],
  ["POST", "/trpc/factor.beginPasskey", { use: "sign-in" }],
  ["POST", "/trpc/auth.endOtherSessions", {}],
  ["POST", "/trpc/option.set", { key: "Notice", value: "planted" }],
  ["POST", "/pg/chat/completions", chat],
  ["POST", "/pg/v1/videos", { model: "echo", prompt: "hi" }],
];

/** Everything that an intruder could have changed. */
async function state() {
  const { channels, codes, options, sessions, tokens, users } = weir.db.t;
  const { q } = weir.db;
  const people = (await q.select().from(users).orderBy(users.id)).map(
    ({ id, username, access_token_hash, aff_code, quota }) => ({ id, username, access_token_hash, aff_code, quota }),
  );
  const counts = await Promise.all(
    [channels, codes, tokens].map(async (table) => (await q.select().from(table)).length),
  );
  return {
    people,
    counts,
    sessions: await q.select({ id: sessions.id }).from(sessions).orderBy(sessions.id),
    options: await q.select().from(options).orderBy(options.key),
  };
}

describe("a page of another site", () => {
  test("cannot make a browser sign in, sign out or act, over any interface", async () => {
    const before = await state();
    for (const foreign of FOREIGN) {
      for (const [method, path, body] of ACTING) {
        const answer = await weir.root.api(method, path, body, foreign);
        const said = JSON.stringify(answer.body);
        expect([foreign, method, path, answer.status, said]).toEqual([
          foreign,
          method,
          path,
          403,
          expect.stringMatching(path.includes("setup") ? REFUSED_SET_UP : REFUSED),
        ]);
        expect([path, answer.headers.getSetCookie()]).toEqual([path, []]);
      }
    }
    expect(await state()).toEqual(before);
    expect((await weir.root.api("GET", "/api/user/self")).status).toBe(200);
  }, 30_000);

  test("reaches no documented call of /api other than GET", async () => {
    const { paths } = (await (await fetch(`${weir.url}/api/openapi.json`)).json()) as {
      paths: Record<string, Record<string, unknown>>;
    };
    const thirdParties = new Set(["/api/user/epay/notify", "/api/stripe/webhook"]);
    let asked = 0;
    for (const [path, methods] of Object.entries(paths)) {
      for (const method of Object.keys(methods)) {
        if (method === "get" || thirdParties.has(path) || !path.startsWith("/api/")) continue;
        const answer = await weir.root.api(
          method.toUpperCase(),
          path.replace(/\{\w+\}/g, "1"),
          {},
          { "sec-fetch-site": "cross-site" },
        );
        expect([method, path, answer.status, answer.body.code]).toEqual([method, path, 403, "cross_site"]);
        asked++;
      }
    }
    expect(asked).toBeGreaterThan(40);
  }, 30_000);

  test("cannot send a form: a body with another content type than JSON is refused from callers with a cookie or without credentials", async () => {
    const before = await state();
    const bodies: readonly (readonly [type: string, body: string])[] = [
      ["text/plain", JSON.stringify(login)],
      ["text/plain; x=application/json", JSON.stringify(login)],
      ["application/jsonp", JSON.stringify(login)],
      ["application/x-www-form-urlencoded", "username=root&password=correct-horse-9"],
      ["multipart/form-data; boundary=x", '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\nb\r\n--x--\r\n'],
      ["application/octet-stream", JSON.stringify(login)],
      ["", JSON.stringify(login)],
    ];
    for (const [type, body] of bodies) {
      for (const path of [
        "/api/user/login",
        "/api/setup",
        "/trpc/auth.login",
        "/trpc/auth.logout",
        "/api/token/",
        "/pg/chat/completions",
      ]) {
        const answer = await fetch(weir.url + path, {
          method: "POST",
          headers: { ...weir.root.headers, ...(type && { "content-type": type }) },
          body: new TextEncoder().encode(body),
        });
        // Invalid JSON has its own error.
        const refused = body.startsWith("{") || path.startsWith("/trpc/") ? [415] : [400, 415];
        expect([type, path, refused]).toEqual([type, path, expect.arrayContaining([answer.status])]);
        expect([path, answer.headers.getSetCookie()]).toEqual([path, []]);
      }
    }
    expect(await state()).toEqual(before);
  });

  test("cannot sign a visitor out or in by a plain link, which over plain http carries neither Origin nor Sec-Fetch-Site", async () => {
    const session = await weir.signIn(user.username, ROOT.password);
    for (const path of [
      "/api/user/logout",
      "/api/user/logout/",
      "/api/oauth/wechat?code=x",
      "/api/oauth/telegram/login?id=1&auth_date=1&hash=x",
    ]) {
      const answer = await weir.anonymous("GET", path, undefined, { cookie: session.cookie, accept: "text/html" });
      expect([path, answer.status, answer.body.code, answer.headers.getSetCookie()]).toEqual([
        path,
        403,
        "user_header_missing",
        [],
      ]);
    }
    expect((await session.api("GET", "/api/user/self")).status).toBe(200);
    // As every front-end calls it.
    expect((await session.api("GET", "/api/user/logout")).body.success).toBe(true);
    expect((await session.api("GET", "/api/user/self")).status).toBe(401);
  });

  test("in a real browser neither sets up, nor signs in, nor signs out", async () => {
    const executablePath = findChromium();
    if (!executablePath) throw new Error(`No Chromium was found. ${HOW_TO_GET_CHROMIUM}`);
    await using fresh = await startWeir({ root: false });
    const code = new URL(await fresh.setupLink()).hash.slice("#code=".length);
    const evil = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () =>
        new Response("<!doctype html><title>evil</title><iframe name=hidden></iframe>", {
          headers: { "content-type": "text/html" },
        }),
    });
    const browser = await chromium.launch({
      executablePath,
      args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
    });
    try {
      const context = await browser.newContext();
      const session = await weir.signIn(user.username, ROOT.password);
      const [name = "", value = ""] = session.cookie.split("=");
      // As strict as a browser that sends the cookie everywhere: SameSite is not tested here.
      await context.addCookies([{ name, value, url: weir.url, sameSite: "Lax" }]);
      const page = await context.newPage();
      // Another site: localhost is not 127.0.0.1.
      const home = `http://localhost:${evil.port}/`;
      const setUp = JSON.stringify({ username: "stranger", password: "stranger-pass1", code });
      const asForm = { [`{"username":"${ROOT.username}","password":"${ROOT.password}","x":"`]: '"}' };
      await page.goto(home);
      await page.evaluate(
        async ([weirUrl = "", freshUrl = "", body = ""]) => {
          const send = (url: string, init: RequestInit) =>
            fetch(url, { ...init, mode: "no-cors", credentials: "include" }).catch(() => {});
          await send(`${freshUrl}/api/setup`, { method: "POST", headers: { "content-type": "text/plain" }, body });
          await send(`${weirUrl}/api/user/logout`, {});
          await send(`${weirUrl}/trpc/auth.logout`, { method: "POST", body: new FormData() });
        },
        [weir.url, fresh.url, setUp],
      );
      // A form and a link of the whole window: SameSite=Lax sends the cookie with the link.
      for (const navigate of [
        ([url, fields]: [string, Record<string, string>]) => {
          const form = document.createElement("form");
          Object.assign(form, { method: "post", action: `${url}/api/user/login`, enctype: "text/plain" });
          for (const [field, text] of Object.entries(fields))
            form.append(Object.assign(document.createElement("input"), { name: field, value: text }));
          document.body.append(form);
          form.submit();
        },
        ([url]: [string, Record<string, string>]) => {
          const link = Object.assign(document.createElement("a"), { href: `${url}/api/user/logout` });
          document.body.append(link);
          link.click();
        },
      ]) {
        await page.goto(home);
        const arrived = page.waitForURL(`${weir.url}/**`);
        await page.evaluate(navigate, [weir.url, asForm] as [string, Record<string, string>]);
        await arrived;
        expect(await page.locator("body").textContent()).toMatch(REFUSED);
      }
      expect((await context.cookies(weir.url)).map((cookie) => `${cookie.name}=${cookie.value}`)).toEqual([
        session.cookie,
      ]);
      expect((await session.api("GET", "/api/user/self")).status).toBe(200);
      expect((await fresh.anonymous("GET", "/api/setup")).body.data).toMatchObject({ status: false });
    } finally {
      await browser.close();
      await evil.stop(true);
    }
  }, 60_000);
});

describe("all other callers are unaffected", () => {
  test("pages of this server, and programs that send no Origin", async () => {
    const { host } = new URL(weir.url);
    const own: Headers_[] = [
      {},
      { origin: weir.url, "sec-fetch-site": "same-origin" },
      { "sec-fetch-site": "none" },
      { origin: weir.url },
      // Requests under another host name of this server.
      { host: "weir.lan", origin: "http://weir.lan" },
      { host: "weir.lan:80", origin: "http://weir.lan" },
      { host: "weir.lan:443", origin: "https://weir.lan" },
      { host: "weir.lan:8080", origin: "http://weir.lan:8080" },
      // nginx's $host has no port.
      { host: "weir.lan", origin: "http://weir.lan:8080" },
    ];
    for (const headers of own) {
      const signedIn = await weir.anonymous("POST", "/api/user/login", login, headers);
      expect([headers, signedIn.body.success]).toEqual([headers, true]);
      const session = {
        cookie: signedIn.headers.getSetCookie()[0]?.split(";")[0] ?? "",
        "new-api-user": String(weir.root.id),
        ...headers,
      };
      expect([
        headers,
        (await weir.anonymous("PUT", "/api/option/", { key: "Notice", value: "mine" }, session)).body.success,
      ]).toEqual([headers, true]);
      expect([headers, (await weir.anonymous("POST", "/trpc/auth.logout", {}, session)).status]).toEqual([
        headers,
        200,
      ]);
    }
    for (const origin of [
      `http://${host.replace(/\d$/, (digit) => String((Number(digit) + 1) % 10))}`,
      `ftp://${host}`,
      `https://evil.example/${host}`,
      `http://${host}@evil.example`,
    ]) {
      expect([origin, (await weir.anonymous("POST", "/api/user/login", login, { origin })).body.code]).toEqual([
        origin,
        "origin_unknown",
      ]);
    }
  });

  test("callers with a system access token, whatever their content type and origin", async () => {
    const token = await user.ok<string>("GET", "/api/user/token");
    for (const headers of [...FOREIGN, { "content-type": "text/plain" }]) {
      const made = await weir.anonymous(
        "POST",
        "/api/token/",
        { name: "by-token", unlimited_quota: true },
        { authorization: `Bearer ${token}`, ...headers },
      );
      expect([headers, made.body.success]).toEqual([headers, true]);
    }
  });

  test("pages of other sites call /v1 by key, read the answer, and are not allowed cookies", async () => {
    const { key } = await weir.newToken({}, user);
    const origin = "https://chat.example";
    for (const headers of [{ origin, "sec-fetch-site": "cross-site" }, { origin }] as Headers_[]) {
      const asked = await fetch(`${weir.url}/v1/chat/completions`, {
        method: "OPTIONS",
        headers: {
          ...headers,
          "access-control-request-method": "POST",
          "access-control-request-headers": "authorization,content-type",
        },
      });
      expect(asked.ok).toBe(true);
      expect([origin, "*"]).toContain(asked.headers.get("access-control-allow-origin") ?? "");
      const answer = await weir.call(key, chat, { headers });
      expect([
        answer.status,
        answer.headers.get("access-control-allow-origin"),
        answer.headers.get("access-control-allow-credentials"),
      ]).toEqual([200, origin, null]);
      expect(await answer.text()).toContain("hi");
    }
  });

  test("payment gateways report by form and by JSON, from their own pages and servers", async () => {
    for (const foreign of FOREIGN) {
      const form = await fetch(`${weir.url}/api/user/epay/notify`, {
        method: "POST",
        headers: { ...foreign, "content-type": "application/x-www-form-urlencoded" },
        body: "trade_no=1",
      });
      const stripe = await fetch(`${weir.url}/api/stripe/webhook`, {
        method: "POST",
        headers: { ...foreign, "content-type": "application/json" },
        body: "{}",
      });
      for (const answer of [form, stripe]) expect(await answer.text()).not.toMatch(REFUSED);
    }
  });

  test("reading is allowed: a link from another site opens the console and shows its data to a signed-in user", async () => {
    for (const foreign of FOREIGN) {
      expect((await weir.root.api("GET", "/api/user/self", undefined, foreign)).body.success).toBe(true);
      expect((await weir.anonymous("GET", "/api/status", undefined, foreign)).status).toBe(200);
    }
  });
});

describe.skipIf(!nginx)("behind an nginx with a proxy_pass and nothing else", () => {
  let proxy: Nginx | undefined;
  afterAll(() => proxy?.stop());

  /** A browser's headers to `at` for a page of `origin`: over plain http only Origin. */
  const browserAt =
    (at: string, origin: string) =>
    async (method: string, path: string, body?: object, headers: Headers_ = {}): Promise<ApiAnswer> => {
      const { host, protocol } = new URL(origin);
      const said: Headers_ = {
        ...(method !== "GET" && { origin }),
        ...(protocol === "https:" && { "sec-fetch-site": "same-origin" }),
      };
      const answer = await fetch(at + path, {
        method,
        headers: { host, ...said, ...(body && { "content-type": "application/json" }), ...headers },
        ...(body && { body: JSON.stringify(body) }),
        tls: { rejectUnauthorized: false },
      });
      return { status: answer.status, headers: answer.headers, body: (await answer.json()) as ApiAnswer["body"] };
    };
  const account = { username: "keeper", password: ROOT.password, confirmPassword: ROOT.password };
  const sessionIn = (answer: ApiAnswer): Headers_ => ({
    cookie: answer.headers.getSetCookie()[0]?.split(";")[0] ?? "",
    "new-api-user": "1",
  });
  const open = async (place: Weir): Promise<Nginx> => {
    await proxy?.stop();
    return (proxy = await startBareNginx(nginx ?? "", Number(new URL(place.url).port)));
  };

  test("the first run, signing in, a change and signing out work over http and over https, whatever address the wizard was given", async () => {
    for (const origin of ["http://192.0.2.7:8080", "https://weir.example"]) {
      for (const server_address of [origin, "https://later.example"]) {
        await using fresh = await startWeir({ root: false });
        const { http, https } = await open(fresh);
        const browser = browserAt(origin.startsWith("https:") ? https : http, origin);
        const code = new URL(await fresh.setupLink()).hash.slice("#code=".length);
        const made = await browser("POST", "/trpc/setup.run", { ...account, code, mode: "self", server_address });
        expect([origin, server_address, made.status]).toEqual([origin, server_address, 200]);
        const change = (session: Headers_) =>
          browser("POST", "/trpc/option.set", { key: "Notice", value: origin }, session);
        expect((await change(sessionIn(made))).status).toBe(200);
        const signedIn = await browser("POST", "/trpc/auth.login", account);
        expect((await change(sessionIn(signedIn))).status).toBe(200);
        expect((await browser("POST", "/trpc/auth.logout", {}, sessionIn(signedIn))).status).toBe(200);
        expect((await change(sessionIn(signedIn))).status).toBe(401);
        // A page of another site in the same browser.
        expect(
          (
            await browser("POST", "/trpc/auth.login", account, {
              origin: "http://evil.example",
              "sec-fetch-site": "cross-site",
            })
          ).status,
        ).toBe(403);
        expect((await browserAt(http, "http://evil.example")("POST", "/trpc/auth.login", account)).status).toBe(403);
      }
    }
  }, 60_000);

  test("changing the server's address does not lock the operator out", async () => {
    await using fresh = await startWeir({ root: false });
    const browser = browserAt((await open(fresh)).http, "http://weir.lan");
    const code = new URL(await fresh.setupLink()).hash.slice("#code=".length);
    const session = sessionIn(
      await browser("POST", "/api/setup", { ...account, code, server_address: "http://weir.lan" }),
    );
    for (const value of ["https://weir.example", ""]) {
      expect((await browser("PUT", "/api/option/", { key: "ServerAddress", value }, session)).body.success).toBe(true);
      expect((await browser("POST", "/api/user/login", account)).body.success).toBe(true);
    }
  });

  test("over http without a known address the error names the settings, and each of them fixes it", async () => {
    const origin = "http://weir.lan";
    const signIn = async (place: Weir, headers: Headers_ = {}) =>
      browserAt((await open(place)).http, origin)("POST", "/api/user/login", login, headers);
    {
      await using unattended = await startWeir();
      const refused = await signIn(unattended, { "accept-language": "en" });
      expect([refused.status, refused.body.code]).toEqual([403, "origin_unknown"]);
      for (const hint of [origin, "WEIR_SERVER_ADDRESS", "Host"]) expect(refused.body.message).toContain(hint);
      // Without the proxy it works, and there the address can be set.
      await unattended.setOption("ServerAddress", origin);
      expect((await signIn(unattended)).body.success).toBe(true);
    }
    {
      await using told = await startWeir({ env: { WEIR_SERVER_ADDRESS: origin } });
      expect((await signIn(told)).body.success).toBe(true);
    }
    await using proxied = await startWeir({ env: { WEIR_TRUSTED_PROXIES: "127.0.0.1" } });
    expect((await signIn(proxied, { "x-forwarded-host": "weir.lan" })).body.success).toBe(true);
    expect((await signIn(proxied, { "x-forwarded-host": "other.lan" })).body.code).toBe("origin_unknown");
    await using believing = await startWeir();
    expect((await signIn(believing, { "x-forwarded-host": "weir.lan" })).body.code).toBe("origin_unknown");
  }, 30_000);
});
