import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { HOOK_MS } from "../../../tests/kit/harness";
import { ROOT, startWeir } from "../../../tests/kit/weir";
import { readEnv } from "../env";

let weir: Awaited<ReturnType<typeof startWeir>>;
beforeAll(async () => {
  weir = await startWeir();
}, HOOK_MS);
afterAll(() => weir?.stop());

const self = (headers: Record<string, string>) =>
  fetch(`${weir.url}/api/user/self`, { headers }).then((answer) => answer.status);

describe("a console session", () => {
  test("needs the user-id header: missing, of another user or no number is 401; the header's case does not matter", async () => {
    const { cookie, id } = weir.root;
    // spec: C-479
    expect(await self({ cookie })).toBe(401);
    // spec: C-479
    expect(await self({ cookie, "New-Api-User": String(id + 1) })).toBe(401);
    // spec: C-479
    expect(await self({ cookie, "New-Api-User": "-1" })).toBe(401);
    // spec: C-479
    expect(await self({ cookie, "New-Api-User": "root" })).toBe(401);
    // spec: C-479
    expect(await self({ cookie, "NEW-API-USER": String(id) })).toBe(200);
  });

  test("empty, truncated, padded and foreign cookies are 401", async () => {
    const { cookie, id } = weir.root;
    const user = { "New-Api-User": String(id) };
    for (const bad of [
      "session=",
      cookie.slice(0, -1),
      `${cookie}A`,
      `session=${"A".repeat(43)}`,
      "session=' OR 1=1 --",
      "other=1",
    ]) {
      expect([bad, await self({ cookie: bad, ...user })]).toEqual([bad, 401]);
    }
  });

  test("ends with sign-out and with the account: role and status are read fresh", async () => {
    const person = await weir.newUser();
    expect(await self(person.headers)).toBe(200);
    const { users } = weir.db.t;
    await weir.db.q.update(users).set({ status: 2 }).where(eq(users.id, person.id));
    // spec: A-323, D-38
    expect(await self(person.headers)).toBe(401);
    await weir.db.q.update(users).set({ status: 1, role: 10 }).where(eq(users.id, person.id));
    // spec: D-38
    expect((await person.api("GET", "/api/channel/?p=0&page_size=10")).body.success).toBe(true);
    await person.api("GET", "/api/user/logout");
    // spec: A-432
    expect(await self(person.headers)).toBe(401);
  });
});

test(
  "the cookie lives thirty days, is only for this server's pages, and for https alone behind a proxy that speaks it",
  async () => {
    const behind = await startWeir({ env: { WEIR_TRUSTED_PROXIES: "127.0.0.1" } });
    const cookieOf = async (headers: Record<string, string> = {}) => {
      const { username, password } = ROOT;
      const { headers: told } = await behind.anonymous("POST", "/api/user/login", { username, password }, headers);
      return told.getSetCookie()[0];
    };
    // spec: D-38
    expect(await cookieOf()).toMatch(/^session=\w{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/);
    // spec: D-38
    expect(await cookieOf({ "x-forwarded-proto": "https" })).toMatch(/; HttpOnly; SameSite=Lax; Secure$/);
    await behind.stop();
  },
  HOOK_MS,
);

describe("a system access token", () => {
  test("works bare and as Bearer, without the user-id header, which must match when it is sent", async () => {
    const token = await weir.root.ok<string>("GET", "/api/user/token");
    // spec: D-64
    expect(token).toMatch(/^[A-Za-z0-9]{32}$/);
    const { users } = weir.db.t;
    const [row] = await weir.db.q.select().from(users).where(eq(users.id, weir.root.id));
    // spec: D-64
    expect(JSON.stringify(row)).not.toContain(token);
    // spec, D-64
    expect(await self({ authorization: token })).toBe(200);
    // spec: D-64
    expect(await self({ authorization: `Bearer ${token}`, "New-Api-User": String(weir.root.id) })).toBe(200);
    expect(await self({ authorization: token, "New-Api-User": String(weir.root.id + 1) })).toBe(401);
    const next = await weir.root.ok<string>("GET", "/api/user/token");
    expect(
      (await (await fetch(`${weir.url}/api/user/self`, { headers: { authorization: token } })).json()) as object,
    ).toMatchObject({ success: false });
    expect(await self({ authorization: next })).toBe(200);
  });
});

describe("sign-in", () => {
  const login = async (username: string, password: string) => {
    const answer = await fetch(`${weir.url}/api/user/login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ username, password }),
    });
    return { status: answer.status, text: await answer.text() };
  };

  test("an unknown user and a wrong password get one answer, HTTP 200", async () => {
    const unknown = await login("nobody", "whatever-1");
    // spec: D-77
    expect(unknown).toEqual(await login("root", "whatever-1"));
    // spec: D-77
    expect(unknown.status).toBe(200);
    expect(JSON.parse(unknown.text)).toMatchObject({ success: false });
  });

  test("no answer carries a hash, and the stored hash is no password", async () => {
    const { users } = weir.db.t;
    const [row] = await weir.db.q.select().from(users).where(eq(users.id, weir.root.id));
    const hash = row?.password_hash ?? "";
    expect(hash.startsWith("$argon2id$")).toBe(true);
    expect(JSON.parse((await login("root", hash)).text)).toMatchObject({ success: false });
    expect(JSON.stringify((await weir.root.api("GET", "/api/user/self")).body)).not.toContain("argon2");
  });

  test(
    "by default an address has 20 attempts at what is critical and 180 calls of /api; the next is 429",
    async () => {
      // spec: D-87
      expect(readEnv({})).toMatchObject({ WEIR_CRITICAL_RATE_LIMIT: 20, WEIR_API_RATE_LIMIT: 180 });
      const strict = await startWeir({ env: { WEIR_API_RATE_LIMIT: "180" }, root: false });
      const status = async (i: number) =>
        (await fetch(`${strict.url}/api/status`, { headers: { "x-forwarded-for": `203.0.113.${i}` } })).status;
      for (let i = 0; i < 180; i++) await status(i);
      // spec: D-87
      expect(await status(181)).toBe(429);
      await strict.stop();
    },
    HOOK_MS,
  );

  test("the twenty-first attempt in twenty minutes is 429 with Retry-After", async () => {
    const strict = await startWeir({ env: { WEIR_CRITICAL_RATE_LIMIT: "20" } });
    const attempt = (i: number) =>
      fetch(`${strict.url}/api/user/login`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ username: `stranger${i}`, password: "wrong-password" }),
      });
    const answers = [];
    for (let i = 0; i < 25; i++) answers.push(await attempt(i));
    const limited = answers.filter((answer) => answer.status === 429);
    // spec: D-87
    expect(limited.length).toBeGreaterThanOrEqual(4);
    // spec: D-87
    expect(Number(limited[0]?.headers.get("retry-after"))).toBeGreaterThan(0);
    await strict.stop();
  }, 30_000);
});
