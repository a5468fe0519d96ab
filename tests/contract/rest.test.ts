/** The REST routes as scripts and existing front-ends use them, over the real server. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { restRoutes } from "../../src/server/http/rest";
import { appRouter } from "../../src/server/router";
import { ROLE } from "../../src/shared/roles";
import { type ApiAnswer, ROOT, type Session, startWeir, type Weir } from "../kit/weir";
import { type Access, type Call, CALLS, CURRENT_ISSUE, sameCall } from "./specification";

const routes = restRoutes(appRouter);
const served = new Map<string, number>();
for (const route of routes) served.set(sameCall(route), (served.get(sameCall(route)) ?? 0) + 1);
const owed = CALLS.filter((call) => call.issue <= CURRENT_ISSUE);
const nameOf = (call: { method: string; path: string }): string => `${call.method} ${call.path}`;

let weir: Weir;
let user: Session;
let admin: Session;

beforeAll(async () => {
  weir = await startWeir();
  user = await weir.newUser({ role: ROLE.user });
  admin = await weir.newUser({ role: ROLE.admin });
});
afterAll(() => weir?.stop());

/** An id that no row has. */
const filled = (path: string): string => path.replace(/\{\w+\}/g, "999999");
const bodyOf = (method: string): object | undefined => (method === "GET" || method === "DELETE" ? undefined : {});

const expectEnvelope = ({ status, headers, body }: ApiAnswer): void => {
  expect(headers.get("content-type")).toStartWith("application/json");
  expect(typeof body.success).toBe("boolean");
  expect(typeof body.message).toBe("string");
  if (body.success) expect(status).toBe(200);
  // spec: C-476
  else expect(body.message).not.toBe("");
};

describe("the table of the specification's calls", () => {
  test("no call is listed twice", () => {
    const names = CALLS.map(sameCall);
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
  });

  test("every call due by now is mounted exactly once", () => {
    expect(owed.filter((call) => served.get(sameCall(call)) !== 1).map(nameOf)).toEqual([]);
  });

  test("no call of a later issue is served yet; once it is, the table says so", () => {
    const pending = CALLS.filter((call) => call.issue > CURRENT_ISSUE);
    expect(pending.filter((call) => served.has(sameCall(call))).map(nameOf)).toEqual([]);
  });

  test("every REST route is in the table", () => {
    const known = new Set(CALLS.map(sameCall));
    expect(routes.filter((route) => !known.has(sameCall(route))).map(nameOf)).toEqual([]);
  });
});

describe("every call", () => {
  for (const call of owed) {
    // Signing out would end the session the other tests use; the closed set-up refuses with a status of its own.
    const session = async (): Promise<Session> =>
      call.path.endsWith("/logout") ? weir.signIn(ROOT.username, ROOT.password) : weir.root;

    test(`${nameOf(call)} answers an envelope in both spellings of the slash, without a redirect`, async () => {
      const path = filled(call.path).replace(/\/$/, "");
      for (const spelling of [path, `${path}/`]) {
        const answer = await (await session()).api(call.method, spelling, bodyOf(call.method));
        // spec: D-59
        expectEnvelope(answer);
        // spec: C-480
        expect(answer.status).not.toBe(404);
        // spec: C-480
        expect(answer.status).toBeLessThan(500);
        expect(answer.headers.get("x-request-id")).toBeTruthy();
        expect(answer.headers.get("cache-control")).toBe("no-store");
      }
    });
  }

  const closed = owed.filter((call) => call.access !== "public");
  for (const call of closed) {
    test(`${nameOf(call)} answers 401 without a session`, async () => {
      const answer = await weir.anonymous(call.method, filled(call.path), bodyOf(call.method), {
        "new-api-user": "-1",
      });
      // spec: D-56
      expect(answer.status).toBe(401);
      expect(answer.body.success).toBe(false);
      // spec: C-473
      expect(answer.body.message).toBeTruthy();
    });
  }

  const refuses = (call: Call, who: string, session: () => Session): void =>
    test(`${nameOf(call)} refuses ${who} with HTTP 200 and success false`, async () => {
      const answer = await session().api(call.method, filled(call.path), bodyOf(call.method));
      // spec: C-455, C-461, C-463, C-476
      expect(answer.status).toBe(200);
      // spec: A-406, C-455, C-461, C-463, D-53, D-56
      expect(answer.body).toMatchObject({ success: false, code: "forbidden" });
    });
  const needs = (...access: Access[]): Call[] => closed.filter((call) => access.includes(call.access));
  for (const call of needs("admin", "root")) refuses(call, "an ordinary user", () => user);
  for (const call of needs("root")) refuses(call, "an administrator", () => admin);

  for (const call of needs("admin")) {
    test(`${nameOf(call)} serves an administrator`, async () => {
      const answer = await admin.api(call.method, filled(call.path), bodyOf(call.method));
      expect(answer.status).toBe(200);
      // spec: C-021
      expect(answer.body.code).not.toBe("forbidden");
    });
  }

  for (const call of needs("user")) {
    test(`${nameOf(call)} serves an ordinary user`, async () => {
      // Deleting the own account would break the other tests.
      const who = nameOf(call) === "DELETE /api/user/self" ? await weir.newUser({ role: ROLE.user }) : user;
      const answer = await who.api(call.method, filled(call.path), bodyOf(call.method));
      expect(answer.status).toBe(200);
      // spec: A-402, C-022
      expect(answer.body.code).not.toBe("forbidden");
    });
  }
});

