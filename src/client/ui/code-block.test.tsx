import "../../../tests/dom";
import { afterEach, expect, test } from "bun:test";

const { closePage, openPage, screen } = await import("../../../tests/kit/client-page");
const { CodeBlock } = await import("./code-block");
afterEach(closePage);

test("the copy button stands beside the code, not on it: the first line is readable on a phone", async () => {
  await openPage(<CodeBlock label="curl" code="curl https://weir.example/v1/chat/completions" />, "/");
  const code = screen.getByLabelText("curl");
  const button = screen.getByRole("button");
  expect(code.contains(button)).toBe(false);
  // Two items of one row, of which the code takes what is left.
  expect(button.parentElement).toBe(code.parentElement);
  expect(code.parentElement?.className).toMatch(/\bflex\b/);
  expect(button.className).not.toContain("absolute");
});
