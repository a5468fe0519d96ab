import { act, cleanup, render, screen } from "../../../tests/dom";
import { i18n } from "@lingui/core";
import { I18nProvider } from "@lingui/react";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { copyText } from "../lib/clipboard";
import { TooltipProvider } from "../ui/tooltip";
import { ClipboardFallback } from "./clipboard-fallback";

let write: (text: string) => Promise<void>;
beforeEach(() => {
  i18n.loadAndActivate({ locale: "zh", messages: {} });
  Object.defineProperty(navigator, "clipboard", {
    configurable: true,
    value: { writeText: (text: string) => write(text) },
  });
  render(
    <I18nProvider i18n={i18n}>
      <TooltipProvider>
        <ClipboardFallback />
      </TooltipProvider>
    </I18nProvider>,
  );
});
afterEach(cleanup);

test("a clipboard that works gets the text and no dialog is shown", async () => {
  let copied = "";
  write = async (text) => void (copied = text);
  expect(await copyText("sk-1")).toBe(true);
  expect(copied).toBe("sk-1");
  expect(screen.queryByRole("dialog")).toBeNull();
});

test("a clipboard that refuses leads to a dialog with the message and the text", async () => {
  write = () => Promise.reject(new DOMException("denied", "NotAllowedError"));
  expect(await act(() => copyText("sk-secret"))).toBe(false);
  // spec: A-476, C-578
  expect(await screen.findByRole("dialog", { name: "无法复制到剪贴板，请手动复制" })).toBeTruthy();
  // spec: A-476, C-579
  expect(screen.getByLabelText("要复制的文本")).toHaveProperty("value", "sk-secret");
});
