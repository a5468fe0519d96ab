/**
 * Invitations: limits, input shapes, rows as their owner and as administrators see them. Units throughout.
 * Specification, D-63, D-64, C-014 to C-018.
 */
import * as z from "zod";
import { MAX_PAGE_SIZE } from "./envelope";

export const INVITE_LIMITS = {
  /** Characters of a code; longer when the short ones run out (D-64). */
  code: 4,
  account: 200,
  note: 200,
  /** Units of one transfer or withdrawal. */
  quota: 1_000_000_000_000_000,
} as const;

export const WITHDRAWAL_STATES = ["pending", "paid", "refused"] as const;
export type WithdrawalState = (typeof WITHDRAWAL_STATES)[number];

/** POST /api/user/aff_transfer. Minimum (an option) and maximum (the earnings) are checked in the service. */
export const transferInput = z.object({
  quota: z
    .int({ error: "transfer_invalid" })
    .positive({ error: "transfer_invalid" })
    .max(INVITE_LIMITS.quota, { error: "transfer_invalid" }),
});

export const withdrawInput = z.object({
  amount: z
    .int({ error: "withdrawal_invalid" })
    .positive({ error: "withdrawal_invalid" })
    .max(INVITE_LIMITS.quota, { error: "withdrawal_invalid" }),
  /** Where the money goes, in the user's words. */
  account: z
    .string({ error: "withdrawal_account_missing" })
    .trim()
    .min(1, { error: "withdrawal_account_missing" })
    .refine((text) => [...text].length <= INVITE_LIMITS.account, {
      error: "withdrawal_account_too_long",
      params: { max: INVITE_LIMITS.account },
    }),
});

/** Administrators: paid, or refused, which returns the units. */
export const settleInput = z.object({
  id: z.int().positive(),
  status: z.enum(["paid", "refused"]),
  note: z.string().trim().max(INVITE_LIMITS.note).default(""),
});

/** From 1. */
const paging = { page: z.int().min(1).default(1), page_size: z.int().min(1).max(MAX_PAGE_SIZE).default(10) };
export const inviteListInput = z.object(paging);
export const withdrawalListInput = z.object({ ...paging, status: z.enum(WITHDRAWAL_STATES).optional() });

/** An invited user and the inviter's earnings from that one. */
export interface InvitedView {
  id: number;
  username: string;
  /** Epoch seconds. */
  created_at: number;
  /** Paid orders with a share, and the units of that share. */
  orders: number;
  amount: number;
}

/** A share of one paid order. */
export interface DividendView {
  id: number;
  invitee_id: number;
  username: string;
  order_id: number;
  amount: number;
  created_at: number;
}

export interface WithdrawalView {
  id: number;
  amount: number;
  account: string;
  status: WithdrawalState;
  note: string;
  created_at: number;
  /** 0 = not yet. */
  settled_at: number;
}

/** As administrators see it: with its user. */
export interface WithdrawalToSettle extends WithdrawalView {
  user_id: number;
  username: string;
}
