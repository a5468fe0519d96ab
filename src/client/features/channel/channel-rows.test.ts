import { describe, expect, test } from "bun:test";
import type { ChannelView } from "../../../shared/channel";
import { summarizeTag } from "../../../shared/channel-operations";
import { readRoutingNumber } from "./channel-numbers";
import { channelsBehind, plainRows, tagRows } from "./channel-rows";

const channel = (id: number, tag = "", more: Partial<ChannelView> = {}): ChannelView => ({
  id,
  type: 1,
  name: `c${id}`,
  key: "",
  base_url: "",
  other: "",
  models: "m",
  group: "default",
  model_mapping: "",
  status_code_mapping: "",
  setting: "",
  param_override: "",
  header_override: "",
  test_model: "",
  auto_ban: 1,
  tag,
  priority: 0,
  weight: 0,
  openai_organization: "",
  max_input_tokens: 0,
  status: 1,
  response_time: 0,
  used_quota: 0,
  balance: 0,
  balance_updated_time: 0,
  test_time: 0,
  created_time: 0,
  other_info: "",
  draining_since: 0,
  drain_deadline: 0,
  multi_key_mode: "",
  balance_currency: "",
  ...more,
});

describe("rows of the list", () => {
  const page = {
    tags: [{ tag: "a,b", channels: [channel(1, "a,b"), channel(2, "a,b", { weight: 3 })] }],
    untagged: [channel(3)],
  };

  test("a folded tag is one row, an unfolded one has its channels below it, untagged ones come last", () => {
    expect(tagRows(page, new Set()).map((row) => row.id)).toEqual(["tag:a,b", "3"]);
    // spec: C-070, C-074
    expect(tagRows(page, new Set(["a,b"])).map((row) => row.id)).toEqual(["tag:a,b", "1", "2", "3"]);
  });

  test("a tag's row knows what its channels have in common and what not", () => {
    const [head] = tagRows(page, new Set());
    // spec: C-075
    expect(head).toMatchObject({ kind: "tag", summary: { channels: 2, enabled: 2, priority: 0, weight: undefined } });
  });

  test("a tag's row sums what was used, and takes the mean of the response times of those that were tested", () => {
    const of = [
      channel(1, "t", { used_quota: 10, response_time: 100 }),
      channel(2, "t", { used_quota: 5, response_time: 301 }),
      channel(3, "t", { used_quota: 1, response_time: 0 }),
    ];
    // spec: C-075
    expect(summarizeTag(of)).toMatchObject({ used_quota: 16, response_time: 201 });
    expect(summarizeTag([channel(4, "t")]).response_time).toBe(0);
  });

  test("what a tag's accounts have left is summed in one unit; it is unknown while none was asked, and across units", () => {
    const left = (balance: number, balance_currency = "") =>
      channel(1, "t", { balance, balance_currency, balance_updated_time: 1 });
    const of = (channels: ChannelView[]) => summarizeTag(channels).balance;
    expect(of([channel(1), channel(2)])).toBeUndefined();
    // spec: C-075
    expect(of([left(1.5), left(2), channel(3)])).toEqual({ balance: 3.5, balance_currency: "" });
    expect(of([left(1, "CNY"), left(2, "CNY")])).toEqual({ balance: 3, balance_currency: "CNY" });
    expect(of([left(1), left(2, "CNY")])).toBeUndefined();
  });

  test("a tag that is selected together with its own channel counts each channel once", () => {
    expect(channelsBehind(tagRows(page, new Set(["a,b"]))).map(({ id }) => id)).toEqual([1, 2, 3]);
    expect(channelsBehind(plainRows([channel(9)])).map(({ id }) => id)).toEqual([9]);
  });
});

test("priority and weight are whole numbers within their limits, else refused with the specified messages", () => {
  expect(readRoutingNumber("priority", " -999 ")).toEqual({ value: -999 });
  expect(readRoutingNumber("priority", "1.5")).toEqual({ problem: "优先级必须是整数！" });
  expect(readRoutingNumber("priority", "")).toEqual({ problem: "优先级必须是整数！" });
  expect(readRoutingNumber("priority", "-1000")).toEqual({ problem: "优先级不能小于 -999" });
  expect(readRoutingNumber("weight", "0")).toEqual({ value: 0 });
  expect(readRoutingNumber("weight", "-1")).toEqual({ problem: "权重必须是非负整数！" });
  expect(readRoutingNumber("weight", "1e3")).toEqual({ problem: "权重必须是非负整数！" });
});
