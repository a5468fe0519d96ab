import "../../../../tests/dom";
import { afterEach, expect, test } from "bun:test";
import type { ChannelKeyView } from "../../../shared/channel-keys";
import { statusInfo } from "../../../shared/channel-operations";

const { closePage, openPage, screen } = await import("../../../../tests/kit/client-page");
const { default: KeyList } = await import("./key-list");
afterEach(closePage);

const key = (position: number, more: Partial<ChannelKeyView> = {}): ChannelKeyView => ({
  id: position + 10,
  position,
  hint: `…${String(position).repeat(4)}`,
  status: 1,
  reason: "",
  status_time: 0,
  retires_at: 0,
  draining_since: 0,
  created_at: 1,
  ...more,
});
const reason = statusInfo({ code: "channel_call_refused", values: { status: 401, detail: "bad key" } }, 1_795_000_000);

test("keys show their place, end and why they fell; switching and removing are calls of their own", async () => {
  let keys = [key(1), key(2, { status: 3, reason })];
  const page = await openPage(<KeyList channelId={7} />, "/channel", {
    procedures: {
      "channel.keys": () => keys,
      "channel.setKeyStatus": () => ((keys = [key(1), key(2)]), 1),
      "channel.removeKeys": () => ((keys = [key(1)]), 1),
    },
  });
  await screen.findByText("…2222");
  expect(screen.getByText(/bad key/)).toBeDefined();
  expect(screen.getByText("共 2 个密钥，1 个已启用")).toBeDefined();
  await page.user.click(screen.getByRole("switch", { name: "启用密钥 2" }));
  await screen.findByText("共 2 个密钥，2 个已启用");
  expect(page.calls).toContainEqual({ path: "channel.setKeyStatus", input: { id: 7, key_ids: [12], status: 1 } });
  await page.user.click(screen.getByRole("button", { name: "删除密钥 2" }));
  await screen.findByText("共 1 个密钥，1 个已启用");
  expect(page.calls).toContainEqual({ path: "channel.removeKeys", input: { id: 7, key_ids: [12] } });
  // The last one stays.
  expect(screen.getByRole("button", { name: "删除密钥 1" })).toHaveProperty("disabled", true);
});
