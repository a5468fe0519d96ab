import { cleanup, render, screen, userEvent, within } from "../../../../tests/dom";
import { i18n } from "@lingui/core";
import { I18nProvider } from "@lingui/react";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type Catalogue, catalogPrice } from "../../../shared/price-list";
import { chargeOf } from "../../../shared/charge";
import { TooltipProvider } from "../../ui/tooltip";
import { ModelDrawer } from "./model-drawer";
import { CapabilitySigns, ModelFacts } from "./capabilities";
import { PriceCalculator } from "./price-calculator";
import { Availability, Price } from "./price-cells";
import { guessTokens, pricedRows, selectRows } from "./prices";

const factor = (value: number) => ({ value, source: "test" });
const item = (model: string, ratio: number, enable_groups: string[], vendor = "openai") => ({
  model,
  vendor,
  enable_groups,
  factors: { model_ratio: factor(ratio), completion_ratio: factor(2), cache_ratio: factor(0.1) },
});

const cheap = item("cheap", 0.5, ["default", "vip"]);
const dear = item("dear", 15, ["vip"], "anthropic");
const perCall = { model: "picture", vendor: "", enable_groups: ["default"], factors: { model_price: factor(0.04) } };
const unpriced = { model: "unpriced", vendor: "", enable_groups: ["default"] };
const catalogue: Catalogue = {
  models: [cheap, dear, perCall, unpriced],
  groups: { default: { desc: "d", ratio: 1 }, vip: { desc: "v", ratio: 0.5 } },
  user_group: "default",
  quota_per_unit: 500_000,
  batch_ratio: 0.5,
};
const NONE = { q: "", vendor: "", billing: "", capability: "", available: "" };
const names = (rows: ReturnType<typeof pricedRows>) => rows.map((row) => row.item.model);

beforeEach(() => i18n.loadAndActivate({ locale: "zh", messages: {} }));
afterEach(cleanup);

const show = (element: React.ReactNode) =>
  render(
    <I18nProvider i18n={i18n}>
      <TooltipProvider>{element}</TooltipProvider>
    </I18nProvider>,
  );

describe("the rows of the price list", () => {
  test("another group changes every price, by token and by call", () => {
    const [inDefault, inVip] = ["default", "vip"].map((group) => pricedRows(catalogue, group).map((row) => row.shown));
    // spec: C-628, C-629
    // spec: C-161
    expect(inDefault).toMatchObject([{ input: "1", output: "2" }, { input: "30", output: "60" }, { call: "0.04" }, {}]);
    // spec: A-531, C-159, C-161, C-628, C-629
    expect(inVip).toMatchObject([{ input: "0.5", output: "1" }, { input: "15", output: "30" }, { call: "0.02" }, {}]);
  });

  test("a virtual model costs from its cheapest to its dearest step, each in its own group", () => {
    const virtual = {
      model: "smart",
      vendor: "",
      enable_groups: ["default"],
      steps: [{ model: "cheap" }, { model: "dear", group: "vip" }],
    };
    const row = pricedRows({ ...catalogue, models: [...catalogue.models, virtual] }, "default").at(-1);
    expect(row).toMatchObject({ available: true, billing: "ratio", shown: { input: "1" }, most: { input: "15" } });
    if (row) show(<Price row={row} kind="input" />);
    expect(screen.getByText("$1.00–15.00")).toBeTruthy();
  });

  test("a model is available only where a channel of the chosen group serves it and it has a price", () => {
    const available = (group: string) => names(pricedRows(catalogue, group).filter((row) => row.available));
    expect(available("default")).toEqual(["cheap", "picture"]);
    // spec: C-162
    expect(available("vip")).toEqual(["cheap", "dear"]);
  });

  test("filters hold together; a search ignores capitals", () => {
    const rows = pricedRows(catalogue, "default");
    // spec: C-158
    expect(names(selectRows(rows, { ...NONE, q: " DEA " }, null))).toEqual(["dear"]);
    expect(names(selectRows(rows, { ...NONE, vendor: "other" }, null))).toEqual(["picture", "unpriced"]);
    expect(names(selectRows(rows, { ...NONE, vendor: "other", billing: "none" }, null))).toEqual(["unpriced"]);
    expect(names(selectRows(rows, { ...NONE, vendor: "anthropic", available: "1" }, null))).toEqual([]);
  });

  test("models are found by what they can do, and sorted by their longest input; what is not known is last and shows nothing", () => {
    const seeing = { ...cheap, model: "seeing", capabilities: ["vision", "tools"], context: 200_000 } as const;
    const drawing = { ...cheap, model: "drawing", capabilities: ["image"], context: 8_000 } as const;
    const rows = pricedRows({ ...catalogue, models: [cheap, seeing, drawing] }, "default");
    expect(names(selectRows(rows, { ...NONE, capability: "vision" }, null))).toEqual(["seeing"]);
    expect(names(selectRows(rows, { ...NONE, capability: "image" }, null))).toEqual(["drawing"]);
    expect(names(selectRows(rows, NONE, { key: "context", desc: true }))).toEqual(["seeing", "drawing", "cheap"]);
    expect(
      show(<CapabilitySigns item={seeing} />)
        .getAllByRole("img")
        .map((sign) => sign.getAttribute("aria-label")),
    ).toEqual(["识别图片", "调用工具"]);
    cleanup();
    expect(show(<ModelFacts item={seeing} />).container.textContent).toBe("识别图片调用工具上下文 200,000");
    cleanup();
    expect(show(<ModelFacts item={cheap} />).container.textContent).toBe("");
    expect(show(<CapabilitySigns item={cheap} />).container.textContent).toBe("");
  });

  test("a model that is paid by the second is found by that, and not among those paid by the call", () => {
    const rows = pricedRows(catalogue, "default").map((row) =>
      row.item.model === "picture" ? { ...row, unit: "second" as const } : row,
    );
    expect(names(selectRows(rows, { ...NONE, billing: "second" }, null))).toEqual(["picture"]);
    expect(names(selectRows(rows, { ...NONE, billing: "call" }, null))).toEqual([]);
    expect(names(selectRows(pricedRows(catalogue, "default"), { ...NONE, billing: "call" }, null))).toEqual([
      "picture",
    ]);
  });

  test("prices are sorted as numbers; models without that price come last either way", () => {
    const rows = pricedRows(catalogue, "default");
    expect(names(selectRows(rows, NONE, { key: "input", desc: true }))).toEqual([
      "dear",
      "cheap",
      "picture",
      "unpriced",
    ]);
    expect(names(selectRows(rows, NONE, { key: "input", desc: false })).slice(0, 2)).toEqual(["cheap", "dear"]);
  });
});

