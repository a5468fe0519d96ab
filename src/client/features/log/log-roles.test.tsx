/** What the rows of the log look like, and what of them and of the filters is the administrators'. */
import "../../../../tests/dom";
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import type { LogView } from "../../../shared/log-list";

const { closePage, openPage, Refusal, screen } = await import("../../../../tests/kit/client-page");
const { within } = await import("@testing-library/react");
const { default: LogPage } = await import("./log-page");
const { clearUser, storeUser } = await import("../../lib/session");

// Rendering is slow while other test files run.
setDefaultTimeout(30_000);
afterEach(() => {
  clearUser();
  closePage();
});

const signIn = (role: number) =>
  storeUser({ id: 5, username: "ann", role, status: 1, group: "default", display_name: "" });
const row = (id: number, fields: Partial<LogView> = {}): LogView => ({
  id,
  request_id: `r${id}`,
  created_at: 1_790_000_000 + id,
  type: 2,
  user_id: 5,
  username: "ann",
  token_id: 3,
  token_name: "t",
  channel: 7,
  channel_name: "c",
  group: "default",
  model_name: `model-${id}`,
  quota: 10,
  prompt_tokens: 1,
  completion_tokens: 2,
  use_time: 1,
  is_stream: false,
  content: "",
  code: "",
  params: "",
  refund_of: "",
  repeated: 0,
  repeated_until: 0,
  other: "",
  end_reason: "complete",
  ip: "",
  upstream_request_id: "",
  ...fields,
});
const open = (rows: readonly LogView[], address = "/log") => {
  const page = () => ({ items: rows, page: 1, page_size: 10, total: rows.length, total_exact: true });
  const stat = () => ({ quota: 20, rpm: 1, tpm: 3 });
  return openPage(<LogPage />, address, {
    procedures: {
      "log.page": page,
      "log.ownPage": page,
      "log.stat": stat,
      "log.ownStat": stat,
      "log.get": ({ id }: { id: number }) => rows.find((one) => one.id === id),
      "log.user": () => {
        throw new Refusal("same_or_higher_level");
      },
    },
  });
};
const lineOf = (text: string) => within(screen.getByText(text).closest("tr") ?? document.body);
const headers = () => screen.getAllByRole("columnheader").map((header) => header.textContent?.trim());

test("each kind of row has its word, and an unknown one says so", async () => {
  signIn(1);
  const kinds = [
    [1, "充值"],
    [2, "消费"],
    [3, "管理"],
    [4, "系统"],
    [5, "错误"],
    [6, "退款"],
    [9, "未知"],
  ] as const;
  await open(kinds.map(([type], i) => row(i + 1, { type })));
  await screen.findByText("model-1");
  for (const [i, [type, word]] of kinds.entries())
    // spec: C-355..C-360
    expect([type, lineOf(`model-${i + 1}`).queryByText(word)?.textContent]).toEqual([type, word]);
});

test("channel and user are columns and filters for administrators alone, and only they can look at a row's user", async () => {
  const own = ["渠道 ID", "用户名"];
  const shown = async (role: number) => {
    signIn(role);
    const { user, calls } = await open([row(1)]);
    await screen.findByText("model-1");
    await user.click(screen.getByRole("button", { name: /^筛选/ }));
    const panel = within(await screen.findByRole("dialog"));
    expect(panel.getByLabelText("令牌名称")).toBeDefined();
    const filters = own.filter((label) => panel.queryByText(label) !== null);
    const columns = headers().filter((header) => header === "渠道" || header === "用户");
    const asked = calls.map(({ path }) => path).filter((path) => path.startsWith("log."));
    const users = screen.queryAllByRole("link", { name: "ann" }).length;
    closePage();
    return { filters, columns, users, asked: [...new Set(asked)].sort() };
  };
  // spec: C-453, C-454, C-456
  expect(await shown(1)).toEqual({
    filters: [],
    columns: [],
    users: 0,
    asked: ["log.ownHistogram", "log.ownPage", "log.ownStat"],
  });
  // spec: C-453, C-454
  expect(await shown(10)).toEqual({
    filters: own,
    columns: ["渠道", "用户"],
    users: 1,
    asked: ["log.histogram", "log.page", "log.stat"],
  });
});

test("a user that the administrator may not view is refused with the server's message, and the row stays usable", async () => {
  signIn(10);
  const { user } = await open([row(1)]);
  await user.click(await screen.findByRole("link", { name: "ann" }));
  const panel = await screen.findByRole("dialog", { name: "用户信息" });
  // spec: C-474
  expect(await within(panel).findByText("无权访问同级或更高级用户")).toBeDefined();
  await user.keyboard("{Escape}");
  await user.click(lineOf("model-1").getByText("消费"));
  // spec: C-474
  expect(await screen.findByRole("dialog", { name: "model-1" })).toBeDefined();
});

test("a first token after ten seconds is not shown, neither in the list nor in the row's details", async () => {
  signIn(1);
  await open([row(1, { other: JSON.stringify({ frt: 10_000 }) })], "/log?open=1");
  await screen.findByRole("dialog", { name: "model-1" });
  // spec: C-638
  expect(screen.queryByText(/10\.0 s/)).toBeNull();
});

test("the last three days are a view of their own", async () => {
  signIn(1);
  const { user, calls } = await open([row(1)]);
  await screen.findByText("model-1");
  await user.click(screen.getByRole("button", { name: "视图" }));
  await user.click(await screen.findByRole("menuitem", { name: "最近 3 天" }));
  await screen.findByText("model-1");
  const asked = calls.findLast(({ path }) => path === "log.ownPage")?.input as { start_timestamp?: number };
  // spec: C-646, C-647
  expect(Math.abs(Date.now() / 1000 - 3 * 86_400 - (asked.start_timestamp ?? 0))).toBeLessThan(120);
});
