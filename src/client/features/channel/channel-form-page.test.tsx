/** The form of a channel on its page: what a type fills in, what is refused, and what is said after a save. */
import "../../../../tests/dom";
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { channelTemplates, channelType } from "../../../shared/channel-types";
import type { Procedures } from "../../../../tests/kit/client-page";

const { closePage, openPage, Refusal, screen, waitFor } = await import("../../../../tests/kit/client-page");
const { Toasts } = await import("../../components/toasts");
const { clearUser, storeUser } = await import("../../lib/session");
const { AddChannelPage, EditChannelPage } = await import("./channel-form-page");
const { useChannelForm } = await import("./use-channel-form");
const { valuesOf } = await import("./channel-values");

setDefaultTimeout(60_000);
beforeEach(() => storeUser({ id: 1, username: "root", display_name: "", role: 100, status: 1, group: "default" }));
afterEach(() => {
  clearUser();
  closePage();
});

const stored = {
  id: 7,
  type: 1,
  name: "main",
  key: "",
  base_url: "",
  other: "",
  models: "gpt-4o",
  group: "default",
  model_mapping: "",
  status_code_mapping: "",
  setting: "",
  param_override: "",
  header_override: "",
  test_model: "",
  auto_ban: 1,
  tag: "",
  priority: 0,
  weight: 0,
  openai_organization: "",
  max_input_tokens: 0,
  status: 1,
  response_time: 0,
  used_quota: 0,
  balance: 0,
  balance_updated_time: 0,
  test_time: 0,
  created_time: 0,
  other_info: "",
  draining_since: 0,
  drain_deadline: 0,
  multi_key_mode: "",
  balance_currency: "",
} as const satisfies Parameters<typeof valuesOf>[0];

async function open(page: "add" | "edit", procedures: Procedures = {}) {
  const opened = await openPage(
    <>
      {page === "add" ? <AddChannelPage /> : <EditChannelPage id="7" />}
      <Toasts />
    </>,
    page === "add" ? "/channel/add" : "/channel/edit/7",
    {
      procedures: {
        "channel.get": () => stored,
        "channel.models": () => [],
        "channel.tags": () => [],
        "group.list": () => ["default"],
        "pricing.unpriced": () => [],
        ...procedures,
      },
    },
  );
  const { user, calls } = opened;
  return {
    ...opened,
    pick: async (type: string) => {
      const other = screen.queryByRole("button", { name: "更换 类型" });
      if (other) await user.click(other);
      await user.type(screen.getByRole("combobox", { name: "类型" }), `${type}{Enter}`);
    },
    press: (name: string) => user.click(screen.getByRole("button", { name: new RegExp(`^${name}`) })),
    type: async (label: string, text: string) => {
      const field = screen.getByRole("textbox", { name: label });
      await user.clear(field);
      if (text) await user.type(field, text);
    },
    sent: (path: string) => calls.filter((call) => call.path === path).map(({ input }) => input),
  };
}
const modelsOf = (type: number) => channelType(type)?.models ?? [];
const chosen = () => screen.getByText(/^已选 \d+ 个模型$/).textContent;

test("a type fills in its models while none is chosen, and leaves alone what was chosen", async () => {
  const page = await open("add");
  await page.pick("deepseek");
  // spec: A-347
  expect(chosen()).toBe(`已选 ${modelsOf(43).length} 个模型`);
  for (const name of modelsOf(43)) {
    // spec: A-347
    expect(screen.getAllByText(name).length).toBeGreaterThan(0);
  }
  await page.press("清除所有模型");
  await page.type("自定义模型名称", "mine{Enter}");
  await page.pick("baidu wenxin");
  // spec: A-348
  expect(chosen()).toBe("已选 1 个模型");
  expect(screen.getByText("mine")).toBeDefined();
});

test("what is missing is said and nothing is sent; a new channel is sent once, with empty mappings, and the page says so", async () => {
  const page = await open("add", { "channel.create": () => [stored] });
  await page.pick("openai");
  await page.press("清除所有模型");
  await page.press("创建");
  // spec
  expect(await screen.findAllByText("请填写名称和密钥")).toHaveLength(2);
  // spec
  expect(screen.getByText("请至少选择一个模型")).toBeDefined();
  await page.type("名称", "main");
  await page.type("密钥", "sk-1");
  await page.press("填入相关模型");
  // spec: A-375..A-377
  expect(page.sent("channel.create")).toEqual([]);
  await page.press("创建");
  // spec: A-497
  expect(await screen.findByText("渠道创建成功！")).toBeDefined();
  // spec: D-83
  expect(page.sent("channel.create")).toMatchObject([
    { type: 1, name: "main", model_mapping: "", status_code_mapping: "" },
  ]);
});

test("the templates of both mappings are those of the specification, filled in on a press", async () => {
  const page = await open("add");
  await page.pick("openai");
  for (const template of [channelTemplates.model_mapping, channelTemplates.status_code_mapping]) {
    // An editor that is filled in offers its template no more.
    const [button] = screen.getAllByRole("button", { name: "填入模板" });
    if (!button) throw new Error("no template");
    await page.user.click(button);
    for (const text of Object.entries(JSON.parse(template) as Record<string, string>).flat()) {
      // spec, D-83
      expect(screen.getAllByDisplayValue(text).length).toBeGreaterThan(0);
    }
  }
});

test("a changed channel is sent with what changed, and the page says so", async () => {
  const page = await open("edit", { "channel.update": () => ({ ...stored, name: "other" }) });
  await waitFor(() => expect(screen.getByRole<HTMLInputElement>("textbox", { name: "名称" }).value).toBe("main"));
  await page.type("名称", "other");
  await page.press("保存");
  // spec: A-498
  expect(await screen.findByText("渠道更新成功！")).toBeDefined();
  expect(page.sent("channel.update")).toEqual([{ id: 7, name: "other" }]);
});

test("asking for the upstream's models wants a key first, and says when it failed", async () => {
  const page = await open("add", {
    "channel.fetchModelsFrom": () => {
      throw new Refusal("fetch_models_failed");
    },
  });
  await page.pick("openai");
  await page.press("获取模型列表");
  // spec: A-480
  expect((await screen.findAllByText("请填写密钥")).length).toBeGreaterThan(0);
  expect(page.sent("channel.fetchModelsFrom")).toEqual([]);
  await page.type("密钥", "sk-1");
  await page.press("获取模型列表");
  // spec: A-479
  expect(await screen.findByText(/^获取模型列表失败/)).toBeDefined();
});

test("a form whose models are not a list is not sent, and shows an error", async () => {
  function Broken() {
    const state = useChannelForm({ channel: undefined, onSaved: () => undefined });
    return (
      <button
        onClick={() => {
          state.form.setValue("models", "no list" as never);
          state.submit();
        }}
      >
        submit
      </button>
    );
  }
  const { user, calls } = await openPage(
    <>
      <Broken />
      <Toasts />
    </>,
    "/channel/add",
  );
  await user.click(screen.getByRole("button", { name: "submit" }));
  // spec: A-484
  expect(await screen.findByText(/^提交失败，请勿重复提交/)).toBeDefined();
  // spec: A-484
  expect(calls).toEqual([]);
});
