/**
 * The channel form as data: what its fields hold, how they become the call's input, and why they cannot be saved. The
 * rules themselves are those of shared/channel.ts, which the server applies as well.
 */
import { t } from "@lingui/core/macro";
import type { FieldErrors, Resolver } from "react-hook-form";
import {
  channelFields,
  channelIssues,
  jsonObject,
  splitKeys,
  splitList,
  type ChannelFields,
  type ChannelView,
} from "../../../shared/channel";
import { isMultiKeyMode, type MultiKeyMode } from "../../../shared/channel-keys";
import { baseUrlOf, channelType, operationPath } from "../../../shared/channel-types";
import { DEFAULT_GROUP } from "../../../shared/group";
import { errors as errorFacts, errorText, type ErrorCode, type ErrorValues } from "../../../shared/errors";
import { currentLanguage } from "../../lib/i18n";

/** What the fields of the form hold. */
export interface ChannelValues {
  /** 0 until a type is picked. */
  type: number;
  name: string;
  /** On update "" keeps the stored key. */
  key: string;
  base_url: string;
  other: string;
  models: string[];
  groups: string[];
  tag: string;
  /** null is an empty field. */
  priority: number | null;
  weight: number | null;
  model_mapping: string;
  status_code_mapping: string;
  openai_organization: string;
  test_model: string;
  auto_ban: boolean;
  max_input_tokens: number | null;
  setting: string;
  param_override: string;
  header_override: string;
  /** "" = one key, or one channel per key. */
  multi_key_mode: "" | MultiKeyMode;
}

export type ChannelField = keyof ChannelValues;

/** A new channel before anything is typed. */
export const emptyChannel: ChannelValues = {
  type: 0,
  name: "",
  key: "",
  base_url: "",
  other: "",
  models: [],
  groups: [DEFAULT_GROUP],
  tag: "",
  priority: 0,
  weight: 0,
  model_mapping: "",
  status_code_mapping: "",
  openai_organization: "",
  test_model: "",
  auto_ban: true,
  max_input_tokens: 0,
  setting: "",
  param_override: "",
  header_override: "",
  multi_key_mode: "",
};

/** The form of a stored channel; its key stays on the server. */
export function valuesOf(channel: ChannelView): ChannelValues {
  return {
    type: channel.type,
    name: channel.name,
    key: "",
    base_url: channel.base_url,
    other: channel.other,
    models: splitList(channel.models),
    groups: splitList(channel.group),
    tag: channel.tag,
    priority: channel.priority,
    weight: channel.weight,
    model_mapping: channel.model_mapping,
    status_code_mapping: channel.status_code_mapping,
    openai_organization: channel.openai_organization,
    test_model: channel.test_model,
    auto_ban: channel.auto_ban !== 0,
    max_input_tokens: channel.max_input_tokens,
    setting: channel.setting,
    param_override: channel.param_override,
    header_override: channel.header_override,
    multi_key_mode: isMultiKeyMode(channel.multi_key_mode) ? channel.multi_key_mode : "",
  };
}

/** The fields that decide where a channel's calls go. */
export const ADDRESS_FIELDS = ["type", "base_url", "other", "setting"] as const satisfies readonly ChannelField[];
type Address = Pick<ChannelValues, (typeof ADDRESS_FIELDS)[number]>;

/** The origin that calls go to, or, without an address, the fields that decide it; and the proxy. */
function destinationOf({ type, base_url, other, setting }: Address): string {
  const address = baseUrlOf(type, base_url);
  const proxy = jsonObject(setting)?.proxy ?? "";
  if (address === "") return `${type} ${other} ${proxy}`;
  return `${URL.canParse(address) ? new URL(address).origin : address} ${proxy}`;
}

/** Whether calls would go to another host or by another proxy: then the server requires the key as well. */
export const changesDestination = (before: Address, after: Address): boolean =>
  destinationOf(before) !== destinationOf(after);

/** The input of a create or update call; with `only`, just these fields (an update is partial). */
export function fieldsOf(values: ChannelValues, only?: readonly ChannelField[]): ChannelFields {
  const { models, groups, priority, weight, auto_ban, max_input_tokens, base_url, ...texts } = values;
  const all: ChannelFields & Record<ChannelField, unknown> = {
    ...texts,
    base_url: trimBaseUrl(values.type, base_url),
    models: models.join(","),
    groups,
    // An empty field is no integer, and is refused as such.
    priority: priority ?? Number.NaN,
    weight: weight ?? Number.NaN,
    auto_ban: auto_ban ? 1 : 0,
    max_input_tokens: max_input_tokens ?? 0,
  };
  const sent: ChannelFields = only ? Object.fromEntries(only.map((field) => [field, all[field]])) : all;
  // Scripts and older readers know `group`; both say the same.
  return sent.groups ? { ...sent, group: sent.groups.join(",") } : sent;
}

