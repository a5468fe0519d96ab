/** What the token form holds, how it becomes a call, and what is wrong with it. */
import { t } from "@lingui/core/macro";
import type { FieldErrors, Resolver } from "react-hook-form";
import type * as z from "zod";
import { type ErrorCode, errors as errorFacts, errorText, type ErrorValues } from "../../../shared/errors";
import { LIMIT_FIELDS } from "../../../shared/limits";
import type { TokenMjMode } from "../../../shared/midjourney";
import { addressProblem, NEVER, TOKEN_DEFAULTS, tokenBatch, type TokenView } from "../../../shared/token";
import { formatTime } from "../../lib/format";
import { currentLanguage } from "../../lib/i18n";
import { modelsOf } from "./token-models";

/** Number fields are null while empty. */
export interface TokenValues {
  name: string;
  /** Units. */
  remain_quota: number | null;
  unlimited_quota: boolean;
  /** `yyyy-MM-dd HH:mm:ss` in local time, or "-1" for never. */
  expired_time: string;
  /** "" is the user's own group. */
  group: string;
  model_limits_enabled: boolean;
  model_limits: string[];
  /** One address or network per line. */
  allow_ips: string;
  deny_ips: string;
  rpm: number | null;
  tpm: number | null;
  concurrency: number | null;
  /** Units. */
  budget_day: number | null;
  budget_month: number | null;
  mj_mode: TokenMjMode;
  /** How many tokens are made; new ones only. */
  count: number | null;
}
export type TokenField = keyof TokenValues;

export const emptyToken: TokenValues = {
  name: "",
  remain_quota: TOKEN_DEFAULTS.remain_quota,
  unlimited_quota: false,
  expired_time: String(NEVER),
  group: "",
  model_limits_enabled: false,
  model_limits: [],
  allow_ips: "",
  deny_ips: "",
  rpm: 0,
  tpm: 0,
  concurrency: 0,
  budget_day: 0,
  budget_month: 0,
  mj_mode: "",
  count: 1,
};

/** A stored token as the form shows it. */
export function valuesOf(token: TokenView): TokenValues {
  const { name, remain_quota, unlimited_quota, group, model_limits_enabled, allow_ips, deny_ips } = token;
  const { rpm, tpm, concurrency, budget_day, budget_month, mj_mode } = token;
  return {
    name,
    remain_quota,
    unlimited_quota,
    group,
    model_limits_enabled,
    allow_ips,
    deny_ips,
    rpm,
    tpm,
    concurrency,
    budget_day,
    budget_month,
    mj_mode,
    expired_time: expiryText(token.expired_time),
    model_limits: modelsOf(token),
    count: 1,
  };
}

/** Epoch seconds or -1 as the expiry field shows them. */
export const expiryText = (seconds: number): string => (seconds === NEVER ? String(NEVER) : formatTime(seconds));

/** The expiry field's text as epoch seconds (local time) or -1; null when it is neither (C-427). */
export function parseExpiry(text: string): number | null {
  const typed = text.trim();
  if (typed === String(NEVER)) return NEVER;
  const match = /^(\d{4})-(\d{2})-(\d{2}) (\d{2}):(\d{2}):(\d{2})$/.exec(typed);
  if (!match) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1).map(Number);
  const date = new Date(year, month - 1, day, hour, minute, second);
  // 30 February would silently become a day in March. A clock time that a time zone skips is taken as it moves.
  const isDay = date.getFullYear() === year && date.getMonth() === month - 1 && date.getDate() === day;
  const seconds = Math.floor(date.getTime() / 1000);
  return isDay && hour < 24 && minute < 60 && second < 60 && seconds > 0 ? seconds : null;
}

