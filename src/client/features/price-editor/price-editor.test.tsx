import "../../../../tests/dom";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { defaultValue } from "../../../shared/options";
import { builtInTables, priceKeys, type PriceNumbers } from "../../../shared/price-rows";
import { priceTableKeys } from "../../../shared/pricing";
import { inUnit, numbersFrom, textsOf } from "./price-fields";

const { closePage, openPage, screen, waitFor } = await import("../../../../tests/kit/client-page");
const { fireEvent, within } = await import("@testing-library/react");
const { default: PriceEditorPage } = await import("./price-editor-page");

/** What the fake server stores. */
let stored: Record<string, string> = {};
const tables = {
  ModelRatio: { "gpt-4o": 1.25, mine: 3 },
  CompletionRatio: { "gpt-4o": 4 },
  CacheRatio: { "gpt-4o": 0.5 },
  ModelPrice: { picture: 0.04 },
};
const tablesInForce = () =>
  Object.fromEntries(
    priceTableKeys.map((key) => [key, stored[key] === undefined ? defaultValue(key) : JSON.parse(stored[key])]),
  );
const puts = (calls: { path: string; input: unknown }[]) =>
  calls.filter(({ path }) => path === "option.set").map(({ input }) => input as { key: string; value: string });

async function open(search = "", procedures: Record<string, (input: never) => unknown> = {}) {
  const page = await openPage(<PriceEditorPage />, `/setting/pricing${search}`, {
    procedures: {
      "option.list": () => Object.entries(stored).map(([key, value]) => ({ key, value })),
      "pricing.tables": tablesInForce,
      "option.set": ({ key, value }: { key: string; value: string }) => void (stored[key] = value),
      "channel.modelsEnabled": () => ["gpt-4o", "brand-new"],
      "pricing.catalogue": () => ({
        models: [],
        groups: {},
        user_group: "default",
        quota_per_unit: 500_000,
        batch_ratio: 0.5,
      }),
      ...procedures,
    },
  });
  return page;
}

beforeEach(() => {
  const empty = Object.fromEntries(priceKeys.map((key) => [key, {}]));
  stored = Object.fromEntries(
    Object.entries({
      ...empty,
      ...tables,
      GroupRatio: { default: 1, vip: 0.5 },
      GroupGroupRatio: { vip: { default: 0.8 } },
    }).map(([key, value]) => [key, JSON.stringify(value)]),
  );
});
afterEach(closePage);

describe("the fields of a price", () => {
  const gpt: PriceNumbers = { ModelRatio: 1.25, CompletionRatio: 4, CacheRatio: 0.5 };
  const texts = textsOf(gpt, "usd");

  test("show dollars first, and the same price as ratios", () => {
    expect(texts).toMatchObject({ ModelRatio: "2.5", CompletionRatio: "10", CacheRatio: "1.25", ModelPrice: "" });
    expect(inUnit(texts, "usd", "ratio", gpt)).toMatchObject({
      ModelRatio: "1.25",
      CompletionRatio: "4",
      CacheRatio: "0.5",
    });
    expect(inUnit({ ...texts, ModelRatio: "abc" }, "usd", "ratio", gpt).ModelRatio).toBe("abc");
  });

  test("opening and saving changes nothing, for every built-in price", () => {
    for (const name of Object.keys(builtInTables.ModelRatio)) {
      const numbers = Object.fromEntries(
        priceKeys.flatMap((key) => (builtInTables[key][name] === undefined ? [] : [[key, builtInTables[key][name]]])),
      );
      expect(numbersFrom(textsOf(numbers, "usd"), "usd", numbers)).toEqual({ numbers });
    }
  });

  test("a fixed price is saved alone, whatever the other fields hold", () => {
    expect(numbersFrom({ ...texts, ModelPrice: "0.1", CacheRatio: "abc" }, "usd", gpt)).toEqual({
      numbers: { ModelPrice: 0.1 },
    });
  });

  test.each([["abc"], ["-1"], ["1,5"], ["0x10"], ["Infinity"], ["1e999"]])("%s is refused", (text) => {
    expect("errors" in numbersFrom({ ...texts, CompletionRatio: text }, "usd", gpt)).toBe(true);
  });

  test("a price without an input price is refused, and none at all", () => {
    const none = textsOf({}, "usd");
    expect("errors" in numbersFrom(none, "usd", {})).toBe(true);
    expect("errors" in numbersFrom({ ...none, CacheRatio: "1" }, "usd", {})).toBe(true);
    expect("errors" in numbersFrom({ ...none, ModelRatio: "0", CompletionRatio: "1" }, "usd", {})).toBe(true);
  });
});

