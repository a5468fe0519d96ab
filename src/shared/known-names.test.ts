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
    const english = knownName(name, "en");
    expect(english).toMatch(/^[\x20-\x7e]+$/);
    // Written by an English wizard, read in Chinese.
    expect(knownName(english, "zh")).toBe(name);
  }
  expect(knownName("内部组", "en")).toBe("内部组");
});
