import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startWeir, type Weir } from "../../../../tests/kit/weir";

let weir: Weir;
/** Another gateway, by path. */
let pages: Record<string, () => Response> = {};
const other = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: (request) => pages[new URL(request.url).pathname]?.() ?? new Response("no", { status: 404 }),
});
const url = `http://127.0.0.1:${other.port}`;

beforeAll(async () => {
  weir = await startWeir({ env: { WEIR_ALLOW_PRIVATE_FETCH: "true" } });
}, 60_000);
afterAll(async () => {
  await weir?.stop();
  await other.stop(true);
});

const fetched = (address: string) => weir.root.trpc.pricing.remote.mutate({ url: address });
const code = (promise: Promise<unknown>) =>
  promise.then(
    () => "none",
    (error) => error.data?.weir ?? error.data?.code ?? error.message,
  );

describe("prices of another gateway", () => {
  test("a bare address is queried for its factors, and for its list where they are not public", async () => {
    pages = {
      "/api/ratio_config": () => Response.json({ success: false, message: "not published" }, { status: 403 }),
      "/api/pricing": () =>
        Response.json({
          success: true,
          data: [{ model_name: "a", quota_type: 0, model_ratio: 2, completion_ratio: 3 }],
        }),
    };
    expect(await fetched(url)).toEqual({
      url: `${url}/api/pricing`,
      prices: { a: { ModelRatio: 2, CompletionRatio: 3 } },
    });
    pages["/api/ratio_config"] = () =>
      Response.json({ success: true, data: { model_ratio: { a: 2 }, cache_ratio: { a: 0.1 } } });
    expect(await fetched(`${url}/`)).toEqual({
      url: `${url}/api/ratio_config`,
      prices: { a: { ModelRatio: 2, CacheRatio: 0.1 } },
    });
    expect((await fetched(`${url}/api/pricing`)).url).toBe(`${url}/api/pricing`);
  });

  test("a query stores nothing", async () => {
    const before = await weir.root.ok("GET", "/api/option/");
    await fetched(url);
    expect(await weir.root.ok("GET", "/api/option/")).toEqual(before);
  });

  test("an answer that is not a price list, an error, a dead address: each is reported", async () => {
    pages = {
      "/a": () => new Response("<html>"),
      "/b": () => Response.json({ data: [] }),
      "/c": () => new Response("", { status: 500 }),
    };
    const messages = await Promise.all(
      ["/a", "/b", "/c"].map((path) =>
        fetched(url + path).then(
          () => "none",
          (error: Error) => error.message,
        ),
      ),
    );
    expect(messages).toEqual(["内容不是价格表", "内容不是价格表", "无法从该地址读取价格：HTTP 500"]);
    expect(await code(fetched("http://127.0.0.1:1/x"))).not.toBe("none");
    for (const bad of ["file:///etc/passwd", "http://user:pw@127.0.0.1/", "::"])
      expect([bad, await code(fetched(bad))]).not.toEqual([bad, "none"]);
  });

  test("only root may query", async () => {
    const admin = await weir.newUser({ role: 10 });
    expect(await code(admin.trpc.pricing.remote.mutate({ url }))).not.toBe("none");
  });
});

test("unless the operator allows it, an address inside the network is refused", async () => {
  const closed = await startWeir();
  const refused = await closed.root.trpc.pricing.remote.mutate({ url }).then(
    () => "none",
    (error: Error) => error.message,
  );
  await closed.stop();
  expect(refused).toBe("不允许访问该地址");
}, 60_000);

describe("POST /api/option/rest_model_ratio", () => {
  test("sets the model ratios back to the built-in ones, at once, and touches nothing else", async () => {
    const value = async (key: string) =>
      ((await weir.root.ok("GET", "/api/option/")) as { key: string; value: string }[]).find(
        (option) => option.key === key,
      )?.value;
    const builtIn = await value("ModelRatio");
    await weir.setOption("ModelRatio", { m: 1 });
    await weir.setOption("CompletionRatio", { m: 2 });
    await weir.setOption("ModelPrice", { call: 3 });
    const { body } = await weir.root.api("POST", "/api/option/rest_model_ratio");
    expect(body).toMatchObject({ success: true });
    // spec: D-71
    expect(body.message).not.toBe("");
    // spec: A-461
    expect(await value("ModelRatio")).toBe(builtIn as string);
    const [act] = (await weir.root.trpc.audit.list.query({ target_type: "option", target_id: "ModelRatio" })).items;
    expect(act).toMatchObject({ action: "option.update", target_id: "ModelRatio" });
    // spec: D-71
    expect([await value("CompletionRatio"), await value("ModelPrice")]).toEqual(['{"m":2}', '{"call":3}']);
  });

  test("an administrator may not", async () => {
    const admin = await weir.newUser({ role: 10 });
    const { body } = await admin.api("POST", "/api/option/rest_model_ratio");
    expect(body.success).toBe(false);
  });
});
