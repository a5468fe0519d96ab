import "../../../../tests/dom";
import { afterEach, expect, test } from "bun:test";
import { NO_CALLS } from "../../../shared/health";
import type { LogView } from "../../../shared/log-list";
import { groupErrors } from "./channel-errors";

const { closePage, openPage, screen } = await import("../../../../tests/kit/client-page");
const { ChannelErrors } = await import("./channel-errors-section");
afterEach(closePage);

const attempt = (channel: number, status: number, message: string, failure = "server_error") => ({
  channel,
  status,
  message,
  failure,
});
/** A row as the log keeps it; only what is read here. */
const row = (created_at: number, attempts: readonly object[], content = "上游服务返回错误") =>
  ({ id: created_at, created_at, content, other: JSON.stringify({ admin_info: { attempts } }) }) as LogView;
const rows = [
  row(9, [attempt(7, 500, "overloaded"), attempt(8, 401, "not ours")]),
  row(8, [attempt(7, 429, "slow down", "rate_limited")]),
  row(7, [attempt(7, 500, "overloaded")]),
  row(6, [attempt(7, 0, "", "timeout")], "超时"),
  row(5, []),
];

test("errors with the same status and message are grouped and counted, the newest first; other channels' attempts do not count", () => {
  expect(groupErrors(7, rows)).toEqual([
    { status: 500, message: "overloaded", count: 2, last: 9 },
    { status: 429, message: "slow down", count: 1, last: 8 },
    { status: 0, message: "超时", count: 1, last: 6 },
    { status: 0, message: "上游服务返回错误", count: 1, last: 5 },
  ]);
});

test("a channel's drawer shows what the upstream said, how often, and leads to those rows of the log; without errors it says so", async () => {
  const page = await openPage(<ChannelErrors id={7} />, "/channel", {
    procedures: { "log.list": () => ({ items: rows }) },
  });
  expect(await screen.findByText("overloaded")).toBeDefined();
  expect(screen.getByText("2 次")).toBeDefined();
  expect(screen.getByRole("link", { name: "查看全部错误" }).getAttribute("href")).toBe("/log?channel=7&type=5");
  expect(page.calls[0]).toMatchObject({ path: "log.list", input: { channel: 7, type: 5 } });
  closePage();
  await openPage(<ChannelErrors id={7} />, "/channel", { procedures: { "log.list": () => ({ items: [] }) } });
  expect(await screen.findByText("最近 24 小时没有错误")).toBeDefined();
  closePage();
  // Another channel answered: no call failed, and yet this one did.
  const health = () => ({ 7: [{ ...NO_CALLS, hour: 3600, calls: 2, errors: 2 }] });
  const procedures = { "log.list": () => ({ items: [] }), "channel.health": health };
  await openPage(<ChannelErrors id={7} />, "/channel", { procedures });
  expect(await screen.findByText("最近 24 小时这里有 2 次尝试失败，调用都由其他渠道完成")).toBeDefined();
});
