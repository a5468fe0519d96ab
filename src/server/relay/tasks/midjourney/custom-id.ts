/**
 * The action of a button, from its customId as Midjourney writes it ("MJ::JOB::upsample::2::<hash>",
 * "MJ::Outpaint::50::1::<hash>::SOLO"); names of the buttons as seen on messages of versions 6 and 7.
 */
import type { MjAction } from "../../../../shared/midjourney";

export interface Button {
  action: MjAction;
  /** Which of the four images; 1 if there is only one. */
  index: number;
}

const words: Readonly<Record<string, MjAction>> = {
  upsample: "UPSCALE",
  variation: "VARIATION",
  low_variation: "LOW_VARIATION",
  high_variation: "HIGH_VARIATION",
  reroll: "REROLL",
  outpaint: "ZOOM",
  customzoom: "CUSTOM_ZOOM",
  inpaint: "INPAINT",
};

/** Names that contain a version or direction: `upsample_v7_2x_subtle`, `pan_left`, `animate_high`. */
const beginnings: readonly [string, MjAction][] = [
  ["upsample_", "UPSCALE"],
  ["pan_", "PAN"],
  ["animate_", "VIDEO"],
];

/** Actions whose customId contains the number of the image. */
const INDEXED: ReadonlySet<MjAction> = new Set(["UPSCALE", "VARIATION"]);

/** undefined: an unknown button, which has no price. */
export function readCustomId(customId: string): Button | undefined {
  const parts = customId.split("::");
  const start = parts[0] === "MJ" ? 1 : 0;
  const at = parts[start]?.toUpperCase() === "JOB" ? start + 1 : start;
  const word = parts[at]?.toLowerCase() ?? "";
  const action = Object.hasOwn(words, word)
    ? words[word]
    : beginnings.find(([beginning]) => word.startsWith(beginning))?.[1];
  if (!action) return undefined;
  const index = INDEXED.has(action) ? Number(parts[at + 1]) : 1;
  return { action, index: Number.isSafeInteger(index) && index >= 1 && index <= 4 ? index : 1 };
}

/** `<task id> U1…U4, V1…V4 or R` (midjourney-proxy, docs/api.md section 3). */
export function readSimpleChange(content: string): (Button & { taskId: string; word: string }) | undefined {
  const found = /^\s*(\S+)\s+(?:([UV])([1-4])|(R))\s*$/i.exec(content);
  if (!found) return undefined;
  const [, taskId = "", letter = "", number = "1", again] = found;
  const action: MjAction = again ? "REROLL" : letter.toUpperCase() === "U" ? "UPSCALE" : "VARIATION";
  const index = Number(number);
  return { taskId, action, index, word: again ? "R" : `${letter.toUpperCase()}${index}` };
}
