import { expect, test } from "bun:test";
import { warningText } from "./warning-text";

test("a warning of the log is told as a sentence in the reader's language, with its number in full", () => {
  expect(warningText("limited_output: 24973", "zh")).toBe("剩余额度只够 24,973 个输出 Token，回答以此为上限");
  expect(warningText("limited_output: 24973", "en")).toBe(
    "What is left pays for 24,973 output tokens, so the answer was limited to that",
  );
  expect(warningText("dropped_field: seed: $& 1", "en")).toBe("The upstream has no seed: $& 1; it was left out");
});

test("a warning of a later release is shown as it is stored", () => {
  expect(warningText("new_kind: detail", "zh")).toBe("new_kind: detail");
  expect(warningText("without code", "zh")).toBe("without code");
});
