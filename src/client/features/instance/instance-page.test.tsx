import "../../../../tests/dom";
import { afterEach, expect, test } from "bun:test";
import type { InstanceView } from "../../../shared/drain";

const { closePage, openPage, screen } = await import("../../../../tests/kit/client-page");
const { Toasts } = await import("../../components/toasts");
const { default: InstancePage } = await import("./instance-page");

afterEach(closePage);

const instance = (id: string, more: Partial<InstanceView> = {}): InstanceView => ({
  id,
  version: "1.0.0",
  started_at: 1,
  heartbeat_at: 2,
  self: false,
  draining_since: 0,
  drain_deadline: 0,
  running: 0,
  ...more,
});

async function open(...first: InstanceView[]) {
  let list = first;
  const set = (id: string, more: Partial<InstanceView>) => {
    list = list.map((one) => (one.id === id ? { ...one, ...more } : one));
    return list.find((one) => one.id === id);
  };
  return openPage(
    <>
      <InstancePage />
      <Toasts />
    </>,
    "/instance",
    {
      procedures: {
        "instance.list": () => list,
        "instance.drain": (input: { instance: string }) => set(input.instance, { draining_since: 5, running: 3 }),
        "instance.resume": (input: { instance: string }) => set(input.instance, { draining_since: 0 }),
      },
    },
  );
}

test("an instance is drained with a deadline, shows the calls that still run, and serves again", async () => {
  const page = await open(instance("a", { self: true }), instance("b"));
  expect((await screen.findAllByText("服务中")).length).toBe(2);
  await page.user.click(screen.getByRole("button", { name: "排空实例 b" }));
  expect(screen.queryByRole("alert")).toBeNull();
  await page.user.click(await screen.findByRole("button", { name: "开始排空" }));
  await screen.findByText("排空中 · 3");
  await page.user.click(await screen.findByRole("button", { name: "结束实例 b 的排空" }));
  await screen.findByText("实例 b 已恢复");
  expect(page.calls.filter(({ path }) => path !== "instance.list")).toEqual([
    { path: "instance.drain", input: { instance: "b", seconds: 600 } },
    { path: "instance.resume", input: { instance: "b" } },
  ]);
});

test("draining the last instance that serves says what follows", async () => {
  const page = await open(instance("a", { self: true }), instance("b", { draining_since: 5 }));
  await screen.findByText("已排空");
  await page.user.click(screen.getByRole("button", { name: "排空实例 a" }));
  expect((await screen.findByRole("alert")).textContent).toContain("所有新请求都会得到 503");
});
