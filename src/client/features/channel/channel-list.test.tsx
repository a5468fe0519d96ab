/** The list of channels: its columns, the actions of a row, and the toolbar. */
import "../../../../tests/dom";
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { ChannelView } from "../../../shared/channel";
import { type HealthSums, NO_CALLS } from "../../../shared/health";
import type { Procedures } from "../../../../tests/kit/client-page";

const { closePage, openPage, screen, waitFor } = await import("../../../../tests/kit/client-page");
const { within } = await import("@testing-library/react");
const { ConfirmHost } = await import("../../components/confirm");
const { Toasts } = await import("../../components/toasts");
const { clearUser, storeUser } = await import("../../lib/session");
const { formatTime } = await import("../../lib/format");
const { default: ChannelPage } = await import("./channel-page");

// Slow while other test files run.
setDefaultTimeout(30_000);

beforeEach(() => storeUser({ id: 1, username: "root", display_name: "root", role: 100, status: 1, group: "default" }));
afterEach(() => {
  clearUser();
  closePage();
});

const STOPPED_AT = 1_790_000_000;
const channel = (id: number, fields: Partial<ChannelView> = {}): ChannelView => ({
  id,
  type: 1,
  name: `channel ${id}`,
  key: "",
  base_url: "https://up.example",
  other: "",
  models: "gpt-4o,gpt-4o-mini",
  group: "default,vip",
  model_mapping: "",
  status_code_mapping: "",
  setting: "",
  param_override: "",
  header_override: "",
  test_model: "",
  auto_ban: 1,
  tag: "",
  priority: 3,
  weight: 4,
  openai_organization: "",
  max_input_tokens: 0,
  status: 1,
  response_time: 850,
  used_quota: 1_000_000,
  balance: 12.5,
  balance_updated_time: 1_790_000_000,
  test_time: 1_790_000_000,
  created_time: 1_790_000_000,
  other_info: "",
  draining_since: 0,
  drain_deadline: 0,
  multi_key_mode: "",
  balance_currency: "",
  ...fields,
});

const procedures = (rows: () => readonly ChannelView[]): Procedures => ({
  "channel.list": () => ({ items: rows(), page: 1, page_size: 10, total: rows().length }),
  "channel.tagPage": () => ({
    tags: [{ tag: "tagged", channels: rows() }],
    untagged: [],
    page: 1,
    page_size: 10,
    total: 1,
  }),
  "channel.health": () => ({}),
  "channel.run": () => null,
  "channel.models": () => [],
  "channel.tags": () => ["tagged"],
  "group.list": () => ["default", "vip"],
  "channel.update": (change: object) => ({ ...rows()[0], ...change }),
});

const open = (rows: () => readonly ChannelView[], address = "/channel", more: Procedures = {}) =>
  openPage(
    <>
      <ChannelPage />
      <ConfirmHost />
      <Toasts />
    </>,
    address,
    { procedures: { ...procedures(rows), ...more } },
  );
const rowOf = async (name: string) => {
  const row = (await screen.findByText(name)).closest<HTMLElement>("[data-row]");
  if (!row) throw new Error(`no row ${name}`);
  return row;
};
const cell = (row: HTMLElement, column: string) =>
  row.querySelector<HTMLElement>(`[data-column=${column}]`)?.textContent ?? `no column ${column}`;

describe("health", () => {
  test("a dot says in words how a channel does now, and its day's figures have courses that are read out", async () => {
    const hour = (index: number, more: Partial<HealthSums>) => ({ ...NO_CALLS, hour: index * 3600, ...more });
    const sums = { calls: 10, errors: 3, use_time: 20, completion_tokens: 500, first_token_ms: 8000, first_tokens: 8 };
    localStorage.setItem(
      "grid:channel",
      JSON.stringify({
        hidden: Object.fromEntries(["success", "first_token", "speed", "cost"].map((name) => [`health_${name}`, true])),
        order: [],
        widths: {},
        pinned: [],
      }),
    );
    const health = () => ({
      1: [hour(0, { calls: 10, use_time: 10, completion_tokens: 300 }), hour(1, {}), hour(2, sums), hour(3, {})],
      2: [hour(0, {}), hour(1, {}), hour(2, {}), hour(3, {})],
    });
    await open(() => [channel(1), channel(2)], "/channel", { "channel.health": health });
    const busy = within(await rowOf("channel 1"));
    await busy.findByRole("img", { name: "故障 · 近两小时 10 次调用，成功率 70.0%" });
    expect(cell(await rowOf("channel 1"), "health_success")).toContain("85.0%");
    busy.getByRole("img", { name: "最低 70.0%，最高 100.0%" });
    expect(cell(await rowOf("channel 1"), "health_first_token")).toContain("1.0 s");
    expect(cell(await rowOf("channel 1"), "health_speed")).toContain("26.7");
    busy.getByRole("img", { name: "最低 25，最高 30" });
    within(await rowOf("channel 2")).getByRole("img", { name: "没有调用 · 近两小时" });
    expect(cell(await rowOf("channel 2"), "health_speed")).toBe("—");
    localStorage.removeItem("grid:channel");
  });
});

