/** Implausible token counts of a vendor: marks on the call's log row and on its channel. */
import type { Text } from "./text";

export type UsageSide = "input" | "output";
/** Beside the two sides: calls of the vendor's own tools. */
export const DOUBTED_TOOL = "tools";

export const USAGE_RULES = {
  impossible: { zh: "不是可能的数量，已改为估算", en: "not a possible count, so it was estimated" },
  zero: { zh: "为零，但确有内容，已改为估算", en: "zero although there was content, so it was estimated" },
  implausible: { zh: "远超合理范围，按上限计费", en: "far beyond what is plausible, so it was charged at the bound" },
} as const satisfies Record<string, Text>;
export type UsageRule = keyof typeof USAGE_RULES;

export const DOUBTED_SIDES = {
  input: { zh: "输入 Token", en: "Input tokens" },
  output: { zh: "输出 Token", en: "Output tokens" },
  [DOUBTED_TOOL]: { zh: "工具调用次数", en: "Tool calls" },
} as const satisfies Record<UsageSide | typeof DOUBTED_TOOL, Text>;

/** One implausible count; a member of a log row's `other.usage_doubts`. */
export interface UsageDoubt {
  side: keyof typeof DOUBTED_SIDES;
  rule: UsageRule;
  /** null: no valid count (a fraction, a negative or an infinite number). */
  reported: number | null;
  charged: number;
}

/** The last doubt of a channel; member `usage_doubt` of its other_info. */
export interface ChannelDoubt extends UsageDoubt {
  model: string;
  request_id: string;
  /** Epoch seconds. */
  time: number;
}

/** How long a channel keeps its mark after the last doubt, in seconds. */
export const DOUBT_LASTS = 7 * 86_400;

const isDoubt = (value: unknown): value is UsageDoubt =>
  typeof value === "object" &&
  value !== null &&
  "side" in value &&
  "rule" in value &&
  "reported" in value &&
  "charged" in value &&
  typeof value.side === "string" &&
  Object.hasOwn(DOUBTED_SIDES, value.side) &&
  typeof value.rule === "string" &&
  Object.hasOwn(USAGE_RULES, value.rule);

/** The doubts of a log row's `other`, those that this release knows. */
export const readDoubts = (value: unknown): UsageDoubt[] => (Array.isArray(value) ? value.filter(isDoubt) : []);

/** The mark of a channel's other_info; undefined when there is none, or when it is old. `now`: epoch seconds. */
export function readChannelDoubt(
  info: Readonly<Record<string, unknown>> | undefined,
  now: number,
): ChannelDoubt | undefined {
  const doubt = info?.usage_doubt;
  if (!isDoubt(doubt) || !("time" in doubt) || typeof doubt.time !== "number" || doubt.time + DOUBT_LASTS < now)
    return undefined;
  const { model, request_id } = { model: "", request_id: "", ...doubt };
  return { ...doubt, time: doubt.time, model: String(model), request_id: String(request_id) };
}
