import "../../../../tests/dom";
import { afterEach, expect, setDefaultTimeout, spyOn, test } from "bun:test";
import { defaultText, defaultValue, option, optionKeys } from "../../../shared/options";
import { priceTableKeys } from "../../../shared/pricing";
import type { Procedures } from "../../../../tests/kit/client-page";

const { act, within } = await import("@testing-library/react");
const { navigate } = await import("wouter/use-browser-location");
const { closePage, openPage, Refusal, screen, waitFor } = await import("../../../../tests/kit/client-page");
const { ConfirmHost } = await import("../../components/confirm");
const { Toasts } = await import("../../components/toasts");
const { clearUser, storeUser } = await import("../../lib/session");
const { default: SettingPage } = await import("./setting-page");

setDefaultTimeout(60_000);
afterEach(() => {
  clearUser();
  closePage();
});

/** A server that keeps what is set. */
function open(
  tab: string,
  {
    values = {},
    set = [],
    refuse = [],
    more = {},
  }: { values?: Record<string, string>; set?: string[]; refuse?: string[]; more?: Procedures } = {},
) {
  storeUser({ id: 1, username: "root", display_name: "", role: 100, status: 1, group: "default" });
  const texts: Record<string, string> = {
    ...Object.fromEntries(optionKeys.filter((key) => !option(key).secret).map((key) => [key, defaultText(key)])),
    ...values,
  };
  const procedures: Procedures = {
    "option.settings": () => ({ values: { ...texts }, set }),
    "option.set": ({ key, value }: { key: string; value: string }) => {
      if (refuse.includes(key)) throw new Refusal("database_unavailable");
      texts[key] = value;
      return undefined;
    },
    "import.reports": () => [{ id: 3, created_at: 1_760_000_000, source: "new-api:10402ed07feb" }],
    "import.report": ({ id }: { id: number }) => ({ text: `report ${id}: the books balance` }),
    ...more,
  };
  const paths = { "/api/status": () => Response.json({ success: true, message: "", data: {} }) };
  return openPage(
    <>
      <SettingPage />
      <ConfirmHost />
      <Toasts />
    </>,
    `/setting?tab=${tab}`,
    { procedures, paths },
  );
}
type Opened = Awaited<ReturnType<typeof open>>;
const sent = (page: Opened) => page.calls.filter(({ path }) => path === "option.set").map(({ input }) => input);
const retype = async (page: Opened, label: string, text: string) => {
  const field = screen.getByLabelText(label);
  await page.user.clear(field);
  if (text) await page.user.type(field, text);
};

test("a save without a change says so and makes no call; three changes are three calls of one key each", async () => {
  const page = await open("operation");
  const save = await screen.findByRole("button", { name: "保存额度设置" });
  await page.user.click(save);
  // spec: A-392, D-50
  expect(await screen.findByText("你似乎并没有修改什么")).toBeDefined();
  // spec: A-420
  expect(sent(page)).toEqual([]);
  await retype(page, "新用户初始额度", "10");
  await retype(page, "邀请人奖励额度", "20");
  await retype(page, "被邀请人奖励额度", "30");
  const requests: string[] = [];
  const send = globalThis.fetch;
  const watched = (...[target, init]: Parameters<typeof fetch>) => {
    requests.push(new URL(String(target instanceof Request ? target.url : target), location.href).pathname);
    return send(target, init);
  };
  globalThis.fetch = Object.assign(watched, { preconnect: send.preconnect });
  await page.user.click(save);
  await screen.findByText("保存成功");
  // spec: A-419, D-58
  expect(sent(page)).toEqual([
    { key: "QuotaForNewUser", value: "10" },
    { key: "QuotaForInviter", value: "20" },
    { key: "QuotaForInvitee", value: "30" },
  ]);
  // spec: D-58
  expect(requests.filter((path) => /option\.set(,|$)/.test(path))).toEqual(Array(3).fill("/trpc/option.set"));
});

test("a wrong number is refused at its field, and nothing of the card is sent", async () => {
  const page = await open("operation");
  await screen.findByRole("button", { name: "保存额度设置" });
  await retype(page, "新用户初始额度", "-1");
  await retype(page, "邀请人奖励额度", "20");
  await page.user.click(screen.getByRole("button", { name: "保存额度设置" }));
  await waitFor(() => expect(screen.getByLabelText("新用户初始额度").getAttribute("aria-invalid")).toBe("true"));
  expect(sent(page)).toEqual([]);
});

