import { act } from "../../../../tests/dom";
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import type { DrawingView } from "../../../shared/task-list";
import type { Procedures } from "../../../../tests/kit/client-page";

const { closePage, openPage, screen, waitFor } = await import("../../../../tests/kit/client-page");
const { clearUser, storeUser } = await import("../../lib/session");
const { loadStatus } = await import("../../lib/status");
const { menuPages } = await import("../../paths");
const { default: MidjourneyPage } = await import("./midjourney-page");

// Slow while other test files run.
setDefaultTimeout(30_000);

const signIn = (role: number) =>
  storeUser({ id: 1, username: "ann", display_name: "ann", role, status: 1, group: "default" });
beforeEach(() => signIn(1));
afterEach(() => {
  clearUser();
  closePage();
});

const START = 1_790_000_000_000;
const row = (id: number, fields: Partial<DrawingView> = {}): DrawingView => ({
  id,
  user_id: 1,
  username: "ann",
  channel_id: 0,
  group: "default",
  model: "mj_imagine",
  action: "IMAGINE",
  status: "SUCCESS",
  progress: "100%",
  fail_reason: "",
  prompt: "猫",
  quota: 50_000,
  refunded: 0,
  request_id: "call-1",
  submit_time: START,
  start_time: 0,
  finish_time: START + 60_000,
  mj_id: `mj${id}`,
  code: 1,
  description: "",
  prompt_en: "a cat",
  state: "",
  image_url: "",
  buttons: "",
  properties: "",
  ...fields,
});
const server = (rows: readonly DrawingView[]): Procedures => ({
  "midjourney.list": () => ({ items: rows, page: 1, page_size: 10, total: rows.length, total_exact: true }),
  "midjourney.get": ({ id }: { id: number }) => ({
    ...rows.find((one) => one.id === id),
    files: [],
    cancellable: false,
  }),
});
const open = (rows: readonly DrawingView[], address = "/midjourney", more: Parameters<typeof openPage>[2] = {}) =>
  openPage(<MidjourneyPage />, address, { procedures: server(rows), ...more });
const headers = () => screen.getAllByRole("columnheader").map((header) => header.textContent?.trim());

test("a fresh page asks for the last 30 days, in milliseconds", async () => {
  const { calls } = await open([row(1)]);
  await screen.findByText("mj1");
  const asked = calls.find(({ path }) => path === "midjourney.list")?.input as
    | { start_timestamp?: number; end_timestamp?: number }
    | undefined;
  // spec: C-644
  expect(Math.abs(Date.now() - 30 * 86_400_000 - (asked?.start_timestamp ?? 0))).toBeLessThan(120_000);
  expect(asked?.end_timestamp).toBeUndefined();
});

test("the menu has drawing and tasks exactly while their flags are on", () => {
  const offered = () =>
    menuPages(1)
      .map(({ path }) => path)
      .filter((path) => path === "/midjourney" || path === "/task");
  for (const [drawing, task, paths] of [
    ["true", "true", ["/midjourney", "/task"]],
    ["false", "true", ["/task"]],
    ["true", "1", ["/midjourney"]],
    [null, null, []],
  ] as const) {
    for (const [key, value] of [
      ["enable_drawing", drawing],
      ["enable_task", task],
    ] as const) {
      if (value === null) localStorage.removeItem(key);
      else localStorage.setItem(key, value);
    }
    // spec: C-192, C-193
    // spec
    expect(offered()).toEqual([...paths]);
  }
});

test("the columns are the specified ones; channel and user stand there for administrators alone", async () => {
  const specified = [
    "提交时间",
    "用时",
    "类型",
    "任务 ID",
    "提交结果",
    "任务状态",
    "进度",
    "结果图片",
    "提示词",
    "英文提示词",
    "失败原因",
  ];
  await open([row(1)]);
  await screen.findByText("mj1");
  // spec: C-457
  // spec: C-153
  expect(headers()).toEqual(specified);
  closePage();
  signIn(100);
  await open([row(1, { channel_id: 7 })]);
  await screen.findByText("mj1");
  // spec: C-457
  // spec: C-153
  expect(headers().slice(0, 5)).toEqual(["提交时间", "用时", "渠道", "用户", "类型"]);
});

test("the answers to a submit are the specification's words, in their colours", async () => {
  await open([
    row(1, { code: 1 }),
    row(2, { code: 21 }),
    row(3, { code: 22 }),
    row(4, { code: 0 }),
    row(5, { code: 24 }),
  ]);
  const hue = async (word: string) =>
    /bg-(\w+)-bg/.exec((await screen.findByText(word)).closest("[class*=bg-]")?.className ?? "")?.[1];
  // spec: C-367..C-370
  expect([await hue("已提交"), await hue("等待中"), await hue("重复提交"), await hue("未提交")]).toEqual([
    "green",
    "lime",
    "orange",
    "yellow",
  ]);
  expect(screen.getByText("未知")).toBeDefined();
});

const lineOf = (id: number) => screen.getByText(`mj${id}`).closest("tr")?.textContent;

