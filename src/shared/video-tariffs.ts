/**
 * The vendors' prices of videos, from their public price pages (read November 2026): a price for one second, or for one
 * clip, at one step of resolution, and its multipliers. The prices are defaults of the option ModelPrice, which an
 * operator's table replaces; the multipliers apply to the operator's prices as well. Vendors that count tokens (Ark)
 * are in model-prices.ts.
 *
 * Sources: developers.openai.com/api/docs/models/sora-2 (before its end in September 2026);
 * ai.google.dev/gemini-api/docs/pricing; kling.ai/document-api (prices of the models, list price of a unit 0.14 USD);
 * volcengine.com/docs/85621 (1, 0.63 and 0.28 CNY); alibabacloud.com/help/en/model-studio/model-pricing (Singapore);
 * platform.minimax.io/docs/pricing; platform.vidu.com/docs/pricing (a credit is 0.005 USD).
 */

import { factorOf, type FactorRule } from "./factor-rules";
import type { PriceRule } from "./price-rules";

export interface VideoTariff {
  /** Models by their names; one that ends in `*` is a prefix. */
  readonly models: readonly string[];
  /** USD for a second, or for a clip where `clips` is given, at factor 1. */
  readonly usd: number;
  /** Length where the caller gives none. */
  readonly seconds: number;
  /** The step where the caller gives none. */
  readonly resolution: string;
  /** Step of resolution to factor; missing steps cost the highest one. */
  readonly resolutions: Readonly<Record<string, string>>;
  /** Factor with requested sound; absent: sound costs nothing more. */
  readonly audio?: string;
  /** Priced by the clip: `step/seconds` to factor. */
  readonly clips?: Readonly<Record<string, string>>;
}

const perSecond = (
  models: string,
  usd: number,
  seconds: number,
  resolution: string,
  resolutions: Readonly<Record<string, string>>,
  audio?: string,
): VideoTariff => ({
  models: models.split(" "),
  usd,
  seconds,
  resolution,
  resolutions,
  ...(audio !== undefined && { audio }),
});

export const videoTariffs: readonly VideoTariff[] = [
  perSecond("sora-2-pro*", 0.3, 4, "720p", { "720p": "1", "1024p": "1.666667", "1080p": "2.333333" }),
  perSecond("sora-2*", 0.1, 4, "720p", { "720p": "1", "1024p": "1.666667" }),

  perSecond("veo-3.1-lite*", 0.05, 8, "720p", { "720p": "1", "1080p": "1.6" }),
  perSecond("veo-3.1-fast*", 0.1, 8, "720p", { "720p": "1", "1080p": "1.2", "4k": "3" }),
  perSecond("veo-3.1*", 0.4, 8, "720p", { "720p": "1", "1080p": "1", "4k": "1.5" }),

  perSecond("kling-v3*", 0.084, 5, "720p", { "720p": "1", "1080p": "1.333333" }, "1.5"),
  perSecond("kling-v2-6*", 0.042, 5, "720p", { "720p": "1", "1080p": "1.666667" }, "2"),
  perSecond("kling-v2-5-turbo*", 0.042, 5, "720p", { "720p": "1", "1080p": "1.666667" }),
  perSecond("kling-v2-1-master kling-v2-master", 0.28, 5, "1080p", { "720p": "1", "1080p": "1" }),
  perSecond("kling-v2-1 kling-v1-6", 0.056, 5, "720p", { "720p": "1", "1080p": "1.75" }),
  perSecond("kling-v1", 0.028, 5, "720p", { "720p": "1", "1080p": "3.5" }),

  perSecond("jimeng_ti2v_v30_pro", 0.14, 5, "1080p", {}),
  perSecond("jimeng_t2v_v30_1080p jimeng_i2v_first_v30_1080 jimeng_i2v_first_tail_v30_1080", 0.088, 5, "1080p", {}),
  perSecond("jimeng_t2v_v30 jimeng_i2v_first_v30 jimeng_i2v_first_tail_v30", 0.039, 5, "720p", {}),

  perSecond(
    "wan2.5-t2v-preview wan2.5-i2v-preview wan2.6-t2v* wan2.6-i2v* wan2.6-r2v* wan2.7-t2v* wan2.7-i2v* wan2.7-r2v* wan2.7-videoedit",
    0.1,
    5,
    "1080p",
    { "480p": "0.5", "720p": "1", "1080p": "1.5" },
  ),

  perSecond("viduq3-pro-fast", 0.1, 5, "720p", { "720p": "1", "1080p": "1.25" }),
  perSecond("viduq3-pro", 0.045, 5, "720p", { "540p": "1", "720p": "2.222223", "1080p": "2.666667" }),
  perSecond("viduq3-turbo", 0.035, 5, "720p", { "540p": "1", "720p": "1.571429", "1080p": "1.857143" }),

  {
    models: ["MiniMax-Hailuo-2.3", "MiniMax-Hailuo-02"],
    usd: 0.28,
    seconds: 6,
    resolution: "768p",
    resolutions: {},
    clips: { "512p/6": "0.357143", "512p/10": "0.535715", "768p/6": "1", "768p/10": "2", "1080p/6": "1.75" },
  },
  {
    models: ["MiniMax-Hailuo-2.3-Fast"],
    usd: 0.19,
    seconds: 6,
    resolution: "768p",
    resolutions: {},
    clips: { "768p/6": "1", "768p/10": "1.684211", "1080p/6": "1.736843" },
  },
];

