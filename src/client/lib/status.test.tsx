import { act, cleanup, render, screen, waitFor } from "../../../tests/dom";
import { i18n } from "@lingui/core";
import { afterEach, beforeEach, expect, test } from "bun:test";
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
  // spec: D-31
  expect(JSON.parse(localStorage.getItem("status") ?? "")).toEqual(answer);
  expect(localStorage.getItem("system_name")).toBe("网关");
  // spec: D-31
  expect(localStorage.getItem("enable_drawing")).toBe("false");
  expect(localStorage.getItem("default_collapse_sidebar")).toBe("true");
  expect(localStorage.getItem("chats")).toBe('[{"Cherry":"https://chat.example"}]');
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
