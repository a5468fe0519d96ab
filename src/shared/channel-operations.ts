/**
 * What operators do with many channels at once: tags, batches, runs over all of them, balances, health, and which
 * clients used a channel. Input shapes, results and the small rules that form and server share. Specification: C-053 to
 * C-098, C-323 to C-333, C-413 to C-422, C-510 to C-526.
 */
import * as z from "zod";
import { CHANNEL_STATUS, channelFields, channelListInput, type ChannelView, jsonObject } from "./channel";
import { idNumber } from "./envelope";
import { type ErrorCode, errors, errorText, type ErrorValues } from "./errors";
import type { EventName } from "./events";
import { readParams, type StoredText } from "./log-text";
import type { Lang } from "./text";

/** Most channels in one call. */
const MAX_BATCH_IDS = 10_000;
const MAX_TAG = 200;

/** Missing and empty lists pass, so that the service can refuse them with the specified message. */
const ids = z.array(idNumber).max(MAX_BATCH_IDS).default([]);
const tag = z.string().max(MAX_TAG).default("");

const { model_mapping, models, priority, weight, param_override, header_override } = channelFields.shape;

/** Fields that may be set on several channels at once. Absent and blank mean unchanged (C-414). */
const edits = {
  model_mapping,
  models,
  /** Comma list or list, as in the channel form. */
  groups: models,
  priority,
  weight,
  param_override,
  header_override,
};
export const channelEdits = z.object(edits);
export type ChannelEdits = z.output<typeof channelEdits>;

/** `new_tag`: absent or equal = unchanged, "" = dissolve, another tag's name = merge (C-416, C-417). */
export const tagEdit = z.object({ tag, new_tag: z.string().max(MAX_TAG).optional(), ...edits });
export const tagInput = z.object({ tag });
export const batchInput = z.object({ ids });
export const batchEdit = z.object({ ids, ...edits });
export const batchStatus = z.object({
  ids,
  status: z.union([z.literal(CHANNEL_STATUS.enabled), z.literal(CHANNEL_STATUS.disabled)]),
});
/** `tag` null removes the tag; absent and blank are refused (C-421). */
export const batchTag = z.object({ ids, tag: z.string().max(MAX_TAG).nullish() });

/** Tag mode of the console: the filters of the list. */
export const tagPageInput = channelListInput.omit({ tag: true });

/** Nothing to write: all fields absent or blank. The dialog checks this before it calls (C-415). */
export function isUntouched({ tag, new_tag, ...fields }: Partial<z.output<typeof tagEdit>>): boolean {
  const renamed = new_tag !== undefined && new_tag.trim() !== tag?.trim();
  return (
    !renamed &&
    Object.values(fields).every((value) => value === undefined || value === "" || String(value).trim() === "")
  );
}

export interface ChannelTag {
  tag: string;
  /** All its channels, in the order of the list. */
  channels: ChannelView[];
}

/** A page over tags, then over untagged channels: `page_size` rows of both together. */
export interface TagPage {
  tags: ChannelTag[];
  untagged: ChannelView[];
  page: number;
  page_size: number;
  /** Tags and untagged channels. */
  total: number;
}