const named = new Map(videoTariffs.flatMap((tariff) => tariff.models.map((model) => [model, tariff] as const)));
const prefixes = [...named]
  .filter(([model]) => model.endsWith("*"))
  .map(([model, tariff]) => [model.slice(0, -1), tariff] as const)
  .toSorted(([a], [b]) => b.length - a.length);

/** The tariff of a model: its own, else that of the longest prefix; undefined: priced by the call alone. */
export function videoTariff(model: string): VideoTariff | undefined {
  return named.get(model) ?? prefixes.find(([prefix]) => model.startsWith(prefix))?.[1];
}

/** The prices as entries of ModelPrice. */
export const videoPrices: Readonly<Record<string, number>> = Object.fromEntries(
  [...named].map(([model, { usd }]) => [model, usd]),
);

/** What decides the price of a video; undefined: the tariff's default. */
export interface VideoSpec {
  readonly seconds?: number;
  readonly resolution?: string;
  readonly audio?: boolean;
  /** Videos made at once. */
  readonly n?: number;
}

const rulesOf = new Map<VideoTariff, readonly FactorRule[]>();

/** A tariff's steps as rules; the last one is for steps that the vendor does not name, which cost the highest. */
function stepRules(tariff: VideoTariff): readonly FactorRule[] {
  let known = rulesOf.get(tariff);
  if (!known) {
    const rule = (when: PriceRule["when"], factor: number): FactorRule => ({ name: "step", when, then: { factor } });
    const steps = Object.entries(tariff.clips ?? tariff.resolutions).map(([step, factor]) => {
      const [resolution = "", clip] = step.split("/");
      const seconds = Number(clip);
      const length = clip === undefined ? {} : { seconds: { over: seconds - 1, up_to: seconds } };
      return rule({ resolution: [resolution], ...length }, Number(factor));
    });
    const highest = Math.max(...steps.map(({ then }) => then.factor));
    known = steps.length > 0 ? [...steps, rule({}, highest)] : [];
    rulesOf.set(tariff, known);
  }
  return known;
}

/**
 * The multipliers of a model's price, by name, as exact texts; factors of 1 are left out. `{}` for a model that is
 * priced by the call.
 */
export function videoFactors(model: string, { seconds, resolution, audio, n = 1 }: VideoSpec): Record<string, string> {
  const tariff = videoTariff(model);
  const many: Record<string, string> = n === 1 ? {} : { n: String(n) };
  if (!tariff) return many;
  const length = seconds ?? tariff.seconds;
  const shown = { resolution: resolution ?? tariff.resolution, seconds: length };
  const step = String(factorOf(stepRules(tariff), shown));
  if (tariff.clips) return { ...(step !== "1" && { clip: step }), ...many };
  return {
    seconds: String(length),
    ...(step !== "1" && { resolution: step }),
    ...(audio === true && tariff.audio !== undefined && { audio: tariff.audio }),
    ...many,
  };
}

/** What a video's steps cost more, as rules; none for a model without a tariff. */
export function videoRules(model: string): readonly FactorRule[] {
  const tariff = videoTariff(model);
  return tariff ? stepRules(tariff) : [];
}

/** Pixels of a frame at 16:9, at most (the sizes of Seedance's steps), and frames of a second. */
const pixels: Readonly<Record<string, number>> = {
  "480p": 864 * 496,
  "720p": 1280 * 726,
  "1080p": 1920 * 1088,
  "4k": 3840 * 2176,
};
const FPS = 24;

/**
 * Tokens of a video for models that are billed by them: frames x width x height / 1024 (volcengine.com/docs/82379,
 * model pages of Seedance). An upper bound: what the caller leaves open counts as 1080p and the longest usual length.
 */
export function videoTokens({ seconds = 5, resolution = "1080p", n = 1 }: VideoSpec): number {
  const frame = pixels[resolution] ?? Math.max(...Object.values(pixels));
  return Math.ceil((frame * FPS * seconds * n) / 1024);
}
