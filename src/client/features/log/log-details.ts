/** The JSON of a row's `other`, read with care: rows of older releases and of other types lack fields. */
import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { type AttemptRecord, type ConsumeOther, type EndReason, LOG_TYPE } from "../../../shared/log";
import type { LogView } from "../../../shared/log-list";
import type { ScoreFactors } from "../../../shared/score-factors";
import { type Decimal, printDecimal, rescale, roundTo, toDecimal, zero } from "../../../shared/decimal";
import type { BillLine } from "../../../shared/charge";
import type { Hue } from "../../ui/badge";

export type LogDetails = Partial<Omit<ConsumeOther, "bill">> & { bill: BillLine[] };

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isBillLine(value: unknown): value is BillLine {
  return isRecord(value) && typeof value.kind === "string" && typeof value.units === "string" && isRecord(value.ratios);
}

export function readDetails(other: string): LogDetails {
  let value: unknown;
  try {
    value = JSON.parse(other || "{}");
  } catch {
    value = {};
  }
  if (!isRecord(value)) return { bill: [] };
  const bill = Array.isArray(value.bill) ? value.bill.filter(isBillLine) : [];
  return { ...(value as Partial<ConsumeOther>), bill };
}

export const attemptsOf = (details: LogDetails): readonly AttemptRecord[] => details.admin_info?.attempts ?? [];

/** What a row keeps of the choice of its channels. */
interface Choice {
  candidates: number;
  skipped: { channel: number; why: string; remaining_ms: number }[];
  /** The conversation's own channel. */
  sticky: number | undefined;
  groups: string[];
  /** Routing by score: what was known of the channels; [] by weight. */
  scores: ScoreFactors[];
}

const isScore = (value: unknown): value is ScoreFactors =>
  isRecord(value) && typeof value.channel === "number" && typeof value.score === "number";

/** undefined when it is no such record. */
export function choiceOf(selection: unknown): Choice | undefined {
  if (!isRecord(selection) || typeof selection.candidates !== "number") return undefined;
  const { candidates, skipped, sticky, groups, scores } = selection;
  return {
    scores: Array.isArray(scores) ? scores.filter(isScore) : [],
    candidates,
    skipped: (Array.isArray(skipped) ? skipped : []).flatMap((entry: unknown) =>
      isRecord(entry) && typeof entry.channel === "number" && typeof entry.why === "string"
        ? [
            {
              channel: entry.channel,
              why: entry.why,
              remaining_ms: typeof entry.remaining_ms === "number" ? entry.remaining_ms : 0,
            },
          ]
        : [],
    ),
    sticky: typeof sticky === "number" ? sticky : undefined,
    groups: Array.isArray(groups) ? groups.filter((name) => typeof name === "string") : [],
  };
}

/** What a bill line charges for. */
export const lineNames: Readonly<Record<BillLine["kind"], MessageDescriptor>> = {
  input: msg`输入`,
  cache_read: msg`缓存读取`,
  cache_write_5m: msg`缓存写入（5 分钟）`,
  cache_write_1h: msg`缓存写入（1 小时）`,
  audio_in: msg`音频输入`,
  image_in: msg`图片输入`,
  output: msg`输出`,
  reasoning: msg`推理`,
  audio_out: msg`音频输出`,
  image_out: msg`图片输出`,
  call: msg`按次`,
  tool: msg`工具调用`,
  minimum: msg`最低收费`,
};

/** The factors of a line; each is set by an option. */
export const ratioNames: Readonly<Record<string, MessageDescriptor>> = {
  model_ratio: msg`模型倍率`,
  completion_ratio: msg`补全倍率`,
  cache_ratio: msg`缓存倍率`,
  cache_creation_ratio: msg`缓存写入倍率`,
  cache_creation_1h: msg`一小时缓存系数`,
  cache_creation_1h_ratio: msg`缓存写入倍率（1 小时）`,
  long_context_ratio: msg`长上下文倍率`,
  image_ratio: msg`图片倍率`,
  image_completion_ratio: msg`图片补全倍率`,
  audio_ratio: msg`音频倍率`,
  audio_completion_ratio: msg`音频补全倍率`,
  rule_ratio: msg`规则倍率`,
  batch_ratio: msg`批处理倍率`,
  group_ratio: msg`分组倍率`,
  seconds: msg`秒数`,
  resolution: msg`清晰度系数`,
  audio: msg`声音系数`,
  clip: msg`时长与清晰度系数`,
  n: msg`个数`,
};

/** The bill line of a row without a bill: one line with the whole charge. */
export function onlyLine(row: Pick<LogView, "type" | "quota" | "end_reason">): MessageDescriptor | undefined {
  if (row.quota === 0) return undefined;
  if (row.type === LOG_TYPE.topup) return msg`充值`;
  if (row.type === LOG_TYPE.refund) return msg`退还额度`;
  // The process that served it ended: charged at what it had recorded.
  if (row.end_reason === "gateway_restart") return msg`按中断时已产生的用量结算`;
  return msg`没有明细的收费`;
}

const REASON_HUES: Readonly<Partial<Record<string, Hue>>> = {
  complete: "green",
  caller_left: "yellow",
  out_of_quota: "orange",
  refused: "orange",
  upstream_cut: "red",
  idle_timeout: "red",
  upstream_error: "red",
  gateway_restart: "red",
} satisfies Record<EndReason, Hue>;

/** How a call ended, as a colour. */
export const reasonHue = (reason: string): Hue => REASON_HUES[reason] ?? "grey";

function add(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale);
  return { digits: rescale(a, scale) + rescale(b, scale), scale };
}

/** The exact sum of the lines and the units after the one rounding (half away from zero). */
export function billTotal(bill: readonly BillLine[]): { exact: string; rounded: number } {
  const exact = bill.reduce((sum, line) => add(sum, toDecimal(line.units)), zero);
  return { exact: printDecimal(exact), rounded: Number(printDecimal(roundTo(exact, 0))) };
}
