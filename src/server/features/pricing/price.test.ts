import { expect, test } from "bun:test";
import { openHarness } from "../../../../tests/kit/harness";
import { chargeOf } from "../../../shared/charge";
import { createPrices } from "./price";

test("a price follows the options: compiled once, new after a change, undefined without price or ratio", async () => {
  const h = await openHarness("sqlite");
  const { options } = h.services;
  const book = createPrices(options);
  await options.set("ModelRatio", '{"dear":15}');
  await options.set("CompletionRatio", '{"dear":2}');
  const units = (group: string, user: string) => {
    const price = book.price("dear", group, user);
    return price && chargeOf(price, { input: 1000, output: 500 }).quota;
  };
  expect(units("default", "default")).toBe(30_000);
  expect(book.price("dear", "default", "default")).toBe(book.price("dear", "default", "default"));
  expect(book.price("unknown", "default", "default")).toBeUndefined();
  await options.set("GroupRatio", '{"default":2,"vip":1}');
  expect(units("default", "default")).toBe(60_000);
  await options.set("GroupGroupRatio", '{"vip":{"default":0.5}}');
  expect([units("default", "vip"), units("default", "default")]).toEqual([15_000, 60_000]);
  await options.set("SelfUseModeEnabled", "true");
  expect(book.price("unknown", "default", "default")).toBeDefined();
  await h.close();
});
