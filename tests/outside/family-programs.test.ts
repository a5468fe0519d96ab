/**
 * Programs written for new-api since July 2025, as sequences of the calls that they make: its own front-end
 * (web/default of July 2026) by the calls of every page that is opened, and all-api-hub (634f28bf) as account holder
 * and as operator.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { ROLE } from "../../src/shared/roles";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { HOOK_MS } from "../kit/harness";
import { type ApiAnswer, type Session, startWeir, type Weir } from "../kit/weir";

const upstream = startFakeUpstream();
let weir: Weir;
let user: Session;
let admin: Session;
beforeAll(async () => {
  weir = await startWeir();
  await weir.setOption("ApiGeneration", "2025-07");
  await weir.newChannel({ base_url: upstream.url, models: ["echo"] });
  await weir.priceModels({ echo: 1 });
  user = await weir.newUser({ quota: 5_000_000 });
  admin = await weir.newUser({ role: ROLE.admin });
  await weir.newToken({ name: "first" }, user);
}, HOOK_MS);
afterAll(async () => {
  await weir?.stop();
  upstream.close();
});

/** What pages ask for by being opened, and the least role that opens them. */
const PAGES: Record<"guest" | "user" | "admin" | "root", readonly string[]> = {
  guest: [
    ...["status", "setup", "notice", "about", "home_page_content", "pricing", "uptime/status", "user/groups"],
    ...["user-agreement", "privacy-policy", "rankings?period=week"],
  ],
  user: [
    ...[
      "user/self",
      "user/self/groups",
      "user/models",
      "user/aff",
      "user/topup/info",
      "user/topup/self?p=1&page_size=10",
    ],
    ...["user/2fa/status", "user/passkey", "user/oauth/bindings", "subscription/plans", "subscription/self"],
    ...["token/?p=1&size=20", "token/search?keyword=&token=&p=1&size=20"],
    ...[
      "log/self/?p=1&page_size=20&type=0",
      "log/self/stat?type=0",
      "mj/self?p=1&page_size=20",
      "task/self?p=1&page_size=20",
    ],
    ...[
      "data/self/?start_timestamp=1&end_timestamp=2&default_time=hour",
      "data/flow/self",
      "perf-metrics/summary?hours=24",
    ],
  ],
  admin: [
    ...["channel/?p=1&page_size=20&id_sort=false&tag_mode=false", "channel/search?keyword=&p=1&page_size=20"],
    ...[
      "channel/models",
      "channel/models_enabled",
      "channel/ops",
      "channel/tag/models?tag=a",
      "prefill_group?type=model",
    ],
    ...[
      "group/",
      "user/?p=1&page_size=20",
      "user/search?keyword=&p=1",
      "redemption/?p=1&page_size=20",
      "user/topup?p=1",
    ],
    ...["log/?p=1&page_size=20", "log/stat?type=0", "mj/?p=1&page_size=20", "task/?p=1&page_size=20", "status/test"],
    ...["data/?start_timestamp=1&end_timestamp=2", "data/users?start_timestamp=1&end_timestamp=2", "data/flow"],
    ...["vendors/?page_size=1000", "deployments/settings"],
  ],
  root: [
    ...[
      "option/",
      "ratio_sync/channels",
      "custom-oauth-provider/",
      "system-info/instances",
      "system-task/list?limit=20",
    ],
    ...[
      "system-task/current?type=log_cleanup",
      "performance/stats",
      "performance/logs",
      "option/channel_affinity_cache",
    ],
  ],
};

test("no page of today's front-end is met with an error by being opened, whatever the role", async () => {
  const guest = { api: (method: string, path: string) => weir.anonymous(method, path) };
  const visitors = { guest, user, admin, root: weir.root };
  const roles = ["guest", "user", "admin", "root"] as const;
  const failed: unknown[] = [];
  for (const [rank, role] of roles.entries())
    for (const path of roles.slice(0, rank + 1).flatMap((lower) => PAGES[lower])) {
      const { status, body }: ApiAnswer = await visitors[role].api("GET", `/api/${path}`);
      if (status !== 200 || body.success !== true) failed.push([role, path, status, body.message]);
    }
  expect(failed).toEqual([]);
});

test("what is not there is 404, so that programs hide it: check-in, subscriptions' orders, invitation codes, deployments", async () => {
  for (const [method, path] of [
    ["GET", "user/checkin?month=2026-11"],
    ["POST", "user/checkin"],
    ["POST", "subscription/epay/pay"],
    ["GET", "invitation_code/"],
    ["GET", "deployments/search"],
    ["POST", "performance/gc"],
    ["POST", "ratio_sync/fetch"],
    ["DELETE", `user/${user.id}/bindings/github`],
  ] as const)
    expect([path, (await weir.root.api(method, `/api/${path}`, method === "GET" ? undefined : {})).status]).toEqual([
      path,
      404,
    ]);
});

