/** The panel that says where a call would go. */
import "../../../../tests/dom";
import { afterEach, expect, test } from "bun:test";
import type { DryRun } from "../../../shared/dry-run";

const { closePage, openPage, screen } = await import("../../../../tests/kit/client-page");
const { waitFor, within } = await import("@testing-library/react");
const { DryRunDialog } = await import("./dry-run-dialog");

afterEach(closePage);

const run: DryRun = {
  model: "gpt-4o",
  endpoint: "/v1/chat/completions",
  operation: "chat",
  dialect: "openai-chat",
  group: "auto",
  groups: ["vip", "default"],
  problems: [{ code: "token_expired", message: "该令牌已过期" }],
  channels: [
    {
      id: 3,
      name: "甲",
      type: 1,
      status: 1,
      group: "vip",
      priority: 9,
      weight: 3,
      turn: 1,
      share: 1,
      standing: "ready",
      remaining_ms: 0,
      upstream_model: "gpt-4o-2024",
      url: "https://a.example/v1/chat/completions",
      translated: false,
    },
    {
      id: 4,
      name: "乙",
      type: 14,
      status: 1,
      group: "default",
      priority: 0,
      weight: 0,
      turn: 2,
      share: 1,
      standing: "cooling",
      remaining_ms: 4200,
      upstream_model: "gpt-4o",
      url: "",
      translated: true,
    },
    {
      id: 5,
      name: "丙",
      type: 1,
      status: 3,
      group: "default",
      priority: 0,
      weight: 0,
      turn: 0,
      share: 0,
      standing: "disabled",
      remaining_ms: 0,
      upstream_model: "",
      url: "",
      translated: false,
    },
  ],
  sticky: 3,
  price: { input: "2.5", output: "10" },
  limits: [{ scope: "token", of: 7, kind: "budget_day", limit: 1_000_000, remaining: 0, reset_seconds: 3600 }],
};

const models = {
  "channel.modelsEnabled": () => ["gpt-4o"],
  "group.models": () => ["gpt-4o", "smart"],
  "group.list": () => ["default", "vip"],
};

test("models of channels are offered by name, and virtual models", async () => {
  await openPage(<DryRunDialog onClose={() => undefined} />, "/channel", { procedures: models });
  const offered = () => [...document.querySelectorAll("datalist option")].map((option) => option.getAttribute("value"));
  await waitFor(() => expect(offered()).toEqual(["gpt-4o", "smart"]));
});

test("a question shows every channel with its turn, chance and reason, and what would stop the call", async () => {
  const { user, calls } = await openPage(<DryRunDialog onClose={() => undefined} />, "/channel", {
    procedures: { ...models, "channel.dryRun": () => run },
  });
  expect(screen.getByRole("button", { name: "查看去向" }).hasAttribute("disabled")).toBe(true);
  await user.type(screen.getByRole("combobox", { name: "模型" }), " gpt-4o ");
  await user.type(screen.getByRole("spinbutton", { name: "令牌 ID" }), "7");
  await user.click(screen.getByRole("button", { name: "查看去向" }));
  const table = within(await screen.findByRole("table", { name: "渠道顺序" }));
  const rows = table
    .getAllByRole("row")
    .slice(1)
    .map((row) => row.textContent ?? "");
  expect(rows[0]).toContain("甲");
  // spec: C-662
  expect(rows[0]).toContain("100%");
  expect(rows[0]).toContain("会话保持");
  expect(rows[1]).toContain("冷却中 · 4.2 s");
  expect(rows[1]).toContain("需转换");
  expect(rows[2]).toContain("未启用");
  expect(screen.getByRole("alert").textContent).toContain("该令牌已过期");
  expect(screen.getByText(/auto → vip → default/).textContent).toContain("输入 $2.5，输出 $10");
  expect(within(screen.getByRole("table", { name: "限额" })).getByText("令牌 7")).toBeTruthy();
  const asked = () => calls.filter(({ path }) => path === "channel.dryRun");
  expect(asked()[0]?.input).toEqual({
    model: "gpt-4o",
    endpoint: "/v1/chat/completions",
    stream: false,
    group: "",
    token_id: 7,
    user_id: 0,
    cache_key: "",
  });
  await user.click(screen.getByRole("button", { name: "查看去向" }));
  await screen.findByRole("table", { name: "渠道顺序" });
  expect(asked().length).toBe(2);
});

test("a refusal is shown with its reason and can be asked again", async () => {
  const { user } = await openPage(<DryRunDialog onClose={() => undefined} />, "/channel", { procedures: models });
  await user.type(screen.getByRole("combobox", { name: "模型" }), "gpt-4o");
  await user.click(screen.getByRole("button", { name: "查看去向" }));
  expect(await screen.findByRole("button", { name: "重试" })).toBeTruthy();
});
