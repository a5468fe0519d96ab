import { expect, test } from "bun:test";
import { knownName } from "./known-names";
import { defaultValue } from "./options";

test("every name that the options hold by default has an English one; the operator's own stay", () => {
  const names = [
    ...Object.values(defaultValue("UserUsableGroups")),
    ...defaultValue("PayMethods").map(({ name }) => name),
  ];
  expect(names.length).toBeGreaterThan(3);
  for (const name of names) {
    expect(knownName(name, "zh")).toBe(name);
    expect(knownName(name, "en")).toMatch(/^[\x20-\x7e]+$/);
  }
  expect(knownName("内部组", "en")).toBe("内部组");
});
