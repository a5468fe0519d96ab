import { describe, expect, test } from "bun:test";
import { errors } from "./errors";
import { mayActOn, ROLE, type Target, USER_ACTIONS, USER_STATUS, type UserAction } from "./roles";

const actors = { nobody: 0, user: ROLE.user, admin: ROLE.admin, root: ROLE.root } as const;
const targets: Record<string, Omit<Target, "id">> = {
  user: { role: 1 },
  banned: { role: 1, status: USER_STATUS.banned },
  locked: { role: 1, status: USER_STATUS.locked },
  deleted: { role: 1, deleted: true },
  odd: { role: 7 },
  admin: { role: 10 },
  root: { role: 100 },
};

/** `.` allowed, otherwise the refusal: by actor and target, in the order of USER_ACTIONS. */
const LEGEND: Record<string, ReturnType<typeof mayActOn>> = {
  ".": undefined,
  F: "forbidden",
  L: "same_or_higher_level",
  R: "root_protected",
  H: "role_too_high",
  P: "promote_needs_root",
  d: "user_deleted",
  a: "user_already_admin",
  o: "user_already_ordinary",
  e: "user_already_enabled",
  b: "user_already_disabled",
  l: "user_locked",
};
// Columns: read create update promote demote enable disable delete erase.
const TABLE: Record<"admin" | "root", Record<string, string>> = {
  admin: {
    user: "...Poe..F",
    banned: "...Po.b.F",
    locked: "...Poll.F",
    deleted: "..dPddddF",
    odd: "...Poe..F",
    admin: "LHLLLLLLL",
    root: "LHLLRLRRL",
  },
  root: {
    user: "....oe...",
    banned: "....o.b..",
    locked: "....oll..",
    deleted: "..dddddd.",
    odd: "....oe...",
    admin: "...a.e...",
    root: ".HLLRLRRL",
  },
};

describe("which roles may act on which accounts", () => {
  test("the actions of the table are all there are, and so are the roles and their numbers", () => {
    // spec: A-546
    expect(ROLE).toEqual({ guest: 0, user: 1, admin: 10, root: 100 });
    expect(USER_ACTIONS.join(" ")).toBe("read create update promote demote enable disable delete erase");
    for (const code of Object.values(LEGEND)) if (code) expect(Object.keys(errors)).toContain(code);
  });

  for (const [actor, rows] of Object.entries(TABLE)) {
    for (const [target, letters] of Object.entries(rows)) {
      test(`${actor} on ${target}`, () => {
        const told = USER_ACTIONS.map((action) => [
          action,
          mayActOn({ id: 1, role: ROLE[actor as "admin"] }, { id: 2, ...(targets[target] ?? { role: 0 }) }, action),
        ]);
        const wanted = USER_ACTIONS.map((action, i) => [action, LEGEND[letters[i] ?? ""]]);
        // spec, C-464..C-471, D-32, D-34, D-55
        expect(told).toEqual(wanted);
      });
    }
  }

  test("users who are no administrators may act on no account, not even read it", () => {
    for (const role of [actors.nobody, actors.user, 9]) {
      for (const target of Object.values(targets)) {
        for (const action of USER_ACTIONS)
          expect(mayActOn({ id: 1, role }, { id: 2, ...target }, action)).toBe("forbidden");
      }
    }
  });

  test("administrators may read their own account by these calls, and nothing else", () => {
    for (const role of [ROLE.admin, ROLE.root]) {
      const me = { id: 5, role };
      const allowed = USER_ACTIONS.filter((action: UserAction) => mayActOn(me, me, action) === undefined);
      // spec: D-54
      expect(allowed).toEqual(["read"]);
    }
  });
});
