/** Channel rows of the family. A type is mapped by name: the numbers of the three systems mean different vendors. */
import { jsonObject } from "../../../../shared/channel";
import { type ChannelTypeKey, channelTypes } from "../../../../shared/channel-types";
import type { SourceChannel, SourceKey } from "../records";
import type { Row } from "../../../db/foreign/source";
import { flagOf, listOf, numberOf, objectOf, textOf, wholeOf } from "../values";

/** What a foreign type is here. */
export interface TypeEntry {
  /** The source's name of it. */
  was: string;
  /** Absent: there is no such type here. */
  is?: ChannelTypeKey;
  /** The vendor's address, where the type here does not know it. */
  base_url?: string;
  /** The source calls `<base_url>/chat/completions` without /v1. */
  without_v1?: true;
}

/** The type of that number here, for a source that has the same numbers. */
export function sameNumber(number: number): TypeEntry | undefined {
  const type = channelTypes.find(({ id }) => id === number);
  return type && { was: typeof type.name === "string" ? type.name : type.name.en, is: type.key };
}

const numbers = new Map<string, number>(channelTypes.map((type) => [type.key, type.id]));
export const typeNumber = (key: ChannelTypeKey): number => numbers.get(key) ?? 0;

export const CHANNEL_COLUMNS = [
  "id",
  "type",
  "key",
  "name",
  "status",
  "weight",
  "created_time",
  "test_time",
  "response_time",
  "base_url",
  "other",
  "balance",
  "balance_updated_time",
  "models",
  "group",
  "used_quota",
  "model_mapping",
  "priority",
] as const;

/** Type and address here. An address to which the source appends no /v1 becomes a complete one. */
function placeOf(entry: TypeEntry | undefined, row: Row): Pick<SourceChannel, "was" | "base_url"> & { type?: number } {
  const own = textOf(row, "base_url").trim().replace(/\/+$/, "");
  if (!entry) return { was: `type ${wholeOf(row, "type")}`, base_url: own };
  if (!entry.is) return { was: entry.was, base_url: own };
  const base_url = own || (entry.base_url ?? "");
  if (!entry.without_v1) return { type: typeNumber(entry.is), was: entry.was, base_url };
  if (base_url.endsWith("/v1")) return { type: typeNumber("openai"), was: entry.was, base_url: base_url.slice(0, -3) };
  const complete = base_url === "" ? "" : `${base_url}/chat/completions`;
  return { type: typeNumber("custom"), was: entry.was, base_url: complete };
}

/** The columns that all three have, of one row. */
export function familyChannel(row: Row, entry: TypeEntry | undefined): SourceChannel {
  const notes: string[] = [];
  const json = (column: string): string => {
    const text = textOf(row, column).trim();
    if (text === "" || text === "null" || text === "{}") return "";
    if (jsonObject(text)) return text;
    notes.push(`${column} is no JSON object`);
    return "";
  };
  const status = wholeOf(row, "status");
  return {
    id: textOf(row, "id"),
    ...placeOf(entry, row),
    name: textOf(row, "name").trim() || `channel ${textOf(row, "id")}`,
    keys: [{ key: textOf(row, "key").trim(), status: 1, reason: "" }],
    multi_key_mode: "",
    other: textOf(row, "other").trim(),
    models: listOf(textOf(row, "models")),
    group: listOf(textOf(row, "group")) || "default",
    model_mapping: json("model_mapping"),
    status_code_mapping: json("status_code_mapping"),
    setting: json("setting"),
    param_override: json("param_override"),
    header_override: json("header_override"),
    test_model: textOf(row, "test_model"),
    auto_ban: row.auto_ban === 0 || row.auto_ban === false ? 0 : 1,
    tag: textOf(row, "tag").trim(),
    priority: Math.max(-999, Math.min(1_000_000_000, wholeOf(row, "priority"))),
    weight: Math.max(0, wholeOf(row, "weight")),
    openai_organization: textOf(row, "openai_organization"),
    status: status === 1 || status === 3 ? status : 2,
    response_time: Math.max(0, wholeOf(row, "response_time")),
    used_quota: wholeOf(row, "used_quota"),
    balance: numberOf(row, "balance"),
    balance_updated_time: wholeOf(row, "balance_updated_time"),
    test_time: wholeOf(row, "test_time"),
    created_time: wholeOf(row, "created_time"),
    other_info: json("other_info"),
    notes,
  };
}

/** The setting with these members added; "" when it has none. */
export function withSetting(setting: string, members: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(members).filter(([, value]) => value !== undefined && value !== "" && value !== false);
  const all = { ...jsonObject(setting), ...Object.fromEntries(given) };
  return Object.keys(all).length === 0 ? "" : JSON.stringify(all);
}

/**
 * The keys of a channel of new-api since 0.8.5: `channel_info` says whether `key` holds several, one a line or as a
 * JSON array, and which of them are disabled.
 */
export function multiKeys(row: Row): Pick<SourceChannel, "keys" | "multi_key_mode"> {
  const info = objectOf(row, "channel_info");
  const text = textOf(row, "key").trim();
  if (!flagOf(info, "is_multi_key")) return { keys: [{ key: text, status: 1, reason: "" }], multi_key_mode: "" };
  const statuses = objectOf(info, "multi_key_status_list");
  const reasons = objectOf(info, "multi_key_disabled_reason");
  const seen = new Set<string>();
  const keys: SourceKey[] = [];
  for (const [index, key] of splitKeys(text).entries()) {
    if (key === "" || seen.has(key)) continue;
    seen.add(key);
    const status = Number(statuses[index] ?? 1);
    keys.push({ key, status: status === 2 || status === 3 ? status : 1, reason: String(reasons[index] ?? "") });
  }
  return { keys, multi_key_mode: textOf(info, "multi_key_mode") === "polling" ? "polling" : "random" };
}

function splitKeys(text: string): string[] {
  if (text.startsWith("[")) {
    try {
      const list: unknown = JSON.parse(text);
      if (Array.isArray(list)) return list.map((one) => (typeof one === "string" ? one.trim() : JSON.stringify(one)));
    } catch {
      // Keys that begin with a bracket.
    }
  }
  return text.split(/\r?\n/).map((line) => line.trim());
}
