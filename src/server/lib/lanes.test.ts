import { expect, test } from "bun:test";
import { createLanes } from "./lanes";

test("what comes while a batch runs is the next one, in order and of bounded size; keys do not wait for each other", async () => {
  const batches: string[] = [];
  const gate = Promise.withResolvers<void>();
  const add = createLanes<number, string>(async (key, items) => {
    batches.push(`${key} ${items.join(",")}`);
    if (key === "slow") await gate.promise;
    return items.map((item) => `${key}${item}`);
  }, 3);
  const slow = [1, 2, 3, 4, 5].map((item) => add("slow", item));
  expect(await add("quick", 9)).toBe("quick9");
  expect(batches).toEqual(["slow 1", "quick 9"]);
  gate.resolve();
  expect(await Promise.all(slow)).toEqual(["slow1", "slow2", "slow3", "slow4", "slow5"]);
  expect(batches.slice(2)).toEqual(["slow 2,3,4", "slow 5"]);
});

test("an error is that of its own batch alone", async () => {
  const add = createLanes<number, number>(async (_, items) => {
    if (items.includes(2)) throw new Error("broken");
    return items;
  });
  const [first, second, third] = [add("a", 1), add("a", 2), add("a", 3)];
  expect(await first).toBe(1);
  const ends = await Promise.allSettled([second, third]);
  expect(ends.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await add("a", 4)).toBe(4);
});
