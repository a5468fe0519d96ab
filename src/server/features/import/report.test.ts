import { expect, test } from "bun:test";
import { reasonText } from "./reasons";
import { SYSTEMS } from "./systems";
import type { TableUse } from "./system";

test("every reason why a table or a column is left can be read in Chinese", () => {
  const reasons = SYSTEMS.flatMap((system) => [
    ...Object.values(system.leftTables),
    ...Object.values(system.tables(new Map(), {})).flatMap((use: TableUse<unknown>) => Object.values(use.left ?? {})),
  ]);
  expect(reasons.filter((words) => reasonText(words, "zh") === words)).toEqual([]);
  expect(reasonText("something of the source", "zh")).toBe("something of the source");
  expect(reasonText("deleted", "en")).toBe("deleted");
});