test("of three options one fails: it is named and stays unsaved, the others are saved", async () => {
  const page = await open("operation", { refuse: ["QuotaForInviter"] });
  const save = await screen.findByRole("button", { name: "保存额度设置" });
  await retype(page, "新用户初始额度", "10");
  await retype(page, "邀请人奖励额度", "20");
  await page.user.click(save);
  // spec: A-477
  expect(await screen.findByText(/部分保存失败，请重试：邀请人奖励额度/)).toBeDefined();
  expect(sent(page)).toHaveLength(2);
  // spec: A-477
  expect((await screen.findAllByText("1 项未保存")).length).toBeGreaterThan(0);
  expect(screen.getByLabelText<HTMLInputElement>("邀请人奖励额度").value).toBe("20");
});

test("when the only save fails it is said, and what was typed stays", async () => {
  const page = await open("operation", { refuse: ["QuotaForInviter"] });
  const save = await screen.findByRole("button", { name: "保存额度设置" });
  await retype(page, "邀请人奖励额度", "20");
  await page.user.click(save);
  // spec: A-478
  expect(await screen.findByText(/^保存失败，请重试/)).toBeDefined();
  expect(screen.getByLabelText<HTMLInputElement>("邀请人奖励额度").value).toBe("20");
});

test("what needs its configuration first stays off and says what is missing; payment wants the server's address", async () => {
  const page = await open("system");
  const github = await screen.findByRole("switch", { name: "允许 GitHub 登录" });
  await page.user.click(github);
  // spec: A-400
  expect(await screen.findByText(/无法启用，请先填写：.*GitHubClientId/)).toBeDefined();
  // spec: A-400
  expect(github.getAttribute("aria-checked")).toBe("false");
  await retype(page, "最低充值数量", "5");
  await page.user.click(screen.getByRole("button", { name: "保存支付设置" }));
  // spec: A-382
  expect(await screen.findByText(/请先填写并保存：.*ServerAddress/)).toBeDefined();
  // spec: A-382
  expect(sent(page)).toEqual([]);
});

test.each([
  // spec: A-399
  ["启用 Turnstile 校验", "TurnstileSecretKey"],
  // spec: A-401
  ["允许微信登录", "WeChatServerAddress"],
])("%s cannot be switched on while %s is missing", async (name, missing) => {
  const page = await open("system");
  const flag = await screen.findByRole("switch", { name: new RegExp(name) });
  await page.user.click(flag);
  // spec
  expect(await screen.findByText(new RegExp(`无法启用，请先填写：.*${missing}`))).toBeDefined();
  // spec
  expect(flag.getAttribute("aria-checked")).toBe("false");
});

test("turning password sign-in off asks for confirmation; cancelling leaves it on", async () => {
  const page = await open("system");
  const flag = await screen.findByRole("switch", { name: "允许密码登录" });
  await page.user.click(flag);
  await page.user.click(await screen.findByRole("button", { name: "取消" }));
  // spec: A-385
  expect(flag.getAttribute("aria-checked")).toBe("true");
  await page.user.click(flag);
  // spec: A-385, D-52
  expect(await screen.findByText(/weir rescue/)).toBeDefined();
  await page.user.click(screen.getByRole("button", { name: "关闭密码登录" }));
  await waitFor(() => expect(flag.getAttribute("aria-checked")).toBe("false"));
  // spec: A-385
  expect(sent(page)).toEqual([]);
  await page.user.click(screen.getByRole("button", { name: "保存登录与注册" }));
  // spec: D-52
  await waitFor(() => expect(sent(page)).toEqual([{ key: "PasswordLoginEnabled", value: "false" }]));
});

test("a secret is never shown: it says that it is set, takes another, and can be cleared", async () => {
  const page = await open("system", { set: ["SMTPToken"] });
  const field = await screen.findByLabelText<HTMLInputElement>("SMTP 密码");
  expect([field.value, field.type]).toEqual(["", "password"]);
  // spec: D-28
  expect(field.placeholder).toContain("已设置");
  await page.user.click(screen.getByRole("button", { name: "清除" }));
  await page.user.click(screen.getByRole("button", { name: "保存SMTP 发信" }));
  await screen.findByText("保存成功");
  // spec: D-28
  expect(sent(page)).toEqual([{ key: "SMTPToken", value: "" }]);
});

test("routing by score is a box of the group", async () => {
  const page = await open("operation", { values: { GroupRouting: '{"default":"score"}' } });
  const boxes = await screen.findAllByLabelText(/^按评分选路，第/);
  expect(boxes.map((box) => box.getAttribute("aria-checked"))).toEqual(["true", "false", "false"]);
  await page.user.click(screen.getByLabelText("按评分选路，第 2 行"));
  await page.user.click(screen.getByRole("button", { name: "保存分组设置" }));
  await screen.findByText("保存成功");
  const routing = JSON.stringify({ default: "score", vip: "score" }, null, 2);
  expect(sent(page)).toEqual([{ key: "GroupRouting", value: routing }]);
});

