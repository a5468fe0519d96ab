import { act } from "../../../../tests/dom";
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import type { DrawingView } from "../../../shared/task-list";
import type { Procedures } from "../../../../tests/kit/client-page";

const { closePage, openPage, screen, waitFor } = await import("../../../../tests/kit/client-page");
const { clearUser, storeUser } = await import("../../lib/session");
const { loadStatus } = await import("../../lib/status");
const { menuPages } = await import("../../paths");
const { default: MidjourneyPage } = await import("./midjourney-page");

// A machine that runs other tests beside these is slow.
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
  expect(headers()).toEqual(specified);
  closePage();
  signIn(100);
  await open([row(1, { channel_id: 7 })]);
  await screen.findByText("mj1");
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
  expect([await hue("已提交"), await hue("等待中"), await hue("重复提交"), await hue("未提交")]).toEqual([
    "green",
    "lime",
    "orange",
    "yellow",
  ]);
  expect(screen.getByText("未知")).toBeDefined();
});

test("up to a minute is green, longer is red, and a job that goes on has no colour", async () => {
  await open([
    row(1),
    row(2, { finish_time: START + 61_000 }),
    row(3, { status: "IN_PROGRESS", finish_time: 0, submit_time: Date.now() }),
  ]);
  expect((await screen.findByText("60.0 s")).parentElement?.className).toContain("bg-green-bg");
  expect(screen.getByText("61.0 s").parentElement?.className).toContain("bg-red-bg");
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
  expect(await screen.findByText(/10 到 20 分钟/)).toBeDefined();
  closePage();
  await open([row(1)], "/midjourney", { paths: status(true) });
  await screen.findByText("mj1");
  await act(() => loadStatus());
  await waitFor(() => expect(screen.queryByText(/10 到 20 分钟/)).toBeNull());
});

test("an opened job has both prompts, the submit's answer and the vendor's words in its JSON", async () => {
  await open([row(1, { description: "queued behind 3", code: 22 })], "/midjourney?open=1");
  const drawer = await screen.findByRole("dialog");
  await waitFor(() => expect(drawer.textContent).toContain("a cat"));
  expect(drawer.textContent).toContain("重复提交");
  expect(drawer.querySelector("pre")?.textContent).toContain('"description": "queued behind 3"');
});
