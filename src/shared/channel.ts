/**
 * Channels (upstream accounts): statuses, limits, input shapes, the row as callers see it, and the rules of the form.
 * Specification: C-203 to C-229, C-401 to C-412.
 */
import * as z from "zod";
import { MULTI_KEY_MODES } from "./channel-keys";
import { settingProblems } from "./channel-setting";
import { baseUrlOf, baseUrlProblem, channelType, keyProblem, otherProblem } from "./channel-types";
import type { ErrorCode, ErrorValues } from "./errors";
import { DEFAULT_GROUP } from "./group";
import { headerProblem } from "./header-override";
import { readLimits } from "./limits";
import { resolveMapping, statusMapping } from "./model-mapping";
import { listSize, pageShape, searchShape } from "./paging";
import { overrideProblem } from "./param-override";
import { CHANNEL_STATUS } from "./channel-status";
import type { Lang, Text } from "./text";
import { TEXT_LIMITS } from "./text-limits";

export { CHANNEL_STATUS };

/** The statuses that an operator sets by hand, for channels and for keys. */
export type ManualStatus = typeof CHANNEL_STATUS.enabled | typeof CHANNEL_STATUS.disabled;

export const CHANNEL_STATUS_NAMES: Record<number, Text> = {
  1: { zh: "已启用", en: "Enabled" },
  2: { zh: "已禁用", en: "Disabled" },
  3: { zh: "自动禁用", en: "Auto-disabled" },
};

export const CHANNEL_LIMITS = {
  priority_min: -999,
  /** Keeps sums and wire numbers ordinary integers. */
  number_max: 1_000_000_000,
  name: 200,
  model: 255,
  text: 100_000,
  /** One channel per line of `key`. */
  batch: 500,
} as const;

/** The name of a channel's copy. */
export const COPY_SUFFIX = "_复制";

/** A comma list as stored: trimmed, empty ones dropped, exact duplicates removed, order kept (C-412). */
export function splitList(list: string | readonly string[]): string[] {
  const items = typeof list === "string" ? list.split(",") : list.flatMap((item) => item.split(","));
  return [...new Set(items.map((item) => item.trim()).filter(Boolean))];
}

export const cleanList = (list: string | readonly string[]): string => splitList(list).join(",");

/** Columns of a channel that may be shown; `CHANNEL_FIELDS` says which are. */
export interface ChannelColumns {
  id: number;
  type: number;
  name: string;
  base_url: string;
  other: string;
  models: string;
  group: string;
  model_mapping: string;
  status_code_mapping: string;
  setting: string;
  param_override: string;
  header_override: string;
  test_model: string;
  /** 1 or 0. */
  auto_ban: number;
  tag: string;
  priority: number;
  weight: number;
  openai_organization: string;
  /** '' = one key; "random" or "polling" = several. */
  multi_key_mode: string;
  /** The unit of `balance`; '' = USD. */
  balance_currency: string;
  max_input_tokens: number;
  status: number;
  /** Milliseconds of the last test, 0 = untested. */
  response_time: number;
  used_quota: number;
  /** USD. */
  balance: number;
  balance_updated_time: number;
  test_time: number;
  created_time: number;
  /** JSON {status_reason, status_time} or ''. */
  other_info: string;
  /** Epoch seconds: no new calls since then, and running ones end by then; 0 = does not drain, or no deadline. */
  draining_since: number;
  drain_deadline: number;
}

/** The columns of a channel that leave the server. One that is not listed here stays inside. */
export const CHANNEL_FIELDS = [
  "id",
  "type",
  "name",
  "base_url",
  "other",
  "models",
  "group",
  "model_mapping",
  "status_code_mapping",
  "setting",
  "param_override",
  "header_override",
  "test_model",
  "auto_ban",
  "tag",
  "priority",
  "weight",
  "openai_organization",
  "multi_key_mode",
  "balance_currency",
  "max_input_tokens",
  "status",
  "response_time",
  "used_quota",
  "balance",
  "balance_updated_time",
  "test_time",
  "created_time",
  "other_info",
  "draining_since",
  "drain_deadline",
] as const satisfies readonly (keyof ChannelColumns)[];

/** A channel as the console and scripts see it. `key` is always empty: keys do not leave the server. */
export type ChannelView = Pick<ChannelColumns, (typeof CHANNEL_FIELDS)[number]> & { key: "" };

const text = (max: number = CHANNEL_LIMITS.text) => z.string().max(max);
const priority = z
  .int({ error: "priority_not_integer" })
  .min(CHANNEL_LIMITS.priority_min, { error: "priority_too_low" })
  .max(CHANNEL_LIMITS.number_max, { error: "priority_not_integer" });
const weight = z
  .int({ error: "weight_invalid" })
  .min(0, { error: "weight_invalid" })
  .max(CHANNEL_LIMITS.number_max, { error: "weight_invalid" });
/** Sent as 1 or 0; true and false are accepted (C-218). */
const autoBan = z.union([z.number(), z.boolean()]).transform((value): number => (Number(value) === 0 ? 0 : 1));
const listOrText = z.union([z.string().max(CHANNEL_LIMITS.text), z.array(z.string())]);