test("groups are edited as a table; a name given twice is not saved", async () => {
  const page = await open("operation", {
    values: { GroupRatio: '{"default":1,"vip":1}', UserUsableGroups: '{"default":"默认"}' },
  });
  const ratio = await screen.findByLabelText("倍率，第 2 行");
  await page.user.type(ratio, ".5");
  expect((ratio as HTMLInputElement).value).toBe("1.5");
  const name = screen.getByLabelText("名称，第 2 行");
  await page.user.clear(name);
  await page.user.type(name, "default");
  const save = screen.getByRole("button", { name: "保存分组设置" });
  await page.user.click(save);
  expect((await screen.findAllByText("分组名称重复：default")).length).toBeGreaterThan(0);
  expect(sent(page)).toEqual([]);
  await page.user.type(name, "2");
  await page.user.click(save);
  await screen.findByText("保存成功");
  expect(sent(page)).toEqual([{ key: "GroupRatio", value: JSON.stringify({ default: 1, default2: 1.5 }, null, 2) }]);
});

test("payment methods are edited as a table: added, moved, removed; a half-typed one stays and is not saved", async () => {
  const page = await open("system", {
    values: { ServerAddress: "https://x.example", PayMethods: '[{"name":"支付宝","type":"alipay","color":"#1677ff"}]' },
  });
  const table = within(await screen.findByRole("group", { name: "支付方式" }));
  await page.user.click(table.getByRole("button", { name: "添加一行" }));
  await page.user.type(table.getByLabelText("名称，第 2 行"), "大额");
  const save = screen.getByRole("button", { name: "保存支付设置" });
  await page.user.click(save);
  expect((await screen.findAllByText(/每一项须有 name、type、color/)).length).toBeGreaterThan(0);
  expect(sent(page)).toEqual([]);
  await page.user.type(table.getByLabelText("类型，第 2 行"), "bank");
  await page.user.type(table.getByLabelText("最低数量，第 2 行"), "50");
  await page.user.click(table.getByRole("button", { name: "上移第 2 行" }));
  await page.user.click(save);
  await screen.findByText("保存成功");
  const alipay = { name: "支付宝", type: "alipay", color: "#1677ff" };
  expect(sent(page)).toEqual([
    {
      key: "PayMethods",
      value: JSON.stringify([{ name: "大额", type: "bank", color: "", min_topup: 50 }, alipay], null, 2),
    },
  ]);
});

test("broken JSON is refused with its line before any call", async () => {
  const page = await open("operation");
  const field = await screen.findByLabelText("分组专属倍率");
  await page.user.clear(field);
  await page.user.paste("{\n  bad");
  // spec: A-386
  expect(await screen.findByText("不是合法的 JSON 字符串")).toBeDefined();
  expect(screen.getByText(/第 2 行第 \d+ 列/)).toBeDefined();
  await page.user.click(screen.getByRole("button", { name: "保存分组设置" }));
  // spec: A-386
  expect(sent(page)).toEqual([]);
});

test("a notice is previewed without its scripts", async () => {
  const page = await open("other", {
    values: { Notice: "**hello** <img src=x onerror=alert(1)><script>alert(2)</script>" },
  });
  await screen.findByLabelText("公告");
  const [first] = screen.getAllByRole("button", { name: "预览" });
  if (first) await page.user.click(first);
  expect((await screen.findByText("hello")).tagName).toBe("STRONG");
  // spec: D-18
  expect(page.container.querySelector("script")).toBeNull();
  // spec: D-18
  expect(page.container.querySelector("[onerror]")).toBeNull();
});

test("discovery fills the endpoints in and leaves saving to the operator; a failure says why and changes nothing", async () => {
  const endpoints = {
    authorization_endpoint: "https://id.example/auth",
    token_endpoint: "https://id.example/token",
    user_info_endpoint: "https://id.example/me",
  };
  const tryOidc = ({ address }: { address: string }) =>
    address === "https://id.example"
      ? { ok: true, issuer: "https://id.example", ...endpoints }
      : { ok: false, detail: "discovery: HTTP 404" };
  const page = await open("system", { more: { "identity.tryOidc": tryOidc } });
  const button = await screen.findByRole("button", { name: "发现端点" });
  expect(button).toHaveProperty("disabled", true);
  await retype(page, "Well-Known 地址", "https://other.example");
  await page.user.click(button);
  await screen.findByText("没有读到发现文档：discovery: HTTP 404");
  expect(screen.getByLabelText("令牌端点")).toHaveProperty("value", "");
  await retype(page, "Well-Known 地址", "https://id.example");
  await page.user.click(button);
  await screen.findByText("已读到 https://id.example 的端点，请保存");
  expect(
    ["授权端点", "令牌端点", "用户信息端点"].map((label) => screen.getByLabelText<HTMLInputElement>(label).value),
  ).toEqual(Object.values(endpoints));
  expect(sent(page)).toEqual([]);
});

