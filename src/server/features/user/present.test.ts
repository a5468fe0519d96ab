import { expect, test } from "bun:test";
import { columnsIn, fullRow } from "../../../../tests/kit/full-row";
import { sqliteTables } from "../../db/schema";
import { presentManaged, presentSignedIn, presentUser } from "./present";

const identities = [{ provider: "github", subject: "gh-7" }];
const row = fullRow(sqliteTables.users, { setting: "", deleted_at: null });
/** The columns that hold credentials: what authenticates the user, and what would let another person in. */
const SECRET = Object.keys(row).filter(
  (column) => /hash|cipher|secret|token|totp|code|factor/.test(column) && column !== "aff_code",
);

test("no view of an account contains its credentials", () => {
  expect(SECRET).toContain("password_hash");
  for (const view of [presentSignedIn(row), presentManaged(row, identities), presentUser(row, identities)])
    expect(columnsIn(view, row).filter((column) => SECRET.includes(column))).toEqual([]);
});

test("administrators see an account's invite code, and of its notification settings no address and no secret", () => {
  const setting = { notify_type: "webhook", webhook_url: "https://hook-secret", webhook_secret_cipher: "hook-secret" };
  const view = presentManaged({ ...row, setting: JSON.stringify(setting) }, identities);
  expect(view.aff_code).toBe(row.aff_code ?? expect.unreachable());
  expect(JSON.parse(view.setting)).toEqual({ language: "zh", notify_type: "webhook", quota_warning_threshold: 0 });
  expect(JSON.stringify(view)).not.toContain("hook-secret");
  expect(presentManaged({ ...row, aff_code: null }, identities)).toMatchObject({ aff_code: "", setting: "" });
  expect(view).toMatchObject({ github_id: "gh-7", quota: row.quota, email: row.email });
});

test("an account's own view has its invite code, empty where it has none", () => {
  expect(presentUser(row, []).aff_code).toBe(row.aff_code ?? expect.unreachable());
  expect(presentUser({ ...row, aff_code: null }, [])).toMatchObject({ aff_code: "", github_id: "" });
});

test("the time of a deletion is a date, null while there is none", () => {
  for (const view of [presentManaged(row, []), presentUser(row, [])]) expect(view.DeletedAt).toBeNull();
  const gone = { ...row, deleted_at: 1_700_000_000 };
  for (const view of [presentManaged(gone, []), presentUser(gone, [])])
    expect(view.DeletedAt).toBe("2023-11-14T22:13:20.000Z");
});
