import "../../../tests/dom";
import { afterEach, expect, test } from "bun:test";

const { closePage, openPage, screen } = await import("../../../tests/kit/client-page");
const { toastSuccess } = await import("../lib/toast");
const { Toasts } = await import("./toasts");
afterEach(closePage);

test("toasts appear at the top, where they cover neither the pager nor a page's buttons", async () => {
  await openPage(<Toasts />, "/");
  toastSuccess("done");
  const list = (await screen.findByText("done")).closest("ol");
  expect([list?.dataset["yPosition"], list?.dataset["xPosition"]]).toEqual(["top", "center"]);
});
