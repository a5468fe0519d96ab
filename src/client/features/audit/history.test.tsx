/** Histories in the console: a difference that can be read, and the way back. */
import "../../../../tests/dom";
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { historyLines } from "./history-lines";

const { closePage, openPage, Refusal, screen, waitFor } = await import("../../../../tests/kit/client-page");
const { ChannelHistory } = await import("../channel/channel-history");
const { default: OptionHistory } = await import("../setting/option-history");
const { SettingHistory } = await import("../setting/setting-history");
const { storeUser } = await import("../../lib/session");

setDefaultTimeout(30_000);
afterEach(closePage);
beforeEach(() => storeUser({ id: 1, username: "root", role: 100, status: 1, group: "default", display_name: "" }));

const entry = (id: number, before: object, after: object, restorable = true) => ({
  id,
  created_at: 1_795_000_000 + id,
  actor_name: `actor-${id}`,
  action: "channel.update",
  target_id: "7",
  before: JSON.stringify(before),
  after: JSON.stringify(after),
  restorable,
});

test("of a list what came and went, of a table its members, of a text both sides", () => {
  const lines = (before: object, after: object) =>
    historyLines({ before: JSON.stringify(before), after: JSON.stringify(after) }).map(({ path, ...sides }) => [
      path.join("/"),
      sides.before,
      sides.after,
    ]);
  expect(lines({ models: "a,b,c" }, { models: "a,c,d" })).toEqual([["models", "b", "d"]]);
  expect(lines({ models: "a,b" }, { models: "b,a" })).toEqual([["models", "a,b", "b,a"]]);
  expect(lines({ model_mapping: '{"a":"b","c":"d"}' }, { model_mapping: '{"a":"x","c":"d"}' })).toEqual([
    ["model_mapping/a", "b", "x"],
  ]);
  expect(lines({ setting: "" }, { setting: '{"p":1}' })).toEqual([["setting/p", "", "1"]]);
  expect(lines({ ModelRatio: { m: 1, n: null } }, { ModelRatio: { m: 2, n: 3 } })).toEqual([
    ["ModelRatio/m", "1", "2"],
    ["ModelRatio/n", "", "3"],
  ]);
  expect(lines({ name: "", priority: 0 }, { name: "x", priority: 5 })).toEqual([
    ["name", "", "x"],
    ["priority", "0", "5"],
  ]);
  expect(lines({}, { key: "••••••" })).toEqual([["key", "", "••••••"]]);
  expect(historyLines({ before: "", after: '{"name":"x"}' })).toEqual([]);
  expect(historyLines({ before: '{"cut":true,"length":9}', after: "{not json" })).toEqual([]);
});

test("a channel's status reads as everywhere else, not as the number that is stored", async () => {
  const history = () => ({ items: [entry(2, { status: 1, auto_ban: 1 }, { status: 2, auto_ban: 0 })] });
  await openPage(<ChannelHistory id={7} />, "/channel", { procedures: { "channel.history": history } });
  expect((await screen.findByText("已启用")).parentElement?.textContent).toBe("已启用 → 已禁用");
  expect(screen.getByText("关闭").parentElement?.textContent).toBe("开启 → 关闭");
});

test("a channel's change says who, what and when, and is taken back by one press; a refusal leaves the list", async () => {
  let refused = false;
  const { user, calls } = await openPage(<ChannelHistory id={7} />, "/channel", {
    procedures: {
      "channel.history": ({ cursor }: { cursor?: number }) =>
        cursor
          ? { items: [entry(1, { weight: 1 }, { weight: 2 })] }
          : { items: [entry(3, {}, { key: "••••••" }, false), entry(2, { priority: 0 }, { priority: 5 })], next: 2 },
      "channel.restore": () => {
        if (refused) throw new Refusal("channel_key_required");
        return {};
      },
    },
  });
  await screen.findByText("优先级");
  expect(screen.getAllByRole("listitem")).toHaveLength(2);
  expect(screen.getByText("actor-3")).toBeDefined();
  const restore = () => screen.getAllByRole("button", { name: "恢复到修改之前" });
  expect(restore()).toHaveLength(1);
  await user.click(restore()[0] as HTMLElement);
  await waitFor(() => expect(calls.find(({ path }) => path === "channel.restore")?.input).toEqual({ id: 7, entry: 2 }));
  refused = true;
  await waitFor(() => expect(restore()[0]).toHaveProperty("disabled", false));
  await user.click(restore()[0] as HTMLElement);
  await waitFor(() => expect(calls.filter(({ path }) => path === "channel.restore")).toHaveLength(2));
  await user.click(await screen.findByRole("button", { name: "更多" }));
  await screen.findByText("权重");
});

test("of a change with hundreds of members the first stand there, the rest on demand", async () => {
  const table = (value: number) => Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`model-${i}`, value]));
  const { user } = await openPage(<ChannelHistory id={7} />, "/channel", {
    procedures: {
      "channel.history": () => ({ items: [entry(2, { ModelRatio: table(1) }, { ModelRatio: table(2) })] }),
    },
  });
  await user.click(await screen.findByRole("button", { name: "还有 290 处" }));
  expect(screen.getByText("ModelRatio › model-299")).toBeDefined();
});

test("a setting's history opens beside it, and a price's names the table and restores the model alone", async () => {
  const setting = {
    ...entry(4, { RetryTimes: "3" }, { RetryTimes: "5" }),
    action: "option.update",
    target_id: "RetryTimes",
  };
  const { user, calls } = await openPage(<SettingHistory keys={["RetryTimes"]} name="失败重试次数" />, "/setting", {
    procedures: { "option.history": () => ({ items: [setting] }), "option.restore": () => null },
  });
  await user.click(screen.getByRole("button", { name: "失败重试次数的修改历史" }));
  await user.click(await screen.findByRole("button", { name: "恢复到修改之前" }));
  await waitFor(() =>
    expect(calls.find(({ path }) => path === "option.restore")?.input).toEqual({ key: "RetryTimes", entry: 4 }),
  );
  closePage();
  const price = { ...entry(5, { "gpt-x": 1 }, { "gpt-x": null }), action: "option.update", target_id: "ModelRatio" };
  let restored = false;
  const page = await openPage(
    <OptionHistory keys={["ModelPrice", "ModelRatio"]} member="gpt-x" onRestored={() => (restored = true)} />,
    "/prices",
    { procedures: { "option.history": () => ({ items: [price] }), "option.restore": () => null } },
  );
  await page.user.click(await screen.findByRole("button", { name: "恢复到修改之前" }));
  await waitFor(() => expect(restored).toBe(true));
  expect(page.calls.find(({ path }) => path === "option.restore")?.input).toEqual({
    key: "ModelRatio",
    entry: 5,
    member: "gpt-x",
  });
});
