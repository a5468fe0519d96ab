import { cleanup, render, screen, userEvent } from "../../../../tests/dom";
import { i18n } from "@lingui/core";
import { I18nProvider } from "@lingui/react";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { useState } from "react";
import { channelTypes } from "../../../shared/channel-types";
import { TooltipProvider } from "../../ui/tooltip";
import { TypePicker } from "./type-picker";

beforeEach(() => i18n.loadAndActivate({ locale: "zh", messages: {} }));
afterEach(cleanup);

function Picker({ start = 0 }: { start?: number }) {
  const [type, setType] = useState(start);
  return (
    <I18nProvider i18n={i18n}>
      <TooltipProvider>
        <span id="label">类型</span>
        <TypePicker id="picker" aria-labelledby="label" value={type} onValueChange={setType} />
        <output>{type}</output>
      </TooltipProvider>
    </I18nProvider>
  );
}

test("every channel type of the registry is offered, by its name in the language in force", () => {
  render(<Picker />);
  expect(screen.getAllByRole("option")).toHaveLength(channelTypes.length);
  for (const type of channelTypes) expect(screen.getAllByText(type.name.zh).length).toBeGreaterThan(0);
});

test("a type is found by typing, in either language, and taken with Enter; the focus stays at the field", async () => {
  render(<Picker />);
  await userEvent.type(screen.getByRole("combobox", { name: "类型" }), "baidu wenxin{Enter}");
  expect(screen.getByRole("status").textContent).toBe("15");
  expect(document.activeElement).toBe(screen.getByRole("button", { name: "更换 类型" }));
});

test("Escape leaves the picked type as it was", async () => {
  render(<Picker start={1} />);
  await userEvent.click(screen.getByRole("button", { name: "更换 类型" }));
  await userEvent.keyboard("{ArrowRight}{Escape}");
  expect(screen.getByRole("status").textContent).toBe("1");
  expect(screen.queryByRole("combobox")).toBeNull();
});