/** The fields of the form; all optional, because an update is partial and a copy sends what it has. */
export const channelFields = z.object({
  type: z.int().optional(),
  name: text(CHANNEL_LIMITS.name).optional(),
  /** On create one channel per line, except for JSON credentials. On update '' keeps the stored key. */
  key: text().optional(),
  base_url: text(2048).optional(),
  other: text().optional(),
  models: listOrText.optional(),
  /** Comma list; wins over `groups` when both are sent (C-212). */
  group: text(2048).optional(),
  groups: z.array(z.string()).optional(),
  model_mapping: text().optional(),
  status_code_mapping: text().optional(),
  setting: text().optional(),
  param_override: text().optional(),
  header_override: text().optional(),
  test_model: text(CHANNEL_LIMITS.model).optional(),
  auto_ban: autoBan.optional(),
  tag: text(200).optional(),
  priority: priority.optional(),
  weight: weight.optional(),
  /** '' = one key; else several, chosen at random or in turn. */
  multi_key_mode: z.enum(["", ...MULTI_KEY_MODES]).optional(),
  openai_organization: text(200).optional(),
  max_input_tokens: z.int().min(0).max(CHANNEL_LIMITS.number_max).optional(),
  /** 1 or 2; 3 is set by the server alone. */
  status: z.int().min(1).max(3).optional(),
});
export type ChannelFields = z.output<typeof channelFields>;

/**
 * `mode`: "single" = the key is one key; "batch", or none = one channel per line of it; "multi_to_single" = one channel
 * with every line a key (C-207). A multi_key_mode means the last as well.
 */
export const channelCreate = channelFields.extend({ mode: z.enum(["single", "batch", "multi_to_single"]).optional() });
export type ChannelCreate = z.output<typeof channelCreate>;

/** REST: the fields, or since July 2025 `{mode, multi_key_mode, channel: {fields}}` (new-api AddChannelRequest). */
export const channelCreateRest = channelCreate.extend({ channel: channelFields.optional() });

/** The fields of either form. A mode of several keys counts only where one channel gets several. */
export function createdChannel({ channel, ...sent }: z.output<typeof channelCreateRest>): ChannelCreate {
  if (!channel) return sent;
  const { mode = "single", multi_key_mode } = sent;
  return { ...channel, mode, multi_key_mode: mode === "multi_to_single" ? multi_key_mode || "random" : "" };
}

export const channelId = z.object({ id: z.int().positive() });
/** REST: only the status. */
export const channelStatus = z.object({ id: z.int().positive(), status: z.union([z.literal(1), z.literal(2)]) });
/** `suffix` of the copy's name; absent = COPY_SUFFIX. */
export const channelCopy = z.object({ id: z.int().positive(), suffix: z.string().max(20).optional() });
/** `key_mode`: the keys of the form join those of a channel that has several, or replace them. */
export const channelUpdate = channelFields.extend({
  id: z.int().positive(),
  key_mode: z.enum(["append", "replace"]).optional(),
});
/** A form that is not saved; `id`: of the stored channel whose form it is. `model`: what the test calls. */
export const channelDraftTest = channelFields.extend({
  id: z.int().positive().optional(),
  model: z.string().max(CHANNEL_LIMITS.model).optional(),
});
export type ChannelUpdate = z.output<typeof channelUpdate>;

/** Filters of REST; `disabled` is by hand or automatically (new-api controller/channel.go, read 2026-11). */
const restFilter = {
  group: z.string().optional(),
  type: z.int().min(0).optional().catch(undefined),
  status: z
    .enum(["enabled", "1", "disabled", "0"])
    .transform((word) => word === "enabled" || word === "1")
    .optional()
    .catch(undefined),
  id_sort: z.boolean().catch(false).default(false),
  tag_mode: z.boolean().catch(false).default(false),
};

/** REST; invalid values fall back (C-481, C-482). */
export const channelListRest = z.object({ ...pageShape, ...restFilter });

export const channelSearchRest = z.object({
  ...searchShape,
  ...restFilter,
  keyword: z.string().optional(),
  model: z.string().optional(),
});

/** The console's list: every filter at once, a page with its total. */
export const channelListInput = z.object({
  /** From 1. */
  page: z.int().min(1).default(1),
  page_size: listSize,
  id_sort: z.boolean().default(false),
  /** id, part of the name, or a whole key. */
  keyword: z.string().max(CHANNEL_LIMITS.text).default(""),
  group: z.string().default(""),
  model: z.string().default(""),
  /** Exact. */
  tag: z.string().default(""),
  status: z.int().optional(),
  type: z.int().optional(),
});
export interface ChannelFilter extends Omit<z.output<typeof channelListInput>, "page" | "page_size"> {
  /** Enabled channels alone, or all others. */
  enabled?: boolean | undefined;
}

export const channelTestInput = z.object({
  id: z.int().positive(),
  model: z.string().max(TEXT_LIMITS.model).optional(),
});

export const fetchModelsInput = z.object({
  base_url: z.string().max(2048).default(""),
  type: z.int().default(1),
  key: text().default(""),
});

