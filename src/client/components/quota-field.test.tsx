import { cleanup, render, screen, userEvent } from "../../../tests/dom";
import { i18n } from "@lingui/core";
import { I18nProvider } from "@lingui/react";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { useState } from "react";
import { QuotaField } from "./quota-field";

let units: number | null;

function Form({ start, picks }: { start: number; picks?: boolean }) {
  const [value, setValue] = useState<number | null>(start);
  units = value;
  return (
    <I18nProvider i18n={i18n}>
      <label htmlFor="quota">quota</label>
      <QuotaField id="quota" picks={picks} value={value} onValueChange={setValue} />
    </I18nProvider>
  );
}

beforeEach(() => {
  localStorage.clear();
  i18n.loadAndActivate({ locale: "zh", messages: {} });
});
afterEach(cleanup);

test("dollars are typed, whole units are kept and shown", async () => {
  render(<Form start={500_000} />);
  const field = screen.getByRole<HTMLInputElement>("spinbutton", { name: "quota" });
  expect(field.value).toBe("1");
  expect(screen.getByText("500,000 额度")).toBeTruthy();
  await userEvent.clear(field);
  expect(units).toBeNull();
  await userEvent.type(field, "2.5");
  expect(units).toBe(1_250_000);
  expect(screen.getByText("1,250,000 额度")).toBeTruthy();
});

test("an amount finer than a unit is rounded without changing what is being typed", async () => {
  render(<Form start={0} />);
  const field = screen.getByRole<HTMLInputElement>("spinbutton", { name: "quota" });
  await userEvent.clear(field);
  await userEvent.type(field, "0.0000031");
  expect(field.value).toBe("0.0000031");
  expect(units).toBe(2);
});

test("units are typed where the operator shows units", async () => {
  localStorage.setItem("display_in_currency", "false");
  render(<Form start={500_000} />);
  const field = screen.getByRole<HTMLInputElement>("spinbutton", { name: "quota" });
  // spec: A-202
  expect(field.value).toBe("500000");
  expect(screen.getByText("$1.000000")).toBeTruthy();
  await userEvent.clear(field);
  await userEvent.type(field, "1.5");
  expect(units).toBe(1.5);
});

test("six amounts are offered, in dollars whatever is typed", async () => {
  render(<Form start={0} picks />);
  const buttons = screen.getAllByRole("button").map((button) => button.textContent);
  // spec: C-606..C-611
  expect(buttons).toEqual(["$1", "$10", "$50", "$100", "$500", "$1000"]);
  const expected = [500_000, 5_000_000, 25_000_000, 50_000_000, 250_000_000, 500_000_000];
  for (const [index, button] of screen.getAllByRole("button").entries()) {
    await userEvent.click(button);
    // spec: C-606..C-611
    expect(units).toBe(expected[index] ?? null);
  }
});
