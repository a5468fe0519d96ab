/** Every response has nosniff, whatever an operator, a model or a vendor has put into it; none lets cookies be used. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { restRoutes } from "../../src/server/http/rest";
import { listedRoutes } from "../../src/server/relay/entry/routes";
import { appRouter } from "../../src/server/router";
import { callbackRoutes } from "../../src/server/wiring/callbacks";
import { startWeir, type Weir } from "../kit/weir";

let weir: Weir;
let key = "";
const upstream = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: async (request) => {
    const { stream } = JSON.parse((await request.text()) || "{}") as { stream?: boolean };
    const base = { id: "1", created: 1, model: "m" };
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    if (!stream)
      return Response.json({
        ...base,
        object: "chat.completion",
        choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "<html>" } }],
        usage,
      });
    const chunk = {
      ...base,
      object: "chat.completion.chunk",
      choices: [{ index: 0, finish_reason: "stop", delta: { content: "<html>" } }],
      usage,
    };
    return new Response(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`, {
      headers: { "content-type": "text/event-stream" },
    });
  },
});

beforeAll(async () => {
  weir = await startWeir();
  await weir.newChannel({ base_url: `http://127.0.0.1:${upstream.port}`, models: ["m"] });
  await weir.priceModels({ m: 1 });
  ({ key } = await weir.newToken());
}, 30_000);
afterAll(async () => {
  await weir?.stop();
  await upstream.stop(true);
});

test.each([
  "/",
  "/console",
  "/none/at/all",
  "/healthz",
  "/readyz",
  "/api/status",
  "/api/setup",
  "/api/user/self",
  "/api/none",
  "/api/openapi.json",
  "/trpc/status.get",
  "/trpc/user.self",
  "/api/log/token?key=none",
  "/api/usage/token",
  "/v1/models",
  "/v1/none",
])("of GET %s to a stranger", async (path) => {
  const answer = await fetch(weir.url + path);
  await answer.body?.cancel();
  expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
});

test("of every registered route to strangers, of every GET to root, of every kind of asset, and where there is no route", async () => {
  const registered = [...restRoutes(appRouter), ...callbackRoutes, ...listedRoutes];
  expect(registered.length).toBeGreaterThan(150);
  const assets = [
    "html",
    "js",
    "css",
    "json",
    "map",
    "webmanifest",
    "txt",
    "xml",
    "svg",
    "png",
    "ico",
    "woff2",
    "none",
  ];
  const asked = [
    ...registered,
    ...assets.flatMap((ending) =>
      [`/${ending}.${ending}`, `/assets/x.${ending}`].map((path) => ({ method: "GET", path })),
    ),
    ...[
      "/",
      "/docs",
      "/metrics",
      "/none",
      "/api/none",
      "/v1/none",
      "/demo/v1/models",
      "/pg/none",
      "/trpc/none",
    ].flatMap((path) =>
      ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].map((method) => ({ method, path })),
    ),
  ];
  const signsOut = "/api/user/logout";
  for (const { method, path } of asked) {
    for (const headers of method === "GET" && path !== signsOut ? [{}, weir.root.headers] : [{}]) {
      const answer = await fetch(weir.url + path.replace(/\{\w+\}/g, "1"), {
        method,
        headers: { "content-type": "application/json", origin: "https://other.example", ...headers },
        body: method === "GET" || method === "HEAD" || method === "OPTIONS" ? undefined : "{}",
        redirect: "manual",
      });
      await answer.body?.cancel();
      const said = answer.headers;
      expect([method, path, said.get("x-content-type-options")]).toEqual([method, path, "nosniff"]);
      // Pages of other sites may read what a key gives them, and nothing that a cookie does.
      expect([method, path, said.get("access-control-allow-credentials")]).toEqual([method, path, null]);
    }
  }
}, 60_000);

test("of a route for root, and of a call: plain, streamed and refused", async () => {
  const own = await fetch(`${weir.url}/api/user/self`, { headers: weir.root.headers });
  expect([own.status, own.headers.get("x-content-type-options")]).toEqual([200, "nosniff"]);
  for (const [body, ok] of [
    [{ model: "m" }, true],
    [{ model: "m", stream: true }, true],
    [{ model: "none" }, false],
  ] as const) {
    const answer = await weir.call(key, { ...body, messages: [{ role: "user", content: "hi" }] });
    await answer.text();
    expect([body, answer.ok, answer.headers.get("x-content-type-options")]).toEqual([body, ok, "nosniff"]);
  }
});
