import { expect, test } from "bun:test";
import { columnsIn, fullRow } from "../../../../tests/kit/full-row";
import { sqliteTables } from "../../db/schema";
import { presentChannel } from "./present";

test("a channel is shown with an empty key, without its hash and its cipher", () => {
  const row = fullRow(sqliteTables.channels);
  const view = presentChannel(row);
  const shown = columnsIn(view, row);
  for (const column of ["key_cipher", "key_hash"]) {
    expect(shown).not.toContain(column);
    expect(view).not.toHaveProperty(column);
  }
  expect(view.key).toBe("");
  for (const column of ["name", "base_url", "models", "priority"]) expect(shown).toContain(column);
});
