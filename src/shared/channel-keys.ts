/**
 * Several keys in one channel: each is a row with its own state (C-207). Statuses are those of channels: 1 enabled, 2
 * disabled by hand, 3 disabled automatically.
 */
import * as z from "zod";
import { idNumber, MAX_PAGE_SIZE } from "./envelope";

/** How an attempt chooses one of the keys: at random, or each in turn. */
export const MULTI_KEY_MODES = ["random", "polling"] as const;
export type MultiKeyMode = (typeof MULTI_KEY_MODES)[number];
export const isMultiKeyMode = (mode: string): mode is MultiKeyMode => MULTI_KEY_MODES.some((one) => one === mode);

/** Most keys of one channel. */
export const MAX_KEYS = 500;

/** A key as administrators see it; the key itself never leaves the server. */
export interface ChannelKeyView {
  id: number;
  /** From 1, in the order of the list. */
  position: number;
  /** Its last characters. */
  hint: string;
  status: number;
  /** As a channel's other_info: JSON {status_reason, status_time, …} or ''. */
  reason: string;
  /** Epoch seconds when a key that is being replaced stops, 0 = it does not. */
  retires_at: number;
  /** Epoch seconds of the last change of status, 0 = never. */
  status_time: number;
  /** Epoch seconds, 0 = it does not drain. */
  draining_since: number;
  created_at: number;
}

/** The end of a key, for comparing it with one's own list; of short keys nothing is shown. */
export const keyHint = (key: string): string => (key.length >= 16 ? `…${key.slice(-4)}` : "…");

const id = z.int().positive();
export const keysOf = z.object({ id });
/** `key`: one per line; those that the channel has already are skipped. */
export const keysAdd = z.object({ id, key: z.string().max(200_000) });
const key_ids = z.array(idNumber).min(1).max(MAX_KEYS);
export const keysRemove = z.object({ id, key_ids });
export const keysStatus = z.object({ id, key_ids, status: z.union([z.literal(1), z.literal(2)]) });

/** What `POST /api/channel/multi_key/manage` can do (new-api ManageMultiKeys, read 2026-11). */
const KEY_ACTIONS = [
  "get_key_status",
  "disable_key",
  "enable_key",
  "delete_key",
  "enable_all_keys",
  "disable_all_keys",
  "delete_disabled_keys",
] as const;

/** `key_index` counts from 0; keys are on pages from 1, of those with `status` where it is named. */
export const keyManage = z.object({
  channel_id: z.int().positive(),
  action: z.enum(KEY_ACTIONS),
  key_index: z.int().min(0).optional(),
  page: z.int().min(1).catch(1).default(1),
  page_size: z.int().min(1).max(MAX_PAGE_SIZE).catch(50).default(50),
  status: z.int().optional().catch(undefined),
});
