import { expect, test } from "bun:test";
import { columnsIn, fullRow } from "../../../../tests/kit/full-row";
import { sqliteTables } from "../../db/schema";
import { presentForAdmin, presentForOwner, withoutAdminInfo } from "./present";

const other = JSON.stringify({ bill: [1], admin_info: { use_channel: ["7"] } });
const row = fullRow(sqliteTables.logs, { other });

test("administrators see everything of a row but its bookkeeping", () => {
  const view = presentForAdmin(row);
  for (const column of ["folded", "visible"]) expect(view).not.toHaveProperty(column);
  for (const column of ["channel", "channel_name", "upstream_request_id", "other", "ip", "content"])
    expect(columnsIn(view, row)).toContain(column);
});

test("its own user sees neither the channel, nor what was tried, nor the upstream's id, nor the bookkeeping", () => {
  const view = presentForOwner(row);
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
