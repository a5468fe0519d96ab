import { videoTariff } from "../../../shared/video-tariffs";

/** What a price per call is for; videos are paid by their length. */
export type PriceUnit = "call" | "second";

/** What the price per call of a model is for. */
export function unitOf(model: string): PriceUnit {
  const tariff = videoTariff(model);
  return tariff && !tariff.clips ? "second" : "call";
}
