/**
 * Redemption codes: statuses, limits, input shapes, the row as administrators see it. Specification: C-264 to C-268,
 * C-349 to C-354, C-436 to C-445, C-540 to C-546.
 */
import * as z from "zod";
import { listSize, pageShape } from "./paging";

export const REDEMPTION_STATUS = { unused: 1, disabled: 2, used: 3 } as const;

export const REDEMPTION_LIMITS = {
  name: 20,
  /** Most codes of one batch. */
  batch: 100,
  /** Most units of one code; the sum of many such stays below 2^53. */
  quota: 1_000_000_000_000,
} as const;

/** Initial values of the form (C-621, C-622). */
export const REDEMPTION_DEFAULTS = { quota: 100_000, count: 1 } as const;

/** 0 = never. */
const NEVER = 0;

export const isRedemptionExpired = ({ expired_time }: { expired_time: number }, nowSeconds: number): boolean =>
  expired_time !== NEVER && expired_time <= nowSeconds;

/** A code as it was made, from pasted text: blanks and dashes between its 32 digits are ignored. */
export const bareCode = (text: string): string => text.replace(/[\s-]/g, "").toLowerCase();

/** "" = named after its quota. */
const name = z
  .string()
  .trim()
  .refine((value) => [...value].length <= REDEMPTION_LIMITS.name, {
    error: "redemption_name_too_long",
    params: { max: REDEMPTION_LIMITS.name },
  });
/** Units; a fraction or a text is refused rather than cut (C-445). */
const quota = z
  .int({ error: "redemption_quota_invalid" })
  .min(1, { error: "redemption_quota_invalid" })
  .max(REDEMPTION_LIMITS.quota, { error: "redemption_quota_invalid" });
const count = z
  .int({ error: "redemption_count_invalid" })
  .min(1, { error: "redemption_count_invalid" })
  .max(REDEMPTION_LIMITS.batch, { error: "redemption_count_invalid" });
/** Epoch seconds, 0 = never. */
const expiry = z
  .int({ error: "redemption_expiry_invalid" })
  .min(0, { error: "redemption_expiry_invalid" })
  .max(1e12, { error: "redemption_expiry_invalid" });

export const redemptionCreate = z.object({
  name: name.default(""),
  quota,
  count: count.default(REDEMPTION_DEFAULTS.count),
  expired_time: expiry.default(NEVER),
});
export type RedemptionBatch = z.output<typeof redemptionCreate>;

export const redemptionId = z.object({ id: z.int().positive() });

/** Absent fields stay as they are; an empty name is derived from the quota. `count` and `key` are ignored (C-266). */
export const redemptionUpdate = z
  .object({ name, quota, expired_time: expiry })
  .partial()
  .extend({ id: z.int().positive() });
export type RedemptionChange = Omit<z.output<typeof redemptionUpdate>, "id">;

const status = z.int({ error: "redemption_status_invalid" });
export const redemptionStatusUpdate = z.object({ id: z.int().positive(), status });

/** REST `PUT /api/redemption/`: with any non-empty status_only nothing but the status changes. */
export const redemptionPut = redemptionUpdate.extend({ status: status.optional(), status_only: z.string().optional() });

export const redemptionList = z.object(pageShape);

/** `unused` leaves out what has expired, `expired` is unused codes past their time. */
export const REDEMPTION_STATES = ["unused", "disabled", "used", "expired"] as const;
export type RedemptionState = (typeof REDEMPTION_STATES)[number];

export const redemptionSearch = z.object({
  ...pageShape,
  /** An id, or part of a name. */
  keyword: z.string().max(200).optional(),
  state: z.enum(REDEMPTION_STATES).optional(),
});

/** The console's list. */
export const redemptionPage = redemptionSearch.extend({ page_size: listSize });

/** The rest is checked in the service, so that a code with blanks around it, or none, gets its own message. */
export const redeemInput = z.object({
  key: z.string({ error: "redemption_key_missing" }).max(200, { error: "redemption_invalid" }),
});

/** Columns of a code that may be shown; `REDEMPTION_FIELDS` says which are. */
export interface RedemptionColumns {
  id: number;
  /** The administrator who made it. */
  user_id: number;
  name: string;
  /** 1 unused, 2 disabled, 3 used. */
  status: number;
  quota: number;
  created_time: number;
  /** 0 = not yet. */
  redeemed_time: number;
  /** The user who redeemed it; 0 = none. */
  used_user_id: number;
  /** Epoch seconds, 0 = never. */
  expired_time: number;
}

/** The columns of a code that administrators see as stored. One that is not listed here stays inside. */
export const REDEMPTION_FIELDS = [
  "id",
  "user_id",
  "name",
  "status",
  "quota",
  "created_time",
  "redeemed_time",
  "used_user_id",
  "expired_time",
] as const satisfies readonly (keyof RedemptionColumns)[];

/** A code as administrators see it. `key`: 32 hexadecimal digits. */
export type RedemptionView = Pick<RedemptionColumns, (typeof REDEMPTION_FIELDS)[number]> & { key: string };
