import "../../../../tests/dom";
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import type { RedemptionView } from "../../../shared/redemption";
import type { Procedures } from "../../../../tests/kit/client-page";

const { closePage, openPage, screen } = await import("../../../../tests/kit/client-page");
const { ConfirmHost } = await import("../../components/confirm");
const { Toasts } = await import("../../components/toasts");
const { clearUser, storeUser } = await import("../../lib/session");
const { default: RedemptionPage } = await import("./redemption-page");
const { emptyRedemption, offeredFor, redemptionResolver } = await import("./redemption-values");

// A machine that runs other tests beside these is slow.
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
    "redemption.search": () => ({ items: rows, page: 1, page_size: 10, total: rows.length }),
    "redemption.get": ({ id }: { id: number }) => rows.find((one) => one.id === id),
    "redemption.create": ({ count }: { count: number }) =>
      Array.from({ length: count }, (_, i) => String(i).repeat(32)),
    "redemption.update": ({ id }: { id: number }) => rows.find((one) => one.id === id),
    "redemption.setStatus": ({ id, status }: { id: number; status: number }) =>
      Object.assign(rows.find((one) => one.id === id) ?? {}, { status }),
    "redemption.deleteInvalid": () => rows.splice(1).length,
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

test("an unused code past its time reads expired", async () => {
  await open([row(1, { expired_time: 10 }), row(2, { expired_time: 10, status: 3 })]);
  expect(await screen.findByText("已过期")).toBeDefined();
  expect(screen.getByText("已使用")).toBeDefined();
});

test("copying with nothing selected says so", async () => {
  const { user } = await open([row(1)]);
  await screen.findByText("gift 1");
  await user.click(press("复制所选"));
  expect(await screen.findByText("请至少选择一个兑换码！")).toBeDefined();
});

test("a batch is made from the form's amounts and its codes are shown with files to keep", async () => {
  const { user, calls } = await open([], "/redemption?edit=new");
  await user.click(await screen.findByRole("button", { name: "$10" }));
  const count = screen.getByRole("spinbutton", { name: /^数量/ });
  await user.clear(count);
  await user.type(count, "101");
  await user.click(press("创建"));
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