describe("the columns", () => {
  test("say id, name, type, groups, state, response time, use and remainder, priority and weight of a channel", async () => {
    await open(() => [channel(12, { type: 3, group: "a,b" })]);
    const row = await rowOf("channel 12");
    const heads = screen.getAllByRole("columnheader").map((head) => head.textContent?.trim());
    expect(heads).toEqual(
      expect.arrayContaining(["ID", "名称", "类型", "分组", "状态", "响应时间", "已用 / 剩余", "优先级", "权重"]),
    );
    for (const [column, text] of [
      ["id", "12"],
      ["name", "channel 12"],
      ["type", "Azure OpenAI"],
      ["group", "ab"],
      ["status", "已启用"],
      ["response_time", "850 ms"],
      ["used", "$2.00 / $12.50"],
      ["priority", "3"],
      ["weight", "4"],
    ] as const)
      // spec: C-076, C-077, C-078, C-079, C-080, C-081, C-082, C-083, C-084
      expect([column, cell(row, column)]).toEqual([column, text]);
  });

  test("groups for which there is no room are counted, and all are named under the pointer", async () => {
    const { user } = await open(() => [channel(1, { group: "default,vip,svip" })]);
    const row = await rowOf("channel 1");
    expect(cell(row, "group")).toBe("default+2");
    await user.hover(within(row).getByText("+2"));
    // spec: C-078
    expect((await screen.findByRole("tooltip")).textContent).toBe("default, vip, svip");
  });

  test.each([
    [1, "已启用"],
    [2, "已禁用"],
    [3, "自动禁用"],
  ] as const)("a channel of status %d reads %s", async (status, word) => {
    await open(() => [channel(1, { status })]);
    // spec: C-321, C-322, C-323
    expect(cell(await rowOf("channel 1"), "status")).toBe(word);
  });

  test("an automatically disabled channel shows the reason and time in its tooltip", async () => {
    const other_info = JSON.stringify({ status_reason: "the key was refused", status_time: STOPPED_AT });
    const { user } = await open(() => [channel(1, { status: 3, other_info })]);
    await user.hover(within(await rowOf("channel 1")).getByText("自动禁用"));
    // spec: C-324
    expect((await screen.findByRole("tooltip")).textContent).toBe(`the key was refused (${formatTime(STOPPED_AT)})`);
  });
});

describe("a row", () => {
  const menuOf = async (user: Awaited<ReturnType<typeof open>>["user"], name: string) => {
    await user.click(within(await rowOf(name)).getByRole("button", { name: "行菜单" }));
    return (await screen.findAllByRole("menuitem")).map((item) => item.textContent?.replace(/[A-Z]$/, ""));
  };

  test.each([
    [1, "禁用", ["排空"]],
    [2, "启用", []],
    [3, "启用", []],
  ] as const)("of status %d offers test, detection, edit, copy, %s and deletion", async (status, turn, more) => {
    const { user } = await open(() => [channel(1, { status })]);
    // spec: C-087, C-089, C-090, C-091, C-092, C-093, C-325, C-326
    expect(await menuOf(user, "channel 1")).toEqual(["测试", "检测上游", "编辑", "复制", turn, ...more, "删除"]);
  });

  test("is drained in two clicks, then shows the calls that still run, and offers to end the drain", async () => {
    let draining_since = 0;
    const { user, calls } = await open(() => [channel(1, { draining_since })], "/channel", {
      "channel.drain": () => ((draining_since = 1), {}),
      "channel.drainState": () => ({ draining_since, drain_deadline: 0, running: 3, jobs: 0 }),
    });
    expect(await menuOf(user, "channel 1")).toContain("排空");
    await user.click(screen.getByRole("menuitem", { name: "排空" }));
    expect(await screen.findByText("排空中 · 3")).toBeDefined();
    expect(calls.find(({ path }) => path === "channel.drain")?.input).toMatchObject({ id: 1 });
  });

  test("offers each of its models for a test, and asks for the one that was chosen", async () => {
    const { user, calls } = await open(() => [channel(7)], "/channel", {
      "channel.test": () => ({ success: true, message: "", time: 0.5 }),
    });
    await user.click(within(await rowOf("channel 7")).getByRole("button", { name: "测试渠道 channel 7 的某个模型" }));
    // spec: C-088
    expect((await screen.findAllByRole("menuitem")).map((item) => item.textContent)).toEqual(["gpt-4o", "gpt-4o-mini"]);
    await user.click(screen.getByRole("menuitem", { name: "gpt-4o-mini" }));
    await waitFor(() =>
      expect(calls.find(({ path }) => path === "channel.test")?.input).toEqual({ id: 7, model: "gpt-4o-mini" }),
    );
  });
});

test("the list is asked for again when it is to be refreshed, and shows what changed meanwhile", async () => {
  let name = "before";
  const { user } = await open(() => [channel(1, { name })]);
  await rowOf("before");
  name = "after";
  await user.click(screen.getByRole("button", { name: "刷新" }));
  await rowOf("after");
  // spec: C-064
  expect(screen.queryByText("before")).toBeNull();
});

