/** Every route requires authentication, whatever the spelling of its path (docs/security.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { restRoutes } from "../../src/server/http/rest";
import { appRouter } from "../../src/server/router";
import { ROLE } from "../../src/shared/roles";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { HOOK_MS } from "../kit/harness";
import { ROOT, type Session, startWeir, type Weir } from "../kit/weir";

const upstream = startFakeUpstream();
const routes = restRoutes(appRouter);
/** The routes open to anonymous callers; all others are closed to them. */
const PUBLIC = new Set([
  "GET /api/status",
  "GET /api/notice",
  "GET /api/about",
  "GET /api/home_page_content",
  "GET /api/setup",
  "POST /api/setup",
  "GET /api/pricing",
  "GET /api/user/groups",
  "GET /api/uptime/status",
  "GET /api/user-agreement",
  "GET /api/privacy-policy",
  "GET /api/rankings",
  "GET /api/ratio_config",
  "POST /api/user/login",
  "POST /api/user/login/2fa",
  "GET /api/user/logout",
  "POST /api/user/register",
  "GET /api/verification",
  "GET /api/reset_password",
  "POST /api/user/reset",
]);
const isPublic = (route: { method: string; path: string }): boolean =>
  PUBLIC.has(`${route.method} ${route.path.replace(/\/$/, "")}`) ||
  /^\/api\/oauth\/(?!.*bind)/.test(route.path) ||
  route.path.startsWith("/api/user/passkey/login");
const filled = (path: string): string => path.replace(/\{\w+\}/g, "1");

let weir: Weir;
let user: Session;
let admin: Session;
beforeAll(async () => {
  weir = await startWeir();
  await weir.newChannel({ base_url: upstream.url, models: ["echo"] });
  await weir.priceModels({ echo: 1 });
  user = await weir.newUser({ quota: 5_000_000 });
  admin = await weir.newUser({ role: ROLE.admin });
}, HOOK_MS);
afterAll(async () => {
  await weir?.stop();
  upstream.close();
});

/** Everything that an intruder could have changed. */
async function state() {
  const { channels, options, tokens, users } = weir.db.t;
  const people = await weir.db.q
    .select({
      id: users.id,
      role: users.role,
      status: users.status,
      quota: users.quota,
      group: users.group,
      password_hash: users.password_hash,
    })
    .from(users)
    .orderBy(users.id);
  return {
    people,
    channels: await weir.db.q.select().from(channels),
    options: await weir.db.q.select().from(options).orderBy(options.key),
    tokens: await weir.db.q.select().from(tokens),
  };
}

test("CVE-2026-90898: on a fresh installation every /api and tRPC call without a session is refused, before and after set-up", async () => {
  await using fresh = await startWeir({ root: false });
  for (const place of [fresh, weir]) {
    for (const route of routes.filter((route) => !isPublic(route))) {
      const { status, body } = await place.anonymous(
        route.method,
        filled(route.path),
        route.method === "GET" ? undefined : {},
      );
      expect([route.method, route.path, status, body.success]).toEqual([route.method, route.path, 401, false]);
    }
  }
});

