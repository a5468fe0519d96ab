import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { HOOK_MS } from "../../../tests/kit/harness";
import { startWeir } from "../../../tests/kit/weir";

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
    expect(await self({ cookie })).toBe(401);
    expect(await self({ cookie, "New-Api-User": String(id + 1) })).toBe(401);
    expect(await self({ cookie, "New-Api-User": "-1" })).toBe(401);
    expect(await self({ cookie, "New-Api-User": "root" })).toBe(401);
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
    expect(await self(person.headers)).toBe(401);
    await weir.db.q.update(users).set({ status: 1, role: 10 }).where(eq(users.id, person.id));
    expect((await person.api("GET", "/api/channel/?p=0&page_size=10")).body.success).toBe(true);
    await person.api("GET", "/api/user/logout");
    expect(await self(person.headers)).toBe(401);
  });
});

describe("a system access token", () => {
  test("works bare and as Bearer, without the user-id header, which must match when it is sent", async () => {
    const token = await weir.root.ok<string>("GET", "/api/user/token");
    expect(await self({ authorization: token })).toBe(200);
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
    expect(unknown).toEqual(await login("root", "whatever-1"));
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

  test("the twenty-first attempt in twenty minutes is 429 with Retry-After, and a forged address does not help", async () => {
    const strict = await startWeir({ env: { WEIR_CRITICAL_RATE_LIMIT: "20" } });
    const attempt = (i: number) =>
      fetch(`${strict.url}/api/user/login`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-forwarded-for": `203.0.113.${i}` },
        body: JSON.stringify({ username: "", password: "" }),
      });
    const answers = [];
    for (let i = 0; i < 25; i++) answers.push(await attempt(i));
    const limited = answers.filter((answer) => answer.status === 429);
    expect(limited.length).toBeGreaterThanOrEqual(4);
    expect(Number(limited[0]?.headers.get("retry-after"))).toBeGreaterThan(0);
    await strict.stop();
  }, 30_000);
});
