import { cleanup, render, screen, userEvent } from "../../../../tests/dom";
import { i18n } from "@lingui/core";
import { I18nProvider } from "@lingui/react";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { FormProvider, useForm, useWatch } from "react-hook-form";
import { TooltipProvider } from "../../ui/tooltip";
import { DrawingField } from "./drawing-field";
import { emptyToken, type TokenValues } from "./token-values";

beforeEach(() => i18n.loadAndActivate({ locale: "zh", messages: {} }));
afterEach(cleanup);

function Form({ mj_mode }: Pick<TokenValues, "mj_mode">) {
  const form = useForm<TokenValues>({ defaultValues: { ...emptyToken, mj_mode } });
  const chosen = useWatch({ control: form.control, name: "mj_mode" });
  return (
    <I18nProvider i18n={i18n}>
      <TooltipProvider>
        <FormProvider {...form}>
          <DrawingField />
        </FormProvider>
        <p data-testid="chosen">{JSON.stringify(chosen)}</p>
      </TooltipProvider>
    </I18nProvider>
  );
}
const chosen = (): string | null => screen.getByTestId("chosen").textContent;
const choose = async (name: string): Promise<void> => {
  await userEvent.click(screen.getByRole("combobox", { name: "绘图模式" }));
  await userEvent.click(screen.getByRole("option", { name }));
};

test("a token's mode is one of three, or left to the caller, which is stored as nothing", async () => {
  render(<Form mj_mode="" />);
  expect(screen.getByRole("combobox", { name: "绘图模式" }).textContent).toBe("由调用方决定");
  await choose("慢速（relax）");
  // spec: C-263
  expect(chosen()).toBe('"relax"');
  await choose("由调用方决定");
  expect(chosen()).toBe('""');
});

test("a stored mode is shown", () => {
  render(<Form mj_mode="turbo" />);
  expect(screen.getByRole("combobox", { name: "绘图模式" }).textContent).toBe("极速（turbo）");
});
