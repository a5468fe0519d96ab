/** Requirements that no other test proves, over the real server with the fake upstream. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type FakeUpstream, startFakeUpstream } from "../kit/fake-upstream/server";
import { type Session, startWeir, type Weir } from "../kit/weir";

type Row = Record<string, unknown> & { id: number };

let weir: Weir;
let fake: FakeUpstream;
let user: Session;

beforeAll(async () => {
  fake = startFakeUpstream({ port: 0 });
  weir = await startWeir();
  await weir.priceModels({ echo: 15, slow: 1 }, { echo: 2, slow: 1 });
  user = await weir.newUser({ quota: 10_000_000 });
});
afterAll(async () => {
  await weir?.stop();
  fake?.close();
});

const chat = (model: string, more: object = {}) => ({
  model,
  messages: [{ role: "user", content: "hello there" }],
  ...more,
});
const options = async () =>
  new Map(
    (await weir.root.ok<{ key: string; value: string }[]>("GET", "/api/option/")).map(({ key, value }) => [key, value]),
  );

describe("public status", () => {
  test("has every named field with its type, needs no login, and is true to the options (A-267 to A-278, C-304 to C-308)", async () => {
    const { status, body } = await weir.anonymous("GET", "/api/status");
    // spec: C-483
    expect(status).toBe(200);
    // spec: A-548, C-001, C-304, C-305, C-306, C-308, C-483, D-24
    expect(body.data).toMatchObject({
      system_name: "Weir",
      logo: expect.any(String),
      footer_html: expect.any(String),
      quota_per_unit: 500_000,
      display_in_currency: true,
      enable_drawing: expect.any(Boolean),
      enable_task: expect.any(Boolean),
      enable_data_export: expect.any(Boolean),
      chats: expect.any(Array),
      default_collapse_sidebar: false,
      server_address: expect.any(String),
      top_up_link: expect.any(String),
      min_topup: expect.any(Number),
      default_use_auto_group: false,
      version: expect.any(String),
    });
    await weir.setOption("SystemName", "Other");
    await weir.setOption("DefaultCollapseSidebar", true);
    await weir.setOption("DefaultUseAutoGroup", "true");
    await weir.setOption("DisplayInCurrencyEnabled", "false");
    await weir.setOption("QuotaPerUnit", 1000);
    await weir.setOption("TaskEnabled", false);
    // spec, C-308, D-30
    expect((await weir.anonymous("GET", "/api/status")).body.data).toMatchObject({
      enable_task: false,
      system_name: "Other",
      default_collapse_sidebar: true,
      default_use_auto_group: true,
      display_in_currency: false,
      quota_per_unit: 1000,
    });
    for (const [key, value] of [
      ["SystemName", "Weir"],
      ["DefaultCollapseSidebar", false],
      ["DefaultUseAutoGroup", false],
      ["DisplayInCurrencyEnabled", true],
      ["QuotaPerUnit", 500_000],
      ["TaskEnabled", true],
    ] as const)
      await weir.setOption(key, value);
  });

  test("carries no secret that was stored (A-293)", async () => {
    const planted = [
      "SMTPToken",
      "GitHubClientSecret",
      "EpayKey",
      "TurnstileSecretKey",
      "WeChatServerToken",
      "StripeApiSecret",
    ];
    for (const key of planted) await weir.root.api("PUT", "/api/option/", { key, value: `planted-${key}` });
    const text = JSON.stringify([
      (await weir.anonymous("GET", "/api/status")).body,
      (await weir.root.api("GET", "/api/option/")).body,
    ]);
    expect(text).not.toContain("planted-");
  });
});

describe("options", () => {
  test("defaults of a fresh install (A-184, A-188, A-192, A-195, A-201, A-202, A-204, A-214, D-29)", async () => {
    const all = await options();
    expect(all.get("PreConsumedQuota")).toBe("500");
    expect(all.get("QuotaPerUnit")).toBe("500000");
    expect(JSON.parse(all.get("GroupRatio") ?? "")).toEqual({ default: 1, vip: 1, svip: 1 });
    // spec: D-29
    expect(JSON.parse(all.get("UserUsableGroups") ?? "")).toEqual({ default: "默认分组", vip: "VIP 分组" });
    expect(JSON.parse(all.get("AutoGroups") ?? "")).toEqual(["default"]);
    expect(all.get("DefaultUseAutoGroup")).toBe("false");
    // spec: D-29
    expect(JSON.parse(all.get("Chats") ?? "")).toEqual([]);
    // spec: D-29
    expect(JSON.parse(all.get("GroupGroupRatio") ?? "")).toEqual({});
    expect(all.get("RetryTimes")).toBe("3");
    expect(all.get("DisplayInCurrencyEnabled")).toBe("true");
    expect(all.get("DefaultCollapseSidebar")).toBe("false");
    expect(all.get("LogConsumeEnabled")).toBe("true");
    expect(all.has("SensitiveWords")).toBe(true);
  });

  test("notice, about and home page are public texts, never null (D-18)", async () => {
    for (const path of ["/api/notice", "/api/about", "/api/home_page_content"]) {
      // spec: D-18
      expect((await weir.anonymous("GET", path)).body).toEqual({ success: true, message: "", data: "" });
    }
  });

  test("groups are the keys of GroupRatio; the own groups have description and ratio (A-454, C-531, C-488)", async () => {
    // spec, C-531
    expect(await weir.root.ok<string[]>("GET", "/api/group/")).toEqual(
      expect.arrayContaining(["default", "vip", "svip"]),
    );
    // spec: C-488
    // spec: A-193
    expect(await user.ok<Record<string, unknown>>("GET", "/api/user/self/groups")).toMatchObject({
      default: { desc: "默认分组", ratio: 1 },
      vip: { desc: "VIP 分组", ratio: 1 },
    });
  });
});

describe("accounts", () => {
  test("the own account has every field, unset ones '' or 0, and no password in any form (A-163 to A-177, D-19, D-20)", async () => {
    const fresh = await weir.newUser();
    const self = await fresh.ok<Row>("GET", "/api/user/self");
    // spec: A-163..A-165, A-172..A-177, A-425, C-484, D-19, D-20
    expect(self).toMatchObject({
      id: fresh.id,
      username: fresh.username,
      display_name: expect.any(String),
      quota: 0,
      used_quota: 0,
      request_count: 0,
      group: "default",
      role: 1,
      status: 1,
    });
    // DeletedAt is null while the user lives.
    // spec: A-182, D-19
    expect(Object.entries(self).filter(([, value]) => value === null || value === undefined)).toEqual([
      ["DeletedAt", null],
    ]);
    // spec: A-167..A-171, A-178..A-181, D-19
    expect(self).toMatchObject({
      email: "",
      github_id: "",
      wechat_id: "",
      telegram_id: "",
      linux_do_id: "",
      aff_count: 0,
      aff_quota: 0,
      aff_history_quota: 0,
      inviter_id: 0,
    });
    // spec: A-166, D-19
    expect(Object.keys(self).filter((name) => /password|token|secret/.test(name))).toEqual([]);
  });

  test("a path under /api/user that does not exist is a JSON 404, of a signed-in caller too", async () => {
    const { status, body } = await user.api("GET", "/api/no-such");
    expect([status, body.success]).toEqual([404, false]);
  });
});

describe("channels", () => {
  let id = 0;
  beforeAll(async () => {
    id = await weir.newChannel({
      base_url: `${fake.url}/`,
      models: ["echo", "slow"],
      openai_organization: "org-weir",
      name: "first",
    });
  });

  test("limits of priority and weight, in numbers and in texts (C-220, C-221, C-409, C-410)", async () => {
    await weir.root.ok("PUT", "/api/channel/", { id, priority: -999 });
    // spec: C-220
    expect((await weir.root.api("PUT", "/api/channel/", { id, priority: -1000 })).body.success).toBe(false);
    // spec: C-409
    expect((await weir.root.api("PUT", "/api/channel/", { id, priority: 1.5 })).body.message).toBe(
      "优先级必须是整数！",
    );
    for (const weight of [-1, 1.5]) {
      // spec: C-410
      // spec: C-221
      expect((await weir.root.api("PUT", "/api/channel/", { id, weight })).body.message).toBe("权重必须是非负整数！");
    }
    await weir.root.ok("PUT", "/api/channel/", { id, priority: 0, weight: 0 });
    // spec: C-221
    // spec: A-299
    expect(await weir.root.ok<Row>("GET", `/api/channel/${id}`)).toMatchObject({
      priority: 0,
      weight: 0,
      name: "first",
    });
  });

  test("auto_ban travels as 1 or 0 and true or false is taken (C-218)", async () => {
    for (const [sent, read] of [
      [0, 0],
      [true, 1],
      [false, 0],
      [1, 1],
    ] as const) {
      await weir.root.ok("PUT", "/api/channel/", { id, auto_ban: sent });
      // spec: C-218
      expect((await weir.root.ok<Row>("GET", `/api/channel/${id}`)).auto_ban).toBe(read);
    }
  });

  test("texts of refused forms (A-375 to A-378, C-402 to C-406)", async () => {
    const good = { type: 1, name: "n", key: "k", base_url: fake.url, models: "echo" };
    const message = async (change: object) =>
      (await weir.root.api("POST", "/api/channel/", { ...good, ...change })).body;
    // spec, C-402
    expect(await message({ name: "" })).toMatchObject({ success: false, message: "请填写名称和密钥" });
    // spec, C-405
    expect(await message({ key: "" })).toMatchObject({ success: false, message: "请填写名称和密钥" });
    // spec, C-404
    expect(await message({ models: "" })).toMatchObject({ success: false, message: "请至少选择一个模型" });
    // spec, C-406
    expect(await message({ model_mapping: "{" })).toMatchObject({
      success: false,
      message: "模型映射必须是合法的 JSON 格式！",
    });
    expect(
      (await weir.root.api("POST", "/api/channel/", { ...good, models: "" }, { "accept-language": "en" })).body.message,
    ).not.toMatch(/[一-鿿]/);
  });

  test("the organisation goes upstream, the mapped model too, and the status mapping decides about a retry (C-222, C-213, C-214, A-201)", async () => {
    const token = await weir.newToken();
    const mapped = await weir.newChannel({
      base_url: fake.url,
      models: ["alias"],
      model_mapping: '{"alias":"echo"}',
      openai_organization: "org-weir",
    });
    await weir.priceModels({ echo: 15, slow: 1, alias: 1, both: 1 }, { echo: 2, slow: 1, alias: 1, both: 1 });
    const answer = await weir.call(token.key, chat("alias"));
    expect(answer.status).toBe(200);
    const seen = fake.journal.last();
    // spec: C-222
    expect(seen.headers["openai-organization"]).toBe("org-weir");
    // spec: C-213
    expect(seen.model).toBe("echo");
    await weir.root.ok("DELETE", `/api/channel/${mapped}/`);

    const failing = await weir.newChannel({
      base_url: fake.url,
      models: ["both"],
      model_mapping: '{"both":"error-400"}',
      status_code_mapping: '{"400":"500"}',
      priority: 9,
    });
    const second = await weir.newChannel({ base_url: fake.url, models: ["both"], model_mapping: '{"both":"echo"}' });
    await weir.setOption("RetryTimes", 0);
    expect((await weir.call(token.key, chat("both"))).ok).toBe(false);
    await weir.setOption("RetryTimes", 1);
    expect((await weir.call(token.key, chat("both"))).status).toBe(200);
    const { items } = await weir.root.ok<{ items: Row[] }>("GET", "/api/log/?model_name=both&type=2");
    const other = JSON.parse(String(items[0]?.other)) as { admin_info?: { use_channel?: unknown[] } };
    // spec: C-214, C-285
    expect(other.admin_info?.use_channel?.map(Number)).toEqual([failing, second]);
    await weir.setOption("RetryTimes", 0);
  });

  test("a call moves the counters of user, token and channel, and its row has the formula's figures (C-224, C-251, C-627, C-269 to C-282)", async () => {
    const caller = await weir.newUser({ quota: 1_000_000 });
    const { id: tokenId, key } = await weir.newToken({ quota: 500_000, name: "counted" }, caller);
    const before = await weir.root.ok<Row>("GET", `/api/channel/${id}`);
    expect((await weir.call(key, chat("echo", { stream: true }))).status).toBe(200);
    const row = await weir.waitForLog((log) => log.token_name === "counted");
    const { items } = await caller.ok<{ items: Row[] }>("GET", "/api/log/self/");
    const shown = items[0];
    // spec: C-356
    // spec: C-269, C-272, C-275
    expect({ ...shown }).toMatchObject({
      type: 2,
      username: caller.username,
      user_id: caller.id,
      token_name: "counted",
      group: "default",
      model_name: "echo",
      is_stream: true,
      prompt_tokens: expect.any(Number),
      completion_tokens: expect.any(Number),
      content: "模型倍率 15，补全倍率 2，分组倍率 1",
    });
    // spec: C-271
    expect(Number.isInteger(shown?.use_time)).toBe(true);
    // spec: C-627
    // spec: C-274
    expect(shown?.quota).toBe(15 * (Number(shown?.prompt_tokens) + 2 * Number(shown?.completion_tokens)));
    const other = JSON.parse(String(shown?.other)) as Record<string, unknown>;
    // spec: C-278, C-279, C-280, C-281, C-282
    expect({ ...other }).toMatchObject({
      group: "default",
      model_ratio: 15,
      completion_ratio: 2,
      model_price: -1,
      group_ratio: 1,
      frt: expect.any(Number),
    });
    // spec: C-285
    expect(other.admin_info).toBeUndefined();
    // spec: C-251
    expect(await caller.ok<Row>("GET", `/api/token/${tokenId}`)).toMatchObject({
      used_quota: row.quota,
      remain_quota: 500_000 - row.quota,
    });
    // spec
    expect(await caller.ok<Row>("GET", "/api/user/self")).toMatchObject({
      quota: 1_000_000 - row.quota,
      used_quota: row.quota,
      request_count: 1,
    });
    await Bun.sleep(1500);
    // spec: C-224
    expect(Number((await weir.root.ok<Row>("GET", `/api/channel/${id}`)).used_quota) - Number(before.used_quota)).toBe(
      row.quota,
    );
  });

  test("LogConsumeEnabled=false leaves out the visible row only (A-214, D-22)", async () => {
    const caller = await weir.newUser({ quota: 1_000_000 });
    const { key } = await weir.newToken({ name: "unseen" }, caller);
    await weir.setOption("LogConsumeEnabled", false);
    expect((await weir.call(key, chat("echo"))).status).toBe(200);
    expect((await weir.call(key, chat("nobody-has-it"))).status).toBe(404);
    await weir.setOption("LogConsumeEnabled", true);
    // spec: A-214, D-22
    expect((await caller.ok<{ items: Row[] }>("GET", "/api/log/self/")).items).toEqual([]);
    expect((await caller.ok<{ items: Row[] }>("GET", "/api/log/self/?type=5")).items.map((row) => row.type)).toEqual([
      5,
    ]);
    const { request_count, used_quota } = await caller.ok<Row>("GET", "/api/user/self");
    // spec: A-214
    expect([request_count, Number(used_quota) > 0]).toEqual([1, true]);
    // spec: D-22
    expect(await weir.audit()).toEqual([]);
  });

  test("model calls never go by way of the worker that fetches what users name (D-25)", async () => {
    let asked = 0;
    const worker = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(String(++asked)) });
    await weir.setOption("WorkerUrl", `http://127.0.0.1:${worker.port}/`);
    const { key } = await weir.newToken({}, user);
    expect((await weir.call(key, chat("echo"))).status).toBe(200);
    // spec: D-25
    expect(asked).toBe(0);
    await weir.setOption("WorkerUrl", "");
    await worker.stop(true);
  });

  test("types without a chat test say so with a time (C-509)", async () => {
    for (const type of [2, 5, 36, 50]) {
      const made = await weir.newChannel({
        type,
        base_url: fake.url,
        models: ["m"],
        key: type === 50 ? "a|b" : "k",
        name: `t${type}`,
      });
      const { status, body } = await weir.root.api("GET", `/api/channel/test/${made}`);
      expect(status).toBe(200);
      // spec: C-509
      expect(body).toMatchObject({ success: false, message: expect.any(String), time: expect.any(Number) });
      await weir.root.ok("DELETE", `/api/channel/${made}`);
    }
  });
});

describe("tokens", () => {
  test("one plain name and random suffixes; fields not to be set are ignored (C-536, C-615)", async () => {
    const row = await user.ok<Row>("POST", "/api/token/", {
      name: "mine",
      key: "x".repeat(48),
      user_id: 1,
      used_quota: 5,
      id: 77,
    });
    // spec: C-536
    expect(row).toMatchObject({ user_id: user.id, used_quota: 0, remain_quota: 500_000, expired_time: -1 });
    expect(row.key).not.toBe("x".repeat(48));
  });

  test("only its owner reaches a token by its id, administrators excluded (C-462, C-119)", async () => {
    const { id } = await weir.newToken({}, user);
    for (const [method, path, body] of [
      ["GET", `/api/token/${id}`, undefined],
      ["PUT", "/api/token/", { id, name: "stolen" }],
      ["PUT", "/api/token/?status_only=true", { id, status: 2 }],
      ["DELETE", `/api/token/${id}/`, undefined],
    ] as const) {
      const answer = await weir.root.api(method, path, body);
      // spec: C-462
      // spec: C-119
      expect([answer.status, answer.body.success]).toEqual([200, false]);
    }
    // spec: C-462
    expect(await user.ok<Row>("GET", `/api/token/${id}`)).toMatchObject({ name: "test", status: 1 });
  });

  test("names, quotas and expiries that are refused, in the caller's language (C-423 to C-430)", async () => {
    for (const body of [
      {},
      { name: "" },
      { name: "a".repeat(51) },
      { name: "n", remain_quota: 1.5 },
      { name: "n", remain_quota: -1 },
      { name: "n", expired_time: "tomorrow" },
      { name: 5, remain_quota: {} },
      { name: "n", allow_ips: "1.2.3.4\n999.1.1.1" },
    ]) {
      const zh = await user.api("POST", "/api/token/", body);
      const en = await user.api("POST", "/api/token/", body, { "accept-language": "en" });
      // spec: C-423, C-424, C-427, C-429, C-430, C-590
      expect([zh.status, zh.body.success, en.body.success]).toEqual([200, false, false]);
      expect(zh.body.message).toMatch(/[一-鿿]/);
      expect(en.body.message).not.toMatch(/[一-鿿]/);
    }
    // spec: C-427
    expect((await user.api("POST", "/api/token/", { name: "n", expired_time: "tomorrow" })).body.message).toBe(
      "过期时间格式错误！",
    );
    expect(
      (await user.api("POST", "/api/token/", { name: "n", allow_ips: "1.2.3.4\n999.1.1.1" })).body.message,
    ).toContain("2");
    // spec: C-428
    expect(await user.ok<Row>("POST", "/api/token/", { name: "a".repeat(50), expired_time: 5 })).toMatchObject({
      status: 3,
    });
  });

  test("expired, exhausted, disabled, unknown: refused at the relay with the right status and reason (C-254, C-592 to C-597)", async () => {
    const why = async (key: string, body: object = chat("echo")) => {
      const answer = await weir.call(key, body, { headers: { "accept-language": "zh" } });
      const { error } = (await answer.json()) as { error: { message: string; code: string } };
      return [answer.status, error.code, /[一-鿿]/.test(error.message)];
    };
    const past = await weir.newToken({ expired_time: 1000 }, user);
    const empty = await weir.newToken({ quota: 0 }, user);
    const little = await weir.newToken({ quota: 1 }, user);
    const poor = await weir.newToken({}, await weir.newUser());
    const fine = await weir.newToken({}, user);
    // spec: C-592
    // spec: C-254
    expect(await why(past.key)).toEqual([401, "token_expired", true]);
    // spec: C-593
    expect(await why(empty.key)).toEqual([429, "insufficient_quota", true]);
    // spec: C-594
    expect(await why(`sk-${"z".repeat(48)}`)).toEqual([401, "token_invalid", true]);
    await weir.priceModels({ echo: 15, slow: 1, nobody: 1 }, { echo: 2, slow: 1, nobody: 1 });
    // spec: C-596
    expect(await why(little.key)).toEqual([429, "insufficient_quota", true]);
    // spec: C-595
    expect(await why(poor.key)).toEqual([429, "insufficient_quota", true]);
    // spec: C-597
    expect(await why(fine.key, chat("nobody"))).toEqual([404, "model_not_found", true]);
    await weir.root.ok("PUT", "/api/option/", { key: "QuotaRefused403Enabled", value: "true" });
    expect(await why(empty.key)).toEqual([401, "token_exhausted", true]);
    expect(await why(little.key)).toEqual([403, "insufficient_token_quota", true]);
    expect(await why(poor.key)).toEqual([403, "insufficient_user_quota", true]);
    await weir.root.ok("PUT", "/api/option/", { key: "QuotaRefused403Enabled", value: "false" });
  });

  test("expiry moves on, and the token reads 1 again without an enable (C-348)", async () => {
    const { id, key } = await weir.newToken({ expired_time: 1000 }, user);
    await user.ok("PUT", "/api/token/", { id, expired_time: -1 });
    // spec: C-348
    expect(await user.ok<Row>("GET", `/api/token/${id}`)).toMatchObject({ status: 1 });
    // spec: C-348
    expect((await weir.call(key, chat("echo"))).status).toBe(200);
    // spec: C-348
    expect((await user.api("PUT", "/api/token/?status_only=true", { id, status: 4 })).body.success).toBe(false);
  });

  test("a group's channels and ratio serve the token of that group; auto walks AutoGroups (C-259, A-195)", async () => {
    await weir.setOption("GroupRatio", { default: 1, vip: 2, svip: 1 });
    const channel = await weir.newChannel({
      base_url: fake.url,
      models: ["viponly"],
      group: "vip",
      model_mapping: '{"viponly":"echo"}',
    });
    await weir.priceModels({ echo: 15, viponly: 1 }, { echo: 2, viponly: 1 });
    const plain = await weir.newToken({ name: "plain" }, user);
    const vip = await weir.newToken({ name: "vip", group: "vip" }, user);
    // spec: C-259
    expect((await weir.call(plain.key, chat("viponly"))).status).toBe(404);
    expect((await weir.call(vip.key, chat("viponly"))).status).toBe(200);
    const row = await weir.waitForLog((log) => log.token_name === "vip");
    expect(row.group).toBe("vip");
    // spec: C-272
    expect(row.is_stream).toBe(false);
    // spec: C-259
    expect(JSON.parse(row.other)).toMatchObject({ group: "vip", group_ratio: 2 });
    expect(row.quota).toBe(2 * (row.prompt_tokens + row.completion_tokens));
    await weir.setOption("AutoGroups", ["default", "vip"]);
    await weir.setOption("UserUsableGroups", { default: "d", vip: "v", auto: "a" });
    const auto = await weir.newToken({ name: "auto", group: "auto" }, user);
    // spec: A-195
    expect((await weir.call(auto.key, chat("viponly"))).status).toBe(200);
    const served = await weir.waitForLog((log) => log.token_name === "auto");
    expect(served.quota).toBe(2 * (served.prompt_tokens + served.completion_tokens));
    expect(JSON.parse(served.other)).toMatchObject({ group_ratio: 2 });
    await weir.root.ok("DELETE", `/api/channel/${channel}`);
  });

  test("models the caller may use (A-436, C-487)", async () => {
    // spec, C-487
    expect(await user.ok<string[]>("GET", "/api/user/models")).toEqual(expect.arrayContaining(["echo", "slow"]));
  });
});
