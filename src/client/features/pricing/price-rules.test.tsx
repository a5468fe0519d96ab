import { cleanup, render, screen, within } from "../../../../tests/dom";
import { i18n } from "@lingui/core";
import { I18nProvider } from "@lingui/react";
import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Catalogue } from "../../../shared/price-list";
import type { PriceRule } from "../../../shared/price-rules";
import { TooltipProvider } from "../../ui/tooltip";
import { ModelDrawer } from "./model-drawer";
import { PriceCalculator } from "./price-calculator";
import { FactorRules, PriceRules } from "./price-rules";
import { type AskedCall, askedValues, costOf, factorLists, factorsFor, pricedRows } from "./prices";

// Not before the document is there.
const { fireEvent } = await import("@testing-library/react");

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const rules: PriceRule[] = [
  { name: "lunch", when: { hours: [{ zone, from: "12:00", to: "13:00" }] }, then: { factor: 2 } },
  { name: "long", when: { input: { over: 5000 } }, then: { factor: 10 } },
];
const item = {
  model: "m",
  vendor: "",
  enable_groups: ["default"],
  factors: { model_ratio: { value: 1, source: "test" }, completion_ratio: { value: 1, source: "test" } },
  rules,
};
const catalogue: Catalogue = {
  models: [item],
  groups: { default: { desc: "d", ratio: 1 } },
  user_group: "default",
  quota_per_unit: 500_000,
  batch_ratio: 0.5,
};

beforeEach(() => i18n.loadAndActivate({ locale: "zh", messages: {} }));
afterEach(cleanup);
const show = (element: React.ReactNode) => render(<I18nProvider i18n={i18n}>{element}</I18nProvider>);

test("rules are sentences, and the hours of the next seven days are drawn in the reader's own time", () => {
  show(<PriceRules rules={rules} />);
  expect(screen.getByText(`当每天 12:00–13:00（${zone}）时：价格 × 2`)).toBeDefined();
  expect(screen.getByText("当输入超过 5000 个 Token 时：价格 × 10")).toBeDefined();
  const days = screen.getAllByRole("img");
  expect(days).toHaveLength(7);
  for (const day of days) {
    expect(day.getAttribute("aria-label")).toBe("00:00–12:00 普通价格, 12:00–13:00 lunch, 13:00–00:00 普通价格");
  }
});

test("a model without rules shows none, and its calculator asks for no time", () => {
  const { rules: _, ...plain } = item;
  show(
    <>
      <PriceRules rules={undefined} />
      <PriceCalculator catalogue={{ ...catalogue, models: [plain] }} item={plain} group="default" />
    </>,
  );
  expect(screen.queryByRole("img")).toBeNull();
  expect(screen.queryByLabelText("调用时间")).toBeNull();
});

test("the calculator says which rule applies at a moment and to a number of tokens, with its price", () => {
  show(<PriceCalculator catalogue={catalogue} item={item} group="default" />);
  const row = () => within(screen.getByRole("table", { name: "费用" })).getAllByRole("row")[1]?.textContent ?? "";
  const at = (text: string) => fireEvent.change(screen.getByLabelText("调用时间"), { target: { value: text } });
  at("2026-11-23T12:59");
  expect(row()).toStartWith("m规则：lunch$0.006");
  at("2026-11-23T13:00");
  expect(row()).toStartWith("m普通价格$0.003");
  const input = screen.getByLabelText("输入 Token");
  fireEvent.change(input, { target: { value: "6000" } });
  fireEvent.blur(input);
  expect(row()).toStartWith("m规则：long$0.13");
});

test("the calculator asks for what the rules ask of a request, and charges by it", () => {
  const tiered: PriceRule[] = [
    { name: "priority", when: { service_tier: ["priority"] }, then: { factor: 2 } },
    { name: "us", when: { region: ["us"] }, then: { factor: 3 } },
    { name: "fast", when: { member: { path: "speed", values: ["fast", "turbo"] } }, then: { factor: 4 } },
    { name: "long", when: { seconds: { over: 5 } }, then: { factor: 5 } },
  ];
  const asking = { ...item, rules: tiered };
  expect([...askedValues(tiered)]).toEqual([
    ["service_tier", ["priority"]],
    ["region", ["us"]],
    ["speed", ["fast", "turbo"]],
  ]);
  const rule = (asked: Omit<AskedCall, "moment">) =>
    costOf(catalogue, asking, "default", { input: 1000 }, { moment: 0, ...asked })?.rule?.name;
  expect([
    rule({}),
    rule({ values: { service_tier: "priority" } }),
    rule({ values: { region: "us" } }),
    rule({ values: { speed: "turbo" } }),
    rule({ seconds: 6 }),
  ]).toEqual([undefined, "priority", "us", "fast", "long"]);
  show(<PriceCalculator catalogue={catalogue} item={asking} group="default" />);
  for (const label of ["服务档位", "处理地区", "speed", "视频时长"]) expect(screen.getByLabelText(label)).toBeDefined();
});

