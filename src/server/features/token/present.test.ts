import { expect, test } from "bun:test";
import { columnsIn, fullRow } from "../../../../tests/kit/full-row";
import { createSecrets } from "../../lib/secrets";
import { sqliteTables } from "../../db/schema";
import { presentToken, presentWithKey } from "./present";

const now = () => 1_000;
const secrets = createSecrets("a secret for tests only");
const row = fullRow(sqliteTables.tokens, {
  status: 1,
  expired_time: -1,
  key_cipher: secrets.encrypt("relay-key", "clear-key"),
});

test("a token is shown without its key, its hash and its cipher, and nobody learns when it was deleted", () => {
  const view = presentToken({ now }, row);
  const shown = columnsIn(view, row);
  for (const column of ["key_hash", "key_cipher", "deleted_at"]) {
    expect(shown).not.toContain(column);
    expect(view).not.toHaveProperty(column);
  }
  for (const column of ["name", "key_hint", "remain_quota", "used_quota", "group", "allow_ips"])
    expect(shown).toContain(column);
  expect(JSON.stringify(view)).not.toContain("clear-key");
});

test("its status is what holds now: expired and exhausted are not stored", () => {
  expect(presentToken({ now }, row).status).toBe(1);
  expect(presentToken({ now }, { ...row, expired_time: 1 }).status).toBe(3);
  expect(presentToken({ now }, { ...row, unlimited_quota: false, remain_quota: 0 }).status).toBe(4);
});

test("the doors that show a key show it in clear, and nothing else more", () => {
  const view = presentWithKey({ now, secrets }, row);
  expect(view.key).toBe("clear-key");
  expect(columnsIn(view, row)).toEqual(columnsIn(presentToken({ now }, row), row));
});
