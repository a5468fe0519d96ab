/**
 * Channels, tokens, groups and logs as scripts and existing front-ends call them: over HTTP, with a system access
 * token, with and without trailing slash, with invalid ids and parameters.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { createApp } from "../../src/server/app";
import { createChangeStream } from "../../src/server/features/changes/stream";
import { createLogTail } from "../../src/server/features/log/tail";
import { createRelay } from "../../src/server/relay/entry/handle";
import { createControlPlane } from "../../src/server/wiring/control-plane";
import { ROLE } from "../../src/shared/roles";
import { type Harness, openHarness, type Person } from "../kit/harness";

let h: Harness;
let admin: Person;
let call: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Response>;

beforeAll(async () => {
  h = await openHarness("sqlite", { WEIR_API_RATE_LIMIT: "0" });
  admin = await h.person({ role: ROLE.admin });
  const token = "script-access-token-0123456789ab";
  const { users } = h.services.db.t;
  await h.services.db.q
    .update(users)
    .set({ access_token_hash: h.services.secrets.hash("access-token", token) })
    .where(eq(users.id, admin.ctx.actor.id))
    .returning();
  const app = createApp({
    services: h.services,
    relay: createRelay(createControlPlane(h.services), { log: h.services.log, routing: h.routing }),
    files: () => new Response("console"),
    tail: createLogTail(h.services).route,
    changes: createChangeStream(h.services).route,
    metrics: async () => new Response(),
    ready: async () => ({ ready: true, checks: {}, cache_age_seconds: 0, clock_ahead_seconds: 0 }),
  });
  call = async (method, path, body, headers = { authorization: token }) =>
    app.handle(
      new Request(`http://localhost${path}`, {
        method,
        headers: { ...headers, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    );
});
afterAll(() => h.close());

const json = async (response: Response) => ({
  status: response.status,
  ...((await response.json()) as { success: boolean; message: string; data: any }),
});

describe("REST of channels, tokens, groups and logs", () => {
  test("both spellings of every path answer without a redirect", async () => {
    for (const path of [
      "/api/channel",
      "/api/channel/search",
      "/api/channel/models",
      "/api/channel/models_enabled",
      "/api/models",
      "/api/token",
      "/api/token/search",
      "/api/group",
      "/api/user/self/groups",
      "/api/user/models",
      "/api/log",
      "/api/log/self",
      "/api/log/stat",
      "/api/log/self/stat",
    ]) {
      for (const spelling of [path, `${path}/`]) {
        const answer = await json(await call("GET", spelling));
        // spec: C-480, D-59
        expect([spelling, answer.status, answer.success]).toEqual([spelling, 200, true]);
        expect(answer.data).toBeDefined();
        expect(answer.data).not.toBeNull();
      }
    }
  });

  test("a channel and a token live through create, read, change and delete", async () => {
    const form = {
      type: 1,
      name: "c",
      key: "k",
      base_url: "https://up.example/",
      models: "a,b",
      groups: ["default"],
      group: "default",
      priority: 0,
      weight: 0,
      auto_ban: 1,
    };
    const [{ id }] = (await json(await call("POST", "/api/channel/", form))).data;
    // spec: A-468
    expect((await json(await call("PUT", "/api/channel", { id, status: 2 }))).data.status).toBe(2);
    // spec
    expect((await json(await call("GET", `/api/channel/${id}/`))).data).toMatchObject({
      base_url: "https://up.example",
      status: 2,
    });
    // spec: C-507
    expect(await json(await call("DELETE", `/api/channel/${id}/`))).toMatchObject({ status: 200, success: true });
    const token = (
      await json(
        await call("POST", "/api/token/", { name: "t", expired_time: -1, remain_quota: 1, unlimited_quota: true }),
      )
    ).data;
    expect(
      (await json(await call("PUT", "/api/token/?status_only=true", { id: token.id, status: 2 }))).data.status,
    ).toBe(2);
    expect((await json(await call("GET", `/api/token/${token.id}`))).data).toMatchObject({
      key: token.key,
      status: 2,
      group: "",
      model_limits: "",
    });
    expect(await json(await call("DELETE", `/api/token/${token.id}/`))).toMatchObject({ success: true });
  });

  test("numbers that no row has as its id are refused with HTTP 200, other texts are 404, both with a message", async () => {
    for (const id of ["abc", "1'--", "-1", "0", "1.5", "1e999", "%00", "9".repeat(40), "[1]", "1%20or%201=1"]) {
      for (const path of [
        `/api/channel/${id}`,
        `/api/token/${id}`,
        `/api/channel/test/${id}`,
        `/api/channel/fetch_models/${id}`,
      ]) {
        const answer = await json(await call("GET", path));
        expect([path, answer.status, answer.success]).toEqual([path, /^-?\d+$/.test(id) ? 200 : 404, false]);
        expect(answer.message).not.toBe("");
        expect(answer.message).not.toContain("SQL");
      }
    }
  });

  test("search terms are bounded and literal, whatever they hold", async () => {
    const term = encodeURIComponent(`${"%_".repeat(200)}' or 1=1; --\u0000`);
    for (const path of [
      "channel/search?keyword=",
      "channel/search?model=",
      "channel/search?group=",
      "token/search?keyword=",
      "token/search?token=",
      "log/?username=",
      "log/?request_id=",
    ]) {
      const started = performance.now();
      const { success, data } = await json(await call("GET", `/api/${path}${term}`));
      expect([path, success, (data.items ?? data).length]).toEqual([path, true, 0]);
      expect(performance.now() - started).toBeLessThan(1000);
    }
    // A pattern of a model's name has at most two wildcards.
    expect(await json(await call("GET", `/api/log/?model_name=${term}`))).toMatchObject({
      success: false,
      code: "invalid_parameter",
    });
  });

  test("without sign-in every call is 401, and with a wrong user-id header too", async () => {
    for (const [method, path] of [
      ["GET", "/api/channel/"],
      ["POST", "/api/channel/"],
      ["GET", "/api/token/"],
      ["DELETE", "/api/token/1"],
      ["GET", "/api/group/"],
      ["GET", "/api/log/self"],
    ] as const) {
      const body = method === "POST" ? {} : undefined;
      expect((await call(method, path, body, {})).status).toBe(401);
      expect(
        (await call(method, path, body, { authorization: "script-access-token-0123456789ab", "new-api-user": "999" }))
          .status,
      ).toBe(401);
    }
  });

  test("messages follow the caller's language", async () => {
    const headers = { authorization: "script-access-token-0123456789ab", "accept-language": "en-US,en;q=0.9" };
    // spec: C-605
    expect((await json(await call("GET", "/api/token/999", undefined, headers))).message).toBe("No such token");
    // spec: C-605
    expect((await json(await call("GET", "/api/token/999"))).message).toBe("令牌不存在");
  });
});
