import { expect, test } from "bun:test";
import { openHarness } from "../../../../tests/kit/harness";
import { snapshotOf } from "./snapshot";

test("values are plain members, and new from the very moment at which an option has changed", async () => {
  const h = await openHarness("sqlite");
  const { options } = h.services;
  let reads = 0;
  const values = snapshotOf(options, {
    get retries() {
      reads++;
      return options.get("RetryTimes");
    },
  });
  const first = values();
  expect([first.retries, values() === first, reads]).toEqual([options.get("RetryTimes"), true, 1]);
  await options.set("RetryTimes", "7");
  expect([values().retries, values().retries, reads]).toEqual([7, 7, 2]);
  await h.close();
});
