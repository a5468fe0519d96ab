import { expect, test } from "bun:test";
import { columnsIn, fullRow } from "../../../../tests/kit/full-row";
import { WITHDRAWAL_STATES } from "../../../shared/invite";
import { sqliteTables } from "../../db/schema";
import { presentWithdrawal } from "./present";

test("a withdrawal is shown as its owner knows it, and nothing else of its row", () => {
  const row = fullRow(sqliteTables.withdrawals, { status: "paid" });
  const view = presentWithdrawal(row);
  expect(Object.keys(view).sort()).toEqual(["account", "amount", "created_at", "id", "note", "settled_at", "status"]);
  expect(columnsIn(view, row).sort()).toEqual(Object.keys(view).sort());
});

test("every state is shown as it is, and one that is not known as pending", () => {
  for (const status of WITHDRAWAL_STATES)
    expect(presentWithdrawal(fullRow(sqliteTables.withdrawals, { status })).status).toBe(status);
  expect(presentWithdrawal(fullRow(sqliteTables.withdrawals, { status: "of a later release" })).status).toBe("pending");
});
