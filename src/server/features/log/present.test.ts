import { describe, expect, test } from "bun:test";
import { columnsIn, fullRow } from "../../../../tests/kit/full-row";
import { ADMIN_LOG_FIELDS, LOG_FIELDS } from "../../../shared/log-list";
import { createSecrets } from "../../lib/secrets";
import { sqliteTables, type Tables } from "../../db/schema";
import { presentChannel } from "../channel/present";
import { presentRedemption } from "../redemption/present";
import { presentToken, presentWithKey } from "../token/present";
import { presentForAdmin, presentForOwner, withoutAdminInfo } from "./present";

const reader = { lang: "en", units: (amount: number) => `${amount} units` } as const;
const secrets = createSecrets("a secret for tests only");
const services = { secrets, now: () => 1_790_000_000_000 };

/** A row of a table in which every column says its own name, and one column that no presenter has heard of. */
function rowOf<Name extends keyof Tables>(name: Name, values: object = {}) {
  const columns = Object.keys(sqliteTables[name]).filter(
    (column) => !/^(_|\$|enableRLS|getSQL|shouldOmit)/.test(column),
  );
  const row = Object.fromEntries([...columns, "new_column"].map((column) => [column, `${column} of ${name}`]));
  return { ...row, ...values } as unknown as Tables[Name]["$inferSelect"];
}

const log = rowOf("logs", { other: JSON.stringify({ group: "vip", admin_info: { use_channel: ["7"] } }) });

describe("what may leave is listed", () => {
  const presented = {
    "the log, for administrators": presentForAdmin(log, reader),
    "the log, for its owner": presentForOwner(log, reader),
    channels: presentChannel(rowOf("channels")),
    tokens: presentToken(services, rowOf("tokens")),
    "tokens with their key": presentWithKey(
      services,
      rowOf("tokens", { key_cipher: secrets.encrypt("relay-key", "k") }),
    ),
    "redemption codes": presentRedemption(
      services,
      rowOf("redemptions", { key_cipher: secrets.encrypt("redemption-key", "k") }),
    ),
  };

  for (const [what, view] of Object.entries(presented)) {
    test(`${what}: a new column reaches no one until it is listed`, () => {
      expect(Object.keys(view)).toContain("id");
      expect(JSON.stringify(view)).not.toContain("new_column");
    });

    test(`${what}: no hash and no encrypted key leaves`, () => {
      expect(JSON.stringify(view)).not.toMatch(/key_hash|key_cipher/);
    });
  }

  test("a log row shows administrators every listed column as it is stored", () => {
    expect(Object.keys(presentForAdmin(log, reader)).sort()).toEqual([...LOG_FIELDS].sort());
    expect(presentForAdmin(log, reader)).toMatchObject({ channel_name: "channel_name of logs", ip: "ip of logs" });
  });

  test("a log row's owner sees the same columns but its cost, those of its channel empty and nothing of the attempts", () => {
    const own = presentForOwner(log, reader);
    const seen = [...LOG_FIELDS].filter((field) => field !== "upstream_cost");
    expect(Object.keys(own).sort()).toEqual(seen.sort());
    const empty = { channel: 0, channel_name: "", upstream_request_id: "", upstream_cost: undefined };
    for (const field of ADMIN_LOG_FIELDS) expect(own[field]).toBe(empty[field]);
    expect(own.other).toBe('{"group":"vip"}');
  });
});

const other = JSON.stringify({ bill: [1], admin_info: { use_channel: ["7"] } });
const row = fullRow(sqliteTables.logs, { other });

test("administrators see everything of a row but its bookkeeping", () => {
  const view = presentForAdmin(row, reader);
  for (const column of ["folded", "visible"]) expect(view).not.toHaveProperty(column);
  for (const column of ["channel", "channel_name", "upstream_request_id", "other", "ip", "content"])
    expect(columnsIn(view, row)).toContain(column);
});

test("its own user sees neither the channel, nor what was tried, nor the upstream's id, nor the bookkeeping", () => {
  const view = presentForOwner(row, reader);
  for (const column of ["channel", "channel_name", "upstream_request_id", "other"])
    expect(columnsIn(view, row)).not.toContain(column);
  for (const column of ["folded", "visible"]) expect(view).not.toHaveProperty(column);
  expect(view).toMatchObject({ channel: 0, channel_name: "", upstream_request_id: "" });
  expect(JSON.parse(view.other)).toEqual({ bill: [1] });
  for (const column of ["token_name", "model_name", "quota", "request_id"])
    expect(columnsIn(view, row)).toContain(column);
});

test("what is no JSON object is withheld", () => {
  for (const text of ["", "{", "null", "7", '"admin_info"', '[{"admin_info":1}]'])
    expect([text, withoutAdminInfo(text)]).toEqual([text, ""]);
  expect(withoutAdminInfo("{}")).toBe("{}");
});

test("a failed call's owner reads what the caller was told, an administrator the cause; each in their language", () => {
  const failed = fullRow(sqliteTables.logs, {
    type: 5,
    content: "",
    code: "failure.bad_credentials",
    params: JSON.stringify({ status: 401, retries: 2 }),
    other: "",
  });
  expect(presentForAdmin(failed, reader)).toMatchObject({
    code: "failure.bad_credentials",
    content: "The upstream does not accept the channel's key (status 401) (retried 2 times)",
  });
  expect(presentForOwner(failed, { ...reader, lang: "zh" })).toMatchObject({
    code: "upstream_error",
    params: '{"status":401,"retries":2}',
    content: "上游服务返回错误（状态码 401）（已重试 2 次）",
  });
});

test("amounts in a text are shown as the reader sees amounts", () => {
  const params = JSON.stringify({ quota: 5, redemption_id: 1 });
  const redeemed = fullRow(sqliteTables.logs, { type: 1, content: "", code: "redeemed", params, other: "" });
  for (const view of [presentForAdmin(redeemed, reader), presentForOwner(redeemed, reader)])
    expect(view.content).toBe("Redemption code 1 redeemed: 5 units");
});