describe("the user-id header (D-37)", () => {
  const self = (headers: Record<string, string>): Promise<ApiAnswer> =>
    weir.anonymous("GET", "/api/user/self", undefined, headers);

  test("with a cookie it must be there and name the signed-in user", async () => {
    const { cookie, id } = user;
    // spec: C-479
    expect((await self({ cookie, "new-api-user": String(id) })).status).toBe(200);
    // spec: D-37
    expect((await self({ cookie, "NEW-API-USER": String(id) })).status).toBe(200);
    for (const wrong of ["-1", "", "0", "abc", String(id + 1), `${id}.0`, ` ${id}x`]) {
      // spec: C-479, D-37
      expect((await self({ cookie, "new-api-user": wrong })).status).toBe(401);
    }
    // spec: C-479
    expect((await self({ cookie })).status).toBe(401);
  });

  test("with a system access token it may be missing, but must match when it is sent", async () => {
    const token = await user.ok<string>("GET", "/api/user/token");
    for (const authorization of [token, `Bearer ${token}`]) {
      // spec: C-473, C-479
      expect((await self({ authorization })).body.success).toBe(true);
      expect((await self({ authorization, "new-api-user": String(user.id) })).body.success).toBe(true);
      // spec: C-479, D-37
      expect((await self({ authorization, "new-api-user": String(admin.id) })).status).toBe(401);
    }
    await user.ok("GET", "/api/user/token");
    // spec: A-434
    expect((await self({ authorization: token })).body.success).not.toBe(true);
  });

  test("public calls and signing out ignore the header", async () => {
    const session = await weir.signIn(user.username, ROOT.password);
    const { cookie } = session;
    const named = ["-1", String(admin.id)].map((name) => ({ cookie, "new-api-user": name }));
    for (const headers of [{ cookie }, ...named] as Record<string, string>[])
      // spec: C-479
      expect((await weir.anonymous("GET", "/api/status", undefined, headers)).body.success).toBe(true);
    // spec: C-479
    expect(
      (await weir.anonymous("GET", "/api/user/logout", undefined, { cookie, "new-api-user": "-1" })).body.success,
    ).toBe(true);
    expect((await session.api("GET", "/api/user/self")).status).toBe(401);
  });

  test("a session ends on the server when its owner signs out", async () => {
    const session = await weir.signIn(user.username, ROOT.password);
    // spec: C-485
    expect((await session.api("GET", "/api/user/self")).status).toBe(200);
    await session.ok("GET", "/api/user/logout");
    // spec, C-485
    expect((await session.api("GET", "/api/user/self")).status).toBe(401);
  });

  test("a call that changes something by GET is not served by a cookie alone", async () => {
    const { cookie } = user;
    for (const path of [
      "/api/user/token",
      "/api/user/aff",
      "/api/oauth/wechat/bind?code=1",
      "/api/oauth/email/bind?email=a%40example.com&code=1",
      "/api/oauth/telegram/bind?id=1&auth_date=1&hash=x",
    ]) {
      expect([path, (await weir.anonymous("GET", path, undefined, { cookie })).status]).toEqual([path, 401]);
    }
    expect((await user.api("GET", "/api/user/self")).status).toBe(200);
  });

  test("the cookie that a sign-in leaves is HttpOnly and SameSite=Lax", async () => {
    const answer = await weir.anonymous("POST", "/api/user/login", {
      username: user.username,
      password: ROOT.password,
    });
    const lines = answer.headers.getSetCookie();
    expect(lines).toHaveLength(2);
    // spec: D-38
    expect(lines[0]).toMatch(/^session=[A-Za-z0-9]{43}; Path=\/; .*HttpOnly; SameSite=Lax$/);
    expect(lines[1]).toMatch(/^device=[0-9a-f.]{64,}; Path=\/; .*HttpOnly; SameSite=Lax$/);
  });
});