describe("what is shown", () => {
  test("the price at ratio 1 is struck through where the group changes it, and only there", () => {
    const [inDefault] = pricedRows(catalogue, "default");
    const [inVip] = pricedRows(catalogue, "vip");
    if (!inDefault || !inVip) throw new Error("no rows");
    show(
      <>
        <p data-testid="a">
          <Price row={inDefault} kind="input" />
        </p>
        <p data-testid="b">
          <Price row={inVip} kind="input" />
        </p>
      </>,
    );
    expect(screen.getByTestId("a").textContent).toBe("$1.00");
    expect(screen.getByTestId("b").querySelector("del")?.textContent).toBe("$1.00");
    expect(screen.getByTestId("b").textContent).toBe("$1.00$0.50");
  });

  test("the reason why a model cannot be called is shown as text", () => {
    for (const row of pricedRows(catalogue, "default")) show(<Availability row={row} group="default" />);
    expect(screen.getAllByText("可用")).toHaveLength(2);
    expect(screen.getByText("不在本组")).toBeDefined();
    expect(screen.getByText("未设置价格")).toBeDefined();
  });
});

describe("a model's drawer", () => {
  const note = { zh: "高峰价", en: "the peak rate" };
  const open = (noted: Catalogue) =>
    show(<ModelDrawer catalogue={noted} open="dear" rows={pricedRows(noted, "vip")} group="vip" onClose={() => {}} />);

  test("says what the built-in price leaves out, where there is something", () => {
    open({ ...catalogue, models: [{ ...dear, note }] });
    expect(screen.getByText("高峰价")).toBeDefined();
    cleanup();
    open(catalogue);
    expect(screen.queryByText("高峰价")).toBeNull();
  });
});

describe("the calculator", () => {
  const cells = (model: string): string[] =>
    within(screen.getByRole("cell", { name: model }).closest("tr") ?? document.body)
      .getAllByRole("cell")
      .map((cell) => cell.textContent ?? "");

  test("shows what the ledger would charge for one call, a day and a month", async () => {
    show(<PriceCalculator catalogue={catalogue} item={dear} group="vip" />);
    const price = catalogPrice(dear, 0.5, 500_000);
    expect(price && chargeOf(price, { input: 1000, output: 500 }).quota).toBe(15_000);
    expect(cells("dear")).toEqual(["dear", "$0.030000", "$30.000000", "$900.000000"]);
    const calls = screen.getByLabelText("每天调用次数");
    await userEvent.clear(calls);
    await userEvent.type(calls, "10");
    expect(cells("dear")).toEqual(["dear", "$0.030000", "$0.300000", "$9.000000"]);
  });

  test("cached tokens are part of the input and never more than it", async () => {
    show(<PriceCalculator catalogue={catalogue} item={dear} group="default" />);
    const cached = screen.getByLabelText("其中命中缓存");
    await userEvent.clear(cached);
    await userEvent.type(cached, "5000");
    expect(cells("dear")[1]).toBe("$0.033000");
  });

  test("a pasted text sets the number of input tokens", async () => {
    show(<PriceCalculator catalogue={catalogue} item={dear} group="default" />);
    await userEvent.type(screen.getByLabelText("或粘贴文本作为输入"), "abcd".repeat(10));
    expect(screen.getByLabelText<HTMLInputElement>("输入 Token").value).toBe("10");
    expect(guessTokens("你好世")).toBe(2);
  });

  test("other models are compared in the same table", async () => {
    show(<PriceCalculator catalogue={catalogue} item={dear} group="default" />);
    await userEvent.type(screen.getByLabelText("与其他模型比较（最多 3 个）"), "cheap{Enter}");
    expect(cells("cheap")[1]).toBe("$0.002000");
  });
});

test("prices have cents at least, so that a column can be compared", () => {
  const rows = pricedRows(catalogue, "default");
  const [row] = rows;
  if (!row) throw new Error("no row");
  show(<Price row={{ ...row, shown: { input: "0.8" }, base: { input: "1.25" } }} kind="input" />);
  expect(screen.getByText("$0.80")).toBeDefined();
  expect(screen.getByText("$1.25")).toBeDefined();
});