test("CVE-2026-35029: every administrative call is refused to users, and every call of root to administrators, by REST and tRPC, and changes nothing", async () => {
  const before = await state();
  // Every user may delete their own account; here that would delete the test's.
  const procedures = Object.entries(
    appRouter._def.procedures as unknown as Record<string, { _def: { type: string } }>,
  ).filter(([name]) => name !== "user.deleteSelf");
  const ask = async (name: string, type: string, session?: Session): Promise<"refused" | "let in"> => {
    const [method, body] = type === "mutation" ? (["POST", {}] as const) : (["GET", undefined] as const);
    if (!session) return (await weir.anonymous(method, `/trpc/${name}`, body)).status === 401 ? "refused" : "let in";
    // Each has its own session: some calls end theirs.
    const answer = await (await weir.signIn(session.username, ROOT.password)).api(method, `/trpc/${name}`, body);
    return JSON.stringify(answer.body).includes('"app":"forbidden"') ? "refused" : "let in";
  };
  const closed = new Map<string, string>();
  for (const [name, { _def }] of procedures)
    closed.set(name, (await ask(name, _def.type)) === "refused" ? "closed" : "public");
  for (const [name, { _def }] of procedures)
    closed.set(name, `${closed.get(name)} ${(await ask(name, _def.type, user)) === "refused" ? "admin" : "user"}`);
  expect(await state()).toEqual(before);
  // An administrator's allowed calls work; roles, money, settings and keys are allowed only by name.
  const { people, options, tokens } = await state();
  for (const [name, { _def }] of procedures)
    closed.set(name, `${closed.get(name)} ${(await ask(name, _def.type, admin)) === "refused" ? "root" : "admin"}`);
  expect(await state()).toMatchObject({ people, options, tokens });
  const open = [...closed].map(([name, level]) => `${name} ${level}`);
  // One of them was the call that ends the user's other sessions.
  user = await weir.signIn(user.username, ROOT.password);
  admin = await weir.signIn(admin.username, ROOT.password);
  for (const route of routes) {
    const line = open.find((entry) => entry.startsWith(`${route.procedure} `)) ?? "";
    if (isPublic(route) || route.procedure === "user.deleteSelf") continue;
    expect([route.path, line]).toEqual([route.path, expect.stringContaining(" closed ")]);
    const own = await weir.signIn(user.username, ROOT.password);
    const { body } = await own.api(route.method, filled(route.path), route.method === "GET" ? undefined : {});
    if (line.includes(" admin ") || line.endsWith(" root"))
      expect([route.path, body.code]).toEqual([route.path, "forbidden"]);
  }
  // Calls with a required level, by name: a wrong `procedure` would break this table.
  const level = (name: string): string | undefined =>
    open.find((entry) => entry.startsWith(`${name} `))?.slice(name.length + 1);
  for (const name of ["option.list", "option.update", "pricing.resetModelRatio", "pricing.remote", "audit.list"]) {
    // spec
    if (level(name)) expect([name, level(name)]).toEqual([name, "closed admin root"]);
  }
  for (const name of [
    "channel.create",
    "channel.update",
    "channel.delete",
    "channel.test",
    "user.create",
    "user.manage",
    "redemption.create",
  ]) {
    if (level(name)) expect([name, level(name)]).toEqual([name, "closed admin admin"]);
  }
}, 60_000);

describe("CVE-2026-49468: no spelling of Host or path bypasses a check", () => {
  async function raw(head: string): Promise<string> {
    const { hostname, port } = new URL(weir.url);
    return new Promise((resolve) => {
      const socket = connect(Number(port), hostname, () => socket.write(`${head}\r\nConnection: close\r\n\r\n`));
      let text = "";
      socket.setTimeout(3000, () => socket.destroy());
      socket.on("data", (part) => {
        text += part.toString("latin1");
      });
      socket.on("error", () => {});
      socket.on("close", () => resolve(text));
    });
  }
  const secret = (answer: string): boolean =>
    /"base_url"|"password_hash"|"remain_quota"|"SystemName"/.test(answer) && /"success":true/.test(answer);

  test("odd Host headers, absolute addresses and doubled Hosts", async () => {
    for (const path of [
      "/api/channel/",
      "/api/option/",
      "/api/user/",
      "/api/log/",
      "/trpc/channel.list",
      "/trpc/option.list",
    ]) {
      for (const host of [
        "x/?y",
        "x#y",
        "x/api/status?",
        "localhost",
        "127.0.0.1:1",
        "evil.example\r\nHost: other",
        "a b",
        "",
      ]) {
        expect(secret(await raw(`GET ${path} HTTP/1.1\r\nHost: ${host}`))).toBe(false);
      }
      expect(secret(await raw(`GET http://evil.example${path} HTTP/1.1\r\nHost: x`))).toBe(false);
      expect(secret(await raw(`GET ${weir.url}/api/status/..${path} HTTP/1.1\r\nHost: x`))).toBe(false);
    }
  });

  test("odd spellings of an administrator's path serve neither anonymous callers nor users", async () => {
    const spellings = [
      "//api/channel/",
      "/api//channel/",
      "/api/./channel/",
      "/api/status/../channel/",
      "/api/status/%2e%2e/channel/",
      "/api%2fchannel/",
      "/api/channel%2f",
      "/api/channel;x=1",
      "/api/channel/;/",
      "/API/CHANNEL/",
      "/Api/Channel",
      "/api/channel/?/api/status",
      "/api/channel/#/api/status",
      "/api/channel/%00",
      "/api/channel\\",
      "/api\\channel/",
      "/v1/../api/channel/",
      "/trpc/..%2fapi/channel/",
      "/trpc/status.get,channel.list",
      "/trpc/channel%2elist",
    ];
    for (const spelling of spellings) {
      expect([spelling, secret(await raw(`GET ${spelling} HTTP/1.1\r\nHost: x`))]).toEqual([spelling, false]);
      expect([
        spelling,
        secret(await raw(`GET ${spelling} HTTP/1.1\r\nHost: x\r\nCookie: ${user.cookie}\r\nNew-Api-User: ${user.id}`)),
      ]).toEqual([spelling, false]);
    }
  });
});

