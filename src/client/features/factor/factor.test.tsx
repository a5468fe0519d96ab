import "../../../../tests/dom";
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import type { Procedures } from "../../../../tests/kit/client-page";

const { closePage, openPage, Refusal, screen, waitFor } = await import("../../../../tests/kit/client-page");
const { Toasts } = await import("../../components/toasts");
const { ConfirmHost } = await import("../../components/confirm");
const { clearUser, currentUser } = await import("../../lib/session");
const { default: LoginPage } = await import("../auth/login-page");
const { closeSecondStep } = await import("./second-step");
const { SecondStepHost } = await import("./second-step-host");
const { default: FactorCard } = await import("./factor-card");

setDefaultTimeout(60_000);
const ann = { id: 7, username: "ann", display_name: "Ann", role: 1, status: 1, group: "default" };

beforeEach(() => {
  // A browser that knows passkeys; none is used here (tests/e2e does).
  Reflect.set(window, "PublicKeyCredential", class {});
});
afterEach(() => {
  Reflect.deleteProperty(window, "PublicKeyCredential");
  closeSecondStep();
  clearUser();
  closePage();
});

const open = (page: Parameters<typeof openPage>[0], address: string, procedures: Procedures) =>
  openPage(
    <>
      {page}
      <SecondStepHost />
      <ConfirmHost />
      <Toasts />
    </>,
    address,
    { procedures },
  );

test("a password that is not enough opens the second step; a wrong code is said there, a right one signs in", async () => {
  const { user, calls } = await open(<LoginPage />, "/login", {
    "auth.login": () => ({ require_2fa: true, passkey: true }),
    "factor.secondStep": ({ code }: { code: string }) => {
      if (code !== "123456") throw new Refusal("factor_code_wrong");
      return ann;
    },
  });
  await user.type(screen.getByLabelText("用户名或邮箱"), "ann");
  await user.type(screen.getByLabelText("密码"), "secret-pass{Enter}");
  expect(await screen.findByRole("dialog", { name: "两步验证" })).toBeDefined();
  expect(currentUser()).toBeNull();
  expect(screen.getByRole("button", { name: "改用通行密钥" })).toBeDefined();
  const code = screen.getByLabelText("验证码");
  await user.type(code, "{Enter}");
  expect(await screen.findByText("请输入验证码！")).toBeDefined();
  await user.type(code, "000000{Enter}");
  expect(await screen.findByText("验证码错误或已被使用")).toBeDefined();
  await user.clear(code);
  await user.type(code, "123456{Enter}");
  await waitFor(() => expect(currentUser()?.id).toBe(7));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  expect(calls.filter((call) => call.path === "factor.secondStep").map((call) => call.input)).toEqual([
    { code: "000000" },
    { code: "123456" },
  ]);
});

test("closing the second step does not sign the user in", async () => {
  const { user } = await open(<LoginPage />, "/login", { "auth.login": () => ({ require_2fa: true, passkey: false }) });
  await user.type(screen.getByLabelText("用户名或邮箱"), "ann");
  await user.type(screen.getByLabelText("密码"), "secret-pass{Enter}");
  await screen.findByRole("dialog", { name: "两步验证" });
  expect(screen.queryByRole("button", { name: "改用通行密钥" })).toBeNull();
  await user.click(screen.getByRole("button", { name: "关闭" }));
  expect(currentUser()).toBeNull();
});

test("one-time codes are begun once, shown as picture and text, and end with recovery codes that are shown once", async () => {
  let enabled = false;
  const { user, calls } = await open(<FactorCard />, "/setting?tab=personal", {
    "factor.status": () => ({ enabled, backup_codes_remaining: enabled ? 10 : 0, passkeys: [] }),
    "factor.setup": () => ({ secret: "JBSWY3DPEHPK3PXP", uri: "otpauth://totp/Weir:ann?secret=JBSWY3DPEHPK3PXP" }),
    "factor.enable": () => {
      enabled = true;
      return { backup_codes: ["abcd-efgh-jkmn-pqrs", "tuvw-xyz2-3456-789a"] };
    },
  });
  await user.click(await screen.findByRole("button", { name: "启用" }));
  expect(await screen.findByTitle("两步验证二维码")).toBeDefined();
  expect(screen.getByText("JBSWY3DPEHPK3PXP")).toBeDefined();
  await user.type(screen.getByLabelText("验证码"), "123 456{Enter}");
  expect(await screen.findByText("abcd-efgh-jkmn-pqrs")).toBeDefined();
  await user.click(screen.getByRole("button", { name: "我已保存" }));
  await waitFor(() => expect(screen.queryByText("abcd-efgh-jkmn-pqrs")).toBeNull());
  expect(await screen.findByText("已启用，剩余 10 个恢复代码")).toBeDefined();
  expect(calls.filter((call) => call.path === "factor.setup")).toHaveLength(1);
});

test("a passkey is renamed, and deleted after a question", async () => {
  let passkeys = [{ id: 3, name: "laptop", backed_up: true, created_at: 1, last_used_at: 0 }];
  const { user, calls } = await open(<FactorCard />, "/setting?tab=personal", {
    "factor.status": () => ({ enabled: false, backup_codes_remaining: 0, passkeys }),
    "factor.renamePasskey": ({ name }: { name: string }) => {
      passkeys = passkeys.map((one) => ({ ...one, name }));
    },
    "factor.removePasskey": () => {
      passkeys = [];
    },
  });
  await user.click(await screen.findByRole("button", { name: "重命名 laptop" }));
  const name = await screen.findByLabelText("名称");
  await user.clear(name);
  await user.type(name, "phone{Enter}");
  await user.click(await screen.findByRole("button", { name: "删除 phone" }));
  await user.click(await screen.findByRole("button", { name: "删除" }));
  expect(await screen.findByText("未添加")).toBeDefined();
  expect(calls.filter((call) => call.path.endsWith("Passkey")).map((call) => call.input)).toEqual([
    { id: 3, name: "phone" },
    { id: 3 },
  ]);
});
