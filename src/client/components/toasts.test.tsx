import "../../../tests/dom";
import { afterEach, expect, test } from "bun:test";

const { closePage, openPage, screen, waitFor } = await import("../../../tests/kit/client-page");
const { toastSuccess } = await import("../lib/toast");
const { Toasts } = await import("./toasts");
afterEach(closePage);

test("toasts appear at the top, where they cover neither the pager nor a page's buttons", async () => {
  await openPage(<Toasts />, "/");
  toastSuccess("done");
  const list = (await screen.findByText("done")).closest("ol");
  expect([list?.dataset["yPosition"], list?.dataset["xPosition"]]).toEqual(["top", "center"]);
});

test("what shows toasts is there when somebody begins to act, so that a toast about a lost connection needs none", async () => {
  await openPage(<Toasts />, "/");
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(document.querySelector("ol")).toBeNull();
  document.body.dispatchEvent(new Event("pointerdown", { bubbles: true }));
  await waitFor(() => expect(document.querySelector("ol")).not.toBeNull());
});

test("toasts that come before what shows them are shown when it is there; those without a place are not kept", async () => {
  toastSuccess("on no page");
  await new Promise((resolve) => setTimeout(resolve, 5));
  await openPage(<Toasts />, "/");
  toastSuccess("first");
  toastSuccess("second");
  expect(await screen.findByText("first")).toBeDefined();
  expect(await screen.findByText("second")).toBeDefined();
  expect(screen.queryByText("on no page")).toBeNull();
});