/** The fields whose values differ, in the order of the form. */
export function changedFields(before: ChannelValues, after: ChannelValues): ChannelField[] {
  const fields = Object.keys(emptyChannel) as ChannelField[]; // its own keys
  return fields.filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]));
}

/** True when Weir appends a path that begins with /v1 at this type's address. */
function addsV1(type: number): boolean {
  const declared = channelType(type);
  if (!declared || declared.complete_url) return false;
  return declared.operations.some((operation) => operationPath(declared, operation)?.startsWith("/v1/"));
}

/** An address without what Weir adds itself: trailing slashes and, where the path begins with it, `/v1`. */
export function trimBaseUrl(type: number, base_url: string): string {
  const bare = base_url.trim().replace(/\/+$/, "");
  return addsV1(type) ? bare.replace(/\/v1$/, "").replace(/\/+$/, "") : bare;
}

/** Names typed as `a, b`: those that are new, and those that are chosen already. */
export function sortTyped(text: string, chosen: readonly string[]): { added: string[]; doubles: string[] } {
  const typed = splitList(text.replaceAll("，", ",").replaceAll("\n", ","));
  return {
    added: typed.filter((name) => !chosen.includes(name)),
    doubles: typed.filter((name) => chosen.includes(name)),
  };
}

const say = (code: ErrorCode, values: ErrorValues = {}): string => errorText(code, values, currentLanguage());
const isErrorCode = (text: string): text is ErrorCode => Object.hasOwn(errorFacts, text);
const isField = (name: string): name is ChannelField => Object.hasOwn(emptyChannel, name);
const formField = (name: string): ChannelField | null => (name === "group" ? "groups" : isField(name) ? name : null);

/** The first complaint about each field; {} when the channel can be saved. `stored`: it is saved and has its key. */
export function complaintsAbout(values: ChannelValues, stored: boolean): Partial<Record<ChannelField, string>> {
  const found: Partial<Record<ChannelField, string>> = {};
  const add = (field: ChannelField | null, message: string) => {
    if (field) found[field] ??= message;
  };
  if (values.type === 0) add("type", t`请选择渠道类型`);
  if (splitList(values.groups).length === 0) add("groups", t`请至少选择一个分组！`);
  if (stored && values.multi_key_mode === "" && splitKeys(values.type, values.key).length > 1)
    add("key", t`一个渠道只能有一个密钥`);

  const fields = fieldsOf(values);
  for (const issue of channelFields.safeParse(fields).error?.issues ?? []) {
    const max = issue.code === "too_big" ? String(issue.maximum) : "";
    const message = isErrorCode(issue.message)
      ? say(issue.message)
      : max
        ? t`内容过长，最多 ${max} 个字符`
        : say("invalid_parameter", { detail: issue.message });
    add(formField(String(issue.path[0])), message);
  }
  for (const issue of channelIssues({ ...fields, has_key: stored }, currentLanguage())) {
    add(formField(issue.field), say(issue.code, issue.values));
  }
  return found;
}

/** react-hook-form's view of `complaintsAbout`. */
export function channelResolver(stored: boolean): Resolver<ChannelValues> {
  return (values) => {
    const complaints = Object.entries(complaintsAbout(values, stored));
    if (complaints.length === 0) return { values, errors: {} };
    const errors: FieldErrors<ChannelValues> = Object.fromEntries(
      complaints.map(([field, message]) => [field, { type: "shared", message }]),
    );
    return { values: {}, errors };
  };
}

const FIELD_OF_CODE: Partial<Record<ErrorCode, ChannelField>> = {
  channel_models_missing: "models",
  channel_mapping_invalid: "model_mapping",
  channel_mapping_loop: "model_mapping",
  channel_status_mapping_invalid: "status_code_mapping",
  channel_type_unknown: "type",
  channel_key_invalid: "key",
  channel_key_is_id: "key",
  channel_key_required: "key",
  channel_keys_too_many: "key",
  channel_keys_left: "multi_key_mode",
  channel_base_url_missing: "base_url",
  channel_base_url_invalid: "base_url",
  priority_not_integer: "priority",
  priority_too_low: "priority",
  weight_invalid: "weight",
};

/** The field that a refusal of the server is about; `data` is that of a tRPC error. Null when it names none. */
export function refusedField(data: unknown, values: ChannelValues): ChannelField | null {
  if (typeof data !== "object" || data === null || !("app" in data) || typeof data.app !== "string") return null;
  if (!isErrorCode(data.app)) return null;
  if (data.app === "channel_name_and_key") return values.name.trim() === "" ? "name" : "key";
  if (
    data.app === "channel_json_invalid" &&
    "values" in data &&
    typeof data.values === "object" &&
    data.values !== null
  ) {
    return formField(String(Reflect.get(data.values, "field")));
  }
  if (
    data.app === "channel_setting_invalid" &&
    "values" in data &&
    typeof data.values === "object" &&
    data.values !== null
  ) {
    return formField(String(Reflect.get(data.values, "member"))) ?? "setting";
  }
  return FIELD_OF_CODE[data.app] ?? null;
}