/** Result of a test: also what REST sends, with `time` beside success and message. */
export interface ChannelTestResult {
  success: boolean;
  message: string;
  /** Seconds. */
  time: number;
}

export interface FieldIssue {
  field: keyof ChannelFields;
  code: ErrorCode;
  values: ErrorValues;
}

/** The reason why a stored object cannot be used; undefined when it can. */
type Judge = (stored: Record<string, unknown>, lang: Lang) => Omit<FieldIssue, "field"> | undefined;

const member = (name: string, problem: Text | undefined, lang: Lang) =>
  problem && { code: "channel_setting_invalid" as const, values: { member: name, detail: problem[lang] } };

/** Stored fields of JSON text, each with the rules of its content. */
const JSON_FIELDS = {
  status_code_mapping(stored) {
    const [from] = statusMapping(stored).wrong;
    return from === undefined
      ? undefined
      : { code: "channel_status_mapping_invalid", values: { from: from.slice(0, 40) } };
  },
  setting(stored, lang) {
    const [first] = settingProblems(stored);
    return first && member(first.name, first.problem, lang);
  },
  param_override: (stored, lang) => member("param_override", overrideProblem(stored), lang),
  header_override: (stored, lang) => member("header_override", headerProblem(stored), lang),
} as const satisfies Record<string, Judge>;

/** The object in a JSON text; undefined when it is none. '' is an empty object. */
export function jsonObject(json: string): Record<string, unknown> | undefined {
  if (json.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** The keys in one text: one per line, except for types whose key is one JSON document (C-206). */
export function splitKeys(type: number, key: string): string[] {
  if (channelType(type)?.key_format.kind === "json") return key.trim() ? [key.trim()] : [];
  return [
    ...new Set(
      key
        .split(/\r?\n/)
        .map((line) => line.trim())
        .filter(Boolean),
    ),
  ];
}

/** A channel as it would be with these fields, for rules over several of them. */
export interface ChannelDraft extends Omit<ChannelFields, "multi_key_mode"> {
  /** As stored: any text. */
  multi_key_mode?: string | undefined;
  /** An update may leave the key as it is. */
  has_key?: boolean;
}

/**
 * The reasons why a channel cannot be saved; [] when it can. Form and server refuse by this list, first problem first.
 * `type` and the fields that depend on it are judged together; types are known from shared/channel-types.ts.
 */
export function channelIssues(draft: ChannelDraft, lang: Lang): FieldIssue[] {
  const issues: FieldIssue[] = [];
  const add = (field: keyof ChannelFields, code: ErrorCode, values: ErrorValues = {}) =>
    issues.push({ field, code, values });
  const id = draft.type ?? 0;
  const type = channelType(id);
  if (!type) add("type", "channel_type_unknown", { type: id });
  const keys = splitKeys(id, draft.key ?? "");
  const keyNeeded = !draft.has_key && !(type?.key_format.optional ?? false);
  if (!draft.name?.trim()) add("name", "channel_name_and_key");
  if (keys.length === 0 && keyNeeded) add("key", "channel_name_and_key");
  if (cleanList(draft.models ?? "") === "") add("models", "channel_models_missing");
  const longName = splitList(draft.models ?? "").find((model) => model.length > CHANNEL_LIMITS.model);
  if (longName) add("models", "invalid_parameter", { detail: `models: ${longName.slice(0, 40)}…` });
  const mapping = jsonObject(draft.model_mapping ?? "");
  if (!mapping) add("model_mapping", "channel_mapping_invalid");
  const loops = mapping ? resolveMapping(mapping).loops : [];
  if (loops.length > 0) add("model_mapping", "channel_mapping_loop", { models: loops.join(", ").slice(0, 200) });
  for (const [field, judge] of Object.entries(JSON_FIELDS) as [keyof typeof JSON_FIELDS, Judge][]) {
    const stored = jsonObject(draft[field] ?? "");
    const issue = stored ? judge(stored, lang) : { code: "channel_json_invalid" as const, values: { field } };
    if (issue) issues.push({ field, ...issue });
  }
  const { wrong } = readLimits(jsonObject(draft.setting ?? "") ?? {});
  if (wrong) add("setting", "channel_limit_invalid", { field: wrong });
  if (!type) return issues;
  const wrongKey = keys.map((key) => keyProblem(id, key)).find((problem) => problem !== undefined);
  if (wrongKey) add("key", "channel_key_invalid", { detail: wrongKey[lang] });
  if (baseUrlProblem(id, draft.base_url ?? "")) {
    add(
      "base_url",
      baseUrlOf(id, draft.base_url ?? "") === "" ? "channel_base_url_missing" : "channel_base_url_invalid",
    );
  }
  const other = otherProblem(id, draft.other ?? "");
  if (other) add("other", "invalid_parameter", { detail: other[lang] });
  return issues;
}

/** group, groups or neither, as stored (C-212, C-411). */
export function groupOf(fields: Pick<ChannelFields, "group" | "groups">): string {
  return cleanList(fields.group ?? fields.groups ?? "") || DEFAULT_GROUP;
}