/** The sums and means of a tag's channels (C-075). */
export interface TagSummary {
  channels: number;
  enabled: number;
  used_quota: number;
  /** Sum of the balances; undefined while none is known, and where they have different units. */
  balance: Pick<ChannelView, "balance" | "balance_currency"> | undefined;
  /** Mean milliseconds of the tested ones, 0 when none was tested. */
  response_time: number;
  /** undefined when they differ. */
  priority: number | undefined;
  weight: number | undefined;
  /** Groups of any of them. */
  groups: string[];
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const same = (values: readonly number[]): number | undefined =>
  values.every((value) => value === values[0]) ? values[0] : undefined;

function sumOfBalances(accounts: readonly ChannelView[]): TagSummary["balance"] {
  const [first] = accounts;
  if (!first || accounts.some(({ balance_currency }) => balance_currency !== first.balance_currency)) return undefined;
  return { balance: sum(accounts.map(({ balance }) => balance)), balance_currency: first.balance_currency };
}

export function summarizeTag(channels: readonly ChannelView[]): TagSummary {
  const tested = channels.map((channel) => channel.response_time).filter((ms) => ms > 0);
  return {
    channels: channels.length,
    enabled: channels.filter((channel) => channel.status === CHANNEL_STATUS.enabled).length,
    used_quota: sum(channels.map((channel) => channel.used_quota)),
    balance: sumOfBalances(channels.filter((channel) => channel.balance_updated_time > 0)),
    response_time: tested.length === 0 ? 0 : Math.round(sum(tested) / tested.length),
    priority: same(channels.map((channel) => channel.priority)),
    weight: same(channels.map((channel) => channel.weight)),
    groups: [...new Set(channels.flatMap((channel) => channel.group.split(",").filter(Boolean)))],
  };
}

/** Runs over all channels; of each kind at most one in the cluster. */
export const RUN_KINDS = ["test", "balance"] as const;
export type RunKind = (typeof RUN_KINDS)[number];
export const runInput = z.object({ kind: z.enum(RUN_KINDS) });

/** How far a run is, or how the last one ended. */
export interface ChannelRun {
  id: string;
  kind: RunKind;
  /** The user who started it; '' = the timer. */
  started_by: string;
  /** Epoch seconds. */
  started_at: number;
  /** 0 while it runs, and when its process ended before it. */
  finished_at: number;
  running: boolean;
  total: number;
  done: number;
  ok: number;
  failed: number;
  /** Types without a balance API. */
  skipped: number;
  /** Disabled and enabled by this run. */
  disabled: number;
  enabled: number;
}

export interface BalanceResult {
  /** In `currency`; the vendor's own figure, not converted. */
  balance: number;
  /** USD, CNY, or "points" where the vendor has its own unit. */
  currency: "USD" | "CNY" | "points";
}

/** What POST /api/channel/fix found and repaired. */
export interface RepairReport {
  /** Channels checked. */
  checked: number;
  /** Channels whose row was repaired. */
  repaired: number;
  /** What only an operator can repair: the field at fault of each channel. */
  problems: { id: number; name: string; field: "key" | "type" | "model_mapping" | "status_code_mapping" | "setting" }[];
}

export const healthInput = z.object({ ids: z.array(z.int().positive()).max(200) });

/** Callers of a channel: groups, and in each the programs that called. */
export interface UpstreamUse {
  groups: {
    group: string;
    /** Epoch seconds. */
    first_seen: number;
    last_seen: number;
    client_types: { client_type: string; count: number; first_seen: number; last_seen: number }[];
  }[];
}

/** The reason why a channel was disabled, in other_info beside the two members that existing front-ends read. */
export interface StatusReason {
  code: ErrorCode;
  values: ErrorValues;
}

/** As a parameter of an event's text. */
export const storedReason = ({ code, values }: StatusReason): StoredText => ({ code, params: values });

export function statusInfo({ code, values }: StatusReason, status_time: number): string {
  return JSON.stringify({
    status_reason: errorText(code, values, "zh"),
    status_time,
    status_code: code,
    status_values: values,
  });
}

/** The text of a stored reason; undefined for one that this release does not know. */
function reasonText(code: unknown, values: unknown, lang: Lang): string | undefined {
  const known =
    typeof code === "string" && Object.hasOwn(errors, code) && typeof values === "object" && values !== null;
  // checked above; values were stored with it
  return known ? errorText(code as ErrorCode, values as ErrorValues, lang) : undefined;
}

/** Reason (in `lang`, if known) and time (epoch seconds) of an automatic change; undefined when there is none. */
export function readStatusInfo(other_info: string, lang: Lang): { reason: string; time: number } | undefined {
  const info = jsonObject(other_info);
  if (!info || (info.status_reason === undefined && info.status_time === undefined)) return undefined;
  const { status_code: code, status_values: values } = info;
  const reason = reasonText(code, values, lang) ?? String(info.status_reason ?? "");
  return { reason, time: Number(info.status_time) || 0 };
}

/** Changes that the system makes to a channel by itself. */
const changeEvents = [
  "channel_auto_disabled",
  "channel_auto_enabled",
  "channel_key_auto_disabled",
] as const satisfies readonly EventName[];
export type ChangeEvent = (typeof changeEvents)[number];

/** The change in a log row, with its reason in `lang` ('' without any); undefined for other rows. */
export function readChange(
  row: { code: string; params: string; other: string },
  lang: Lang,
): { event: ChangeEvent; reason: string } | undefined {
  // Rows of releases before the code had both in `other`.
  const old = row.code === "" ? jsonObject(row.other) : undefined;
  const event = changeEvents.find((known) => known === (old ? old.event : row.code));
  if (!event) return undefined;
  const reason = old ? old.reason : readParams(row.params).reason;
  if (typeof reason !== "object" || reason === null || !("code" in reason)) return { event, reason: "" };
  const values = "params" in reason ? reason.params : "values" in reason ? reason.values : undefined;
  return { event, reason: reasonText(reason.code, values, lang) ?? "" };
}

/** Kept short: a status text is a tooltip. */
export const MAX_REASON = 500;
