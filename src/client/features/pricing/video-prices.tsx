import { useLingui } from "@lingui/react/macro";
import { multiply, printDecimal, roundTo, toDecimal } from "../../../shared/decimal";
import { type VideoTariff, videoTariff } from "../../../shared/video-tariffs";
import { Table, Td, Th } from "../../ui/table";
import type { PricedRow } from "./prices";

interface VideoPrice {
  readonly resolution: string;
  /** Length of a clip; undefined: by the second. */
  readonly seconds?: string;
  readonly usd: string;
  /** With sound, where that costs more. */
  readonly loud?: string;
}

const times = (usd: string, ...factors: readonly string[]): string =>
  printDecimal(roundTo(multiply(...[usd, ...factors].map((text) => toDecimal(text))), 6));

/** What videos cost by their steps of resolution, from the price at factor 1. */
export function videoPrices({ resolution, resolutions, clips, audio }: VideoTariff, usd: string): VideoPrice[] {
  if (clips) {
    return Object.entries(clips).map(([clip, factor]) => {
      const [step = "", seconds] = clip.split("/");
      return { resolution: step, seconds, usd: times(usd, factor) };
    });
  }
  const steps = Object.entries(resolutions);
  return (steps.length > 0 ? steps : [[resolution, "1"] as const]).map(([step, factor]) => ({
    resolution: step,
    usd: times(usd, factor),
    ...(audio !== undefined && { loud: times(usd, factor, audio) }),
  }));
}

/** The prices of a video model in the chosen group: by resolution, length and sound. Nothing for other models. */
export function VideoPrices({ row, group }: { row: PricedRow; group: string }) {
  const { t } = useLingui();
  const tariff = videoTariff(row.item.model);
  const usd = row.shown.call;
  if (!tariff || usd === undefined) return null;
  const prices = videoPrices(tariff, usd);
  const loud = prices.some((price) => price.loud !== undefined);
  const caption = t`视频价格（${group} 分组）`;
  return (
    <Table aria-label={caption}>
      <thead>
        <tr>
          <Th>{caption}</Th>
          <Th className="text-right">{tariff.clips ? t`每段` : t`每秒`}</Th>
          {loud ? <Th className="text-right">{t`每秒（有声）`}</Th> : null}
        </tr>
      </thead>
      <tbody>
        {prices.map((price) => {
          const { resolution, seconds } = price;
          return (
            <tr key={`${resolution} ${seconds ?? ""}`}>
              <Td>{seconds === undefined ? resolution : t`${resolution}，${seconds} 秒`}</Td>
              <Td className="text-right tabular-nums">{`$${price.usd}`}</Td>
              {loud ? <Td className="text-right tabular-nums">{`$${price.loud ?? price.usd}`}</Td> : null}
            </tr>
          );
        })}
      </tbody>
    </Table>
  );
}
