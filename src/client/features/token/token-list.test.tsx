/** The list of tokens: its columns and the actions of a row. */
import "../../../../tests/dom";
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { TokenView } from "../../../shared/token";
import type { Procedures } from "../../../../tests/kit/client-page";

const { closePage, openPage, screen } = await import("../../../../tests/kit/client-page");
const { within } = await import("@testing-library/react");
const { ConfirmHost } = await import("../../components/confirm");
const { Toasts } = await import("../../components/toasts");
const { formatTime } = await import("../../lib/format");
const { clearUser, storeUser } = await import("../../lib/session");
const { default: TokenPage } = await import("./token-page");

// Slow while other test files run.
setDefaultTimeout(30_000);

beforeEach(() => storeUser({ id: 1, username: "ann", display_name: "ann", role: 1, status: 1, group: "staff" }));
afterEach(() => {
  clearUser();
  closePage();
});

const ENDS_AT = 1_990_000_000;
const token = (id: number, fields: Partial<TokenView> = {}): TokenView => ({
  id,
  user_id: 1,
  name: `token ${id}`,
  key_hint: "AbCdEfGh…wxyz",
  status: 1,
  remain_quota: 750_000,
  used_quota: 250_000,
  unlimited_quota: false,
  expired_time: -1,
  created_time: Math.floor(Date.now() / 1000) - 3 * 3600,
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

const procedures = (rows: readonly TokenView[]): Procedures => ({
  "token.list": () => ({ items: rows, page: 1, page_size: 10, total: rows.length }),
  "token.get": ({ id }: { id: number }) => rows.find((row) => row.id === id),
  "group.own": () => ({ default: { desc: "", ratio: 1 } }),
  "group.models": () => [],
});
const open = (rows: readonly TokenView[], address = "/token", more: Procedures = {}) =>
  openPage(
    <>
      <TokenPage />
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

describe("the columns", () => {
  test("have the specified heads", async () => {
    await open([token(1)]);
    await rowOf("token 1");
    // spec: C-105, C-106, C-107, C-108, C-109, C-110
    expect(screen.getAllByRole("columnheader").map((head) => head.textContent?.trim())).toEqual(
      expect.arrayContaining(["名称", "状态与分组", "密钥", "已用额度", "剩余额度", "创建时间", "过期时间"]),
    );
  });

  test("say name, state and group, used and remaining quota, creation and end of a token", async () => {
    await open([token(1, { group: "vip", expired_time: ENDS_AT })]);
    const row = await rowOf("token 1");
    for (const [column, text] of [
      ["name", "token 1"],
      ["status", "已启用vip"],
      ["used", "$0.50"],
      ["remaining", "$1.50"],
      ["created", "3小时前"],
      ["expiry", formatTime(ENDS_AT).slice(0, 16)],
    ] as const)
      // spec: C-105, C-106, C-107, C-108, C-109, C-110
      expect([column, cell(row, column)]).toEqual([column, text]);
  });

  test("a token without a group shows its user's, one without a limit and one without an end say so", async () => {
    await open([token(1, { unlimited_quota: true, remain_quota: 0 })]);
    const row = await rowOf("token 1");
    // spec: C-106
    expect(cell(row, "status")).toBe("已启用staff");
    // spec: C-108
    expect(cell(row, "remaining")).toBe("无限额度");
    // spec: C-110
    expect(cell(row, "expiry")).toBe("永不过期");
  });
});

describe("a row", () => {
  test.each([
    [1, "禁用"],
    [2, "启用"],
  ] as const)("of status %d offers its key, the chat, edit, %s and deletion", async (status, turn) => {
    const { user } = await open([token(1, { status })]);
    await user.click(within(await rowOf("token 1")).getByRole("button", { name: "行菜单" }));
    // spec: C-112, C-113, C-115, C-116, C-117
    expect((await screen.findAllByRole("menuitem")).map((item) => item.textContent?.replace(/[A-Z]$/, ""))).toEqual([
      "连接",
      "复制密钥",
      "聊天",
      "编辑",
      turn,
      "删除",
    ]);
  });

  test("a deletion asks first; who says no keeps the token", async () => {
    const { user, calls } = await open([token(1)]);
    await user.click(within(await rowOf("token 1")).getByRole("button", { name: "行菜单" }));
    await user.click(await screen.findByRole("menuitem", { name: "删除" }));
    await user.click(within(await screen.findByRole("alertdialog")).getByRole("button", { name: "取消" }));
    // spec: C-115
    expect(calls.some(({ path }) => path === "token.delete")).toBe(false);
  });

  test("its form is the one of a new token, filled", async () => {
    await open([token(1)], "/token?edit=1");
    const dialog = within(await screen.findByRole("dialog", { name: "编辑令牌 token 1" }));
    // spec: C-117, C-118
    expect(dialog.getByLabelText<HTMLInputElement>(/^名称/).value).toBe("token 1");
  });
});