test("every status of a drawing job has its word", async () => {
  const words = [
    ["NOT_START", "未启动"],
    ["SUBMITTED", "队列中"],
    ["IN_PROGRESS", "执行中"],
    ["SUCCESS", "成功"],
    ["FAILURE", "失败"],
    ["MODAL", "窗口等待"],
  ] as const;
  await open(words.map(([status], i) => row(i + 1, { status })));
  await screen.findByText("mj1");
  for (const [i, [status, word]] of words.entries())
    // spec: C-361..C-366, C-376
    expect([status, lineOf(i + 1)]).toEqual([status, expect.stringContaining(word)]);
});

test("every action of a drawing job has its word", async () => {
  const words = [
    ["IMAGINE", "绘图"],
    ["UPSCALE", "放大"],
    ["VARIATION", "变换"],
    ["HIGH_VARIATION", "强变换"],
    ["LOW_VARIATION", "弱变换"],
    ["PAN", "平移"],
    ["DESCRIBE", "图生文"],
    ["BLEND", "混图"],
    ["UPLOAD", "上传图片"],
    ["SHORTEN", "精简提示词"],
    ["REROLL", "重绘"],
    ["INPAINT", "局部重绘"],
    ["ZOOM", "变焦"],
    ["CUSTOM_ZOOM", "自定义变焦"],
    ["MODAL", "窗口提交"],
    ["SWAP_FACE", "换脸"],
  ] as const;
  await open(words.map(([action], i) => row(i + 1, { action })));
  await screen.findByText("mj1");
  for (const [i, [action, word]] of words.entries())
    // spec: C-377..C-392
    expect([action, lineOf(i + 1)]).toEqual([action, expect.stringContaining(word)]);
});

test("up to a minute is green, longer is red, and a job that goes on has no colour", async () => {
  await open([
    row(1),
    row(2, { finish_time: START + 61_000 }),
    row(3, { status: "IN_PROGRESS", finish_time: 0, submit_time: Date.now() }),
  ]);
  // spec: C-641
  expect((await screen.findByText("60.0 s")).parentElement?.className).toContain("bg-green-bg");
  // spec: C-640
  expect(screen.getByText("61.0 s").parentElement?.className).toContain("bg-red-bg");
  // spec: C-641
  expect(screen.getByText(/^(\d{1,3} ms|[1-5]?\d\.\d s)$/).parentElement?.className ?? "").not.toMatch(
    /bg-(green|red)/,
  );
});

test("the picture of a list comes from this server, whatever address the row has", async () => {
  const { container } = await open([row(1, { image_url: "https://cdn.example/a.png", mj_id: "a/b" })]);
  await screen.findByRole("button", { name: "查看结果" });
  expect(container.querySelector("img")?.getAttribute("src")).toBe("/mj/image/a%2Fb");
});

test("that results may be late is said while callbacks are off, and not otherwise", async () => {
  const status = (mj_notify_enabled: boolean) => ({
    "/api/status": () => Response.json({ success: true, message: "", data: { mj_notify_enabled } }),
  });
  await open([row(1)], "/midjourney", { paths: status(false) });
  await screen.findByText("mj1");
  await act(() => loadStatus());
  // spec: C-648, C-649
  expect(await screen.findByText(/10 到 20 分钟/)).toBeDefined();
  closePage();
  await open([row(1)], "/midjourney", { paths: status(true) });
  await screen.findByText("mj1");
  await act(() => loadStatus());
  // spec: C-649
  await waitFor(() => expect(screen.queryByText(/10 到 20 分钟/)).toBeNull());
});

test("an opened job has both prompts, the submit's answer and the vendor's words in its JSON", async () => {
  await open([row(1, { description: "queued behind 3", code: 22 })], "/midjourney?open=1");
  const drawer = await screen.findByRole("dialog");
  await waitFor(() => expect(drawer.textContent).toContain("a cat"));
  expect(drawer.textContent).toContain("重复提交");
  // spec: C-371
  expect(drawer.querySelector("pre")?.textContent).toContain('"description": "queued behind 3"');
});

test.each([
  [1, []],
  [10, ["渠道 ID", "用户名"]],
])("the panel of role %d has start, end and %j, and the search is for the id of a job", async (role, more) => {
  signIn(role);
  const { user, calls } = await open([row(1)]);
  await screen.findByText("mj1");
  await user.click(screen.getByRole("button", { name: /^筛选/ }));
  const labels = [...(await screen.findByRole("dialog", { name: "筛选" })).querySelectorAll("label")];
  // spec: C-155
  expect(labels.map((label) => label.textContent)).toEqual(["类型", "任务状态", "开始时间", "结束时间", ...more]);
  const search = screen.getByRole("searchbox");
  // spec: C-155
  expect(search.getAttribute("placeholder")).toBe("任务 ID");
  await user.type(search, "x-1");
  await waitFor(() =>
    // spec: C-155
    expect(calls.findLast(({ path }) => path === "midjourney.list")?.input).toMatchObject({ mj_id: "x-1" }),
  );
});
