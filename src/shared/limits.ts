/**
 * Limits of use: their names, their owners, and how a set of limits is written. Users, tokens, groups, models and
 * channels have the same five; 0 or absent means none. Those of a group, a model and a channel are for all callers
 * together.
 */
import type { Shape } from "./options/kinds";
import type { Text } from "./text";

export const LIMIT_FIELDS = ["rpm", "tpm", "concurrency", "budget_day", "budget_month"] as const;
export type LimitField = (typeof LIMIT_FIELDS)[number];

/** Requests and tokens a minute, calls at a time, units a calendar day and month. */
export type LimitSet = Readonly<Partial<Record<LimitField, number>>>;

/** The greatest value of each; budgets stay below 2^53 when summed. */
export const LIMIT_MAX: Readonly<Record<LimitField, number>> = {
  rpm: 1_000_000_000,
  tpm: 1_000_000_000,
  concurrency: 1_000_000_000,
  budget_day: 1_000_000_000_000_000,
  budget_month: 1_000_000_000_000_000,
};

export type LimitScope = "token" | "user" | "group" | "model" | "channel";

/** The owner of a limit in errors. */
export const limitScopes: Readonly<Record<LimitScope, Text>> = {
  token: { zh: "该令牌", en: "This API key" },
  user: { zh: "您的账户", en: "Your account" },
  group: { zh: "该分组", en: "This group" },
  model: { zh: "该模型", en: "This model" },
  channel: { zh: "该渠道", en: "This channel" },
};

/** How an option with sets of limits is written. */
export const limitHint: Text = {
  zh: '{"名称": {"rpm": 每分钟请求, "tpm": 每分钟 tokens, "concurrency": 并发, "budget_day": 每日额度, "budget_month": 每月额度}}，所有调用者合计',
  en: '{"name": {"rpm", "tpm", "concurrency", "budget_day", "budget_month"}}, budgets in units, for all callers together',
};

const isField = (name: string): name is LimitField => LIMIT_FIELDS.some((field) => field === name);
const isLimit = (field: LimitField, value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= LIMIT_MAX[field];

/** The limits among the members of an object, and the first one that is no whole number of at least 0. */
export function readLimits(members: Readonly<Record<string, unknown>>): {
  limits: LimitSet | undefined;
  wrong?: LimitField;
} {
  const limits: Partial<Record<LimitField, number>> = {};
  let wrong: LimitField | undefined;
  for (const field of LIMIT_FIELDS) {
    if (!Object.hasOwn(members, field)) continue;
    const value = members[field];
    if (!isLimit(field, value)) wrong ??= field;
    else if (value > 0) limits[field] = value;
  }
  return { limits: Object.keys(limits).length > 0 ? limits : undefined, ...(wrong && { wrong }) };
}

/**
 * An option's shape: name -> limits. An unknown member is refused: it is a misspelt limit, which would have no effect.
 */
export function limitSets(): Shape<Record<string, LimitSet>> {
  const problem = (zh: string, en: string, at: string) => ({ zh, en, at });
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value))
      return { zh: "必须是 JSON 对象", en: "Must be a JSON object" };
    const sets: [string, LimitSet][] = [];
    for (const [name, members] of Object.entries(value)) {
      if (name.trim() === "") return problem("名称不能为空", "Names must not be empty", name);
      if (typeof members !== "object" || members === null || Array.isArray(members))
        return problem("必须是 JSON 对象", "Must be a JSON object", name);
      const unknown = Object.keys(members).find((member) => !isField(member));
      const fields = LIMIT_FIELDS.join(", ");
      if (unknown !== undefined) return problem(`只能有 ${fields}`, `May only have ${fields}`, unknown);
      const { wrong } = readLimits(members);
      if (wrong)
        return problem(`${wrong} 必须是不小于 0 的整数`, `${wrong} must be a whole number of at least 0`, name);
      sets.push([name, members]);
    }
    return { value: Object.fromEntries(sets) };
  };
}

/** The set of a name; undefined without one. Names of JavaScript's own ("constructor") have none. */
export const limitsOf = (sets: Readonly<Record<string, LimitSet>>, name: string): LimitSet | undefined =>
  Object.hasOwn(sets, name) ? sets[name] : undefined;