/** The values as the call takes them; what is not a number is NaN, which the shape refuses. */
export function fieldsOf(values: TokenValues): z.input<typeof tokenBatch> {
  const quota = values.remain_quota ?? Number.NaN;
  return {
    ...values,
    // The quota field is off while the quota is unlimited (C-432): its value, debt included, is not validated.
    remain_quota: values.unlimited_quota && !(Number.isSafeInteger(quota) && quota >= 0) ? 0 : quota,
    expired_time: parseExpiry(values.expired_time) ?? Number.NaN,
    // An empty limit is no limit.
    rpm: values.rpm ?? 0,
    tpm: values.tpm ?? 0,
    concurrency: values.concurrency ?? 0,
    budget_day: values.budget_day ?? 0,
    budget_month: values.budget_month ?? 0,
    // The count field is off while the quota is unlimited (C-433).
    count: values.unlimited_quota ? 1 : (values.count ?? Number.NaN),
  };
}

/** The fields that differ between two states of the form. */
export function changedFields(before: TokenValues, after: TokenValues): TokenField[] {
  return (Object.keys(before) as TokenField[]) // the keys of the type
    .filter((field) => String(before[field] ?? "") !== String(after[field] ?? ""));
}

const say = (code: ErrorCode, values: ErrorValues = {}): string => errorText(code, values, currentLanguage());
const isErrorCode = (text: string): text is ErrorCode => Object.hasOwn(errorFacts, text);
const isField = (name: string): name is TokenField => Object.hasOwn(emptyToken, name);

/** A complaint for each line that is neither an address nor a network; "" when all are good. */
export function addressComplaint(text: string): string {
  return text
    .split(/\r?\n/)
    .flatMap((line, index) => {
      const problem = addressProblem(line);
      return problem ? [say("token_ip_invalid", { line: index + 1, value: problem.value })] : [];
    })
    .join("\n");
}

/** The first complaint about each field; {} when the token can be saved. */
export function complaintsAbout(values: TokenValues): Partial<Record<TokenField, string>> {
  const found: Partial<Record<TokenField, string>> = {};
  for (const field of ["allow_ips", "deny_ips"] as const) {
    const complaint = addressComplaint(values[field]);
    if (complaint) found[field] = complaint;
  }
  if (parseExpiry(values.expired_time) === null) found.expired_time = say("token_expiry_invalid");
  if (values.model_limits_enabled && values.model_limits.length === 0) found.model_limits = say("token_models_missing");

  const fields = fieldsOf(values);
  for (const issue of tokenBatch.safeParse(fields).error?.issues ?? []) {
    const field = String(issue.path[0]);
    if (!isField(field)) continue;
    const params = issue.code === "custom" ? (issue.params ?? {}) : {};
    found[field] ??= isErrorCode(issue.message)
      ? say(issue.message, params)
      : LIMIT_FIELDS.some((rate) => rate === field)
        ? t`请输入不小于 0 的整数`
        : say("invalid_parameter", { detail: issue.message });
  }
  return found;
}

/** react-hook-form's view of `complaintsAbout`. */
export const tokenResolver: Resolver<TokenValues> = (values) => {
  const complaints = Object.entries(complaintsAbout(values));
  if (complaints.length === 0) return { values, errors: {} };
  const errors: FieldErrors<TokenValues> = Object.fromEntries(
    complaints.map(([field, message]) => [field, { type: "shared", message }]),
  );
  return { values: {}, errors };
};

const FIELD_OF_CODE: Partial<Record<ErrorCode, TokenField>> = {
  token_name_missing: "name",
  token_name_too_long: "name",
  token_quota_invalid: "remain_quota",
  token_expiry_invalid: "expired_time",
  token_count_invalid: "count",
  token_group_forbidden: "group",
  token_models_missing: "model_limits",
};

/** The field that a refusal of the server is about; `data` is that of a tRPC error. Null when it names none. */
export function refusedField(data: unknown, values: TokenValues): TokenField | null {
  if (typeof data !== "object" || data === null || !("app" in data) || typeof data.app !== "string") return null;
  if (!isErrorCode(data.app)) return null;
  if (data.app === "token_ip_invalid") return addressProblem(values.allow_ips) ? "allow_ips" : "deny_ips";
  return FIELD_OF_CODE[data.app] ?? null;
}