test("the bot's name is Telegram's answer to its token, typed or saved", async () => {
  const tried: unknown[] = [];
  const tryTelegram = (input: { token: string }) => {
    tried.push(input);
    return input.token === "1:bad" ? { ok: false, detail: "Unauthorized" } : { ok: true, name: "weir_login_bot" };
  };
  const page = await open("system", {
    set: ["TelegramBotToken"],
    values: { TelegramBotName: "old_bot" },
    more: { "identity.tryTelegram": tryTelegram },
  });
  await page.user.click(await screen.findByRole("button", { name: "检查 Bot" }));
  await screen.findByText("令牌属于 @weir_login_bot");
  expect(screen.getByLabelText("Bot 名称")).toHaveProperty("value", "weir_login_bot");
  expect(tried).toEqual([{ token: "" }]);
  expect(sent(page)).toEqual([]);
});

test("where calls are never tried at another channel the first card suggests it: one press fills the field, another sends the hint away for good", async () => {
  const page = await open("operation", { values: { RetryTimes: "0" } });
  const hint = await screen.findByText(/不会换用其他渠道/);
  await page.user.click(within(hint.parentElement ?? document.body).getByRole("button", { name: "改为 3" }));
  await page.user.click(screen.getByRole("button", { name: "保存通用设置" }));
  await waitFor(() => expect(sent(page)).toEqual([{ key: "RetryTimes", value: "3" }]));
  closePage();

  const again = await open("operation", { values: { RetryTimes: "0" } });
  await again.user.click(await screen.findByRole("button", { name: "不再提示" }));
  expect(screen.queryAllByText(/不会换用其他渠道/)).toHaveLength(0);
  const kept = { ...localStorage };
  closePage();
  for (const [name, value] of Object.entries(kept)) localStorage.setItem(name, String(value));
  await open("operation", { values: { RetryTimes: "0" } });
  await screen.findByRole("button", { name: "保存通用设置" });
  expect(screen.queryAllByText(/不会换用其他渠道/)).toHaveLength(0);
});

test("an installation that tries other channels gets no such hint", async () => {
  await open("operation");
  await screen.findByRole("button", { name: "保存通用设置" });
  expect(screen.queryAllByText(/不会换用其他渠道/)).toHaveLength(0);
});

/** Requirement, card, title and some of the fields that it is there for. */
const CARDS = {
  operation: [
    ["A-133", "general", "通用设置", ["TopUpLink", "ChatLink", "QuotaPerUnit", "RetryTimes", "DefaultCollapseSidebar"]],
    ["A-134", "drawing", "绘图", ["DrawingEnabled", "MjNotifyEnabled", "MjActionCheckSuccessEnabled"]],
    ["A-135", "sensitive", "屏蔽词过滤", ["CheckSensitiveEnabled", "CheckSensitiveOnPromptEnabled", "SensitiveWords"]],
    ["A-136", "log", "日志设置", ["LogConsumeEnabled"]],
    ["A-137", "dashboard", "数据看板", ["DataExportEnabled", "DataExportInterval", "DataExportDefaultTime"]],
    ["A-138", "monitoring", "监控设置", ["ChannelDisableThreshold", "QuotaRemindThreshold"]],
    ["A-139", "quota", "额度设置", ["PreConsumedQuota", "QuotaForNewUser", "QuotaForInviter", "QuotaForInvitee"]],
    ["A-140", "chat", "聊天设置", []],
    ["A-141", "group", "分组设置", ["GroupGroupRatio", "AutoGroups", "DefaultUseAutoGroup"]],
  ],
  system: [
    ["A-145", "server", "服务器", ["ServerAddress"]],
    ["A-146", "worker", "Worker", ["WorkerUrl", "WorkerValidKey"]],
    ["A-147", "payment", "支付设置", ["PayAddress", "EpayId", "EpayKey", "CustomCallbackAddress", "Price", "MinTopUp"]],
    ["A-148", "login", "登录与注册", ["PasswordLoginEnabled", "RegisterEnabled", "GitHubOAuthEnabled"]],
    ["A-149", "email", "邮箱域名", ["EmailDomainRestrictionEnabled", "EmailDomainWhitelist"]],
    ["A-150", "smtp", "SMTP", ["SMTPServer", "SMTPPort", "SMTPAccount", "SMTPFrom", "SMTPToken", "SMTPSSLEnabled"]],
    ["A-151", "github", "GitHub", ["GitHubClientId", "GitHubClientSecret"]],
    ["A-152", "wechat", "微信服务器", ["WeChatServerAddress", "WeChatServerToken", "WeChatAccountQRCodeImageURL"]],
    ["A-153", "telegram", "Telegram", ["TelegramBotToken", "TelegramBotName"]],
    ["A-154", "turnstile", "Turnstile", ["TurnstileSiteKey", "TurnstileSecretKey"]],
    ["A-155", "linuxdo", "LinuxDO", ["LinuxDOClientId", "LinuxDOClientSecret"]],
  ],
  other: [
    [
      "A-157, A-158, A-160 to A-162",
      "content",
      "站点内容",
      ["Notice", "SystemName", "Logo", "HomePageContent", "About", "Footer"],
    ],
  ],
} as const;

