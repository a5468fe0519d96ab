import { cleanup, render, screen, userEvent } from "../../../tests/dom";
import { i18n } from "@lingui/core";
import { I18nProvider } from "@lingui/react";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { TooltipProvider } from "../ui/tooltip";
import { Count } from "./quota";

beforeEach(() => i18n.loadAndActivate({ locale: "zh", messages: {} }));
afterEach(cleanup);

test("a count is shown in short, and in full while the pointer is on it", async () => {
  render(
    <I18nProvider i18n={i18n}>
      <TooltipProvider>
        <Count value={12_345} />
      </TooltipProvider>
    </I18nProvider>,
  );
  // spec: A-525, D-81
  expect(screen.getByText("12.3k")).toBeDefined();
  expect(screen.queryByText("12,345")).toBeNull();
  await userEvent.hover(screen.getByText("12.3k"));
  // spec: D-81
  expect((await screen.findByRole("tooltip")).textContent).toBe("12,345");
});
