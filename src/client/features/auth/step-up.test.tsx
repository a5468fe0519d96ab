import "../../../../tests/dom";
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import type { Procedures } from "../../../../tests/kit/client-page";

const { closePage, openPage, Refusal, screen, waitFor } = await import("../../../../tests/kit/client-page");
const { Toasts } = await import("../../components/toasts");
const { clearUser, storeUser } = await import("../../lib/session");
const { trpc } = await import("../../lib/trpc");
const { StepUpHost } = await import("./step-up-host");

setDefaultTimeout(60_000);
beforeEach(() => storeUser({ id: 7, username: "ann", display_name: "ann", role: 1, status: 1, group: "default" }));
afterEach(() => {
  clearUser();
  closePage();
});

/** Two buttons whose calls require a step-up, without code for it. */
function Page() {
  const reveal = trpc.token.reveal.useMutation();
  const many = trpc.token.revealMany.useMutation();
  return (
    <>
      <button
        type="button"
        onClick={() => {
          reveal.mutate({ id: 1 });
          many.mutate({ ids: [1] });
        }}
      >
        go
      </button>
      <output>
        {reveal.data?.key}
        {many.data?.length}
        {reveal.error ? "refused" : ""}
      </output>
    </>
  );
}

function open(methods: string[] = ["password"]) {
  let proved = false;
  const needing =
    <T,>(value: T) =>
    () => {
      if (!proved) throw new Refusal("step_up_required");
      return value;
    };
  const procedures: Procedures = {
    "token.reveal": needing({ key: "sk-clear" }),
    "token.revealMany": needing([{ id: 1 }]),
    "auth.stepUpMethods": () => methods,
    "auth.verifyPassword": ({ password }: { password: string }) => {
      if (password !== "secret-pass") throw new Refusal("password_wrong");
      proved = true;
    },
  };
  return openPage(
    <>
      <Page />
      <StepUpHost />
      <Toasts />
    </>,
    "/token",
    { procedures },
  );
}

test("calls that want a proof share one question, and are said again once the password was right", async () => {
  const { user, calls } = await open();
  await user.click(screen.getByRole("button", { name: "go" }));
  const field = await screen.findByLabelText("密码");
  await user.click(screen.getByRole("button", { name: "验证" }));
  expect((await screen.findByRole("alert")).textContent).toBe("请输入密码");
  await user.type(field, "wrong{Enter}");
  expect(await screen.findByText("密码错误")).toBeDefined();
  expect(screen.getAllByRole("dialog")).toHaveLength(1);
  await user.clear(field);
  await user.type(field, "secret-pass{Enter}");
  await waitFor(() => expect(screen.getByRole("status", { hidden: true }).textContent).toBe("sk-clear1"));
  expect(screen.queryByRole("dialog")).toBeNull();
  expect(calls.filter(({ path }) => path === "token.reveal")).toHaveLength(2);
});

test("closing the dialog leaves the call refused, without another message", async () => {
  const { user, calls } = await open();
  await user.click(screen.getByRole("button", { name: "go" }));
  await screen.findByLabelText("密码");
  await user.keyboard("{Escape}");
  await waitFor(() => expect(screen.getByRole("status", { hidden: true }).textContent).toBe("refused"));
  expect(screen.queryByText("请先验证身份")).toBeNull();
  expect(calls.filter(({ path }) => path === "token.reveal")).toHaveLength(1);
  // The next try asks again.
  await user.click(screen.getByRole("button", { name: "go" }));
  expect(await screen.findByLabelText("密码")).toBeDefined();
});

test("an account without any step-up method is asked to sign in again", async () => {
  const { user } = await open([]);
  await user.click(screen.getByRole("button", { name: "go" }));
  expect(await screen.findByText(/请退出后重新登录/)).toBeDefined();
});