describe("the visual editor", () => {
  test("names what has no price, first, and counts it", async () => {
    await open();
    expect(await screen.findByText("1 个未定价")).toBeDefined();
    const rows = (await screen.findAllByRole("row")).slice(1);
    expect(rows.map((row) => within(row).queryByTitle(/^(brand-new|gpt-4o|mine|picture)$/)?.textContent)).toEqual([
      "brand-new",
      "gpt-4o",
      "mine",
      "picture",
    ]);
  });

  test("shows ten models a page", async () => {
    stored.ModelRatio = JSON.stringify(Object.fromEntries(Array.from({ length: 15 }, (_, n) => [`model-${n}`, 1])));
    await open();
    // spec: A-507
    await waitFor(() => expect(screen.getAllByRole("row").slice(1)).toHaveLength(10));
    expect(screen.getByText(/^第 1 - 10 条/)).toBeDefined();
  });

  test("a video's price is one per second: so it is shown, filtered and asked for", async () => {
    stored.ModelPrice = JSON.stringify({ ...tables.ModelPrice, "kling-v1": 0.14 });
    const names = () =>
      screen.getAllByTitle(/^(brand-new|gpt-4o|mine|picture|kling-v1)$/).map(({ textContent }) => textContent);
    await open("?show=second");
    expect(await screen.findByText("$0.14 / 秒")).toBeDefined();
    expect(names()).toEqual(["kling-v1"]);
    closePage();
    await open("?show=call");
    // spec: A-296
    expect(await screen.findByText("$0.04")).toBeDefined();
    expect(names()).toEqual(["picture"]);
    closePage();
    await open("?edit=kling-v1");
    expect(await screen.findByLabelText("每秒价格（美元）")).toHaveProperty("value", "0.14");
  });

  test("its drawer is as every other: the list stays usable beside it, and Save is the last of its buttons", async () => {
    await open("?edit=brand-new");
    const drawer = within(await screen.findByRole("dialog"));
    expect(drawer.getAllByRole("button", { name: /^(取消|保存)$/ }).map(({ textContent }) => textContent)).toEqual([
      "取消",
      "保存",
    ]);
    // A modal one hides what is behind it.
    expect(screen.getByRole("table").closest("[aria-hidden=true]")).toBeNull();
  });

  test("a price in dollars is stored as ratios, in one call for each option that changes", async () => {
    const { user, calls } = await open("?edit=brand-new");
    await user.type(await screen.findByLabelText("输入"), "3");
    await user.type(screen.getByLabelText("输出"), "15");
    await user.click(screen.getByRole("button", { name: "保存" }));
    await waitFor(() => expect(puts(calls)).toHaveLength(2));
    // spec
    expect(puts(calls).map(({ key, value }) => [key, JSON.parse(value)])).toEqual([
      ["ModelRatio", { ...tables.ModelRatio, "brand-new": 1.5 }],
      ["CompletionRatio", { "gpt-4o": 4, "brand-new": 5 }],
    ]);
    await waitFor(() => expect(screen.queryByText("1 个未定价")).toBeNull());
  });

  test("text for a number, an existing name and a fixed price are refused with the specified messages", async () => {
    const { user, calls } = await open("?edit=new");
    await user.type(await screen.findByLabelText("模型名称"), "mine");
    await user.type(screen.getByLabelText("输入"), "abc");
    await user.click(screen.getByRole("button", { name: "保存" }));
    // spec: A-388
    expect(await screen.findByText("请输入数字")).toBeDefined();
    // spec: A-389
    expect(screen.getByText("模型名称已存在")).toBeDefined();
    const call = screen.getByLabelText("每次价格（美元）");
    await user.type(call, "0.1");
    for (const label of ["输入", "输出", "缓存读取"])
      // spec: A-390
      expect(screen.getByLabelText<HTMLInputElement>(label).disabled).toBe(true);
    await user.clear(call);
    expect(screen.getByLabelText<HTMLInputElement>("输入").disabled).toBe(false);
    expect(puts(calls)).toEqual([]);
  });

  test("a saved form without a difference makes no call", async () => {
    const { user, calls } = await open("?edit=gpt-4o");
    await screen.findByLabelText("输入");
    await user.click(screen.getByRole("button", { name: "保存" }));
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(puts(calls)).toEqual([]);
  });
});

