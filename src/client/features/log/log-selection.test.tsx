/** What the inspector says of the choice of a channel. */
import "../../../../tests/dom";
import { afterEach, expect, test } from "bun:test";

const { closePage, openPage, screen } = await import("../../../../tests/kit/client-page");
const { LogSelection } = await import("./log-selection");

afterEach(closePage);

test("who was passed over is named with the reason and what was left of it, and where the conversation stayed", async () => {
  const selection = {
    candidates: 4,
    tiers: [],
    sticky: 7,
    groups: ["vip", "default"],
    skipped: [
      { channel: 3, why: "cooling", remaining_ms: 4200 },
      { channel: 5, why: "limited", limit: "rate_limited_requests", remaining_ms: 0 },
      { channel: 6, why: "a-later-release" },
      { channel: 8, why: "elsewhere" },
      { channel: 9, why: "too_long" },
      { channel: 10, why: "toString" },
    ],
  };
  await openPage(<LogSelection selection={selection} />, "/log");
  expect(screen.getByRole("list", { name: "跳过的渠道" }).textContent).toBe(
    "3 · 冷却中 · 4.2 s5 · 已达限额6 · a-later-release8 · 上文或文件在其他渠道9 · 输入过长10 · toString",
  );
  expect(screen.getByText("会话保持：7")).toBeTruthy();
  expect(screen.getByText("vip → default")).toBeTruthy();
});

test("rows of older releases, and what is no record of a choice, show nothing", async () => {
  for (const selection of [undefined, null, "x", [], {}, { candidates: "4" }]) {
    const { container } = await openPage(<LogSelection selection={selection} />, "/log");
    expect(container.querySelector("section")).toBeNull();
    closePage();
  }
  await openPage(<LogSelection selection={{ candidates: 1, skipped: [null, 5, { channel: "3" }] }} />, "/log");
  expect(screen.queryByRole("list")).toBeNull();
});
