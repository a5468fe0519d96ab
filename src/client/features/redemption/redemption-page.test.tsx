import "../../../../tests/dom";
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import type { RedemptionView } from "../../../shared/redemption";
import type { Procedures } from "../../../../tests/kit/client-page";

const { closePage, openPage, screen, waitFor } = await import("../../../../tests/kit/client-page");
const { within } = await import("@testing-library/react");
const { ConfirmHost } = await import("../../components/confirm");
const { Toasts } = await import("../../components/toasts");
const { clearUser, storeUser } = await import("../../lib/session");
const { default: RedemptionPage } = await import("./redemption-page");
const { offeredFor } = await import("./redemption-actions");
const { emptyRedemption, redemptionResolver } = await import("./redemption-values");

// Slow while other test files run.
setDefaultTimeout(30_000);

beforeEach(() => storeUser({ id: 1, username: "root", display_name: "root", role: 100, status: 1, group: "default" }));
afterEach(() => {
  clearUser();
  closePage();
});

const row = (id: number, fields: Partial<RedemptionView> = {}): RedemptionView => ({
  id,
  user_id: 1,
  name: `gift ${id}`,
  key: String(id).repeat(32),
  status: 1,
  quota: 100_000,
  created_time: 1,
  redeemed_time: 0,
  used_user_id: 0,
  expired_time: 0,
  ...fields,
});

function server(rows: RedemptionView[]): Procedures {
  return {
    "redemption.page": () => ({ items: rows, page: 1, page_size: 10, total: rows.length }),
    "redemption.get": ({ id }: { id: number }) => rows.find((one) => one.id === id),
    "redemption.create": ({ count }: { count: number }) =>
      Array.from({ length: count }, (_, i) => String(i).repeat(32)),
    "redemption.update": ({ id }: { id: number }) => rows.find((one) => one.id === id),
    "redemption.setStatus": ({ id, status }: { id: number; status: number }) =>
      Object.assign(rows.find((one) => one.id === id) ?? {}, { status }),
    "redemption.deleteInvalid": () => rows.splice(1).length,
    "redemption.delete": ({ id }: { id: number }) =>
      void rows.splice(
        rows.findIndex((one) => one.id === id),
        1,
      ),
  };
}

const open = (rows: RedemptionView[], address = "/redemption") =>
  openPage(
    <>
      <RedemptionPage />
      <ConfirmHost />
      <Toasts />
    </>,
    address,
    { procedures: server(rows) },
  );
const press = (name: string) => screen.getByRole("button", { name });

test.each([
  [1, { edit: true, disable: true, enable: false }],
  [2, { edit: false, disable: false, enable: true }],
  [3, { edit: false, disable: false, enable: false }],
])("a code of status %p offers %j", (status, offered) => {
  // spec: C-128
  expect(offeredFor(row(1, { status }))).toEqual(offered);
});

const HOURS_AGO = Math.floor(Date.now() / 1000) - 3 * 3600;
const rowOf = async (name: string) => {
  const found = (await screen.findByText(name)).closest<HTMLElement>("[data-row]");
  if (!found) throw new Error(`no row ${name}`);
  return found;
};
const cell = (found: HTMLElement, column: string) =>
  found.querySelector<HTMLElement>(`[data-column=${column}]`)?.textContent ?? `no column ${column}`;
const menuOf = async (user: Awaited<ReturnType<typeof open>>["user"], name: string) => {
  await user.click(within(await rowOf(name)).getByRole("button", { name: "行菜单" }));
  return (await screen.findAllByRole("menuitem")).map((item) => item.textContent?.replace(/[A-Z]$/, ""));
};

test("the columns are id, name, state, quota, creation, redemption and redeemer, which is empty at first", async () => {
  await open([
    row(7, { created_time: HOURS_AGO }),
    row(8, { status: 3, redeemed_time: HOURS_AGO, used_user_id: 42, created_time: HOURS_AGO }),
  ]);
  const [unused, used] = [await rowOf("gift 7"), await rowOf("gift 8")];
  expect(screen.getAllByRole("columnheader").map((head) => head.textContent?.trim())).toEqual(
    expect.arrayContaining(["ID", "名称", "状态", "面额", "创建时间", "兑换时间", "兑换人 ID"]),
  );
  for (const [column, before, after] of [
    ["id", "7", "8"],
    ["name", "gift 7", "gift 8"],
    ["status", "未使用", "已使用"],
    ["quota", "$0.20", "$0.20"],
    ["created", "3小时前", "3小时前"],
    ["redeemed", "从未", "3小时前"],
    ["redeemer", "无", "42"],
  ] as const)
    // spec: C-129, C-267, C-268
    expect([column, cell(unused, column), cell(used, column)]).toEqual([column, before, after]);
});

