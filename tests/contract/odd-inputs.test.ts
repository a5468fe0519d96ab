/** Inputs that old front-ends send: nulls, NaN, floats, numbers as strings, echoed objects. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { isHidden, optionKeys } from "../../src/shared/options";
import { startWeir, type Weir } from "../kit/weir";

let weir: Weir;
beforeAll(async () => {
  weir = await startWeir();
});
afterAll(() => weir?.stop());

type Row = Record<string, unknown> & { id: number };

const channel = {
  name: "one",
  type: 1,
  key: "sk-upstream",
  base_url: "https://one.example/",
  models: "gpt-4o,gpt-4o-mini",
  group: "default",
};

describe("lists", () => {
  test("channels and tokens are bare arrays from p=0; odd pages and sizes fall back", async () => {
    await weir.newChannel({ ...channel, models: ["gpt-4o"] });
    await weir.newToken();
    for (const path of ["/api/channel/", "/api/token/"]) {
      for (const query of [
        "",
        "?p=0&page_size=10&size=10",
        "?p=-1",
        "?p=abc&size=NaN",
        "?p=null",
        "?p=0&size=0",
        "?p=0&page_size=99999",
      ]) {
        const data = await weir.root.ok("GET", path + query);
        // spec: C-481, C-482
        expect(data).toBeArray();
      }
      // spec: C-482
      expect(await weir.root.ok<Row[]>("GET", `${path}?p=7`)).toEqual([]);
    }
  });

  test("logs are page objects from p=1, and p=0 means page 1", async () => {
    for (const path of ["/api/log/", "/api/log/self/"]) {
      for (const query of ["?p=0", "?p=1", "", "?p=NaN&page_size=10&type=0"]) {
        // spec: C-481, C-482
        expect(await weir.root.ok("GET", path + query)).toMatchObject({ items: [], page: 1, total: 0, page_size: 10 });
      }
    }
  });

  test("empty, null, undefined and NaN mean no filter", async () => {
    const all = await weir.root.ok<Row[]>("GET", "/api/channel/search?keyword=&group=&model=");
    expect(all).toHaveLength(1);
    for (const query of [
      "group=null",
      "group=undefined&model=null",
      "keyword=&group=null&model=&id_sort=false&tag_mode=false",
    ]) {
      expect(await weir.root.ok<Row[]>("GET", `/api/channel/search?${query}`)).toHaveLength(1);
    }
    const log =
      "/api/log/?p=1&page_size=10&type=0&username=&token_name=&model_name=&start_timestamp=NaN&end_timestamp=NaN&channel=&group=null";
    expect(await weir.root.ok("GET", log)).toMatchObject({ total: 0 });
    expect(await weir.root.ok("GET", log.replace("/log/?", "/log/stat?"))).toEqual({ quota: 0, rpm: 0, tpm: 0 });
  });
});

describe("echoes", () => {
  test("a channel takes back everything it gave, keeps its key for an empty one, and trims its address", async () => {
    const [row] = await weir.root.ok<Row[]>("GET", "/api/channel/");
    // spec: A-379, C-208
    expect(row?.base_url).toBe("https://one.example");
    for (const name of [
      "name",
      "base_url",
      "other",
      "models",
      "group",
      "model_mapping",
      "tag",
      "other_info",
      "test_model",
    ]) {
      // spec: C-203, C-209, C-210, C-213, C-219, C-229
      expect(row?.[name]).toBeString();
    }
    for (const name of ["status", "response_time", "used_quota", "balance", "priority", "weight", "auto_ban"]) {
      // spec: C-203, C-225
      expect(row?.[name]).toBeNumber();
    }
    expect(JSON.stringify(row)).not.toContain("sk-upstream");
    const odd = {
      ...row,
      key: "",
      test_time: 1795217368.689,
      created_time: null,
      weight: "3",
      unknown: { deep: [1] },
      groups: ["default"],
    };
    await weir.root.ok("PUT", "/api/channel/", odd);
    const after = await weir.root.ok<Row>("GET", `/api/channel/${row?.id}`);
    // spec: C-227, C-228
    expect(after).toMatchObject({
      name: "one",
      weight: 3,
      models: "gpt-4o",
      created_time: row?.created_time,
      test_time: 0,
    });
  });

  test("one field at a time: status, priority, weight", async () => {
    const [row] = await weir.root.ok<Row[]>("GET", "/api/channel/");
    const id = row?.id;
    // spec: C-502
    expect(await weir.root.ok<Row>("PUT", "/api/channel/", { id, status: 2 })).toMatchObject({ status: 2 });
    await weir.root.ok("PUT", "/api/channel/", { id, priority: 5 });
    await weir.root.ok("PUT", "/api/channel/", { id, weight: "7" });
    await weir.root.ok("PUT", "/api/channel/", { id, status: 1 });
    const after = await weir.root.ok<Row>("GET", `/api/channel/${id}/`);
    // spec: C-502..C-504
    expect(after).toMatchObject({ status: 1, priority: 5, weight: 7, name: "one", models: "gpt-4o" });
  });

  test("a copied channel never gets its id as its key", async () => {
    const [row] = await weir.root.ok<Row[]>("GET", "/api/channel/");
    const { id, ...rest } = row ?? { id: 0 };
    const copy = { ...rest, name: "one_复制", created_time: null, balance: 0, used_quota: 0, key: String(id) };
    const answer = await weir.root.api("POST", "/api/channel/", copy);
    expect(answer.status).toBe(200);
    const rows = await weir.db.q
      .select({ name: weir.db.t.channels.name, hash: weir.db.t.channels.key_hash })
      .from(weir.db.t.channels);
    const source = rows.find((r) => r.name === "one");
    // Either the real key was copied, or the call was refused with a reason.
    if (answer.body.success) expect(rows.find((r) => r.name === "one_复制")?.hash).toBe(source?.hash ?? "");
    else expect(rows).toHaveLength(1);
  });

  test("three keys, one a line, make three channels", async () => {
    const before = (await weir.root.ok<Row[]>("GET", "/api/channel/?page_size=100")).length;
    await weir.root.ok("POST", "/api/channel/", { ...channel, name: "many", key: "k-1\nk-2\r\n\nk-3" });
    // spec: C-206
    expect((await weir.root.ok<Row[]>("GET", "/api/channel/?page_size=100")).length).toBe(before + 3);
  });

  test("a token takes back everything it gave; allow_ips may be null", async () => {
    const { id } = await weir.newToken({ name: "echo", quota: 1000 });
    const row = await weir.root.ok<Row>("GET", `/api/token/${id}`);
    // spec: C-249
    expect(row.key).toMatch(/^[A-Za-z0-9]{48}$/);
    await weir.root.ok("PUT", "/api/token/", {
      ...row,
      allow_ips: null,
      expired_time: "-1",
      remain_quota: "2000",
      unknown: 1,
    });
    expect(await weir.root.ok<Row>("GET", `/api/token/${id}/`)).toMatchObject({
      remain_quota: 2000,
      expired_time: -1,
      name: "echo",
    });
    const status = await weir.root.ok<Row>("PUT", "/api/token/?status_only=true", { id, status: 2, name: "renamed" });
    // spec: C-538
    expect(status).toMatchObject({ status: 2 });
    // spec: C-538
    expect(await weir.root.ok<Row>("GET", `/api/token/${id}`)).toMatchObject({
      status: 2,
      name: "echo",
      remain_quota: 2000,
    });
    await weir.root.ok("DELETE", `/api/token/${id}/`);
    expect((await weir.root.api("GET", `/api/token/${id}`)).body.success).toBe(false);
  });
});

describe("options", () => {
  test("text, number and boolean are stored as text; a missing value is the empty text", async () => {
    const valueOf = async (key: string) =>
      (await weir.root.ok<{ key: string; value: unknown }[]>("GET", "/api/option/")).find(
        (option) => option.key === key,
      )?.value;
    for (const [key, value, stored] of [
      ["RetryTimes", 3, "3"],
      ["RetryTimes", "2", "2"],
      ["DrawingEnabled", true, "true"],
      ["Notice", "你好", "你好"],
    ] as const) {
      await weir.root.ok("PUT", "/api/option/", { key, value });
      // spec: A-459, D-72
      expect(await valueOf(key)).toBe(stored);
    }
    await weir.root.ok("PUT", "/api/option/", { key: "Notice" });
    // spec: D-72
    expect(await valueOf("Notice")).toBe("");
  });

  test("every value is text, JSON options are JSON, and secrets are not there", async () => {
    const options = await weir.root.ok<{ key: string; value: unknown }[]>("GET", "/api/option/");
    // spec: A-457
    expect(options.filter((option) => typeof option.value !== "string")).toEqual([]);
    for (const key of [
      "ModelRatio",
      "CompletionRatio",
      "ModelPrice",
      "GroupRatio",
      "UserUsableGroups",
      "Chats",
      "TopupGroupRatio",
    ]) {
      const text = options.find((option) => option.key === key)?.value;
      expect(() => JSON.parse(String(text)) as unknown).not.toThrow();
    }
    // spec: D-28
    expect(options.filter((option) => /(Token|Secret|Key)$/.test(option.key)).map((option) => option.key)).toEqual([]);
  });

  test("every option that is not hidden is listed, and no other", async () => {
    const listed = (await weir.root.ok<{ key: string }[]>("GET", "/api/option/")).map(({ key }) => key);
    // spec: A-458
    expect(listed.toSorted()).toEqual(optionKeys.filter((key) => !isHidden(key)).toSorted());
  });

  test.each([
    // spec: A-383
    "TopupGroupRatio",
    // spec: A-384
    "PayMethods",
    "ModelPrice",
    "ModelRatio",
    "CompletionRatio",
    "GroupRatio",
    "UserUsableGroups",
    "GroupGroupRatio",
    "AutoGroups",
    "Chats",
  ])("%s is refused where it is no JSON, and keeps its value", async (key) => {
    const valueOf = async () =>
      (await weir.root.ok<{ key: string; value: string }[]>("GET", "/api/option/")).find((row) => row.key === key)
        ?.value;
    const before = await valueOf();
    const { body } = await weir.root.api("PUT", "/api/option/", { key, value: "{" });
    // spec, D-48
    expect([body.success, body.message]).toEqual([false, expect.stringContaining("不是合法的 JSON 字符串")]);
    expect(await valueOf()).toBe(before);
  });

  test.each([
    // spec: A-399
    ["TurnstileCheckEnabled", ["TurnstileSiteKey", "TurnstileSecretKey"]],
    // spec: A-400
    ["GitHubOAuthEnabled", ["GitHubClientId", "GitHubClientSecret"]],
    // spec: A-401
    ["WeChatAuthEnabled", ["WeChatServerAddress", "WeChatServerToken"]],
    ["LinuxDOOAuthEnabled", ["LinuxDOClientId", "LinuxDOClientSecret"]],
    ["TelegramOAuthEnabled", ["TelegramBotToken", "TelegramBotName"]],
    ["EmailVerificationEnabled", ["SMTPServer"]],
  ] as const)("%s stays off until %j are filled in", async (key, needs) => {
    const { body } = await weir.root.api("PUT", "/api/option/", { key, value: "true" });
    // spec: A-399..A-401, D-49
    expect(body.success).toBe(false);
    for (const needed of needs) {
      // spec: A-399..A-401, D-49
      expect(body.message).toContain(needed);
    }
  });

  test("the whitelist of mail domains has to name one before it counts", async () => {
    await weir.root.ok("PUT", "/api/option/", { key: "EmailDomainWhitelist", value: "" });
    const { body } = await weir.root.api("PUT", "/api/option/", { key: "EmailDomainRestrictionEnabled", value: true });
    // spec: D-49
    expect([body.success, body.message]).toEqual([false, expect.stringContaining("EmailDomainWhitelist")]);
  });

  test("JSON of the wrong shape is refused with its line and key, and is not called broken", async () => {
    for (const [key, value, words] of [
      ["ModelRatio", "[]", "必须是 JSON 对象"],
      ["ModelRatio", '{\n"m": "1"}', "第 2 行“m”"],
      ["ModelRatio", '{"m": -1}', "第 1 行“m”"],
      ["GroupRatio", '{\n\n"vip": -2}', "第 3 行“vip”"],
    ]) {
      const { body } = await weir.root.api("PUT", "/api/option/", { key, value });
      // spec: D-51
      expect([value, body.success, body.message]).toEqual([value, false, expect.stringContaining(words ?? "")]);
      expect(body.message).not.toContain("不是合法的 JSON");
    }
  });

  test("an unknown key and a value of the wrong form are refused with a text", async () => {
    for (const body of [
      { key: "Nonsense", value: "1" },
      { key: "", value: "" },
      {},
      { key: "RetryTimes", value: "many" },
      { key: "ModelRatio", value: "{" },
    ]) {
      const { status, body: answer } = await weir.root.api("PUT", "/api/option/", body);
      expect(status).toBe(200);
      // spec: A-460
      expect(answer).toMatchObject({ success: false, message: expect.any(String) });
    }
  });
});