test("CVE-2026-45339: a key's limits apply to every other path, method, case or trailing slash", async () => {
  const { key } = await weir.newToken(
    { model_limits_enabled: true, model_limits: "other-model", quota: 500_000 },
    user,
  );
  upstream.journal.clear();
  const ask = { model: "echo", messages: [{ role: "user", content: "hi" }] };
  for (const path of [
    "/v1/chat/completions",
    "/v1/chat/completions/",
    "//v1/chat/completions",
    "/v1//chat/completions",
    "/V1/Chat/Completions",
    "/v1/./chat/completions",
    "/v1/chat/completions?model=other-model",
    "/v1/messages",
    "/v1/responses",
    "/v1/completions",
    "/v1beta/models/echo:generateContent",
    "/v1beta/models/echo%3AgenerateContent",
    "/v1/engines/echo/embeddings",
    "/pg/chat/completions",
  ]) {
    for (const method of ["POST", "PUT", "PATCH"]) {
      const body = { ...ask, input: "hi", prompt: "hi", max_tokens: 5, contents: [{ parts: [{ text: "hi" }] }] };
      const answer = await weir.call(key, body, { path, method });
      expect([path, method, answer.status >= 400]).toEqual([path, method, true]);
    }
  }
  expect(upstream.journal.entries).toEqual([]);
});

test("one-api: root with the password 123456 does not exist, and set-up closes after its first success, also for two at once", async () => {
  for (const [username, password] of [
    ["root", "123456"],
    ["admin", "admin"],
    ["root", "root"],
    ["root", ""],
  ] as const) {
    expect((await weir.anonymous("POST", "/api/user/login", { username, password })).body.success).toBe(false);
  }
  await using fresh = await startWeir({ root: false });
  expect(
    (await fresh.anonymous("POST", "/api/user/login", { username: "root", password: "123456" })).body.success,
  ).toBe(false);
  const code = new URL(await fresh.setupLink()).hash.slice("#code=".length);
  const setUp = (n: number) =>
    fresh.anonymous("POST", "/api/setup", {
      code,
      username: `chief${n}`,
      password: "correct-horse-9",
      confirmPassword: "correct-horse-9",
      SelfUseModeEnabled: false,
      DemoSiteEnabled: false,
    });
  const answers = await Promise.all([1, 2, 3, 4, 5].map(setUp));
  expect(answers.filter(({ body }) => body.success)).toHaveLength(1);
  expect((await setUp(6)).body.success).toBe(false);
  const people = await fresh.db.q.select({ role: fresh.db.t.users.role }).from(fresh.db.t.users);
  expect(people).toEqual([{ role: ROLE.root }]);
}, 30_000);