test.each([
  [1, ["查看", "复制", "编辑", "禁用", "删除"]],
  [2, ["查看", "复制", "启用", "删除"]],
  [3, ["查看", "复制", "删除"]],
])("the menu of a code of status %d is %j", async (status, items) => {
  const { user } = await open([row(1, { status })]);
  // spec: C-124, C-125, C-126, C-127, C-128
  expect(await menuOf(user, "gift 1")).toEqual(items);
});

test("a code is shown in clear, and copied from its row", async () => {
  const { user } = await open([row(4)]);
  await menuOf(user, "gift 4");
  await user.click(screen.getByRole("menuitem", { name: "查看" }));
  // spec: C-124
  expect(await screen.findByText("4".repeat(32))).toBeDefined();
  closePage();
  const second = await open([row(4)]);
  await menuOf(second.user, "gift 4");
  await second.user.click(screen.getByRole("menuitem", { name: /^复制/ }));
  // spec: C-125
  await waitFor(async () => expect(await navigator.clipboard.readText()).toBe("4".repeat(32)));
});

test("the button to add opens the form of a new batch", async () => {
  const { user } = await open([row(1)]);
  await screen.findByText("gift 1");
  await user.click(press("添加兑换码"));
  // spec: C-122
  expect(within(await screen.findByRole("dialog")).getByRole("button", { name: "创建" })).toBeDefined();
});

test("the selected codes are copied, one a line with its name", async () => {
  const { user } = await open([row(1), row(2), row(3)]);
  for (const name of ["gift 1", "gift 3"]) await user.click(within(await rowOf(name)).getByRole("checkbox"));
  await user.click(press("复制所选"));
  await waitFor(async () =>
    // spec: C-123
    expect(await navigator.clipboard.readText()).toBe(`gift 1    ${"1".repeat(32)}\ngift 3    ${"3".repeat(32)}`),
  );
});

test("a code is disabled, enabled again, and deleted after a question", async () => {
  const { user, calls } = await open([row(1), row(2)]);
  const asked = (path: string) => calls.filter((call) => call.path === path).map(({ input }) => input);
  await menuOf(user, "gift 1");
  await user.click(screen.getByRole("menuitem", { name: "禁用" }));
  await waitFor(() => expect(asked("redemption.setStatus")).toEqual([{ id: 1, status: 2 }]));
  await waitFor(async () => expect(cell(await rowOf("gift 1"), "status")).toBe("已禁用"));
  await menuOf(user, "gift 1");
  await user.click(screen.getByRole("menuitem", { name: "启用" }));
  // spec: C-127
  await waitFor(() => expect(asked("redemption.setStatus").at(-1)).toEqual({ id: 1, status: 1 }));
  await menuOf(user, "gift 1");
  await user.click(screen.getByRole("menuitem", { name: "删除" }));
  await user.click(within(await screen.findByRole("alertdialog")).getByRole("button", { name: "取消" }));
  expect(asked("redemption.delete")).toEqual([]);
  await menuOf(user, "gift 1");
  await user.click(screen.getByRole("menuitem", { name: "删除" }));
  await user.click(within(await screen.findByRole("alertdialog")).getByRole("button", { name: "删除" }));
  // spec: C-126
  await waitFor(() => expect(asked("redemption.delete")).toEqual([{ id: 1 }]));
});

test("an unused code past its time reads expired", async () => {
  await open([row(1, { expired_time: 10 }), row(2, { expired_time: 10, status: 3 })]);
  expect(await screen.findByText("已过期")).toBeDefined();
  expect(screen.getByText("已使用")).toBeDefined();
});

test("each status has its word, and an unknown one says so", async () => {
  await open([row(1), row(2, { status: 2 }), row(3, { status: 3 }), row(4, { status: 9 })]);
  await screen.findByText("gift 1");
  for (const [id, word] of [
    [1, "未使用"],
    [2, "已禁用"],
    [3, "已使用"],
    [4, "未知"],
  ] as const)
    // spec: C-349..C-351
    expect([id, screen.getByText(`gift ${id}`).closest("tr")?.textContent]).toEqual([
      id,
      expect.stringContaining(word),
    ]);
});

