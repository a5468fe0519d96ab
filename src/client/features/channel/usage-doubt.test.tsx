import "../../../../tests/dom";
import { afterEach, expect, test } from "bun:test";
import type { LogView } from "../../../shared/log-list";
import { type ChannelDoubt, DOUBT_LASTS } from "../../../shared/usage-doubt";

const { closePage, openPage, screen } = await import("../../../../tests/kit/client-page");
const { ChannelStatusCell } = await import("./channel-columns");
const { LogInspector } = await import("../log/log-inspector");
afterEach(closePage);

const now = Math.floor(Date.now() / 1000);
const doubt: ChannelDoubt = {
  side: "output",
  rule: "implausible",
  reported: 1_000_000_000,
  charged: 200_000,
  model: "m",
  request_id: "r1",
  time: now - 60,
};
const channel = (other_info: object, setting: object = {}) => ({
  id: 1,
  draining_since: 0,
  drain_deadline: 0,
  status: 1,
  other_info: JSON.stringify(other_info),
  setting: JSON.stringify(setting),
});

test("a channel whose upstream's count was not believed is marked for a week, unless it is trusted or nothing was found", async () => {
  const shown: [ReturnType<typeof channel>, boolean][] = [
    [channel({ usage_doubt: doubt }), true],
    [channel({ usage_doubt: { ...doubt, time: now - DOUBT_LASTS - 60 } }), false],
    [channel({ usage_doubt: doubt }, { trust_usage: true }), false],
    [channel({ status_reason: "x" }), false],
    [channel({ usage_doubt: { ...doubt, rule: "of-a-later-release" } }), false],
  ];
  for (const [one, marked] of shown) {
    await openPage(<ChannelStatusCell channel={one} />, "/channel");
    expect(screen.queryAllByRole("img", { name: "用量可疑" }).length > 0).toBe(marked);
    closePage();
  }
});

test("the log's inspector says what the upstream counted, and what was charged instead", async () => {
  const row: LogView = {
    id: 1,
    created_at: now,
    type: 2,
    user_id: 1,
    username: "ann",
    token_id: 1,
    token_name: "t",
    channel: 1,
    channel_name: "c",
    group: "default",
    model_name: "m",
    quota: 200_000,
    prompt_tokens: 0,
    completion_tokens: 200_000,
    use_time: 1,
    is_stream: false,
    content: "",
    code: "",
    params: "",
    refund_of: "",
    repeated: 0,
    repeated_until: 0,
    ip: "",
    request_id: "r1",
    upstream_request_id: "",
    end_reason: "complete",
    other: JSON.stringify({
      bill: [],
      usage_doubts: [doubt, { side: "input", rule: "impossible", reported: null, charged: 12 }],
    }),
  };
  await openPage(<LogInspector id="1" known={row} admin onClose={() => undefined} onStep={() => undefined} />, "/log", {
    procedures: { "log.get": () => row, "log.entry": () => row },
  });
  const found = await screen.findByTestId("usage-doubts");
  expect(found.textContent).toContain("输出 Token 1,000,000,000 远超合理范围，按上限计费：计费 200,000");
  expect(found.textContent).toContain("输入 Token不是可能的数量，已改为估算：计费 12");
});
