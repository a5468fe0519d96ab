import { cleanup, render, screen, userEvent } from "../../../tests/dom";
import { i18n } from "@lingui/core";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { useForm } from "react-hook-form";
import { Input } from "../ui/input";
import { FormField } from "./form-field";

beforeEach(() => i18n.loadAndActivate({ locale: "zh", messages: {} }));
afterEach(cleanup);

function Form({ complaint }: { complaint: string }) {
  const form = useForm({ defaultValues: { name: "" } });
  return (
    <form noValidate onSubmit={form.handleSubmit(() => form.setError("name", { message: complaint }))}>
      <FormField control={form.control} name="name" label="名称" hint="显示在日志里" errorValues={{ max: 20 }}>
        {(field) => <Input {...field.input} />}
      </FormField>
      <button>save</button>
    </form>
  );
}

test("a field is found by its label and described by its hint", () => {
  render(<Form complaint="" />);
  const field = screen.getByRole("textbox", { name: "名称" });
  expect(field.getAttribute("aria-invalid")).toBeNull();
  expect(document.getElementById(field.getAttribute("aria-describedby") ?? "")?.textContent).toBe("显示在日志里");
});

test("an error code of the shared schemas is shown as its message, with its values, and tied to the field", async () => {
  render(<Form complaint="password_too_long" />);
  await userEvent.click(screen.getByRole("button", { name: "save" }));
  expect((await screen.findByRole("alert")).textContent).toBe("密码长度不得超过 20 位！");
  const field = screen.getByRole("textbox", { name: "名称" });
  expect(field.getAttribute("aria-invalid")).toBe("true");
  expect(field.getAttribute("aria-describedby")).toContain(screen.getByRole("alert").id);
});

test("any other message is shown as it is", async () => {
  render(<Form complaint="名称已存在" />);
  await userEvent.click(screen.getByRole("button", { name: "save" }));
  expect((await screen.findByRole("alert")).textContent).toBe("名称已存在");
});
