/**
 * Tokens (relay keys of users): statuses, limits, input shapes, the row as its owner sees it. Specification: C-248 to
 * C-262, C-340 to C-348, C-423 to C-435, C-613 to C-620.
 */
import ipaddr from "ipaddr.js";
import * as z from "zod";
import { idNumber } from "./envelope";
import { LIMIT_MAX } from "./limits";
import { TOKEN_MJ_MODES, type TokenMjMode } from "./midjourney";
import { listSize, pageShape, searchShape } from "./paging";

export const TOKEN_STATUS = { enabled: 1, disabled: 2, expired: 3, exhausted: 4 } as const;

export const KEY_PREFIX = "sk-";
/** Random base62 characters of a new key. */
export const KEY_LENGTH = 48;
/** Characters of a key's head that lists show and search uses. */
export const HINT_HEAD = 8;
export const MIN_KEY_SEARCH = 4;
export const NEVER = -1;

export const TOKEN_LIMITS = {
  name: 50,
  batch: 100,
  /** Units; sums of many such stay below 2^53. */
  quota: 1_000_000_000_000_000,
  models: 100_000,
  addresses: 20_000,
  rate: LIMIT_MAX.rpm,
} as const;

/** Initial values of the form; a call without a field gets the same (C-613). */
export const TOKEN_DEFAULTS = {
  remain_quota: 500_000,
  expired_time: NEVER,
  batch_choices: [1, 10, 20, 30, 100],
} as const;

/** Seconds of the expiry presets; never is -1. */
export const EXPIRY_PRESETS = { never: NEVER, hour: 3600, day: 86_400, month: 30 * 86_400 } as const;

interface TokenState {
  status: number;
  expired_time: number;
  unlimited_quota: boolean;
  remain_quota: number;
}

export const isExpired = (token: Pick<TokenState, "expired_time">, nowSeconds: number): boolean =>
  token.expired_time !== NEVER && token.expired_time <= nowSeconds;

export const isExhausted = (token: Pick<TokenState, "unlimited_quota" | "remain_quota">): boolean =>
  !token.unlimited_quota && token.remain_quota <= 0;

/** The status a reader sees. Only 1 and 2 are stored; 3 and 4 follow from expiry and quota (C-348). */
export function tokenStatus(token: TokenState, nowSeconds: number): number {
  if (token.status !== TOKEN_STATUS.enabled) return token.status;
  if (isExpired(token, nowSeconds)) return TOKEN_STATUS.expired;
  return isExhausted(token) ? TOKEN_STATUS.exhausted : TOKEN_STATUS.enabled;
}

/** A key without the prefix and the spaces around it. */
export const bareKey = (key: string): string => key.trim().replace(/^sk-/, "");

/** `AbCdEfGh…wxyz` */
export const keyHint = (key: string): string => `${key.slice(0, HINT_HEAD)}…${key.slice(-4)}`;

/** Lines, blanks and commas separate addresses; the line numbers of the text are kept for messages. */
function* addressEntries(text: string): Generator<{ line: number; value: string }> {
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    for (const value of line.split(/[\s,]+/)) if (value) yield { line: index + 1, value };
  }
}

/** The first entry that is neither an address nor a network (IPv4, IPv6, CIDR); undefined when all are good. */
export function addressProblem(text: string): { line: number; value: string } | undefined {
  for (const entry of addressEntries(text)) {
    const good = entry.value.includes("/") ? isNetwork(entry.value) : isAddress(entry.value);
    if (!good) return entry;
  }
  return undefined;
}

// ipaddr.js reads "1" and "0x7f.1" as IPv4 as well: in a list those are mistakes.
const isAddress = (value: string): boolean => ipaddr.IPv6.isValid(value) || ipaddr.IPv4.isValidFourPartDecimal(value);
const isNetwork = (value: string): boolean =>
  ipaddr.IPv6.isValidCIDR(value) || ipaddr.IPv4.isValidCIDRFourPartDecimal(value);

/** One address or network per line, as stored. */
const cleanAddresses = (text: string): string => [...new Set([...addressEntries(text)].map((e) => e.value))].join("\n");

/** null means none (C-258). */
const addresses = z
  .string()
  .max(TOKEN_LIMITS.addresses)
  .superRefine((value, context) => {
    const problem = addressProblem(value);
    if (problem) context.addIssue({ code: "custom", message: "token_ip_invalid", params: problem });
  })
  .transform(cleanAddresses)
  .nullable();

const name = z
  .string({ error: "token_name_missing" })
  .trim()
  .min(1, { error: "token_name_missing" })
  .refine((value) => [...value].length <= TOKEN_LIMITS.name, {
    error: "token_name_too_long",
    params: { max: TOKEN_LIMITS.name },
  });
const quota = z
  .int({ error: "token_quota_invalid" })
  .min(0, { error: "token_quota_invalid" })
  .max(TOKEN_LIMITS.quota, { error: "token_quota_invalid" });
/** Epoch seconds or -1. A time in the past is accepted: the token then reads 3 (C-428). */
const expiry = z
  .number({ error: "token_expiry_invalid" })
  .transform(Math.floor)
  .refine((value) => value === NEVER || (value > 0 && value < 1e12), { error: "token_expiry_invalid" });
const rate = z.int().min(0).max(TOKEN_LIMITS.rate);
/** Units. */
const budget = z.int().min(0).max(LIMIT_MAX.budget_day);
/** The mode of its drawing jobs where the call has none; "" = the upstream decides (C-263). */
const mode = z.enum(TOKEN_MJ_MODES);
/** Comma list or list; stored as a comma list. */
const models = z
  .union([z.string(), z.array(z.string())])
  .transform((value) =>
    [...new Set((typeof value === "string" ? value.split(",") : value).map((m) => m.trim()).filter(Boolean))].join(","),
  );

