import { expect, test } from "bun:test";
import { CannotStart } from "./cannot-start";
import { checkOpenFiles, openFilesLimit } from "./open-files";

const limits = (soft: string): string => `Limit                     Soft Limit           Hard Limit           Units
Max processes             63434                63434                processes
Max open files            ${soft}                 1048576              files
Max locked memory         8388608              8388608              bytes`;

test("the limit of open files is the soft one; unlimited, or where the system does not say, there is none", () => {
  expect(openFilesLimit(limits("1024"))).toBe(1024);
  expect(openFilesLimit(limits("unlimited"))).toBe(Infinity);
  expect(openFilesLimit("")).toBe(Infinity);
});

test("a limit that a few callers would use up is a reason not to start, a low one is worth a warning", () => {
  expect(() => checkOpenFiles(255)).toThrow(CannotStart);
  expect(checkOpenFiles(1024)).toContain("about 487 calls at once");
  expect(checkOpenFiles(4096)).toBeUndefined();
  expect(checkOpenFiles(Infinity)).toBeUndefined();
});
