import { act, cleanup, render, screen, waitFor } from "../../../tests/dom";
import { i18n } from "@lingui/core";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { I18nProvider } from "@lingui/react";
import { toast } from "sonner";
import { Toasts } from "../components/toasts";
import { activateLanguage } from "./i18n";
import { flagIsOn, loadStatus, quotaPerUnit, useStatus, watchStatus } from "./status";

const answer = {
  version: "v1.2.3",
  setup: true,
  system_name: "网关",
  logo: "",
  footer_html: "脚注",
  quota_per_unit: 1000,
  display_in_currency: true,
  default_collapse_sidebar: true,
  enable_drawing: false,
  enable_task: true,
  enable_data_export: true,
  chats: [{ Cherry: "https://chat.example" }],
  chat_link: "https://chat.example/link",
  chat_link2: "https://chat.example/link2",
  pay_methods: [{ name: "支付宝", type: "alipay", color: "#1677ff" }],
  data_export_default_time: "day",
  mj_notify_enabled: true,
  github_oauth: false,
};
const nativeFetch = globalThis.fetch;
let reply: () => Response | Promise<Response>;

beforeEach(() => {
  localStorage.clear();
  i18n.loadAndActivate({ locale: "zh", messages: {} });
  globalThis.fetch = Object.assign(async () => reply(), { preconnect: nativeFetch.preconnect });
});
afterEach(() => {
  cleanup();
  globalThis.fetch = nativeFetch;
});

function Name() {
  return <p>{useStatus().system_name ?? "-"}</p>;
}

test("the status is shown and cached, whole and key by key, booleans as text", async () => {
  reply = () => Response.json({ success: true, message: "", data: answer });
  render(<Name />);
  await act(loadStatus);
  expect(await screen.findByText("网关")).toBeTruthy();
  // spec: C-310, D-31
  expect(JSON.parse(localStorage.getItem("status") ?? "")).toEqual(answer);
  expect(localStorage.getItem("system_name")).toBe("网关");
  // spec: D-31
  expect(localStorage.getItem("enable_drawing")).toBe("false");
  expect(localStorage.getItem("default_collapse_sidebar")).toBe("true");
  // spec: C-311
  expect(localStorage.getItem("chats")).toBe('[{"Cherry":"https://chat.example"}]');
  // spec: C-312, C-313
  expect([localStorage.getItem("chat_link"), localStorage.getItem("chat_link2")]).toEqual([
    "https://chat.example/link",
    "https://chat.example/link2",
  ]);
  // spec: C-314
  expect(JSON.parse(localStorage.getItem("pay_methods") ?? "")).toEqual(answer.pay_methods);
  // spec: A-267..A-281
  expect({ ...localStorage }).toMatchObject({
    system_name: "网关",
    logo: "",
    footer_html: "脚注",
    quota_per_unit: "1000",
    display_in_currency: "true",
    enable_drawing: "false",
    enable_task: "true",
    enable_data_export: "true",
    chats: '[{"Cherry":"https://chat.example"}]',
    pay_methods: JSON.stringify(answer.pay_methods),
    data_export_default_time: "day",
    default_collapse_sidebar: "true",
    mj_notify_enabled: "true",
    chat_link: "https://chat.example/link",
    chat_link2: "https://chat.example/link2",
  });
  // spec: D-31
  expect(localStorage.getItem("github_oauth")).toBeNull();
  expect(flagIsOn("enable_task")).toBe(true);
  expect(flagIsOn("enable_drawing")).toBe(false);
  expect(quotaPerUnit()).toBe(1000);
});

test("a failed load keeps what was cached and is tried again when the connection returns", async () => {
  reply = () => Response.json({ success: true, message: "", data: answer });
  await loadStatus();
  reply = () => new Response("", { status: 500 });
  watchStatus();
  await loadStatus();
  expect(localStorage.getItem("system_name")).toBe("网关");

  reply = () => Response.json({ success: true, message: "", data: { ...answer, system_name: "新名" } });
  window.dispatchEvent(new Event("online"));
  await waitFor(() => expect(localStorage.getItem("system_name")).toBe("新名"));
});

test("a load that fails before the words are there waits for them, and is tried again", async () => {
  reply = () => new Response("", { status: 500 });
  const shown = Promise.withResolvers<void>();
  let ended = false;
  const load = loadStatus(shown.promise).then(() => (ended = true));
  await Bun.sleep(20);
  expect(ended).toBe(false);
  shown.resolve();
  await load;
  reply = () => Response.json({ success: true, message: "", data: { ...answer, system_name: "later" } });
  await waitFor(() => expect(localStorage.getItem("system_name")).toBe("later"), { timeout: 4000 });
});

test.each([
  ["zh", "加载状态失败", "无法连接到服务器"],
  ["en", "Failed to load status", "Unable to connect to server"],
] as const)(
  "a status that fails, and a server that is not there, are said in %s",
  async (language, failed, unreachable) => {
    await activateLanguage(language);
    render(
      <I18nProvider i18n={i18n}>
        <Toasts />
      </I18nProvider>,
    );
    reply = () => new Response("", { status: 500 });
    await act(() => loadStatus());
    // spec: C-569, C-570
    expect(await screen.findByText(failed)).toBeDefined();
    reply = () => Promise.reject(new TypeError("Failed to fetch"));
    await act(() => loadStatus());
    // spec: C-568, C-570
    expect(await screen.findByText(unreachable)).toBeDefined();
    reply = () => Response.json({ success: true, message: "", data: answer });
    await act(() => loadStatus());
    toast.dismiss();
  },
);
