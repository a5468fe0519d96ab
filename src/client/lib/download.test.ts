import { expect, test } from "bun:test";
import { csvText, fileName } from "./download";

test("CSV quotes what needs it and lets no name become a formula", () => {
  expect(
    csvText([
      ["name", "key"],
      ['a "b", c', "=1+1"],
      ["@x", 5],
      ["多\n行", -5],
    ]),
  ).toBe('\ufeffname,key\r\n"a ""b"", c",\'=1+1\r\n\'@x,5\r\n"多\n行",-5\r\n');
});

test("a file name is one, whatever the batch is called", () => {
  expect(["$0.20.txt", "a/b\\c:d.txt", "..hidden", " ", "\u0000x"].map(fileName)).toEqual([
    "$0.20.txt",
    "a_b_c_d.txt",
    "_hidden",
    "download",
    "_x",
  ]);
});
