import "../../../../tests/dom";
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import type { Procedures } from "../../../../tests/kit/client-page";

const { closePage, openPage, Refusal, screen, waitFor } = await import("../../../../tests/kit/client-page");
const { Toasts } = await import("../../components/toasts");
const { clearUser, storeUser } = await import("../../lib/session");
const { default: PushCard } = await import("./push-card");
const { default: PushPage } = await import("./push-page");

setDefaultTimeout(60_000);

/** What a phone's browser offers, or what it lacks. */
function browserWith(
  permission: "granted" | "denied",
  subscribe: () => Promise<unknown> = async () => ({
    toJSON: () => ({ endpoint: "https://push.example/1", keys: { p256dh: "P", auth: "A" } }),
  }),
) {
  const options: unknown[] = [];
  const pushManager = {
    getSubscription: async () => null,
    subscribe: (given: unknown) => {
      options.push(given);
      return subscribe();
    },
  };
  Object.assign(window, { PushManager: class {}, Notification: { requestPermission: async () => permission } });
  Object.defineProperty(navigator, "serviceWorker", {
    configurable: true,
    value: { register: async () => ({}), ready: Promise.resolve({ pushManager }) },
  });
  return options;
}

afterEach(() => {
  clearUser();
  closePage();
  Reflect.deleteProperty(window, "PushManager");
  Reflect.deleteProperty(navigator, "serviceWorker");
});

test("a code is shown until its time is up; then it is marked as expired and another one can be fetched", async () => {
  storeUser({ id: 7, username: "ann", display_name: "ann", role: 1, status: 1, group: "default" });
  let fetched = 0;
  const procedures: Procedures = {
    "push.phones": () => [
      { id: 4, user_agent: "Mozilla/5.0 (Linux; Android 16) Chrome/140.0 Mobile", created_at: 1_700_000_000 },
    ],
    "push.begin": () => ({
      url: `https://gw.example/push?code=7.${++fetched}`,
      expires_at: Math.floor(Date.now() / 1000) + (fetched === 1 ? -1 : 170),
    }),
    "push.remove": () => undefined,
  };
  const { user, calls } = await openPage(
    <>
      <PushCard />
      <Toasts />
    </>,
    "/setting?tab=personal",
    { procedures },
  );
  expect(await screen.findByText("Chrome, Android")).toBeDefined();
  await user.click(screen.getByRole("button", { name: "绑定手机" }));
  // spec: C-019
  expect(await screen.findByText("二维码已过期")).toBeDefined();
  await user.click(screen.getByRole("button", { name: "重新获取" }));
  // spec: C-019
  expect(await screen.findByText(/^\d+ 秒内有效，只能使用一次$/)).toBeDefined();
  // spec: C-019
  expect(screen.getByTitle("绑定手机的二维码")).toBeDefined();
  expect(screen.queryByText("二维码已过期")).toBeNull();
  await user.click(screen.getByRole("button", { name: "解绑" }));
  expect(await screen.findByText("手机已解绑")).toBeDefined();
  expect(calls.find(({ path }) => path === "push.remove")?.input).toEqual({ id: 4 });
});

const openPhone = (procedures: Procedures = {}, address = "/push?code=7.abc") =>
  openPage(<PushPage />, address, {
    procedures: { "push.key": () => "public-key", "push.subscribe": () => undefined, ...procedures },
  });
const allow = async ({ user }: Awaited<ReturnType<typeof openPhone>>) => {
  const button = await screen.findByRole("button", { name: "在此浏览器接收通知" });
  await waitFor(() => expect(button).toHaveProperty("disabled", false));
  await user.click(button);
};

test("the phone subscribes for the gateway's key after its person allowed it, and nothing happens before", async () => {
  const options = browserWith("granted");
  const page = await openPhone();
  await waitFor(() => expect(page.calls.map(({ path }) => path)).toEqual(["push.key"]));
  await allow(page);
  expect(await screen.findByText("绑定成功，通知会推送到此浏览器。")).toBeDefined();
  expect(options).toEqual([{ userVisibleOnly: true, applicationServerKey: "public-key" }]);
  expect(page.calls.at(-1)).toEqual({
    path: "push.subscribe",
    input: { code: "7.abc", endpoint: "https://push.example/1", p256dh: "P", auth: "A" },
  });
});

test("a denied permission, a used code and an unreachable push service have different messages", async () => {
  browserWith("denied");
  await allow(await openPhone());
  expect((await screen.findByRole("alert")).textContent).toContain("浏览器不允许本站发送通知");
  closePage();
  browserWith("granted");
  await allow(
    await openPhone({
      "push.subscribe": () => {
        throw new Refusal("push_code_invalid");
      },
    }),
  );
  expect((await screen.findByRole("alert")).textContent).toBe("二维码已失效，请在电脑上重新获取");
  closePage();
  browserWith("granted", () => Promise.reject(new Error("push service not available")));
  await allow(await openPhone());
  expect((await screen.findByRole("alert")).textContent).toBe("浏览器无法连接推送服务：push service not available");
});

test("without a code, or in a browser that cannot, there is nothing to press", async () => {
  browserWith("granted");
  await openPhone({}, "/push");
  expect((await screen.findByRole("alert")).textContent).toBe("二维码已失效，请在电脑上重新获取");
  closePage();
  Reflect.deleteProperty(window, "PushManager");
  await openPhone();
  expect((await screen.findByRole("alert")).textContent).toContain("此浏览器不支持推送");
  expect(screen.queryByRole("button")).toBeNull();
});
