import { describe, expect, test } from "bun:test";
import { groupRatio, mayUseGroup, usableGroups } from "./group";

const facts = {
  ratios: { default: 1, vip: 0.8, hidden: 2, own: 3 },
  usable: { default: "Default", vip: "VIP", ghost: "Without a ratio" },
  exclusive: { vip: { default: 0.5 } },
};

describe("groups", () => {
  test("users may use their own group, and others that are offered and have a ratio", () => {
    expect(mayUseGroup(facts, "own", "own")).toBe(true);
    expect(mayUseGroup(facts, "gone", "gone")).toBe(true);
    expect(mayUseGroup(facts, "own", "vip")).toBe(true);
    expect(mayUseGroup(facts, "own", "hidden")).toBe(false);
    expect(mayUseGroup(facts, "own", "ghost")).toBe(false);
    expect(mayUseGroup(facts, "own", "")).toBe(false);
    for (const name of ["__proto__", "constructor", "toString"]) expect(mayUseGroup(facts, "own", name)).toBe(false);
  });

  test("an exclusive ratio replaces the group's own, and a group without a ratio costs 1", () => {
    expect(groupRatio(facts, "default", "vip")).toBe(0.8);
    expect(groupRatio(facts, "vip", "default")).toBe(0.5);
    expect(groupRatio(facts, "gone", "gone")).toBe(1);
    expect(groupRatio(facts, "constructor", "toString")).toBe(1);
  });

  test("the choices have the description and the ratio that this user pays, the user's own group included", () => {
    expect(usableGroups(facts, "vip")).toEqual({
      default: { desc: "Default", ratio: 0.5 },
      vip: { desc: "VIP", ratio: 0.8 },
    });
    expect(usableGroups(facts, "own")).toEqual({
      own: { desc: "own", ratio: 3 },
      default: { desc: "Default", ratio: 1 },
      vip: { desc: "VIP", ratio: 0.8 },
    });
  });
});