const day = [
  {
    model: "gpt-4o",
    group: "default",
    hour: 0,
    count: 3,
    quota: 800_000,
    prompt_tokens: 160_000,
    completion_tokens: 160_000,
  },
];
const recentUse = () => ({
  week: [
    { model: "mine", count: 1, quota: 10 },
    { model: "gpt-4o", count: 1234, quota: 6_150_000 },
  ],
  day,
});

describe("recent use", () => {
  test("is shown beside each model, and the column sorts by it", async () => {
    await open("?sort=-used", { "pricing.recentUse": recentUse });
    expect((await screen.findByTitle("1,234 次调用")).textContent).toBe("$12.30");
    await waitFor(() =>
      expect(screen.getAllByTitle(/^(brand-new|gpt-4o|mine|picture)$/)[0]?.textContent).toBe("gpt-4o"),
    );
  });

  test("shows what unsaved prices would have added to the last 24 hours, while they are typed and for several at once", async () => {
    const { user, calls } = await open("?edit=gpt-4o", { "pricing.recentUse": recentUse });
    expect(await screen.findByText("对最近 24 小时的影响：$0.00")).toBeDefined();
    const input = screen.getByLabelText("输入");
    await user.clear(input);
    await user.type(input, "x");
    expect(await screen.findByText("对最近 24 小时的影响：—")).toBeDefined();
    await user.clear(input);
    await user.type(input, "5"); // from 2.5 and 10 to 5 and 10: from 12.5 to 15
    expect(await screen.findByText("对最近 24 小时的影响：+$0.32")).toBeDefined();
    expect(puts(calls)).toEqual([]);
  });

  test("is left out when the server does not answer it", async () => {
    await open("?edit=gpt-4o");
    await screen.findByLabelText("输入");
    expect(screen.queryByText(/对最近 24 小时的影响/)).toBeNull();
  });
});

describe("the prices of long inputs and of tools", () => {
  test("tiers of a model are added in its form, checked, and stored beside its price", async () => {
    stored["LongContextRatio"] = JSON.stringify({ "mine*": [{ over: 9, input: 3, output: 3 }] });
    const { user, calls } = await open("?edit=gpt-4o");
    const tiers = within(await screen.findByRole("group", { name: "长输入的价格" }));
    await user.click(tiers.getByRole("button", { name: "添加一行" }));
    await user.click(screen.getByRole("button", { name: "保存" }));
    expect(await tiers.findByRole("alert")).toBeDefined();
    expect(puts(calls)).toEqual([]);
    await user.type(tiers.getByLabelText("超过 Token 数，第 1 行"), "200000");
    await user.click(screen.getByRole("button", { name: "保存" }));
    await waitFor(() => expect(puts(calls)).toHaveLength(1));
    expect(puts(calls).map(({ key, value }) => [key, JSON.parse(value)])).toEqual([
      [
        "LongContextRatio",
        { "mine*": [{ over: 9, input: 3, output: 3 }], "gpt-4o": [{ over: 200_000, input: 2, output: 1.5 }] },
      ],
    ]);
  });

  test("tiers that a model has from an entry for many stay there until they are changed; removed ones become none of its own", async () => {
    stored["LongContextRatio"] = JSON.stringify({ "mi*": [{ over: 9, input: 3, output: 3 }] });
    const { user, calls } = await open("?edit=mine");
    await screen.findByRole("group", { name: "长输入的价格" });
    await user.type(screen.getByLabelText("输出"), "60");
    await user.click(screen.getByRole("button", { name: "保存" }));
    await waitFor(() => expect(puts(calls).map(({ key }) => key)).toEqual(["CompletionRatio"]));
    closePage();
    const again = await open("?edit=mine");
    const anew = within(await screen.findByRole("group", { name: "长输入的价格" }));
    await again.user.click(anew.getByRole("button", { name: "删除第 1 行" }));
    await again.user.click(screen.getByRole("button", { name: "保存" }));
    await waitFor(() => expect(puts(again.calls)).toHaveLength(1));
    expect(JSON.parse(puts(again.calls)[0]?.value ?? "")).toEqual({
      "mi*": [{ over: 9, input: 3, output: 3 }],
      mine: [],
    });
  });

  test("tool prices are rows; one without a tool, with a text for a price or given twice is refused", async () => {
    stored["tool_price_setting.prices"] = JSON.stringify({ web_search: 10, "web_search:gpt-4o*": 25 });
    const { user, calls } = await open("?tab=tools");
    const table = within(await screen.findByRole("group", { name: "工具价格" }));
    expect(table.getByLabelText<HTMLInputElement>("模型，第 2 行").value).toBe("gpt-4o*");
    const save = table.getByRole("button", { name: "保存" });
    await user.click(save);
    await user.click(table.getByRole("button", { name: "添加一行" }));
    await user.click(save);
    expect(await table.findByText(/^第 3 行：请输入工具名称/)).toBeDefined();
    await user.type(table.getByLabelText("工具，第 3 行"), "web_search");
    await user.type(table.getByLabelText("美元 / 千次，第 3 行"), "-1");
    await user.click(save);
    expect(await table.findByText(/^第 3 行：价格须/)).toBeDefined();
    await user.clear(table.getByLabelText("美元 / 千次，第 3 行"));
    await user.type(table.getByLabelText("美元 / 千次，第 3 行"), "2.5");
    await user.click(save);
    expect(await table.findByText("第 3 行：重复")).toBeDefined();
    expect(puts(calls)).toEqual([]);
    await user.type(table.getByLabelText("模型，第 3 行"), "o3");
    await user.click(save);
    await waitFor(() =>
      expect(puts(calls).map(({ key, value }) => [key, JSON.parse(value)])).toEqual([
        ["tool_price_setting.prices", { web_search: 10, "web_search:gpt-4o*": 25, "web_search:o3": 2.5 }],
      ]),
    );
  });
});

