import { expect, test } from "bun:test";
import { changeLine, changesOf } from "./audit-changes";

test("an act is told by the fields that differ, before and after", () => {
  const before = '{"name":"a","weight":1,"models":["x"]}';
  const after = '{"name":"b","weight":1,"models":["x","y"],"tag":"t"}';
  expect(changesOf(before, after)).toEqual([
    { field: "name", before: "a", after: "b" },
    { field: "models", before: '["x"]', after: '["x","y"]' },
    { field: "tag", before: "", after: "t" },
  ]);
  expect(changeLine(before, after)).toBe('name: a → b, models: ["x"] → ["x","y"], tag: → t');
});

test("what is no object is shown as it was written", () => {
  expect(changesOf("1", "2")).toBeUndefined();
  expect(changeLine("", "not json")).toBe("not json");
  expect(changeLine('{"a":1}', '{"a":1}')).toBe('{"a":1}');
});