describe("unknown paths", () => {
  for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
    test(`${method} of an unknown path under /api is a JSON 404`, async () => {
      for (const path of ["/api/no-such", "/api/no-such/", "/api/channel/1/2/3"]) {
        const answer = await weir.root.api(method, path, bodyOf(method));
        expectEnvelope(answer);
        // spec: D-07
        expect(answer).toMatchObject({ status: 404, body: { success: false, code: "not_found" } });
      }
    });
  }

  test("an unknown path under /v1 is a JSON 404 with an error object", async () => {
    const response = await fetch(`${weir.url}/v1/no-such`, { method: "POST", body: "{}" });
    // spec: D-07
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { message: expect.any(String) } });
  });
});

describe("bodies", () => {
  const writing = owed.filter(
    (call) => (call.method === "POST" || call.method === "PUT") && call.path !== "/api/setup",
  );
  for (const call of writing) {
    test(`${nameOf(call)} answers 400 to a body that is not JSON`, async () => {
      for (const body of ["{", '{"a":}', "name=x"]) {
        const answer = await weir.root.api(call.method, filled(call.path), body);
        // spec: D-72
        expect(answer).toMatchObject({ status: 400, body: { success: false, code: "bad_json" } });
      }
    });

    test(`${nameOf(call)} survives invalid JSON of every kind`, async () => {
      for (const body of ["null", "[]", "1", '"text"', "true", '{"id":{}}', '{"key":[1],"name":{},"id":"x"}', ""]) {
        const answer = await weir.root.api(call.method, filled(call.path), body);
        expectEnvelope(answer);
        expect(answer.status).toBeLessThan(500);
        expect(answer.body.code).not.toBe("internal");
      }
    });
  }

  test("a body over the limit is a clean 413", async () => {
    const answer = await weir.root.api(
      "PUT",
      "/api/option/",
      JSON.stringify({ key: "Notice", value: "x".repeat(5 * 1024 * 1024) }),
    );
    expect(answer).toMatchObject({ status: 413, body: { success: false, code: "body_too_large" } });
  });
});

test("an unknown path is 404 in JSON to all who do not ask for a page, by any method", async () => {
  for (const [method, path] of [
    ["GET", "/chat/completions"],
    ["HEAD", "/no-such"],
    ["POST", "/chat/completions"],
    ["DELETE", "/no-such"],
    ["GET", "/openai/no-such"],
  ] as const) {
    const answer = await fetch(weir.url + path, { method });
    expect([path, answer.status, answer.headers.get("content-type")?.split(";")[0]]).toEqual([
      path,
      404,
      "application/json",
    ]);
    const text = await answer.text();
    if (method !== "HEAD") expect(JSON.parse(text)).toBeObject();
  }
  const page = await fetch(`${weir.url}/console/token`, { headers: { accept: "text/html" } });
  // 503: the console is not built where only the server is tested.
  expect([200, 503]).toContain(page.status);
  await page.text();
});

describe("texts follow the caller's language", () => {
  test("Chinese by default, English on request", async () => {
    const said = async (language?: string) =>
      (await weir.anonymous("GET", "/api/no-such", undefined, language ? { "accept-language": language } : {})).body
        .message;
    // spec: C-605, D-78
    expect(await said()).toMatch(/接口不存在/);
    expect(await said("fr")).toMatch(/接口不存在/);
    // spec: C-605, D-78
    expect(await said("en-GB,zh;q=0.5")).toMatch(/No such route/);
  });
});

describe("idempotency keys over the real server", () => {
  test("REST and tRPC read the header: the first answer comes again, other content is 422, and one token is made", async () => {
    const headers = { "Idempotency-Key": crypto.randomUUID() };
    const made = { name: "once", remain_quota: 1 };
    const first = await user.api("POST", "/api/token/", made, headers);
    const again = await user.api("POST", "/api/token/", made, headers);
    expect(first.body.success).toBe(true);
    expect(again.body).toEqual(first.body);
    const other = await user.api("POST", "/api/token/", { ...made, name: "other" }, headers);
    expect([other.status, other.body.code]).toEqual([422, "idempotency_key_reused"]);
    const send = async () =>
      (
        await fetch(`${weir.url}/trpc/token.create`, {
          method: "POST",
          headers: { ...user.headers, ...headers, "content-type": "application/json" },
          body: JSON.stringify({ ...made, count: 1, expired_time: -1 }),
        })
      ).json();
    const answers = [await send(), await send()];
    expect(answers[0]).toHaveProperty("result");
    expect(answers[1]).toEqual(answers[0]);
    const { body } = await user.api("GET", "/api/token/?shape=page&p=1&page_size=100");
    expect(JSON.stringify(body).match(/"once"/g)).toHaveLength(2);
  });
});
