import "../../../../tests/dom";
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import type { Procedures } from "../../../../tests/kit/client-page";

const { closePage, openPage, Refusal, screen } = await import("../../../../tests/kit/client-page");
const { Toasts } = await import("../../components/toasts");
const { clearUser, storeUser } = await import("../../lib/session");
const { default: NoticeSection } = await import("./notice-section");
const { inputOf, valuesOf } = await import("./notice-values");

const someone = { id: 7, username: "ann", display_name: "ann", role: 1, status: 1, group: "default" };

// Slow while other test files run.
setDefaultTimeout(30_000);

beforeEach(() => storeUser(someone));
afterEach(() => {
  clearUser();
  closePage();
});

const webhook = {
  notify_type: "webhook",
  webhook_url: "https://a.example/hook",
  webhook_secret_set: true,
  quota_warning_threshold: 500_000,
};

/** A server that keeps what is saved, and whose test notice goes through or not. */
function server(setting: object, refusal?: ConstructorParameters<typeof Refusal>[0]): Procedures {
  let kept = JSON.stringify(setting);
  return {
    "user.self": () => ({ ...someone, email: "ann@example.com", setting: kept }),
    "notice.save": (input: object) => {
      kept = JSON.stringify({ ...JSON.parse(kept), ...input });
      return null;
    },
    "notice.test": () => {
      if (refusal) throw new Refusal(refusal);
      return null;
    },
  };
}

const open = (procedures: Procedures) =>
  openPage(
    <>
      <NoticeSection />
      <Toasts />
    </>,
    "/topup",
    { procedures },
  );
const press = (name: string) => screen.getByRole("button", { name });
const saved = (calls: { path: string; input: unknown }[]) =>
  calls.filter((call) => call.path === "notice.save").map((call) => call.input);

test("what is set is shown, a secret only as set, and only the chosen way's fields are sent", async () => {
  const { user, calls } = await open(server(webhook));
  const url = await screen.findByLabelText<HTMLInputElement>("Webhook 地址");
  expect(url.value).toBe("https://a.example/hook");
  const secret = screen.getByLabelText<HTMLInputElement>("签名密钥");
  expect([secret.value, secret.placeholder, secret.type]).toEqual(["", "已设置，留空则不变", "password"]);
  await user.clear(url);
  await user.type(url, "https://b.example/hook");
  await user.type(secret, "another");
  await user.click(press("保存"));
  expect(await screen.findByText("提醒设置已保存！")).toBeDefined();
  // What was saved is no change any more, and the secret is out of the page.
  expect((press("发送测试通知") as HTMLButtonElement).disabled).toBe(false);
  expect(screen.getByLabelText<HTMLInputElement>("签名密钥").value).toBe("");
  expect(saved(calls)).toEqual([
    {
      notify_type: "webhook",
      quota_warning_threshold: 500_000,
      webhook_url: "https://b.example/hook",
      webhook_secret: "another",
    },
  ]);
});

test("an invalid address is reported at its field and nothing is sent", async () => {
  const { user, calls } = await open(server(webhook));
  const url = await screen.findByLabelText("Webhook 地址");
  await user.clear(url);
  await user.type(url, "ftp://a.example");
  await user.click(press("保存"));
  expect((await screen.findByRole("alert")).textContent).toBe("通知地址必须以 http:// 或 https:// 开头");
  expect(saved(calls)).toEqual([]);
});

test("saving what was not changed says so; the test waits for what is not saved yet", async () => {
  const { user, calls } = await open(server({}));
  expect(await screen.findByText("留空则使用账户邮箱 ann@example.com")).toBeDefined();
  await user.click(press("保存"));
  expect(await screen.findByText("没有任何修改！")).toBeDefined();
  expect(saved(calls)).toEqual([]);
  await user.click(press("发送测试通知"));
  expect(await screen.findByText("测试通知已发送")).toBeDefined();
  await user.type(screen.getByLabelText("通知邮箱"), "x@example.com");
  expect((press("发送测试通知") as HTMLButtonElement).disabled).toBe(true);
  expect(screen.getByText("保存后才能测试")).toBeDefined();
});

test("a test notice that could not be sent says why", async () => {
  const { user } = await open(server({}, "notice_unreachable"));
  await screen.findByLabelText("通知邮箱");
  await user.click(press("发送测试通知"));
  expect(await screen.findByText("尚未填写可用的通知地址，或管理员尚未配置发信服务器")).toBeDefined();
});

test("a setting of any other shape starts the form with defaults", () => {
  const empty = valuesOf("").values;
  for (const setting of ["null", "[1]", "{broken", '{"notify_type":"pigeon","webhook_url":5,"gotify_priority":99}']) {
    expect(valuesOf(setting)).toEqual({ values: empty, secrets: { webhook: false, gotify: false } });
  }
  expect(inputOf({ ...empty, quota_warning_threshold: null })).toEqual({
    notify_type: "email",
    quota_warning_threshold: 0,
    notification_email: "",
  });
});
