/**
 * The routes that third parties call, over the real server: mounted with and without trailing slash, closed until
 * configured.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { callbackRoutes } from "../../src/server/wiring/callbacks";
import { openApi } from "../../src/server/http/openapi";
import { startWeir, type Weir } from "../kit/weir";

let weir: Weir;
beforeAll(async () => {
  weir = await startWeir({ env: { WEIR_API_RATE_LIMIT: "5" } });
});
afterAll(() => weir?.stop());

const call = (method: string, path: string) =>
  fetch(`${weir.url}${path}`, {
    method,
    redirect: "manual",
    ...(method === "POST" && { body: "a=1", headers: { "content-type": "application/x-www-form-urlencoded" } }),
  });

describe("callbacks", () => {
  for (const { method, path } of callbackRoutes) {
    test(`${method} ${path} answers in both spellings, is never cached, and refuses while no secret is set`, async () => {
      // More often than the rate limit of /api by address: a gateway calls from one address for all payers.
      for (const spelling of [path, `${path}/`, path, path, path, path, path]) {
        const answer = await call(method, spelling);
        const text = await answer.text();
        expect([answer.status, text]).toEqual(
          path.includes("stripe") ? [403, '{"received":false,"verdict":"closed"}'] : [200, "fail"],
        );
        expect(answer.headers.get("cache-control")).toBe("no-store");
        expect(answer.headers.get("set-cookie")).toBeNull();
      }
    });
  }

  test("each is in the OpenAPI document, without authentication", () => {
    const { paths } = openApi([], callbackRoutes) as {
      paths: Record<string, Record<string, { summary: string; security: unknown[] }>>;
    };
    for (const { method, path, summary } of callbackRoutes)
      expect(paths[path]?.[method.toLowerCase()]).toMatchObject({ summary, security: [] });
  });

  test("each of those calls was stored, with its verdict", async () => {
    const rows = await weir.db.q.select().from(weir.db.t.payment_callbacks);
    expect(rows).toHaveLength(callbackRoutes.length * 7);
    expect(new Set(rows.map((row) => row.verdict))).toEqual(new Set(["closed"]));
  });
});