test.each(["operation", "system", "other"] as const)(
  "a super administrator's tab %s has every card of the specification with its fields",
  async (tab) => {
    await open(tab);
    await screen.findAllByRole("button", { name: /^保存/ });
    // spec
    expect(location.search).toBe(`?tab=${tab}`);
    for (const [requirement, card, title, keys] of CARDS[tab]) {
      const section = document.getElementById(`card-${card}`);
      // spec: A-133..A-141, A-145..A-155, A-157, A-158, A-160..A-162
      expect([requirement, section?.getAttribute("aria-label")]).toEqual([requirement, expect.stringContaining(title)]);
      for (const key of keys) {
        const fields = within(section ?? document.body).queryAllByLabelText(new RegExp(`^${option(key).label.zh}`));
        // spec: A-133..A-141, A-145..A-155, A-157, A-158, A-160..A-162
        expect([requirement, key, fields.length > 0]).toEqual([requirement, key, true]);
      }
    }
    if (tab !== "operation") return;
    // spec: A-136
    expect(await screen.findByRole("button", { name: "清理日志" })).toBeDefined();
    // spec: A-140
    expect(await screen.findByRole("group", { name: "聊天链接" })).toBeDefined();
    // spec: A-141
    expect(await screen.findByLabelText("倍率，第 1 行")).toBeDefined();
  },
);

test("under the cards of operation are two tabs: the ratios of models as JSON, and the visual editor", async () => {
  const page = await open("operation", {
    more: {
      "option.list": () => [{ key: "ModelRatio", value: '{"gpt-4o":1.25}' }],
      "pricing.tables": () => ({
        ...Object.fromEntries(priceTableKeys.map((key) => [key, defaultValue(key)])),
        ModelRatio: { "gpt-4o": 1.25 },
      }),
      "channel.modelsEnabled": () => ["gpt-4o"],
    },
  });
  const tabs = within(await screen.findByRole("tablist", { name: "模型倍率" }));
  // spec
  expect(tabs.getAllByRole("tab").map((tab) => tab.textContent)).toEqual(["模型倍率设置", "可视化倍率设置"]);
  expect(await screen.findByText(/"gpt-4o": 1.25/)).toBeDefined();
  await page.user.click(tabs.getByRole("tab", { name: "可视化倍率设置" }));
  expect(await screen.findByText("gpt-4o")).toBeDefined();
});

test("a link to a setting shows its card, also within the page", async () => {
  const shown: string[] = [];
  const scroll = spyOn(Element.prototype, "scrollIntoView").mockImplementation(function (this: Element) {
    shown.push(this.id);
  });
  await open("operation#card-relay");
  await screen.findByRole("region", { name: "转发设置" });
  expect(shown).toEqual(["card-relay"]);
  act(() => navigate("/setting?tab=operation#card-quota"));
  expect(shown).toEqual(["card-relay", "card-quota"]);
  scroll.mockRestore();
});

test("the other settings explain the import command and show the report of each import", async () => {
  const page = await open("other");
  await screen.findByText("new-api:10402ed07feb");
  expect(screen.getByLabelText("1. 试运行").textContent).toContain("weir import");
  await page.user.click(screen.getByRole("button", { name: "查看报告" }));
  await screen.findByText("report 3: the books balance");
});
