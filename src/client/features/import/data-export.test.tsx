import "../../../../tests/dom";
import { afterEach, beforeEach, expect, setDefaultTimeout, spyOn, test } from "bun:test";

const { closePage, openPage, screen, waitFor } = await import("../../../../tests/kit/client-page");
const { Toasts } = await import("../../components/toasts");
const { clearUser, storeUser } = await import("../../lib/session");
const { StepUpHost } = await import("../auth/step-up-host");
const { DataExport } = await import("./data-export");

setDefaultTimeout(60_000);
beforeEach(() => storeUser({ id: 1, username: "root", display_name: "root", role: 100, status: 1, group: "default" }));
afterEach(() => {
  clearUser();
  closePage();
});

test("the export asks for a step-up and goes on after it; a dialog that is closed saves and says nothing", async () => {
  let proved = false;
  let asked = 0;
  const saved = spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(() => {});
  const { user } = await openPage(
    <>
      <DataExport />
      <StepUpHost />
      <Toasts />
    </>,
    "/setting",
    {
      procedures: {
        "auth.stepUpMethods": () => ["password"],
        "auth.verifyPassword": () => {
          proved = true;
        },
      },
      paths: {
        "/api/export": () => {
          asked++;
          return proved
            ? new Response("{}\n", { headers: { "content-disposition": 'attachment; filename="weir-1.jsonl"' } })
            : Response.json({ success: false, message: "请验证", code: "step_up_required" });
        },
      },
    },
  );
  await user.click(screen.getByRole("button", { name: "导出" }));
  await screen.findByLabelText("密码");
  await user.keyboard("{Escape}");
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  expect([asked, saved.mock.calls.length, screen.queryByText("请验证")]).toEqual([1, 0, null]);
  await user.click(screen.getByRole("button", { name: "导出" }));
  await user.type(await screen.findByLabelText("密码"), "secret-pass{Enter}");
  await screen.findByText("已导出 weir-1.jsonl");
  expect([asked, saved.mock.calls.length]).toEqual([3, 1]);
  saved.mockRestore();
});
