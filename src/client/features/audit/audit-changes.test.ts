import { expect, test } from "bun:test";
import { formatTime } from "../../lib/format";
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

test("times are read as times, and none as it is stored", () => {
  expect(changesOf("", '{"draining_since":1700000000,"drain_deadline":0}')).toEqual([
    { field: "draining_since", before: "", after: formatTime(1_700_000_000) },
    { field: "drain_deadline", before: "", after: "0" },
  ]);
});

test("what is no object is shown as it was written", () => {
  expect(changesOf("1", "2")).toBeUndefined();
  expect(changeLine("", "not json")).toBe("not json");
  expect(changeLine('{"a":1}', '{"a":1}')).toBe('{"a":1}');
});