describe("the JSON editor", () => {
  test("broken text and a wrong shape are refused with line and key, and not sent", async () => {
    const { user, calls } = await open("?tab=json");
    const field = await screen.findByRole<HTMLTextAreaElement>("textbox", { name: "模型倍率" });
    expect(JSON.parse(field.value)).toEqual(tables.ModelRatio);
    const write = async (text: string) => {
      await user.clear(field);
      await user.click(field);
      await user.paste(text);
      await user.click(screen.getByRole("button", { name: "保存" }));
    };
    await write("{");
    // spec: A-386
    expect(await screen.findByText("不是合法的 JSON 字符串")).toBeDefined();
    await write('{\n  "a": 1,\n  "b": -2\n}');
    // spec: D-51
    expect(await screen.findByText(/^第 3 行“b”/)).toBeDefined();
    expect(puts(calls)).toEqual([]);
    await write('{"a": 1}');
    await waitFor(() => expect(puts(calls)).toEqual([{ key: "ModelRatio", value: '{"a": 1}' }]));
  });
});

test("setting the model ratios back asks first, and without leave makes no call", async () => {
  const { ConfirmHost } = await import("../../components/confirm");
  const { user, calls } = await openPage(
    <>
      <PriceEditorPage />
      <ConfirmHost />
    </>,
    "/setting/pricing?tab=json",
    {
      procedures: {
        "option.list": () => Object.entries(stored).map(([key, value]) => ({ key, value })),
        "pricing.tables": tablesInForce,
        "channel.modelsEnabled": () => [],
        "pricing.resetModelRatio": () => ({ message: "done" }),
      },
    },
  );
  const resets = () => calls.filter(({ path }) => path === "pricing.resetModelRatio").length;
  await user.click(await screen.findByRole("button", { name: "重置模型倍率" }));
  await user.click(await screen.findByRole("button", { name: "取消" }));
  // spec: D-71
  expect(resets()).toBe(0);
  await user.click(await screen.findByRole("button", { name: "重置模型倍率" }));
  await user.click(await screen.findByRole("button", { name: "重置" }));
  await waitFor(() => expect(resets()).toBe(1));
});

