/** The log page besides its rows: totals, filters, and the columns of administrators. */
import "../../../../tests/dom";
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import type { LogView } from "../../../shared/log-list";

const { closePage, openPage, screen, waitFor } = await import("../../../../tests/kit/client-page");
const { within } = await import("@testing-library/react");
const { default: LogPage } = await import("./log-page");
const { storeUser } = await import("../../lib/session");

// Rendering is slow while other test files run.
setDefaultTimeout(30_000);
afterEach(closePage);
beforeEach(() => storeUser({ id: 1, username: "root", role: 100, status: 1, group: "default", display_name: "" }));

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
const procedures = (items: LogView[]) => ({
  "log.page": ({ p, page_size }: { p: number; page_size: number }) => ({
    items,
    page: p,
    page_size,
    total: items.length,
    total_exact: true,
  }),
  "log.stat": () => ({ quota: 20, rpm: 1, tpm: 3 }),
});

test("the totals of the filter stand above the list: quota, and calls and tokens of the last minute", async () => {
  await openPage(<LogPage />, "/log", {
    procedures: { ...procedures([row(1)]), "log.stat": () => ({ quota: 1_250_000, rpm: 17, tpm: 321 }) },
  });
  await screen.findByText("model-1");
  await screen.findByText("321");
  const figure = (name: string) => screen.getByText(name, { selector: "dt" }).nextElementSibling?.textContent;
  // spec: C-138, C-139, C-140
  expect(["消耗", "RPM", "TPM"].map(figure)).toEqual(["$2.50", "17", "321"]);
});

const TIMES = ["类型", "时间范围", "开始时间", "结束时间"];
const REST = ["模型", "令牌 ID", "令牌名称", "分组", "关键字", "请求 ID"];
test.each([
  [1, [...TIMES, ...REST]],
  [10, [...TIMES, "用户名", "渠道 ID", ...REST, "上游请求 ID"]],
])("the panel of role %d has the filters %j", async (role, filters) => {
  storeUser({ id: 1, username: "ann", role, status: 1, group: "default", display_name: "" });
  const list = procedures([row(1)]);
  const { user } = await openPage(<LogPage />, "/log", {
    procedures: { ...list, "log.ownPage": list["log.page"], "log.ownStat": list["log.stat"] },
  });
  await screen.findByText("model-1");
  await user.click(screen.getByRole("button", { name: /^筛选/ }));
  const labels = [...(await screen.findByRole("dialog", { name: "筛选" })).querySelectorAll("label")];
  // spec: C-141, C-143, C-144, C-145, C-146, C-147
  expect(labels.map((label) => label.textContent)).toEqual(filters);
  // spec: C-142
  expect(screen.getByRole("searchbox").getAttribute("placeholder")).toBe("模型名称");
});

test("what is typed into the panel's filters is what the list is asked for", async () => {
  const { user, calls } = await openPage(<LogPage />, "/log?type=2", { procedures: procedures([row(1)]) });
  await screen.findByText("model-1");
  await user.click(screen.getByRole("button", { name: /^筛选/ }));
  const panel = within(await screen.findByRole("dialog", { name: "筛选" }));
  const wanted = { token_name: "laptop", group: "vip", channel: 7, username: "bob" };
  for (const [label, text] of [
    ["令牌名称", "laptop"],
    ["分组", "vip"],
  ] as const)
    await user.type(panel.getByLabelText(label), `${text}{Enter}`);
  for (const [label, text] of [
    ["渠道 ID", "7"],
    ["用户名", "bob"],
  ] as const) {
    await user.click(panel.getByRole("combobox", { name: new RegExp(`^${label}`) }));
    await user.keyboard(`${text}{Enter}`);
  }
  await waitFor(() =>
    // spec: C-141, C-143, C-145, C-146
    expect(calls.findLast(({ path }) => path === "log.page")?.input).toMatchObject({ type: 2, ...wanted }),
  );
  await user.type(screen.getByRole("searchbox"), "gpt");
  await waitFor(() =>
    // spec: C-142
    expect(calls.findLast(({ path }) => path === "log.page")?.input).toMatchObject({ model_name: "gpt", ...wanted }),
  );
});

test("each type of row is a filter", async () => {
  const { user, calls } = await openPage(<LogPage />, "/log", { procedures: procedures([row(1)]) });
  await screen.findByText("model-1");
  await user.click(screen.getByRole("button", { name: /^筛选/ }));
  const field = within(await screen.findByRole("dialog", { name: "筛选" })).getByRole("combobox", { name: /^类型/ });
  await user.click(field);
  // spec: C-147
  expect((await screen.findAllByRole("option")).map((option) => option.textContent)).toEqual(
    expect.arrayContaining(["充值", "消费", "管理", "系统"]),
  );
  await user.click(screen.getByRole("option", { name: "管理" }));
  // spec: C-147
  await waitFor(() => expect(calls.findLast(({ path }) => path === "log.page")?.input).toMatchObject({ type: 3 }));
});

test("the channel that served and those tried before it are an administrator's to see", async () => {
  const attempts = [3, 7].map((channel) => ({ channel, name: "", status: 200 }));
  const tried = row(1, { other: JSON.stringify({ admin_info: { use_channel: ["3", "7"], attempts } }) });
  const heads = () => screen.getAllByRole("columnheader").map((head) => head.textContent?.trim());
  await openPage(<LogPage />, "/log", { procedures: procedures([tried]) });
  await screen.findByText("model-1");
  // spec: C-151
  expect(screen.getAllByRole("cell").map(({ textContent }) => textContent)).toContain("3 → 7");
  closePage();
  storeUser({ id: 1, username: "ann", role: 1, status: 1, group: "default", display_name: "" });
  const list = procedures([row(1, { channel: 0, channel_name: "" })]);
  await openPage(<LogPage />, "/log", {
    procedures: { "log.ownPage": list["log.page"], "log.ownStat": list["log.stat"] },
  });
  await screen.findByText("model-1");
  // spec: C-151
  expect(heads()).not.toContain("渠道");
});
