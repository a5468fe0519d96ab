import "../../../../tests/dom";
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { TASK_ACTIONS } from "../../../shared/task";
import type { TaskView } from "../../../shared/task-list";
import type { Procedures } from "../../../../tests/kit/client-page";

const { closePage, openPage, screen, waitFor } = await import("../../../../tests/kit/client-page");
const { clearUser, storeUser } = await import("../../lib/session");
const { default: TaskPage } = await import("./task-page");
const { actionName, percentOf, tookHue } = await import("./job-looks");

// Slow while other test files run.
setDefaultTimeout(30_000);

const signIn = (role: number) =>
  storeUser({ id: 1, username: "ann", display_name: "ann", role, status: 1, group: "default" });
beforeEach(() => signIn(1));
afterEach(() => {
  clearUser();
  closePage();
});

const row = (id: number, fields: Partial<TaskView> = {}): TaskView => ({
  id,
  user_id: 1,
  username: "ann",
  channel_id: 0,
  group: "default",
  model: "suno_music",
  action: "MUSIC",
  status: "SUCCESS",
  progress: "100%",
  fail_reason: "",
  prompt: "a song",
  quota: 50_000,
  refunded: 0,
  request_id: "call-1",
  submit_time: 1_790_000_000,
  start_time: 0,
  finish_time: 1_790_000_060,
  task_id: `task_${id}`,
  platform: "suno",
  ...fields,
});

const server = (rows: readonly TaskView[]): Procedures => ({
  "task.list": () => ({ items: rows, page: 1, page_size: 10, total: rows.length, total_exact: true }),
  "task.get": ({ id }: { id: number }) => ({
    ...rows.find((one) => one.id === id),
    data: { clip: "c1" },
    files: [],
    cancellable: false,
  }),
});
const open = (rows: readonly TaskView[], address = "/task") =>
  openPage(<TaskPage />, address, { procedures: server(rows) });
const headers = () => screen.getAllByRole("columnheader").map((header) => header.textContent?.trim());

test.each([
  [0, "green"],
  [60, "green"],
  [60.1, "red"],
  [61, "red"],
] as const)("%p seconds are %s", (seconds, hue) => {
  // spec: C-639, C-641
  expect(tookHue(seconds)).toBe(hue);
});

test.each([
  ["45%", 45],
  ["100%", 100],
  ["7", 7],
  ["999%", 100],
  ["", null],
  ["waiting", null],
  ["-5%", null],
])("the progress %j is %p", (text, percent) => {
  expect(percentOf(text)).toBe(percent);
});

test("every action that a platform knows has a name", () => {
  for (const action of Object.values(TASK_ACTIONS).flat())
    expect([action, actionName(action)]).not.toContain(undefined);
});

test("a fresh page asks from the start of today in seconds, and says so in a chip that can be taken off", async () => {
  const { user, calls } = await open([row(1)]);
  await screen.findByText("task_1");
  const asked = () => calls.filter(({ path }) => path === "task.list").at(-1)?.input as { start_timestamp?: number };
  // spec: C-645
  expect(asked().start_timestamp).toBe(Math.floor(new Date().setHours(0, 0, 0, 0) / 1000));
  await user.click(screen.getByRole("button", { name: "移除筛选：开始时间" }));
  await waitFor(() => expect(asked().start_timestamp).toBeUndefined());
});

test("every status and platform has its word; an unknown value is marked as unknown, and shown as it came", async () => {
  const statuses = [
    "",
    "NOT_START",
    "SUBMITTED",
    "QUEUED",
    "IN_PROGRESS",
    "MODAL",
    "SUCCESS",
    "FAILURE",
    "UNKNOWN",
    "NEW_STATE",
  ];
  await open(
    statuses.map((status, index) =>
      row(index + 1, { status, platform: index ? "kling" : "newcomer", action: index ? "LYRICS" : "odd-act" }),
    ),
  );
  for (const word of ["正在提交", "未启动", "队列中", "排队中", "执行中", "窗口等待", "成功", "失败"])
    // spec: C-372, C-373, C-375, C-376
    expect(await screen.findByText(word)).toBeDefined();
  // spec: C-374
  expect(screen.getAllByText("未知")).toHaveLength(2);
  expect(screen.getAllByText("Kling")).toHaveLength(9);
  for (const raw of ["newcomer", "odd-act"]) expect(screen.getByText(raw)).toBeDefined();
});

test("music and lyrics are called so", async () => {
  await open([row(1), row(2, { action: "LYRICS" })]);
  await screen.findByText("task_1");
  // spec: C-393
  expect(screen.getByText("task_1").closest("tr")?.textContent).toContain("音乐");
  // spec: C-394
  expect(screen.getByText("task_2").closest("tr")?.textContent).toContain("歌词");
});

test("channel and user are columns and filters for administrators alone", async () => {
  await open([row(1)]);
  await screen.findByText("task_1");
  // spec: C-154
  expect(headers()).toEqual(
    expect.arrayContaining(["提交时间", "完成时间", "用时", "平台", "类型", "任务 ID", "状态", "进度", "详情"]),
  );
  // spec: C-458
  // spec: C-154
  expect(headers()).not.toContain("渠道");
  closePage();
  signIn(10);
  const { calls } = await open([row(1, { channel_id: 7 })], "/task?channel_id=7&username=ben");
  await screen.findByText("task_1");
  // spec: C-458
  // spec: C-154
  expect(headers()).toEqual(expect.arrayContaining(["渠道", "用户"]));
  expect(calls.find(({ path }) => path === "task.list")?.input).toMatchObject({ channel_id: 7, username: "ben" });
});

test("an opened job shows why it failed, what was given back, its bill and the row as JSON", async () => {
  await open([row(1, { status: "FAILURE", fail_reason: "the vendor said no", refunded: 50_000 })], "/task?open=1");
  const drawer = await screen.findByRole("dialog");
  // spec: C-154
  await waitFor(() => expect(drawer.textContent).toContain("the vendor said no"));
  expect(drawer.textContent).toContain("已退款");
  expect(screen.getByRole("link", { name: "查看账单" }).getAttribute("href")).toBe("/log?request_id=call-1");
  expect(drawer.querySelector("pre")?.textContent).toContain('"clip": "c1"');
});

test("texts from users and vendors are text: nothing of them becomes markup", async () => {
  const evil = '<img src=x onerror="alert(1)">';
  const { container } = await open(
    [row(1, { fail_reason: evil, prompt: evil, progress: evil, action: evil, status: evil, platform: evil })],
    "/task?open=1",
  );
  await screen.findByRole("dialog");
  expect(container.querySelector("img")).toBeNull();
  expect(document.querySelector("[onerror]")).toBeNull();
});

test.each([
  [1, []],
  [10, ["渠道 ID", "用户名"]],
])("the panel of role %d has start, end and %j, and the search is for the id of a job", async (role, more) => {
  signIn(role);
  const { user, calls } = await open([row(1)]);
  await screen.findByText("task_1");
  await user.click(screen.getByRole("button", { name: /^筛选/ }));
  const labels = [...(await screen.findByRole("dialog", { name: "筛选" })).querySelectorAll("label")];
  // spec: C-156
  expect(labels.map((label) => label.textContent)).toEqual(["平台", "状态", "开始时间", "结束时间", ...more]);
  const search = screen.getByRole("searchbox");
  // spec: C-156
  expect(search.getAttribute("placeholder")).toBe("任务 ID");
  await user.type(search, "x-1");
  await waitFor(() =>
    // spec: C-156
    expect(calls.findLast(({ path }) => path === "task.list")?.input).toMatchObject({ task_id: "x-1" }),
  );
});