const named = (name: string) => ({ ...item, model: name, factors: { model_price: { value: 0.04, source: "test" } } });

/** The labels of the calculator's fields, without those of texts and of other models. */
const asksFor = (name: string, rules?: PriceRule[]): string[] => {
  const { rules: _, ...model } = name === "m" ? item : named(name);
  const one = { ...model, ...(rules && { rules }) };
  show(<PriceCalculator catalogue={{ ...catalogue, models: [one] }} item={one} group="default" />);
  const labels = [...document.querySelectorAll("label, [id]")].filter(({ tagName }) => tagName === "LABEL");
  const found = labels.map(({ textContent }) => textContent ?? "");
  cleanup();
  return found.filter((label) => !/粘贴|比较/.test(label));
};

test("the calculator asks for what a model is paid by: tokens, pictures of a size and quality, seconds, calls", () => {
  const tokens = ["输入 Token", "其中命中缓存", "输出 Token", "每天调用次数"];
  expect(asksFor("m")).toEqual([...tokens, "批处理"]);
  expect(asksFor("dall-e-3")).toEqual(["每次生成的数量", "每天调用次数", "图片尺寸", "图片质量"]);
  expect(asksFor("mj_imagine")).toEqual(["每次生成的数量", "每天调用次数"]);
  expect(asksFor("kling-v3")).toEqual(["每天调用次数", "视频时长", "视频分辨率", "声音"]);
  expect(asksFor("MiniMax-Hailuo-02")).toEqual(["每天调用次数", "视频时长", "视频分辨率"]);
});

test("the calculator charges pictures by their number, videos by second, step and sound, lines of a batch by the discount, and names each factor", () => {
  const cost = (name: string, asked: Omit<AskedCall, "moment">) =>
    (costOf(catalogue, named(name), "default", {}, { moment: 0, ...asked })?.quota ?? 0) / 20_000;
  expect(cost("dall-e-3", { results: 3, values: { size: "1792x1024", quality: "hd" } })).toBe(9);
  expect(cost("kling-v3", { seconds: 10, values: { resolution: "720p" } })).toBe(10);
  expect(cost("kling-v3", { seconds: 10, values: { resolution: "720p" }, audio: true })).toBe(15);
  const { rules: _, ...plain } = item;
  const batch = costOf(catalogue, plain, "default", { input: 1000 }, { moment: 0, batch: true });
  expect([batch?.quota, batch?.rule?.name]).toEqual([500, "Batch"]);
  const asked = { moment: 0, values: { size: "1792x1024", quality: "hd" } };
  expect(factorsFor(catalogue, named("dall-e-3"), asked).map(({ then }) => then.factor)).toEqual([2, 1.5]);
});

test("a model's page names the prices that each rule makes, and those of a batch", () => {
  const rule: PriceRule = { name: "fast", when: { service_tier: ["priority"] }, then: { factor: 2 } };
  const tiered = { ...item, rules: [rule] };
  const listed = { ...catalogue, models: [tiered] };
  show(
    <TooltipProvider>
      <ModelDrawer
        catalogue={listed}
        open="m"
        rows={pricedRows(listed, "default")}
        group="default"
        onClose={() => undefined}
      />
    </TooltipProvider>,
  );
  expect(screen.getByText("当服务档位为 priority 时：价格 × 2").parentElement?.textContent).toEndWith(
    "即输入 $4，输出 $4（每百万 Token）",
  );
  expect(screen.getByText("当属于批处理时：价格 × 0.5").parentElement?.textContent).toEndWith(
    "即输入 $1，输出 $1（每百万 Token）",
  );
  expect(screen.getByText(/以上游实际提供的为准/)).toBeDefined();
});

test("what DALL-E's sizes and a video's resolutions cost more are sentences, and the calculator asks for them", () => {
  show(<FactorRules lists={factorLists("dall-e-3")} />);
  expect(screen.getByText("当图片尺寸为 1024x1792 或 1792x1024 时：价格 × 2")).toBeDefined();
  expect(screen.getByText("当图片质量为 hd 时：价格 × 2")).toBeDefined();
  cleanup();
  show(<FactorRules lists={factorLists("veo-3.1-fast-generate")} />);
  expect(screen.getByText("当分辨率为 4k 时：价格 × 3")).toBeDefined();
  const price = { model_price: { value: 0.04, source: "test" } };
  const cost = (model: string, values: AskedCall["values"] = {}) =>
    costOf(catalogue, { model, vendor: "", enable_groups: [], factors: price }, "default", {}, { moment: 0, values })
      ?.quota;
  expect(cost("dall-e-3", { size: "1792x1024", quality: "hd" })).toBe(60_000);
  // Of DALL-E alone.
  expect(factorLists("my-picture").flat()).toEqual([]);
  expect(cost("my-picture", { size: "1792x1024", quality: "hd" })).toBe(20_000);
});
