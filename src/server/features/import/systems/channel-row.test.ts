import { expect, test } from "bun:test";
import { multiKeys } from "./channel-row";

const info = (members: object): string => JSON.stringify({ is_multi_key: true, ...members });
const account = { type: "service_account", private_key: "-----BEGIN\nx" };

test.each([
  ["one a line, with disabled ones and their reasons", "k-a\nk-b\r\nk-c\n", ["k-a", "k-b", "k-c"]],
  ["a JSON array of texts", '["k-a"," k-b ","k-c"]', ["k-a", "k-b", "k-c"]],
  [
    "a JSON array of service accounts",
    JSON.stringify([account, { ...account, id: 2 }, { ...account, id: 3 }]),
    [account, { ...account, id: 2 }, { ...account, id: 3 }].map((one) => JSON.stringify(one)),
  ],
  ["lines that begin with a bracket and are no JSON", "[k-a\nk-b\nk-c", ["[k-a", "k-b", "k-c"]],
] as const)("several keys of a channel: %s", (_, key, keys) => {
  const channel_info = info({
    multi_key_mode: "polling",
    multi_key_status_list: { 1: 2, 2: 3 },
    multi_key_disabled_reason: { 2: "quota exceeded" },
  });
  expect(multiKeys({ key, channel_info })).toEqual({
    multi_key_mode: "polling",
    keys: [
      { key: keys[0], status: 1, reason: "" },
      { key: keys[1], status: 2, reason: "" },
      { key: keys[2], status: 3, reason: "quota exceeded" },
    ],
  });
});

test("a doubled key and a blank line are left, and the states of the others stay with their keys", () => {
  const channel_info = info({ multi_key_status_list: { 3: 2 } });
  expect(multiKeys({ key: "k-a\n\nk-a\nk-b", channel_info })).toEqual({
    multi_key_mode: "random",
    keys: [
      { key: "k-a", status: 1, reason: "" },
      { key: "k-b", status: 2, reason: "" },
    ],
  });
});

test("without the mark of several keys a line break is part of the one key", () => {
  for (const channel_info of [null, "", "{}", '{"is_multi_key":false}'])
    expect(multiKeys({ key: " k-a\nk-b ", channel_info }).keys).toEqual([{ key: "k-a\nk-b", status: 1, reason: "" }]);
});
