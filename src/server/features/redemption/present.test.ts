import { expect, test } from "bun:test";
import { columnsIn, fullRow } from "../../../../tests/kit/full-row";
import { createSecrets } from "../../lib/secrets";
import { sqliteTables } from "../../db/schema";
import { presentRedemption } from "./present";

test("a code is shown in clear, without its hash and its cipher, and nobody learns when it was deleted", () => {
  const secrets = createSecrets("a secret for tests only");
  const row = fullRow(sqliteTables.redemptions, { key_cipher: secrets.encrypt("redemption-key", "clear-code") });
  const view = presentRedemption({ secrets }, row);
  expect(view.key).toBe("clear-code");
  for (const column of ["key_hash", "key_cipher", "deleted_at"]) {
    expect(columnsIn(view, row)).not.toContain(column);
    expect(view).not.toHaveProperty(column);
  }
});
