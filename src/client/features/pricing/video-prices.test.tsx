import { cleanup, render, screen, within } from "../../../../tests/dom";
import { i18n } from "@lingui/core";
import { I18nProvider } from "@lingui/react";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { type Catalogue, catalogPrice } from "../../../shared/price-list";
import { chargeOf } from "../../../shared/charge";
import { type VideoSpec, videoFactors, videoTariff, videoTariffs } from "../../../shared/video-tariffs";
import { TooltipProvider } from "../../ui/tooltip";
import { VideoPrices, videoPrices } from "./video-prices";
import { PriceCalculator } from "./price-calculator";
import { Price } from "./price-cells";
import { pricedRows } from "./prices";

const perCall = (model: string, usd: number) => ({
  model,
  vendor: "",
  enable_groups: ["default"],
  factors: { model_price: { value: usd, source: "test" } },
});
const picture = perCall("picture", 0.04);
const kling = perCall("kling-v3", 0.084);
const hailuo = perCall("MiniMax-Hailuo-2.3-Fast", 0.19);
const catalogue: Catalogue = {
  models: [picture, kling, hailuo],
  groups: { default: { desc: "d", ratio: 1 }, vip: { desc: "v", ratio: 0.5 } },
  user_group: "default",
  quota_per_unit: 500_000,
  batch_ratio: 0.5,
};

beforeEach(() => i18n.loadAndActivate({ locale: "zh", messages: {} }));
afterEach(cleanup);

const show = (element: React.ReactNode) =>
  render(
    <I18nProvider i18n={i18n}>
      <TooltipProvider>{element}</TooltipProvider>
    </I18nProvider>,
  );
const cells = (): string[][] =>
  screen
    .getAllByRole("row")
    .slice(1)
    .map((row) =>
      within(row)
        .getAllByRole("cell")
        .map(({ textContent }) => textContent ?? ""),
    );

test("a video's price is named by the second, a picture's and a clip's by the call", () => {
  for (const row of pricedRows(catalogue, "vip"))
    show(
      <p data-testid={row.item.model}>
        <Price row={row} kind="call" />
      </p>,
    );
  expect(screen.getByTestId("picture").textContent).toBe("$0.04$0.02");
  expect(screen.getByTestId("kling-v3").textContent).toBe("$0.084$0.042 / 秒");
  expect(screen.getByTestId("MiniMax-Hailuo-2.3-Fast").textContent).toBe("$0.19$0.095");
});

test("a model's panel shows every step of resolution, with and without sound, in the chosen group", () => {
  const [noVideo, bySecond, byClip] = pricedRows(catalogue, "vip");
  if (!noVideo || !bySecond || !byClip) throw new Error("no rows");
  show(<VideoPrices row={bySecond} group="vip" />);
  expect(cells()).toEqual([
    ["720p", "$0.042", "$0.063"],
    ["1080p", "$0.056", "$0.084"],
  ]);
  cleanup();
  show(<VideoPrices row={byClip} group="vip" />);
  expect(cells()).toEqual([
    ["768p，6 秒", "$0.095"],
    ["768p，10 秒", "$0.16"],
    ["1080p，6 秒", "$0.165"],
  ]);
  cleanup();
  expect(show(<VideoPrices row={noVideo} group="vip" />).container.textContent).toBe("");
});

test("shown prices are what the ledger charges, for every tariff, step and sound", () => {
  for (const {
    models: [name = ""],
    usd,
  } of videoTariffs) {
    const model = name.replace("*", "");
    const tariff = videoTariff(model);
    const price = catalogPrice(perCall(model, usd), 1, 500_000);
    if (!tariff || !price) throw new Error(`no price of ${model}`);
    const charged = (spec: VideoSpec) => chargeOf(price, {}, { factors: videoFactors(model, spec) }).quota / 500_000;
    for (const { resolution, seconds, usd: shown, loud } of videoPrices(tariff, String(usd))) {
      const length = Number(seconds ?? 1);
      expect(charged({ resolution, seconds: length })).toBeCloseTo(Number(shown), 5);
      if (loud !== undefined)
        expect(charged({ resolution, seconds: length, audio: true })).toBeCloseTo(Number(loud), 5);
    }
  }
});

test("the calculator takes a video of its usual length, and says so", () => {
  show(<PriceCalculator catalogue={catalogue} item={kling} group="default" />);
  expect(cells()[0]?.[1]).toBe("$0.420000");
  expect(screen.getByText("没有填写的时长和分辨率按该模型的默认值计算。")).toBeDefined();
  cleanup();
  show(<PriceCalculator catalogue={catalogue} item={picture} group="default" />);
  expect(cells()[0]?.[1]).toBe("$0.040000");
  expect(screen.queryByText("没有填写的时长和分辨率按该模型的默认值计算。")).toBeNull();
});
