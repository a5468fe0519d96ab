import "../../../tests/dom";
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";

const { closePage, openPage, screen, waitFor } = await import("../../../tests/kit/client-page");
const { Toasts } = await import("../components/toasts");
const { runExport } = await import("./export-run");

setDefaultTimeout(30_000);
afterEach(closePage);

test("an export says how far it is until it is stopped, fails or has saved its file", async () => {
  const { user } = await openPage(<Toasts />, "/", { procedures: {} });
  let aborted = false;
  const stopped = runExport(async (report, signal) => {
    await Bun.sleep(250);
    report("500 / 1,000 行");
    await new Promise((_, reject) => {
      signal.addEventListener("abort", () => {
        aborted = true;
        reject(signal.reason as Error);
      });
    });
    return "never.csv";
  });
  await screen.findByText("正在导出：500 / 1,000 行");
  await user.click(screen.getByRole("button", { name: "停止" }));
  await stopped;
  expect(aborted).toBe(true);
  await screen.findByText("已停止导出");
  await waitFor(() => expect(screen.queryByText(/正在导出/)).toBeNull());

  await runExport(() => Promise.resolve("list.csv"));
  await screen.findByText("已导出 list.csv");
  await runExport(() => Promise.resolve(null));
  await screen.findByText("没有可导出的行");
  await runExport(() => Promise.reject(new TypeError("boom")));
  await screen.findByText("boom");
  await screen.findByText("导出没有完成");
  await waitFor(() => expect(screen.queryByText(/正在导出/) === null).toBe(true));
  expect(screen.queryByRole("button", { name: "停止" }) === null).toBe(true);
});