test("the form of new codes starts with 100,000 units and one code, and takes an empty name", async () => {
  const { user, calls } = await open([], "/redemption?edit=new");
  const quota = await screen.findByRole<HTMLInputElement>("spinbutton", { name: /^面额/ });
  const count = screen.getByRole<HTMLInputElement>("spinbutton", { name: /^数量/ });
  // spec: C-621, C-622
  expect([quota.value, screen.getByText("100,000 额度").textContent, count.value]).toEqual([
    "0.2",
    "100,000 额度",
    "1",
  ]);
  await user.click(press("创建"));
  await screen.findByText("已创建 1 个兑换码");
  // spec: C-438, C-621, C-622
  expect(calls.find(({ path }) => path === "redemption.create")?.input).toMatchObject({
    name: "",
    quota: 100_000,
    count: 1,
  });
});

test("copying with nothing selected says so", async () => {
  const { user } = await open([row(1)]);
  await screen.findByText("gift 1");
  await user.click(press("复制所选"));
  // spec: C-444
  expect(await screen.findByText("请至少选择一个兑换码！")).toBeDefined();
});

test("a batch is made from the form's amounts and its codes are shown with files to keep", async () => {
  const { user, calls } = await open([], "/redemption?edit=new");
  await user.click(await screen.findByRole("button", { name: "$10" }));
  const count = screen.getByRole("spinbutton", { name: /^数量/ });
  await user.clear(count);
  await user.type(count, "101");
  await user.click(press("创建"));
  // spec: C-443
  expect(await screen.findByText("数量必须是 1 到 100 的整数！")).toBeDefined();
  await user.clear(count);
  await user.type(count, "3");
  await user.click(press("创建"));
  expect(await screen.findByText("已创建 3 个兑换码")).toBeDefined();
  expect(calls.find(({ path }) => path === "redemption.create")?.input).toEqual({
    name: "",
    quota: 5_000_000,
    count: 3,
    expired_time: 0,
  });
  // spec: C-122, C-130
  expect(screen.getByText("1".repeat(32))).toBeDefined();
  // spec: C-130
  for (const name of ["复制全部", "下载 TXT", "下载 CSV"]) expect(press(name)).toBeDefined();
});

test.each([
  [{ name: "n".repeat(21) }, "name", "redemption_name_too_long"],
  [{ quota: null }, "quota", "redemption_quota_invalid"],
  [{ quota: 0 }, "quota", "redemption_quota_invalid"],
  [{ quota: 0.5 }, "quota", "redemption_quota_invalid"],
  [{ count: 0 }, "count", "redemption_count_invalid"],
  [{ count: null }, "count", "redemption_count_invalid"],
  [{ expired_time: 5 }, "expired_time", "redemption_expiry_invalid"],
])("%j is refused at the field %s", async (change, field, code) => {
  const values = { ...emptyRedemption, ...change };
  const refuse = async (before: number | null) =>
    (await redemptionResolver(before)(values, undefined, { fields: {}, shouldUseNativeValidation: false })).errors;
  // spec: C-439, C-442, C-445
  expect(await refuse(null)).toMatchObject({ [field]: { message: code } });
  // A stored code keeps the time it has.
  if (field === "expired_time") expect(await refuse(5)).toEqual({});
});

test("a code that was used meanwhile is shown, not edited", async () => {
  await open([row(3, { status: 3, used_user_id: 9 })], "/redemption?edit=3");
  expect(await screen.findByText("3".repeat(32))).toBeDefined();
  expect(screen.queryByRole("button", { name: "保存" })).toBeNull();
});

test("deleting the invalid ones asks first and says how many went", async () => {
  const { user, calls } = await open([row(1), row(2, { status: 2 }), row(3, { status: 3 })]);
  await screen.findByText("gift 3");
  await user.click(press("删除失效兑换码"));
  await user.click(await screen.findByRole("button", { name: "取消" }));
  expect(calls.some(({ path }) => path === "redemption.deleteInvalid")).toBe(false);
  await user.click(press("删除失效兑换码"));
  await user.click(await screen.findByRole("button", { name: "删除" }));
  expect(await screen.findByText("已删除 2 个失效的兑换码")).toBeDefined();
});
