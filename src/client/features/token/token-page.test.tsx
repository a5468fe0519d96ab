/** The list of tokens and the form of a new one, as they stand on the screen, with fake answers of the server. */
import "../../../../tests/dom";
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import type { TokenView } from "../../../shared/token";

const { closePage, openPage, screen, waitFor } = await import("../../../../tests/kit/client-page");
const { within } = await import("@testing-library/react");
const { clearUser, storeUser } = await import("../../lib/session");
const { default: TokenPage } = await import("./token-page");
const { loadStatus } = await import("../../lib/status");
const { timeZoneName } = await import("./expiry-field");
const { parseExpiry } = await import("./token-values");

// Slow while other test files run.
setDefaultTimeout(30_000);

beforeEach(() => storeUser({ id: 7, username: "ann", display_name: "ann", role: 1, status: 1, group: "default" }));
afterEach(() => {
  clearUser();
  closePage();
});

const row = (id: number, fields: Partial<TokenView> = {}): TokenView => ({
  id,
  user_id: 7,
  name: `token ${id}`,
  key_hint: "AbCdEfGh…wxyz",
  status: 1,
  remain_quota: 250_000,
  used_quota: 0,
  unlimited_quota: false,
  expired_time: -1,
  created_time: 1,
  accessed_time: 0,
  model_limits_enabled: false,
  model_limits: "",
  allow_ips: "",
  deny_ips: "",
  group: "",
  rpm: 0,
  tpm: 0,
  concurrency: 0,
  budget_day: 0,
  budget_month: 0,
  mj_mode: "",
  ...fields,
});

const open = (rows: readonly TokenView[], address = "/token") =>
  openPage(<TokenPage />, address, {
    procedures: {
      "token.list": () => ({ items: rows, page: 1, page_size: 10, total: rows.length }),
      "group.own": () => ({ default: { desc: "d", ratio: 1 } }),
      "group.models": () => ["gpt-4o"],
    },
  });

test("each status has its word in the list, and limited models a note", async () => {
  await open([
    row(1),
    row(2, { status: 2 }),
    row(3, { status: 3 }),
    row(4, { status: 4 }),
    row(5, { status: 9 }),
    row(6, { model_limits_enabled: true, model_limits: "gpt-4o" }),
  ]);
  await screen.findByText("token 1");
  const line = (id: number) => within(screen.getByText(`token ${id}`).closest("tr") ?? document.body);
  for (const [id, word] of [
    [1, "已启用"],
    [2, "已禁用"],
    [3, "已过期"],
    [4, "已耗尽"],
    [5, "未知"],
    [6, "已启用"],
  ] as const)
    // spec: C-340, C-342..C-344
    expect([id, line(id).queryByText(word)?.textContent]).toEqual([id, word]);
  // spec: C-341
  expect(line(6).getByText("限制模型")).toBeDefined();
  expect(line(1).queryByText("限制模型")).toBeNull();
});

test("the form of a new token starts with a dollar, without an end, and makes one", async () => {
  await open([], "/token?edit=new");
  const form = within(await screen.findByRole("dialog"));
  const value = (label: string | RegExp) => form.getByLabelText<HTMLInputElement>(label).value;
  // spec: C-613
  expect([value("令牌额度"), form.getByText("500,000 额度").textContent]).toEqual(["1", "500,000 额度"]);
  expect(value("过期时间")).toBe("-1");
  // spec: C-616
  expect(value("数量")).toBe("1");
});

test("what -1 means and that a token stops at its quota stand beside their fields", async () => {
  const { user } = await open([], "/token?edit=new");
  const form = within(await screen.findByRole("dialog"));
  const expires = form.getByLabelText<HTMLInputElement>("过期时间");
  const meaning = () => expires.parentElement?.querySelector("output")?.textContent;
  expect(meaning()).toBe("永不过期");
  await user.click(form.getByRole("button", { name: "1 小时" }));
  expect(meaning()).toMatch(/小时|分钟/);
  expect(form.getByLabelText("令牌额度").getAttribute("aria-describedby")).not.toBeNull();
  expect(form.getByText("令牌最多可用这么多；实际消费仍受账户余额限制。")).toBeDefined();
});

test("1, 10, 20, 30 and 100 tokens are a press away, and any other number may be typed", async () => {
  const { user } = await open([], "/token?edit=new");
  const form = within(await screen.findByRole("dialog"));
  const count = form.getByLabelText<HTMLInputElement>("数量");
  for (const choice of ["10", "20", "30", "100", "1"]) {
    await user.click(form.getByRole("button", { name: choice }));
    // spec: C-614, C-616
    expect(count.value).toBe(choice);
  }
  await user.clear(count);
  await user.type(count, "7");
  // spec: C-616
  expect(count.value).toBe("7");
});