const fields = {
  name,
  remain_quota: quota,
  unlimited_quota: z.boolean(),
  expired_time: expiry,
  model_limits_enabled: z.boolean(),
  model_limits: models,
  allow_ips: addresses,
  deny_ips: addresses,
  group: z.string().trim().max(64),
  rpm: rate,
  tpm: rate,
  concurrency: rate,
  budget_day: budget,
  budget_month: budget,
  mj_mode: mode,
};

/**
 * A new token. Fields that are not here (key, user_id, used_quota, status …) are ignored (C-536). Absent fields have
 * the defaults on the right.
 */
export const tokenCreate = z.object({
  name: fields.name,
  remain_quota: fields.remain_quota.default(TOKEN_DEFAULTS.remain_quota),
  unlimited_quota: fields.unlimited_quota.default(false),
  expired_time: fields.expired_time.default(TOKEN_DEFAULTS.expired_time),
  model_limits_enabled: fields.model_limits_enabled.default(false),
  model_limits: fields.model_limits.default(""),
  allow_ips: fields.allow_ips.default(""),
  deny_ips: fields.deny_ips.default(""),
  /** Absent: the group "auto" where it is the default of new tokens (C-260), else the user's own. */
  group: fields.group.optional(),
  rpm: fields.rpm.default(0),
  tpm: fields.tpm.default(0),
  concurrency: fields.concurrency.default(0),
  budget_day: fields.budget_day.default(0),
  budget_month: fields.budget_month.default(0),
  mj_mode: fields.mj_mode.default(""),
});
export type TokenFields = z.output<typeof tokenCreate>;

/** The console's batch: all or nothing; the first keeps the plain name, the others get `-XXXXXX` (C-615, C-616). */
export const tokenBatch = tokenCreate.extend({
  count: z
    .int({ error: "token_count_invalid" })
    .min(1, { error: "token_count_invalid" })
    .max(TOKEN_LIMITS.batch, { error: "token_count_invalid" })
    .default(1),
});

export const tokenId = z.object({ id: z.int().positive() });

/**
 * Absent fields stay as they are, so that a script which knows fewer fields never opens a token by leaving out its
 * address list; present ones are set even when empty. Read-only and unknown fields are ignored.
 */
export const tokenUpdate = z.object(fields).partial().extend({
  id: z.int().positive(),
  /** 1 or 2 when sent; 3 and 4, which a form may send back, are computed and so ignored. */
  status: z.int().optional(),
});
export type TokenChange = Omit<z.output<typeof tokenUpdate>, "id">;

/** More quota for a user's token, by an administrator; units. */
export const tokenRaise = z.object({ id: z.int().positive(), quota: quota.min(1, { error: "token_quota_invalid" }) });

export const tokenStatusUpdate = z.object({ id: z.int().positive(), status: z.int({ error: "token_status_invalid" }) });

/** REST `PUT /api/token/`: with any non-empty status_only nothing but the status changes. */
export const tokenPut = tokenUpdate.extend({ status_only: z.string().optional() });

/** REST; invalid values fall back (C-481, C-482). */
export const tokenListRest = z.object(pageShape);

export const tokenSearchRest = z.object({
  ...searchShape,
  keyword: z.string().optional(),
  token: z.string().optional(),
});

/** Several tokens at once; at most as many as one batch makes. */
export const tokenIds = z.object({ ids: z.array(idNumber).min(1).max(TOKEN_LIMITS.batch) });

/** The console's list: a page with its total, filtered by name and key. */
export const tokenListInput = z.object({
  /** From 1. */
  page: z.int().min(1).default(1),
  page_size: listSize,
  keyword: z.string().max(200).default(""),
  /** Whole key, or at least 4 characters of its head; with or without sk-. */
  token: z.string().max(200).default(""),
});

/** Columns of a token that may be shown; `TOKEN_FIELDS` says which are. */
export interface TokenColumns {
  id: number;
  user_id: number;
  name: string;
  /** First 8 and last 4 characters; the whole key only by `token.reveal`. */
  key_hint: string;
  /** 1 to 4, see tokenStatus. */
  status: number;
  remain_quota: number;
  used_quota: number;
  unlimited_quota: boolean;
  expired_time: number;
  created_time: number;
  accessed_time: number;
  model_limits_enabled: boolean;
  model_limits: string;
  allow_ips: string;
  deny_ips: string;
  group: string;
  rpm: number;
  tpm: number;
  concurrency: number;
  /** Units a day and a month; 0 = none. */
  budget_day: number;
  budget_month: number;
  mj_mode: TokenMjMode;
}

/** The columns of a token that its owner sees as stored. One that is not listed here stays inside. */
export const TOKEN_FIELDS = [
  "id",
  "user_id",
  "name",
  "key_hint",
  "remain_quota",
  "used_quota",
  "unlimited_quota",
  "expired_time",
  "created_time",
  "accessed_time",
  "model_limits_enabled",
  "model_limits",
  "allow_ips",
  "deny_ips",
  "group",
  "rpm",
  "tpm",
  "concurrency",
  "budget_day",
  "budget_month",
] as const satisfies readonly (keyof TokenColumns)[];

/** A token as its owner sees it; status and mj_mode are computed when it is read. */
export type TokenView = Pick<TokenColumns, (typeof TOKEN_FIELDS)[number] | "status" | "mj_mode">;

/** A token in REST for its owner: with the key, without its prefix (C-119, C-249). */
export interface TokenWithKey extends TokenView {
  key: string;
}
