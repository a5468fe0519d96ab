import { describe, expect, test } from "bun:test";
import { modelPrices } from "./model-prices";
import { defaultText, parseOption } from "./options";
import { chargeOf } from "./charge";
import { type PriceTables, priceTableKeys, resolvePrice } from "./pricing";
import { videoFactors, type VideoSpec, videoPrices, videoTariff, videoTariffs, videoTokens } from "./video-tariffs";

const tables = Object.fromEntries(
  priceTableKeys.map((key) => {
    const parsed = parseOption(key, defaultText(key));
    return [key, parsed.ok ? parsed.value : undefined];
  }),
) as unknown as PriceTables;

/** USD of a video at the built-in prices, in group ratio 1. */
function usd(model: string, spec: VideoSpec): number {
  const price = resolvePrice(model, "default", "default", tables);
  if (price.unpriced) throw new Error(`${model} has no price`);
  return chargeOf(price, {}, { factors: videoFactors(model, spec) }).quota / 500_000;
}

describe("prices of videos", () => {
  // Each line is a figure of the vendor's own price page, see video-tariffs.ts.
  test.each([
    ["sora-2", { seconds: 8 }, 0.8],
    ["sora-2-pro", { seconds: 4, resolution: "720p" }, 1.2],
    ["sora-2-pro", { seconds: 4, resolution: "1024p" }, 2],
    ["sora-2-pro", { seconds: 4, resolution: "1080p" }, 2.8],
    ["veo-3.1-generate-preview", {}, 3.2],
    ["veo-3.1-generate-001", { seconds: 8, resolution: "4k" }, 4.8],
    ["veo-3.1-fast-generate-preview", { seconds: 8, resolution: "1080p" }, 0.96],
    ["veo-3.1-fast-generate-preview", { seconds: 8, resolution: "4k" }, 2.4],
    ["veo-3.1-lite-generate-preview", { seconds: 4, resolution: "1080p" }, 0.32],
    ["kling-v3", { seconds: 10, resolution: "1080p" }, 1.12],
    ["kling-v3", { seconds: 5, audio: true }, 0.63],
    ["kling-v2-5-turbo", { seconds: 5, resolution: "1080p" }, 0.35],
    ["kling-v2-1-master", {}, 1.4],
    ["wan2.6-t2v", { seconds: 10 }, 1.5],
    ["wan2.5-t2v-preview", { seconds: 5, resolution: "480p" }, 0.25],
    ["MiniMax-Hailuo-2.3", {}, 0.28],
    ["MiniMax-Hailuo-2.3", { seconds: 10 }, 0.56],
    ["MiniMax-Hailuo-02", { seconds: 6, resolution: "1080p" }, 0.49],
    ["viduq3-pro", { seconds: 5 }, 0.5],
    ["viduq3-pro", { seconds: 10, resolution: "1080p" }, 1.2],
    ["jimeng_ti2v_v30_pro", { seconds: 10 }, 1.4],
  ] as const)("%s %o costs %d USD", (model, spec, wanted) => {
    expect(usd(model, spec)).toBeCloseTo(wanted, 5);
  });

  test("several videos cost their number, and sound nothing where it has no price", () => {
    expect(usd("veo-3.1-generate-preview", { seconds: 8, n: 2, audio: true })).toBeCloseTo(6.4, 5);
  });

  test("a step or a clip that the vendor does not list is held at that vendor's highest price", () => {
    expect(videoFactors("sora-2-pro", { seconds: 4, resolution: "4k" })).toEqual({
      seconds: "4",
      resolution: "2.333333",
    });
    expect(videoFactors("MiniMax-Hailuo-2.3", { seconds: 7 })).toEqual({ clip: "2" });
  });

  test("a model without a tariff is priced by the call, whatever its length", () => {
    expect(videoTariff("my-own-video")).toBeUndefined();
    expect(videoFactors("my-own-video", { seconds: 30, resolution: "4k" })).toEqual({});
    expect(videoFactors("my-own-video", { n: 3 })).toEqual({ n: "3" });
  });

  test("the longest name decides: no model of pictures or chat has a video's price", () => {
    expect(videoTariff("sora-2-pro-2025-10-06")?.usd).toBe(0.3);
    expect(videoTariff("sora-2-2025-12-08")?.usd).toBe(0.1);
    for (const { model } of modelPrices) expect([model, videoTariff(model)]).toEqual([model, undefined]);
    for (const model of ["wan2.7-image", "wan2.6-t2i", "MiniMax-M3", "kling-image-o1"])
      expect(videoTariff(model)).toBeUndefined();
  });

  test("every factor is a number above 0, and every price is in ModelPrice", () => {
    for (const { models, usd: price, resolutions, clips, audio } of videoTariffs) {
      for (const factor of [...Object.values(resolutions), ...Object.values(clips ?? {}), audio ?? "1"])
        expect(Number(factor)).toBeGreaterThan(0);
      for (const model of models) expect(videoPrices[model]).toBe(price);
    }
  });

  test("tokens are held for at least what Seedance reports for its documented example", () => {
    // volcengine.com/docs/82379/1521309: 720p, 16:9, 5 s = 108900 tokens.
    expect(videoTokens({ seconds: 5, resolution: "720p" })).toBeGreaterThanOrEqual(108_900);
    expect(videoTokens({ seconds: 5, resolution: "720p" })).toBeLessThan(120_000);
    expect(videoTokens({})).toBeGreaterThan(videoTokens({ resolution: "720p" }));
  });
});

test("a step costs the factor of its table; one that the table does not name costs the highest", () => {
  for (const tariff of videoTariffs) {
    const [model = ""] = tariff.models.map((name) => name.replace(/\*$/, ""));
    const table = tariff.clips ?? tariff.resolutions;
    const highest = Object.values(table).toSorted((a, b) => Number(b) - Number(a))[0] ?? "1";
    for (const resolution of [undefined, "480p", "540p", "720p", "768p", "1024p", "1080p", "4k", "8k"])
      for (const seconds of [undefined, 4, 5, 6, 8, 10, 12]) {
        const step = resolution ?? tariff.resolution;
        const length = seconds ?? tariff.seconds;
        const factor = table[tariff.clips ? `${step}/${length}` : step] ?? highest;
        const name = tariff.clips ? "clip" : "resolution";
        expect(videoFactors(model, { ...(resolution && { resolution }), ...(seconds && { seconds }) })).toEqual({
          ...(!tariff.clips && { seconds: String(length) }),
          ...(factor !== "1" && { [name]: factor }),
        });
      }
  }
});
