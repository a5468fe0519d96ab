import "../../../../tests/dom";
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { defaultText, option, optionKeys } from "../../../shared/options";
import type { Procedures } from "../../../../tests/kit/client-page";
import type { IncidentView } from "../../../shared/incidents";

const { closePage, openPage, screen } = await import("../../../../tests/kit/client-page");
const { waitFor, within } = await import("@testing-library/react");
const { ConfirmHost } = await import("../../components/confirm");
const { Toasts } = await import("../../components/toasts");
const { clearUser, storeUser } = await import("../../lib/session");
const { default: SettingPage } = await import("../setting/setting-page");
const { default: IncidentBell } = await import("./incident-bell");

setDefaultTimeout(60_000);
afterEach(() => {
  clearUser();
  closePage();
});

const incident: IncidentView = {
  id: 7,
  rule: "channel-errors",
  subject: "channel:3",
  severity: "critical",
  code: "errors_share",
  params: { name: "main", percent: 35, calls: 20, errors: 7, minutes: 5 },
  text: "in the language of the request",
  path: "/channel?open=3",
  opened_at: 1,
  last_at: 2,
  closed_at: 0,
  count: 1,
  muted_until: 0,
  seen_by: 0,
};

test("the bell counts what was not seen, leads to the thing in the reader's words, and marks and mutes", async () => {
  let items = [incident];
  const page = await openPage(<IncidentBell />, "/", {
    procedures: {
      "incident.bell": () => ({
        unseen: items.filter(({ seen_by }) => seen_by === 0).length,
        open: 1,
        worst: "critical",
        items,
      }),
      "incident.seen": () => {
        items = [{ ...incident, seen_by: 1 }];
        return 1;
      },
      "incident.mute": () => incident,
    },
  });
  await page.user.click(await screen.findByRole("button", { name: "告警：1 条未看 · 系统有严重告警" }));
  const link = await screen.findByRole("link", { name: "渠道「main」（#3）的错误率 35%：5 分钟内 20 次调用失败 7 次" });
  expect(link.getAttribute("href")).toBe("/channel?open=3");
  await page.user.click(screen.getByRole("button", { name: "静音 8 小时" }));
  await page.user.click(screen.getByRole("button", { name: "标为已看" }));
  await screen.findByRole("button", { name: "告警 · 系统有严重告警" });
  const acts = page.calls.filter(({ path }) => path !== "incident.bell");
  expect(acts).toEqual([
    { path: "incident.mute", input: { id: 7, hours: 8 } },
    { path: "incident.seen", input: { ids: [7] } },
  ]);
});

test("a rule is switched and edited in its form, and saved with the settings; a target is tested as typed", async () => {
  storeUser({ id: 1, username: "root", display_name: "", role: 100, status: 1, group: "default" });
  const texts = Object.fromEntries(
    optionKeys.filter((key) => !option(key).secret).map((key) => [key, defaultText(key)]),
  );
  const procedures: Procedures = {
    "option.settings": () => ({ values: texts, set: [] }),
    "option.set": () => undefined,
    "incident.targets": () => [
      { name: "ops", type: "feishu", on: true, lang: "zh", least: "warning", open: {}, set: ["url"] },
    ],
    "incident.testTarget": () => ({ ok: false, answer: "HTTP 200: sign match fail" }),
  };
  const paths = { "/api/status": () => Response.json({ success: true, message: "", data: {} }) };
  const page = await openPage(
    <>
      <SettingPage />
      <ConfirmHost />
      <Toasts />
    </>,
    "/setting?tab=alert",
    { procedures, paths },
  );
  await page.user.click(await screen.findByLabelText("启用规则 silence"));
  await page.user.click(screen.getByLabelText("编辑规则 channel-errors"));
  const percent = await screen.findByLabelText("百分比");
  await page.user.clear(percent);
  await page.user.click(screen.getByText("确定"));
  expect((await screen.findByRole("alert")).textContent).toContain("percent");
  await page.user.type(percent, "35");
  await page.user.click(screen.getByText("确定"));
  await screen.findByText("每个渠道：5 分钟内至少 20 次调用，失败占 35% 以上");
  await page.user.click(screen.getByText("保存告警"));
  await screen.findByText("保存成功");
  const [saved] = page.calls.filter(({ path }) => path === "option.set").map(({ input }) => input as { value: string });
  const rules = JSON.parse(saved?.value ?? "[]");
  expect(rules[0]).toMatchObject({ name: "channel-errors", percent: 35 });
  expect(rules[2]).toMatchObject({ name: "silence", on: false });
  const hours = screen.getByRole("group", { name: "静默时段" });
  await page.user.click(within(hours).getByRole("button", { name: "添加一行" }));
  await page.user.click(screen.getByLabelText("周日，第 1 行"));
  await page.user.click(screen.getByText("保存告警"));
  const quiet = await waitFor(() => {
    const found = page.calls.filter(({ path }) => path === "option.set");
    const [last] = found.map(({ input }) => input as { key: string; value: string }).slice(1);
    return JSON.parse(last?.value ?? "");
  });
  expect(quiet).toMatchObject([{ days: [1, 2, 3, 4, 5, 6], from: "22:00", to: "08:00" }]);
  await page.user.click(await screen.findByLabelText("编辑通知对象 ops"));
  await page.user.type(await screen.findByLabelText("签名密钥"), "s");
  await page.user.click(screen.getByText("发送测试"));
  await screen.findByText(/测试未送达。.*sign match fail/);
  expect(page.calls.find(({ path }) => path === "incident.testTarget")?.input).toEqual({
    name: "ops",
    type: "feishu",
    lang: "zh",
    least: "warning",
    on: true,
    url: "",
    secret: "s",
    was: "ops",
  });
});
