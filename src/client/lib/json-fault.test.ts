import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { jsonFault } from "./json-fault";

describe("finding the fault in JSON", () => {
  test.each([
    ['{\n  "a": "b",\n}', 3, 1],
    ['{"a" 1}', 1, 6],
    ["[1, 2", 1, 6],
    ["{a: 1}", 1, 2],
    ['{"a": 1} x', 1, 10],
    ["", 1, 1],
    ["[01]", 1, 3],
    ['"tab\there"', 1, 1],
  ])("%j breaks in line %d, column %d", (text, line, column) => {
    expect(jsonFault(text)).toEqual({ line, column });
  });

  test("what JSON.stringify writes has no fault", () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => jsonFault(JSON.stringify(value, null, 2)) === null));
  });

  test("it agrees with JSON.parse on any text", () => {
    const piece = fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      '"a"',
      "1",
      "-",
      "true",
      " ",
      "\n",
      "null",
      "1e5",
      "\\",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join("");
        let valid = true;
        try {
          JSON.parse(text);
        } catch {
          valid = false;
        }
        return (jsonFault(text) === null) === valid;
      }),
    );
  });
});
