/**
 * Managing other users' accounts: input shapes, and an account as administrators see it. Specification: A-094 to A-113,
 * A-422 to A-430, D-12 to D-15, D-47, D-60.
 */
import * as z from "zod";
import { LIMIT_MAX, type LimitField } from "./limits";
import { listSize, pageSize } from "./paging";
import { MANAGE_ACTIONS, ROLE } from "./roles";
import { passwordRule, usernameRule } from "./user";

export const USER_LIMITS = {
  display_name: 50,
  group: 64,
  note: 200,
  keyword: 200,
  /** Units; sums of many such stay below 2^53. */
  quota: 1_000_000_000_000_000,
} as const;

/** Columns by which the server can sort the list. */
export const USER_SORTS = [
  "id",
  "username",
  "quota",
  "used_quota",
  "request_count",
  "aff_count",
  "role",
  "status",
  "created_at",
  "last_login_at",
] as const;

/** How the list can be narrowed: "" not, a status of living accounts, "living" all of these, "deleted" the others. */
export const USER_STATES = ["", "1", "2", "3", "deleted", "living"] as const;

const page = z
  .int()
  .transform((n) => Math.max(1, n))
  .catch(1)
  .default(1);

/** REST: p from 1 (0 means 1), page_size 1..100; "", "null" and absent filters mean none (D-60). */
export const userListRest = z.object({ p: page, page_size: pageSize });
export const userSearchRest = userListRest.extend({
  keyword: z.string().max(USER_LIMITS.keyword).default(""),
  group: z.string().max(USER_LIMITS.group).default(""),
  role: z.int().optional().catch(undefined),
  /** Of living accounts (USER_STATUS). */
  status: z.enum(["1", "2", "3"]).optional().catch(undefined),
});

/** The console's list. */
export const userListInput = z.object({
  page: z.int().min(1).max(1_000_000_000).default(1),
  page_size: listSize,
  keyword: z.string().max(USER_LIMITS.keyword).default(""),
  group: z.string().max(USER_LIMITS.group).default(""),
  role: z.int().optional(),
  state: z.enum(USER_STATES).catch("").default(""),
  sort: z.enum(USER_SORTS).catch("id").default("id"),
  desc: z.boolean().default(false),
});
export type UserFilter = Omit<z.output<typeof userListInput>, "page" | "page_size">;

export const userId = z.object({ id: z.int().positive() });

const username = usernameRule("user_fields_missing");
const password = passwordRule("user_fields_missing");
const displayName = z.string().trim().max(USER_LIMITS.display_name);
const group = z.string().trim().min(1).max(USER_LIMITS.group);
const quota = z
  .int({ error: "user_quota_invalid" })
  .min(-USER_LIMITS.quota, "user_quota_invalid")
  .max(USER_LIMITS.quota, "user_quota_invalid");
const limit = (field: LimitField) => z.int().min(0).max(LIMIT_MAX[field]);

/** A new account. Its role is below the creator's; without a display name the username is shown. */
export const userCreate = z.object({
  username,
  password,
  display_name: displayName.default(""),
  role: z.union([z.literal(ROLE.user), z.literal(ROLE.admin), z.literal(ROLE.root)]).default(ROLE.user),
});

const fields = {
  username: usernameRule("username_length"),
  display_name: displayName,
  /** "" leaves it unchanged. */
  password: z.literal("").or(passwordRule("password_too_short")),
  group,
  rpm: limit("rpm"),
  tpm: limit("tpm"),
  concurrency: limit("concurrency"),
  budget_day: limit("budget_day"),
  budget_month: limit("budget_month"),
};

/** The console's edit: absent fields stay. The balance changes by a difference with a reason, never to a new value. */
export const userUpdate = z
  .object(fields)
  .partial()
  .extend({
    id: z.int().positive(),
    /** Units, negative takes away. */
    add_quota: quota.optional(),
    note: z.string().trim().max(USER_LIMITS.note).optional(),
    /** One adjustment per key, however often the call is repeated. */
    adjust_key: z.string().min(8).max(64).optional(),
  });
export type UserChange = Omit<z.output<typeof userUpdate>, "id">;

/**
 * REST: `quota` is the new balance; it is booked as the difference to the present one (D-47). Other fields are ignored.
 */
export const userPut = z.object(fields).partial().extend({ id: z.int().positive(), quota: quota.optional() });

export const userManage = z.object({
  id: z.int().positive(),
  action: z.enum(MANAGE_ACTIONS, { error: "user_action_unknown" }),
});

/** REST also changes the balance: by `value`, or to it with mode override (new-api ManageRequest, read 2026-11). */
export const userManageRest = userManage.extend({
  action: z.enum([...MANAGE_ACTIONS, "add_quota"], { error: "user_action_unknown" }),
  mode: z.enum(["add", "subtract", "override"]).default("add"),
  value: quota.min(0, "user_quota_invalid").default(0),
});

/** one-api's top-up by an administrator. */
export const userTopUp = z.object({
  user_id: z.int().positive(),
  quota,
  remark: z.string().trim().max(USER_LIMITS.note).default(""),
});

/** The next part of an export: everything but the log first, then the log in slices. */
export const userExport = z.object({ id: z.int().positive(), cursor: z.int().min(0).optional() });

/** An account as administrators see it. */
export interface ManagedUser {
  id: number;
  username: string;
  display_name: string;
  role: number;
  status: number;
  group: string;
  email: string;
  /** "" when not bound. */
  github_id: string;
  wechat_id: string;
  telegram_id: string;
  linux_do_id: string;
  oidc_id: string;
  quota: number;
  used_quota: number;
  request_count: number;
  /** "" = none yet. */
  aff_code: string;
  aff_count: number;
  aff_quota: number;
  aff_history_quota: number;
  /** 0 = none. */
  inviter_id: number;
  rpm: number;
  tpm: number;
  concurrency: number;
  budget_day: number;
  budget_month: number;
  created_at: number;
  /** 0 = never. */
  last_login_at: number;
  /** JSON: how and when the account wants to be notified, without addresses and secrets; "" = never set. */
  setting: string;
  DeletedAt: string | null;
}

/** One entry of an account's ledger. */
export interface CreditView {
  id: number;
  amount: number;
  kind: string;
  note: string;
  actor_id: number;
  created_at: number;
}