describe("the import", () => {
  const remote = () => ({
    url: "https://g.example/api/pricing",
    prices: { "gpt-4o": { ModelRatio: 5, CompletionRatio: 4 }, "brand-new": { ModelRatio: 1 } },
  });

  test("shows the difference first; gaps are chosen, changes are the operator's choice; one call per option", async () => {
    const { user, calls } = await open("?tab=import", { "pricing.remote": remote });
    await user.type(await screen.findByLabelText("另一个网关的地址"), "https://g.example");
    await user.click(screen.getByRole("button", { name: "读取" }));
    expect(await screen.findByText("+300%")).toBeDefined();
    expect(puts(calls)).toEqual([]);
    expect(screen.getByRole("checkbox", { name: "brand-new" }).getAttribute("aria-checked")).toBe("true");
    expect(screen.getByRole("checkbox", { name: "gpt-4o" }).getAttribute("aria-checked")).toBe("false");
    await user.click(screen.getByRole("button", { name: "应用所选" }));
    await waitFor(() => expect(puts(calls)).toHaveLength(1));
    expect(JSON.parse(puts(calls)[0]?.value ?? "")).toEqual({ ...tables.ModelRatio, "brand-new": 1 });
  });

  test("a file is read here; what is no price list is not", async () => {
    const { user } = await open("?tab=import");
    const input = await screen.findByLabelText("价格文件");
    await user.upload(input, new File(["<html>"], "a.json", { type: "application/json" }));
    await user.upload(
      input,
      new File([JSON.stringify({ ModelRatio: { mine: 4 } })], "b.json", { type: "application/json" }),
    );
    expect(await screen.findByText("b.json：1 处不同，已选 0 处")).toBeDefined();
  });
});

test("why a price is what it is: each factor with the option and entry that decided it, a replaced one struck out", async () => {
  await open("?tab=why&model=gpt-4o&user_group=vip");
  const row = (name: string) => screen.getByRole("cell", { name }).closest("tr");
  await screen.findByRole("cell", { name: "模型倍率" });
  expect(row("模型倍率")?.textContent).toContain("ModelRatio → gpt-4o");
  expect(row("缓存写入倍率")?.textContent).toContain("没有设置");
  expect(row("分组倍率")?.className).toContain("line-through");
  expect(row("专属分组倍率（代替分组倍率）")?.textContent).toContain("GroupGroupRatio → vip/default");
});

describe("a built-in price that leaves something out", () => {
  const name = "deepseek-v4-pro";
  const builtIn = () => {
    for (const key of ["ModelRatio", "CompletionRatio", "CacheRatio"] as const)
      stored[key] = JSON.stringify({ [name]: builtInTables[key][name] });
  };

  test.each([
    ["why it is what it is", `?tab=why&model=${name}`],
    ["the form", `?edit=${name}`],
  ])("says so beside %s", async (_, search) => {
    builtIn();
    await open(search);
    await screen.findByText(/DeepSeek 在高峰时段/);
  });

  test("the operator's own price needs no note", async () => {
    builtIn();
    stored.ModelRatio = JSON.stringify({ [name]: 5 });
    await open(`?tab=why&model=${name}`);
    await screen.findByRole("cell", { name: "模型倍率" });
    expect(screen.queryByText(/DeepSeek 在高峰时段/)).toBeNull();
  });
});