/** Calls with a system access token, as programs outside of a browser make them. */
async function byToken(who: Session) {
  const authorization = await who.ok<string>("GET", "/api/user/token");
  return async <T = Row>(method: string, path: string, body?: object): Promise<T> => {
    const answer = await weir.anonymous(method, path, body, {
      authorization: `Bearer ${authorization}`,
      "new-api-user": String(who.id),
    });
    if (answer.status !== 200 || !answer.body.success) throw new Error(`${method} ${path}: ${answer.body.message}`);
    return answer.body.data as T;
  };
}
type Row = Record<string, unknown> & { id: number };
interface Rows {
  items: Row[];
  total: number;
  page: number;
  page_size: number;
}

test("the channel form of today's front-end creates and changes a channel with the fields it sends", async () => {
  const settings = { force_format: false, thinking_to_content: false, proxy: "", pass_through_body_enabled: false };
  const channel = {
    ...{ name: "by form", type: 1, base_url: null, openai_organization: null, models: "echo", group: "default" },
    ...{ model_mapping: null, priority: 0, weight: 0, test_model: null, auto_ban: 1, status_code_mapping: null },
    ...{ tag: null, remark: null, param_override: null, header_override: null, settings: "{}", other: null },
    setting: JSON.stringify({ ...settings, system_prompt: "", system_prompt_override: false }),
  };
  await weir.root.ok("POST", "/api/channel", { mode: "single", channel: { ...channel, key: "sk-by-form", status: 1 } });
  const found = await weir.root.ok<Rows>("GET", "/api/channel/search?keyword=by form&p=1&page_size=20");
  const id = found.items[0]?.id;
  await weir.root.ok("PUT", "/api/channel/", { ...channel, id, name: "by form again", remark: "", other: "" });
  expect(await weir.root.ok("GET", `/api/channel/${id}`)).toMatchObject({
    ...{ name: "by form again", models: "echo", group: "default", tag: "" },
    channel_info: { is_multi_key: false },
  });
  await weir.root.ok("DELETE", `/api/channel/${id}`);
});

test("all-api-hub follows an account: balance, use of today, models, groups, keys made, shown and deleted", async () => {
  const ask = await byToken(user);
  expect(await ask("GET", "/api/user/self")).toMatchObject({ id: user.id, quota: 5_000_000 });
  expect(await ask("GET", "/api/log/self?p=1&page_size=100&type=2&start_timestamp=1&end_timestamp=2")).toMatchObject({
    items: [],
    total: 0,
  });
  expect(await ask<string[]>("GET", "/api/user/models")).toEqual(["echo"]);
  expect(await ask("GET", "/api/user/self/groups")).toMatchObject({ default: { ratio: 1 } });
  expect(await ask<Rows>("GET", "/api/token/?p=1&size=100")).toMatchObject({
    items: [{ name: "first" }],
    total: 1,
    page: 1,
  });
  await ask("POST", "/api/token/", {
    ...{ name: "from outside", remain_quota: 1000, expired_time: -1, unlimited_quota: false, group: "" },
    ...{ model_limits_enabled: false, model_limits: "", allow_ips: "" },
  });
  const { items } = await ask<Rows>("GET", "/api/token/?p=1&size=1");
  const [made] = items;
  const { key } = await ask<{ key: string }>("POST", `/api/token/${made?.id}/key`);
  expect(key).toMatch(/^[A-Za-z0-9]{48}$/);
  const said = await weir.call(`sk-${key}`, { model: "echo", messages: [{ role: "user", content: "hi" }] });
  expect(said.status).toBe(200);
  await said.text();
  await ask("DELETE", `/api/token/${made?.id}`);
  expect((await ask<Rows>("GET", "/api/token/?p=1&size=100")).total).toBe(1);
});

test("all-api-hub operates the site: channels listed, found, created, switched, shown and deleted", async () => {
  const ask = await byToken(weir.root);
  const list = () => ask<Rows>("GET", "/api/channel/?p=1&page_size=100");
  const before = await list();
  expect(before).toMatchObject({ page: 1, page_size: 100, total: 1 });
  await ask("POST", "/api/channel/", {
    mode: "single",
    channel: {
      ...{
        name: "managed",
        type: 1,
        key: "sk-managed-0123456789",
        base_url: upstream.url,
        models: "echo",
        groups: ["default"],
      },
      ...{ group: "default", priority: 0, weight: 0, status: 1 },
    },
  });
  const found = await ask<Rows>("GET", "/api/channel/search?keyword=managed");
  expect(found).toMatchObject({ items: [{ name: "managed", key: "", status: 1 }], total: 1, type_counts: { 1: 1 } });
  const id = found.items[0]?.id ?? 0;
  await ask("PUT", "/api/channel/", { id, name: "managed too", models: "echo,other" });
  expect(await ask("GET", `/api/channel/${id}`)).toMatchObject({ name: "managed too", models: "echo,other" });
  expect(await ask<string[]>("GET", `/api/channel/fetch_models/${id}`)).toBeArray();
  await ask("POST", `/api/channel/${id}/status`, { status: 2 });
  expect((await list()).items.find((row) => row.id === id)).toMatchObject({ status: 2 });
  await weir.setOption("ChannelKeyRevealEnabled", true);
  expect(await ask<object>("POST", `/api/channel/${id}/key`)).toEqual({ key: "sk-managed-0123456789" });
  await ask("DELETE", `/api/channel/${id}`);
  expect((await list()).total).toBe(before.total);
});
