/** The form of a channel: the fields that each type adds, and what choosing a type fills in. */
import "../../../../tests/dom";
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";

const { closePage, openPage, screen, waitFor } = await import("../../../../tests/kit/client-page");
const { fireEvent, within } = await import("@testing-library/react");
const { channelType } = await import("../../../shared/channel-types");
const { clearUser, storeUser } = await import("../../lib/session");
const { default: ChannelPage } = await import("./channel-page");

// Slow while other test files run.
setDefaultTimeout(30_000);

beforeEach(() => storeUser({ id: 1, username: "root", display_name: "root", role: 100, status: 1, group: "default" }));
afterEach(() => {
  clearUser();
  closePage();
});

/** Opens the form of a new channel and picks a type by its name. */
async function openForm(type: number) {
  const page = await openPage(<ChannelPage />, "/channel/add", {
    procedures: {
      "channel.models": () => [],
      "channel.tags": () => [],
      "channel.create": () => [{ id: 1 }],
      "group.list": () => ["default"],
      "pricing.unpriced": () => [],
    },
  });
  const picker = await screen.findByRole("combobox", { name: "类型" });
  await page.user.click(picker);
  await page.user.click(await screen.findByRole("option", { name: channelType(type)?.name.zh ?? "" }));
  await screen.findByLabelText(/^密钥( \*|\*)?$/);
  return page;
}
const labels = () =>
  screen.getAllByText((_, element) => element?.tagName === "LABEL").map((label) => label.textContent?.replace("*", ""));
const chosenModels = () =>
  within(screen.getByRole("region", { name: "模型列表" }))
    .getAllByRole("button", { name: /^移除 / })
    .map((button) => button.getAttribute("aria-label")?.replace("移除 ", ""));

describe("a type adds its own fields", () => {
  test.each([
    [1, ["组织"]],
    [3, ["终结点（Endpoint）", "默认 API 版本"]],
    [8, ["完整的请求地址"]],
    [18, ["模型版本"]],
    [21, ["知识库 ID"]],
    [22, ["私有部署地址"]],
    [39, ["账户 ID"]],
    [41, ["部署区域"]],
  ])("type %d: %j", async (type, own) => {
    await openForm(type);
    // spec: C-231, C-235, C-236, C-238, C-240, C-241, C-242, C-245, C-246
    expect(labels()).toEqual(expect.arrayContaining(own));
  });

  test("no other type than OpenAI has an organisation, and Suno has no proxy", async () => {
    await openForm(36);
    await screen.findByText("连接超时");
    // spec: C-231
    expect(labels()).not.toContain("组织");
    // spec: C-243
    expect(labels()).not.toContain("代理地址");
  });

  test("a channel with an address of its own is offered the standard format and a proxy", async () => {
    await openForm(8);
    await screen.findByText("连接超时");
    // spec: C-239
    expect(labels()).toEqual(expect.arrayContaining(["强制标准格式", "代理地址"]));
  });
});

describe("choosing a type", () => {
  test.each([2, 5, 36])("%d fills in its fixed list of actions as models", async (type) => {
    await openForm(type);
    // spec: C-232, C-233, C-244
    expect(chosenModels().toSorted()).toEqual([...(channelType(type)?.models ?? [])].toSorted());
  });
});

test("each line of keys becomes a channel unless the form says that one channel has them all", async () => {
  const { user } = await openForm(1);
  const mode = screen.getByRole("combobox", { name: "密钥模式" });
  // spec: C-206, C-207
  expect(mode.textContent).toBe("每个密钥一个渠道");
  await user.click(mode);
  // spec: C-207
  expect((await screen.findAllByRole("option")).map((option) => option.textContent)).toEqual([
    "每个密钥一个渠道",
    "一个渠道多个密钥，随机使用",
    "一个渠道多个密钥，轮流使用",
  ]);
});

test("the mapping of models is filled with its template on a press", async () => {
  const { user } = await openForm(1);
  const editor = screen.getByRole("group", { name: "模型映射" });
  await user.click(within(editor).getByRole("button", { name: "填入模板" }));
  await user.click(within(editor).getByRole("button", { name: "以 JSON 编辑" }));
  const text = within(editor).getByRole<HTMLTextAreaElement>("textbox").value;
  // spec: C-098
  expect(JSON.parse(text)).toEqual({ "gpt-3.5-turbo": "gpt-3.5-turbo-0125" });
});

test("Google's credential is taken from a file as well, and what is no such JSON is refused", async () => {
  const { user, container, calls } = await openForm(41);
  const file = container.querySelector<HTMLInputElement>("input[type=file]");
  if (!file) throw new Error("no field for a file");
  const key = '{"project_id":"p","client_email":"e","private_key":"k"}';
  fireEvent.change(file, { target: { files: [new File([key], "key.json", { type: "application/json" })] } });
  const field = screen.getByLabelText<HTMLTextAreaElement>(/^密钥( \*|\*)?$/);
  // spec: C-247
  await waitFor(() => expect(field.value).toBe(key));
  fireEvent.change(field, { target: { value: "{" } });
  await user.click(screen.getByRole("button", { name: /^创建/ }));
  // spec: C-247
  expect((await screen.findAllByText(/渠道密钥格式错误/)).length).toBeGreaterThan(0);
  expect(calls.some(({ path }) => path === "channel.create")).toBe(false);
});
