/** The list of administrative actions, and one of them with what it changed. */
import "../../../../tests/dom";
import { afterEach, expect, test } from "bun:test";
import type { AuditView } from "../../../shared/audit";
import { ROLE } from "../../../shared/roles";

const { closePage, openPage, screen } = await import("../../../../tests/kit/client-page");
const { within } = await import("@testing-library/react");
const { storeUser, clearUser } = await import("../../lib/session");
const { formatTime } = await import("../../lib/format");
const { default: AuditPage } = await import("./audit-page");

afterEach(() => {
  closePage();
  clearUser();
});

const ACT: AuditView = {
  id: 7,
  created_at: 1_700_000_000,
  actor_id: 1,
  actor_name: "root",
  action: "channel.drain",
  target_type: "channel",
  target_id: "3",
  before: "",
  after: "",
  ip: "127.0.0.1",
  request_id: "r-7",
};

async function openAct(act: Partial<AuditView>) {
  storeUser({ id: 1, username: "root", display_name: "root", role: ROLE.root, status: 1, group: "default" });
  await openPage(<AuditPage />, "/audit?open=7", {
    procedures: { "audit.list": () => ({ items: [{ ...ACT, ...act }], total: 1 }) },
  });
  const drawer = await screen.findByRole("dialog");
  const rows = within(within(drawer).getByRole("table")).getAllByRole("row");
  return { drawer, rows: rows.map((row) => [...row.children].map((cell) => cell.textContent)) };
}

for (const side of ["before", "after"] as const)
  test(`an act with nothing but a side ${side} it is a list of names and values, not JSON`, async () => {
    const { drawer, rows } = await openAct({
      [side]: '{"name":"main","draining_since":1700000000,"models":["a","b"]}',
    });
    expect(rows).toEqual([
      ["字段", "值"],
      ["name", "main"],
      ["draining_since", formatTime(1_700_000_000)],
      ["models", '["a","b"]'],
    ]);
    expect(drawer.textContent).not.toContain("{");
  });

test("an act with both sides is a list of what differs, and both whole", async () => {
  const { drawer, rows } = await openAct({ before: '{"name":"a","weight":1}', after: '{"name":"b","weight":1}' });
  expect(rows).toEqual([
    ["字段", "修改前", "修改后"],
    ["name", "a", "b"],
  ]);
  expect(within(drawer).getAllByText(/"weight": 1/)).toHaveLength(2);
});