test("the toolbar offers the test of all, all balances, the repair and the deletion of the disabled", async () => {
  const { user } = await open(() => [channel(1)]);
  await rowOf("channel 1");
  await user.click(screen.getByRole("button", { name: "更多操作" }));
  const offered = (await screen.findAllByRole("menuitem")).map((item) => item.textContent);
  // spec: C-061, C-062, C-063, C-068
  expect(offered).toEqual(["测试所有渠道", "更新所有渠道余额", "路由预演…", "修复数据库一致性", "删除已禁用的渠道…"]);
});

test("the dialog of a tag has its name, models, groups, mapping, priority and weight", async () => {
  const { user, calls } = await open(() => [channel(1, { tag: "tagged" })], "/channel?tags=1");
  await user.click(within(await rowOf("tagged")).getByRole("button", { name: "行菜单" }));
  await user.click(await screen.findByRole("menuitem", { name: /编辑标签/ }));
  const dialog = within(await screen.findByRole("dialog", { name: "编辑标签 tagged" }));
  // spec: C-069
  expect(calls.some(({ path }) => path === "channel.tagPage")).toBe(true);
  // spec: C-073
  expect(dialog.getByRole<HTMLInputElement>("textbox", { name: "标签名称" }).value).toBe("tagged");
  for (const name of ["模型", "分组", "优先级", "权重", "模型映射"])
    // spec: C-097
    expect(dialog.getAllByLabelText(name).length).toBeGreaterThan(0);
});

test("a figure that is edited on a tag's row is that of all its channels", async () => {
  const rows = () => [channel(1, { tag: "tagged", weight: 1 }), channel(2, { tag: "tagged", weight: 2 })];
  const { user, calls } = await open(rows, "/channel?tags=1", { "channel.tagEdit": () => 2 });
  const row = await rowOf("tagged");
  // spec: C-075
  expect([cell(row, "priority"), cell(row, "weight"), cell(row, "used")]).toEqual(["3", "—", "$4.00 / $25.00"]);
  await user.click(within(row).getByRole("button", { name: "修改 tagged 的权重：—" }));
  await user.type(await screen.findByRole("textbox", { name: /^权重/ }), "25{Enter}");
  await waitFor(() =>
    // spec: C-075
    expect(calls.find(({ path }) => path === "channel.tagEdit")?.input).toEqual({ tag: "tagged", weight: 25 }),
  );
});

test("a tag's row unfolds into its channels", async () => {
  const rows = () => [channel(1, { tag: "tagged" }), channel(2, { tag: "tagged" })];
  const { user } = await open(rows, "/channel?tags=1");
  await user.click(await screen.findByRole("button", { name: "展开标签 tagged" }));
  await rowOf("channel 1");
  const names = [...document.querySelectorAll("[data-row] [data-column=name]")].map((name) => name.textContent);
  // spec: C-069, C-070
  expect(names).toEqual(["tagged（标签）", "channel 1", "channel 2"]);
});

test("the switch for batches shows a box at each row", async () => {
  const { user } = await open(() => [channel(1), channel(2)]);
  const row = await rowOf("channel 1");
  expect(within(row).queryByRole("checkbox")).toBeNull();
  await user.click(screen.getByRole("button", { name: "批量操作" }));
  const boxes = await screen.findAllByRole("checkbox", { name: /^选择第 \d 行$/ });
  // spec: C-065
  expect(boxes).toHaveLength(2);
});

test("one drawer holds the form of a new channel and that of a stored one, filled", async () => {
  const stored = channel(5, { name: "stored" });
  const more: Procedures = { "channel.get": () => stored };
  const { user } = await open(() => [stored], "/channel", more);
  await rowOf("stored");
  await user.click(screen.getByRole("button", { name: "添加渠道" }));
  const fresh = within(await screen.findByRole("dialog", { name: "添加渠道" }));
  // spec: C-060, C-096
  expect((await fresh.findByRole<HTMLInputElement>("textbox", { name: "名称" })).value).toBe("");
  closePage();
  await open(() => [stored], "/channel?edit=5", more);
  const filled = within(await screen.findByRole("dialog", { name: "编辑渠道 stored" }));
  // spec: C-092, C-096
  expect((await filled.findByRole<HTMLInputElement>("textbox", { name: "名称" })).value).toBe("stored");
  expect(filled.getByRole<HTMLInputElement>("textbox", { name: "接口地址" }).value).toBe("https://up.example");
});

test("the form on a page of its own is filled with the channel of the address", async () => {
  const stored = channel(5, { name: "stored" });
  const { calls } = await open(() => [stored], "/channel/edit/5", { "channel.get": () => stored });
  // spec: C-026
  expect((await screen.findByRole<HTMLInputElement>("textbox", { name: "名称" })).value).toBe("stored");
  expect(calls.find(({ path }) => path === "channel.get")?.input).toEqual({ id: 5 });
});
