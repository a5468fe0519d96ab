/** Refunds that operators give for a call, from its bill. */
import * as z from "zod";
import type { LogView } from "./log-list";
import { UNITS_LIMIT } from "./quota";

/** A refund may be undone for so long. */
export const REFUND_UNDO_SECONDS = 60;

/** Characters of the reason, which the call's owner reads. */
export const REFUND_REASON_MAX = 200;

const requestId = z.string().min(1).max(300);

export const refundInput = z.object({
  /** Of the charge. */
  request_id: requestId,
  /** Units; absent = all that is left of the charge. */
  quota: z.int().min(1).max(UNITS_LIMIT).optional(),
  reason: z.string().trim().max(REFUND_REASON_MAX).default(""),
});

/** `request_id` of the refund's own row. */
export const refundUndoInput = z.object({ request_id: requestId });

/** `request_id` of the charge. */
export const refundListInput = z.object({ request_id: requestId });

export interface CallRefund {
  /** Request id of the refund's row: what `undo` takes. */
  refund_id: string;
  /** Units given back. */
  quota: number;
  /** Units of the charge that are not given back yet. */
  left: number;
}

export interface CallRefunds {
  /** Units of the charge that are not given back yet. */
  left: number;
  /** Rows of refunds, and with a negative amount of those that were undone; oldest first. */
  items: LogView[];
}