test("CRS admin bypass: empty, truncated, padded, foreign and ended sessions are 401", async () => {
  const session = await weir.signIn(ROOT.username, ROOT.password);
  const value = session.cookie.slice("session=".length);
  await using other = await startWeir();
  const forged = [
    "",
    "session=",
    "session=null",
    "session=undefined",
    "session={}",
    `session=${value.slice(0, -1)}`,
    `session=${value}a`,
    `session=${value.toLowerCase()}`,
    `session="${value}"x`,
    `session=${Buffer.from(JSON.stringify({ id: 1, role: 100, username: "root" })).toString("base64")}`,
    "session=MTcx|forged|signature",
    other.root.cookie,
    `Session=${value}`,
  ];
  for (const cookie of forged) {
    const { status } = await weir.anonymous("GET", "/api/user/self", undefined, {
      cookie,
      "new-api-user": String(session.id),
    });
    expect([cookie.slice(0, 20), status]).toEqual([cookie.slice(0, 20), 401]);
  }
  await session.ok("GET", "/api/user/logout");
  expect((await session.api("GET", "/api/option/")).status).toBe(401);
});

test("OpenBullet2 CVE-2026-25555: an empty or invalid key belongs to no user, in every header", async () => {
  for (const key of [
    "",
    " ",
    "Bearer",
    "Bearer ",
    "Bearer  ",
    "Bearer null",
    "Bearer undefined",
    "Bearer sk-",
    "sk-",
    "null",
    "undefined",
    "0",
    "Bearer 0",
    "Basic Og==",
    "Bearer sk-%",
    "Bearer *",
  ]) {
    for (const header of ["authorization", "x-api-key", "x-goog-api-key", "api-key", "mj-api-secret"]) {
      const answer = await fetch(`${weir.url}/v1/models`, { headers: { [header]: key } });
      expect([header, key, answer.status]).toEqual([header, key, 401]);
    }
    // An invalid access token is reported with HTTP 200, as the specification requires, without data.
    const { body } = await weir.anonymous("GET", "/api/user/self", undefined, {
      authorization: key,
      "new-api-user": "1",
    });
    expect([key, body.success, body.data]).toEqual([key, false, undefined]);
  }
  expect((await fetch(`${weir.url}/v1/models?key=`)).status).toBe(401);
});

test("sub2api: forwarded addresses from a peer that is not a listed proxy pass no allow-list and are in no log", async () => {
  const { key } = await weir.newToken({ allow_ips: "203.0.113.7" }, user);
  const spoofs = {
    "x-forwarded-for": "203.0.113.7",
    "true-client-ip": "203.0.113.7",
    "cf-connecting-ip": "203.0.113.7",
    "x-real-ip": "203.0.113.7",
    "x-client-ip": "203.0.113.7",
    forwarded: "for=203.0.113.7",
  };
  for (const [name, value] of Object.entries(spoofs)) {
    expect([
      name,
      (await weir.call(key, { model: "echo", messages: [] }, { headers: { [name]: value } })).status,
    ]).toEqual([name, 403]);
  }
  await weir.anonymous("POST", "/api/user/login", { username: "root", password: ROOT.password }, spoofs);
  const rows = await weir.db.q.select({ ip: weir.db.t.sessions.ip }).from(weir.db.t.sessions);
  expect(rows.map(({ ip }) => ip)).not.toContain("203.0.113.7");
});

test("one-api family: beside a session the user-id header must name its owner; beside an access token it may be missing but not differ", async () => {
  const self = (headers: Record<string, string>) =>
    weir.anonymous("GET", "/api/user/self", undefined, headers).then(({ status }) => status);
  for (const id of [
    "",
    "0",
    "-1",
    String(admin.id),
    String(weir.root.id),
    `${user.id},${weir.root.id}`,
    ` ${user.id}.0`,
  ]) {
    // spec: D-37
    expect([id, await self({ cookie: user.cookie, "new-api-user": id })]).toEqual([id, 401]);
  }
  expect(await self({ cookie: user.cookie })).toBe(401);
  const authorization = await user.ok<string>("GET", "/api/user/token");
  expect(await self({ authorization })).toBe(200);
  expect(await self({ authorization, "new-api-user": String(weir.root.id) })).toBe(401);
});