test("never, an hour, a day and a month from now are a press away, in the browser's time zone, which is named", async () => {
  const { user } = await open([], "/token?edit=new");
  const form = within(await screen.findByRole("dialog"));
  const field = form.getByLabelText<HTMLInputElement>("过期时间");
  for (const [name, seconds] of [
    ["1 小时", 3600],
    ["1 天", 86_400],
    ["1 个月", 30 * 86_400],
  ] as const) {
    await user.click(form.getByRole("button", { name }));
    // spec: C-426
    expect(field.value).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
    // spec: C-618..C-620
    expect([name, Math.abs((parseExpiry(field.value) ?? 0) - Date.now() / 1000 - seconds) < 30]).toEqual([name, true]);
  }
  await user.click(form.getByRole("button", { name: "永不过期" }));
  // spec: C-617
  expect(field.value).toBe("-1");
  const hint = document.getElementById(field.getAttribute("aria-describedby") ?? "");
  // spec: C-428
  expect(hint?.textContent).toContain(timeZoneName());
  expect(timeZoneName()).toContain(Intl.DateTimeFormat().resolvedOptions().timeZone);
});

test("an unlimited token has no quota and no number to type; models are chosen once they are limited", async () => {
  const { user } = await open([], "/token?edit=new");
  const form = within(await screen.findByRole("dialog"));
  const disabled = (label: string) => form.getByLabelText<HTMLInputElement>(label).disabled;
  expect([disabled("令牌额度"), disabled("数量"), disabled("可用模型")]).toEqual([false, false, true]);
  await user.click(form.getByRole("switch", { name: "无限额度" }));
  // spec: C-432, C-433
  expect([disabled("令牌额度"), disabled("数量")]).toEqual([true, true]);
  await user.click(form.getByRole("switch", { name: "限制模型" }));
  // spec: C-434
  expect(disabled("可用模型")).toBe(false);
});

test("copying with nothing selected says so", async () => {
  const { Toasts } = await import("../../components/toasts");
  const { user } = await openPage(
    <>
      <TokenPage />
      <Toasts />
    </>,
    "/token",
    { procedures: { "token.list": () => ({ items: [row(1)], page: 1, page_size: 10, total: 1 }) } },
  );
  await screen.findByText("token 1");
  await user.click(screen.getByRole("button", { name: "复制所选" }));
  // spec: C-435
  expect(await screen.findByText("请至少选择一个令牌！")).toBeDefined();
});

test("the first form after a page load begins with the group auto where that is the default of new tokens", async () => {
  const groups = Promise.withResolvers<object>();
  let status: object = { default_use_auto_group: true };
  const { user, calls } = await openPage(<TokenPage />, "/token", {
    procedures: {
      "token.list": () => ({ items: [], page: 1, page_size: 10, total: 0 }),
      "group.own": () => groups.promise,
      "group.models": () => [],
      "token.create": () => [],
    },
    paths: { "/api/status": () => Response.json({ success: true, message: "", data: status }) },
  });
  await loadStatus();
  const [add] = await screen.findAllByRole("button", { name: "添加令牌" });
  await user.click(add ?? document.body);
  await screen.findByRole("dialog", { name: "添加令牌" });
  groups.resolve({ default: { desc: "d", ratio: 1 }, auto: { desc: "a", ratio: 1 } });
  await user.type(await screen.findByLabelText(/^名称/), "first");
  await user.click(screen.getByRole("button", { name: /^创建/ }));
  await waitFor(() =>
    // spec: A-196, C-260
    expect(calls.find(({ path }) => path === "token.create")?.input).toMatchObject({ name: "first", group: "auto" }),
  );
  status = {};
  await loadStatus();
});

test("a double click on Create, or Enter twice, makes one token", async () => {
  const { user, calls } = await openPage(<TokenPage />, "/token?edit=new", {
    procedures: {
      "token.list": () => ({ items: [], page: 1, page_size: 10, total: 0 }),
      "group.own": () => ({ default: { desc: "d", ratio: 1 } }),
      "group.models": () => [],
      // Never answered: the network is slow.
      "token.create": () => new Promise(() => undefined),
    },
  });
  await user.type(await screen.findByLabelText(/^名称/), "once{Enter}{Enter}");
  await user.dblClick(screen.getByRole("button", { name: /^创建/ }));
  await waitFor(() => expect(calls.some(({ path }) => path === "token.create")).toBe(true));
  expect(calls.filter(({ path }) => path === "token.create")).toHaveLength(1);
});