describe("the rules of a model", () => {
  const night = [
    { name: "night", when: { hours: [{ zone: "UTC", from: "22:00", to: "06:00" }] }, then: { factor: 0.5 } },
  ];

  const saved = (calls: { path: string; input: unknown }[]) =>
    puts(calls).map(({ key, value }) => [key, JSON.parse(value) as unknown]);

  test("are written in a form, and stored beside those of other models", async () => {
    stored["PriceRules"] = JSON.stringify({ other: night });
    const { calls } = await open("?tab=rules&model=my-model");
    fireEvent.click(await screen.findByText("添加规则"));
    fireEvent.change(screen.getByLabelText("第 1 条规则的名称"), { target: { value: "all" } });
    fireEvent.click(screen.getByText("保存"));
    const rule = { name: "all", when: {}, then: { factor: 2 } };
    await waitFor(() => expect(saved(calls)).toEqual([["PriceRules", { other: night, "my-model": [rule] }]]));
  });

  test("a rule that is not complete is refused with what is wrong, and not sent", async () => {
    const { calls } = await open("?tab=rules&model=my-model");
    fireEvent.click(await screen.findByText("添加规则"));
    const factor = screen.getByLabelText("倍数");
    fireEvent.change(factor, { target: { value: "" } });
    fireEvent.blur(factor);
    expect(screen.queryByText(/价格规则不合法/)).toBeNull();
    fireEvent.click(screen.getByText("保存"));
    expect(screen.getByText(/价格规则不合法/)).toBeDefined();
    expect(puts(calls)).toHaveLength(0);
  });

  test("are checked while their JSON is written; what is wrong cannot be shown as a form", async () => {
    const { calls, user } = await open("?tab=rules&model=my-model");
    await user.click(await screen.findByRole("switch", { name: "用 JSON 编辑" }));
    const editor = screen.getByLabelText<HTMLTextAreaElement>("规则的 JSON");
    expect(editor.value).toBe("[]");
    const peak = { zone: "Asia/Shanghai", days: [1, 2, 3, 4, 5], from: "09:00", to: "12:00" };
    const good = JSON.stringify([{ name: "peak", when: { hours: [peak] }, then: { factor: 2 } }]);
    fireEvent.change(editor, { target: { value: good } });
    expect(screen.getByText("当时间为周一至周五 09:00–12:00（Asia/Shanghai）时：价格 × 2")).toBeDefined();
    fireEvent.change(editor, { target: { value: good.replace("Asia/Shanghai", "Mars/Base") } });
    expect(screen.getByRole("alert").textContent).toContain("unknown time zone");
    expect(screen.getByRole<HTMLButtonElement>("switch", { name: "用 JSON 编辑" }).disabled).toBe(true);
    await user.click(screen.getByRole("button", { name: "保存" }));
    expect(puts(calls)).toHaveLength(0);
    const twice = [...(JSON.parse(good) as object[]), ...(JSON.parse(good.replace("peak", "again")) as object[])];
    fireEvent.change(editor, { target: { value: JSON.stringify(twice) } });
    expect(await screen.findByText("“again”永远不会生效：“peak”总是先适用。")).toBeDefined();
    fireEvent.change(editor, { target: { value: good } });
    await user.click(screen.getByRole("button", { name: "保存" }));
    await waitFor(() => expect(saved(calls)).toEqual([["PriceRules", { "my-model": JSON.parse(good) }]]));
  });

  test("of its own are removed, and those for many models show again", async () => {
    stored["PriceRules"] = JSON.stringify({ "gpt-*": night, "gpt-4o": [] });
    const { calls, user } = await open("?tab=rules&model=gpt-4o");
    expect(await screen.findByText("没有规则：按普通价格计费。")).toBeDefined();
    await user.click(screen.getByRole("button", { name: "删除自己的规则" }));
    await waitFor(() => expect(puts(calls).map(({ value }) => JSON.parse(value))).toEqual([{ "gpt-*": night }]));
    expect(await screen.findByText("当时间为每天 22:00–06:00（UTC）时：价格 × 0.5")).toBeDefined();
  });
});

test("models that are sold below their channel's cost are named above all prices", async () => {
  const below = { model: "mine", group: "vip", channel: "cheap", sale: 2, cost: 3, moment: 1_795_000_000_000 };
  await open("", { "pricing.belowCost": () => [below] });
  expect(await screen.findByText(/mine（vip 分组，渠道“cheap”）：同样的用量收 \$2，付 \$3/)).toBeDefined();
});

describe("rates of currencies", () => {
  const KEY = "CurrencyRates";

  test("are rows with a date and a source, and stored as one option", async () => {
    stored[KEY] = JSON.stringify({ CNY: 7.1 });
    const { calls, user } = await open("?tab=rates");
    fireEvent.change(await screen.findByLabelText("汇率日期，第 1 行"), { target: { value: "2026-11-23" } });
    fireEvent.change(screen.getByLabelText("来源，第 1 行"), { target: { value: "PBoC" } });
    await user.click(screen.getByRole("button", { name: "添加一行" }));
    fireEvent.change(screen.getByLabelText("货币，第 2 行"), { target: { value: "eur" } });
    fireEvent.change(screen.getByLabelText("每美元，第 2 行"), { target: { value: "0.9" } });
    await user.click(screen.getByRole("button", { name: "保存" }));
    const rates = { CNY: { rate: 7.1, date: "2026-11-23", source: "PBoC" }, EUR: { rate: 0.9 } };
    await waitFor(() => expect(puts(calls).map(({ key, value }) => [key, JSON.parse(value)])).toEqual([[KEY, rates]]));
  });

  test.each([
    ["0", "第 1 行：汇率须大于 0"],
    ["-7", "第 1 行：汇率须大于 0"],
    ["seven", "第 1 行：汇率须大于 0"],
  ])("a rate of %s is refused and not sent", async (rate, problem) => {
    stored[KEY] = JSON.stringify({ CNY: 7.1 });
    const { calls, user } = await open("?tab=rates");
    fireEvent.change(await screen.findByLabelText("每美元，第 1 行"), { target: { value: rate } });
    await user.click(screen.getByRole("button", { name: "保存" }));
    expect(screen.getByRole("alert").textContent).toBe(problem);
    expect(puts(calls)).toHaveLength(0);
  });
});
