import { cleanup, render, screen, userEvent } from "../../../tests/dom";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { useForm, useWatch } from "react-hook-form";
import { useFormDraft } from "./drafts";
import { clearUser, storeUser } from "./session";

function Form() {
  const form = useForm({ defaultValues: { name: "", secret: "" } });
  const { savedAt, restore } = useFormDraft(form, "thing");
  // Renders again on each change, as forms with dependent fields do.
  useWatch({ control: form.control });
  return (
    <form>
      <input aria-label="name" {...form.register("name")} />
      {savedAt === null ? null : (
        <button type="button" onClick={restore}>
          restore
        </button>
      )}
    </form>
  );
}

beforeEach(() => {
  localStorage.clear();
  storeUser({ id: 1, username: "a", display_name: "a", role: 1, status: 1, group: "default" });
});
afterEach(() => {
  cleanup();
  clearUser();
});

const name = () => screen.getByRole<HTMLInputElement>("textbox", { name: "name" });

test("a single change is kept, although the form renders again on each, and comes back on demand", async () => {
  const { unmount } = render(<Form />);
  await userEvent.click(name());
  await userEvent.paste("half done");
  await Bun.sleep(400);
  unmount();
  render(<Form />);
  expect(name().value).toBe("");
  await userEvent.click(screen.getByText("restore"));
  // spec: D-76
  expect(name().value).toBe("half done");
});

test("another user's draft is not offered", async () => {
  const { unmount } = render(<Form />);
  await userEvent.type(name(), "mine");
  await Bun.sleep(400);
  unmount();
  storeUser({ id: 2, username: "b", display_name: "b", role: 1, status: 1, group: "default" });
  render(<Form />);
  expect(screen.queryByText("restore")).toBeNull();
});
