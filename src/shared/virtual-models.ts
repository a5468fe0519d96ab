/**
 * Virtual models: a name that stands for a ladder of real models. A call climbs it until a step answers: the first step
 * is the first of the list (or one drawn by weight), a later one is taken for the reasons that it names.
 */
import { z } from "zod";
import { canonicalModel } from "./channel-types";
import { type FailureClass, type FailureKind } from "./failures";
import type { Shape, ShapeProblem } from "./options/kinds";
import type { Text } from "./text";

/** Why a call leaves a step, and for what the next one can be taken. */
export const STEP_REASONS = {
  account: { zh: "上游账户故障", en: "the upstream account failed" },
  named_wait: { zh: "上游要求等待", en: "the upstream asked to wait" },
  transient: { zh: "上游暂时故障", en: "the upstream failed for the moment" },
  timeout: { zh: "上游超时", en: "the upstream timed out" },
  limits: { zh: "渠道达到自身限额", en: "the channels are at their limits" },
  context_too_long: { zh: "输入过长", en: "the input is too long" },
  content_filter: { zh: "内容审核拒绝", en: "a content filter refused it" },
  budget: { zh: "余额或预算不足", en: "balance or budget do not cover it" },
} as const satisfies Record<string, Text>;
export type StepReason = keyof typeof STEP_REASONS;
export const stepReasons = Object.keys(STEP_REASONS) as StepReason[];

/** Why a step was passed: a reason, or what makes it unusable for the caller, for which every later step is taken. */
export const PASSED_REASONS = {
  ...STEP_REASONS,
  unavailable: { zh: "没有可用渠道", en: "no channel serves it" },
  unpriced: { zh: "未设置价格", en: "it has no price" },
  group_denied: { zh: "用户不可使用该分组", en: "the user may not use its group" },
} as const satisfies Record<string, Text>;
export type PassedReason = keyof typeof PASSED_REASONS;

/** A step that did not answer, as the log row keeps it. */
export interface PassedStep {
  readonly model: string;
  readonly why: PassedReason;
}

export const MOST_STEPS = 20;
const MOST_MODELS = 500;

const step = z.strictObject({
  model: z
    .string()
    .trim()
    .min(1)
    .max(255)
    .refine((name) => name.isWellFormed()),
  /** The group whose channels and ratio serve; absent: the caller's. */
  group: z.string().trim().min(1).max(64).optional(),
  /** Share of the calls that begin here; on every step, or on none. */
  weight: z.int().min(0).max(1e6).optional(),
  /** The reasons for which a call comes here from an earlier step; absent: all of them. */
  on: z
    .array(z.enum(stepReasons))
    .max(stepReasons.length)
    .refine((reasons) => new Set(reasons).size === reasons.length, { error: "a reason stands twice" })
    .optional(),
  /** A longer input is not sent here, in tokens; absent: what is known of the model, and the channels. */
  max_input_tokens: z.int().min(1).max(1e9).optional(),
});

const virtualModel = z
  .strictObject({
    steps: z.array(step).min(1).max(MOST_STEPS),
    /** Billed at the price that the price tables have for the virtual name, whatever answers. */
    fixed_price: z.boolean().optional(),
  })
  .refine(({ steps }) => new Set(steps.map((one) => one.weight === undefined)).size === 1, {
    error: "give every step a weight, or none",
  })
  .refine(({ steps }) => steps[0]?.weight === undefined || steps.some(({ weight = 0 }) => weight > 0), {
    error: "all weights are 0",
  })
  .refine(({ steps }) => new Set(steps.map(({ model, group = "" }) => `${group}\n${model}`)).size === steps.length, {
    error: "two steps are the same",
  });

export type VirtualStep = z.infer<typeof step>;
export type VirtualModel = z.infer<typeof virtualModel>;
export type VirtualModels = Readonly<Record<string, VirtualModel>>;

const wrong = (at: string, zh: string, en: string): ShapeProblem => ({ zh, en, at });

/**
 * name -> its ladder, for the option VirtualModels. A step names a real model: one that names a virtual model, itself
 * included, could lead round in a circle and is refused.
 */
export function virtualModelsShape(): Shape<VirtualModels> {
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value))
      return { zh: "必须是 JSON 对象", en: "Must be a JSON object" };
    const entries = Object.entries(value);
    if (entries.length > MOST_MODELS)
      return { zh: `最多 ${MOST_MODELS} 个虚拟模型`, en: `At most ${MOST_MODELS} virtual models` };
    const names = new Set(entries.map(([name]) => canonicalModel(name)));
    const checked: [string, VirtualModel][] = [];
    for (const [name, given] of entries) {
      if (name.trim() === "" || name !== name.trim() || name.length > 255 || /[\s,]/.test(name))
        return wrong(
          name,
          "名称不能为空，不能含空格或逗号，最长 255 个字符",
          "A name is 1 to 255 characters without blanks and commas",
        );
      const parsed = virtualModel.safeParse(given);
      if (!parsed.success) {
        const [issue] = parsed.error.issues;
        const place = issue && issue.path.length > 0 ? ` (${issue.path.join(".")})` : "";
        const text = issue?.message ?? "";
        return wrong(name, `虚拟模型不合法${place}：${text}`, `Not a valid virtual model${place}: ${text}`);
      }
      const loop = parsed.data.steps.find(({ model }) => names.has(canonicalModel(model)));
      if (loop)
        return wrong(
          name,
          `步骤“${loop.model}”本身是虚拟模型，会形成循环`,
          `The step "${loop.model}" is a virtual model itself: that goes in a circle`,
        );
      checked.push([name, parsed.data]);
    }
    return { value: Object.fromEntries(checked) };
  };
}

/** The reason that a failure gives to leave its step; undefined: another model would get the same call. */
export function stepReasonOf({ kind, class: cls }: { kind: FailureKind; class: FailureClass }): StepReason | undefined {
  if (kind === "timeout") return "timeout";
  if (kind === "content_filtered") return "content_filter";
  if (kind === "context_too_long" || kind === "too_large" || kind === "over_account_rate") return "context_too_long";
  // The upstream's account cannot pay for it; that of another model may.
  if (kind === "unaffordable") return "account";
  if (cls === "caller") return undefined;
  return cls === "ours" ? "limits" : cls;
}

/** Whether a step that was passed for `why` is followed by this one. */
export const takesOver = ({ on }: Pick<VirtualStep, "on">, why: PassedReason): boolean =>
  on === undefined || !isReason(why) || on.includes(why);

const isReason = (why: PassedReason): why is StepReason => Object.hasOwn(STEP_REASONS, why);

/** The steps in the order of one call: as listed, or drawn by weight; one of weight 0 is never drawn before another. */
export function orderedSteps<Step extends Pick<VirtualStep, "weight">>(
  steps: readonly Step[],
  random: () => number,
): Step[] {
  if (steps[0]?.weight === undefined) return [...steps];
  const left = [...steps];
  const order: Step[] = [];
  while (left.length > 0) {
    const total = left.reduce((sum, { weight = 0 }) => sum + weight, 0);
    let point = random() * total;
    const drawn = left.findIndex(({ weight = 0 }) => (point -= weight) < 0);
    order.push(...left.splice(Math.max(0, drawn), 1));
  }
  return order;
}
