import * as z from "zod";
import type { ErrorCode } from "./errors";
import { mailboxSchema } from "./mailbox";

/** Limits of accounts (D-42). */
export const USERNAME_MAX = 12;
export const PASSWORD_MIN = 8;
export const PASSWORD_MAX = 20;
/** The first root account's, which an operator may take from a password manager. */
export const ROOT_PASSWORD_MAX = 72;

/**
 * A username (D-84): 1 to 12 characters as people count them, without control characters and without @, which marks a
 * mail address at sign-in. `missing`: the error of an empty one.
 */
export const usernameRule = (missing: ErrorCode) =>
  z
    .string({ error: missing })
    .trim()
    .min(1, missing)
    .refine((name) => [...name].length <= USERNAME_MAX, { error: "username_length", params: { max: USERNAME_MAX } })
    .refine((name) => !/[@\p{Cc}\p{Cf}]/u.test(name), "username_characters");

/** `missing`: the error of an empty one. */
export const passwordRule = (missing: ErrorCode, max: number = PASSWORD_MAX) =>
  z.string({ error: missing }).min(1, missing).min(PASSWORD_MIN, "password_too_short").max(max, "password_too_long");

/** The token of the bot check; "" or absent: none. */
const turnstile = z.string().max(4096).optional();

export const loginInput = z.object({
  username: z.string().trim().min(1, "credentials_missing").max(320),
  password: z.string().min(1, "credentials_missing").max(200),
  turnstile,
});

/** POST /api/user/register. Address and code count only while EmailVerificationEnabled is on. */
export const registerInput = z
  .object({
    username: usernameRule("credentials_missing"),
    password: passwordRule("credentials_missing"),
    password2: z.string().max(200).optional(),
    email: z.string().trim().toLowerCase().max(320).default(""),
    verification_code: z.string().trim().max(64).default(""),
    /** An unknown one is ignored (D-63). */
    aff_code: z.string().max(64).catch("").default(""),
    turnstile,
  })
  .refine((v) => v.password2 === undefined || v.password2 === v.password, "passwords_differ");

/** GET /api/verification and GET /api/reset_password. */
export const mailCodeInput = z.object({ email: mailboxSchema, turnstile });

/** POST /api/user/reset: both are in the link of the mail. */
export const resetInput = z.object({
  email: mailboxSchema,
  token: z.string({ error: "reset_link_invalid" }).trim().min(1, "reset_link_invalid").max(200, "reset_link_invalid"),
});

/** GET /api/oauth/email/bind. */
export const bindEmailInput = z.object({
  email: mailboxSchema,
  code: z.string({ error: "verification_missing" }).trim().min(1, "verification_missing").max(64),
});

/** PUT /api/user/self; other fields (role, quota, group …) are dropped. "" leaves a password as it is. */
export const selfUpdate = z.object({
  username: usernameRule("username_length").optional(),
  display_name: z.string().trim().max(50).optional(),
  password: z.literal("").or(passwordRule("password_too_short")).optional(),
});

/** Seconds that a proof of identity is valid for step-up; signing in is one. */
export const STEP_UP_SECONDS = 600;

/** Seconds until another mail may be sent to an address. */
export const MAIL_PAUSE_SECONDS = 30;

/** The users of the gateway; the wizard's three cards. */
export const SETUP_MODES = ["self", "team", "public"] as const;
export type SetupMode = (typeof SETUP_MODES)[number];

export const setupInput = z
  .object({
    username: usernameRule("credentials_missing"),
    password: passwordRule("credentials_missing", ROOT_PASSWORD_MAX),
    confirmPassword: z.string().optional(),
    SelfUseModeEnabled: z.boolean().default(false),
    DemoSiteEnabled: z.boolean().default(false),
    mode: z.enum(SETUP_MODES).optional(),
    server_address: z.string().max(300).optional(),
    /** Printed at start, as a link. */
    code: z.string().max(64).default(""),
  })
  .refine((v) => v.confirmPassword === undefined || v.confirmPassword === v.password, "passwords_differ");

/** The result of a sign-in, which the console keeps in local storage under `user`. */
export interface SignedInUser {
  id: number;
  username: string;
  display_name: string;
  role: number;
  status: number;
  group: string;
}

/** An open session, as its owner sees it. */
export interface SessionView {
  id: number;
  created_at: number;
  last_seen_at: number;
  ip: string;
  user_agent: string;
  /** The session of this request. */
  current: boolean;
}

/** Quota of the first root account: 200 USD, so that an own gateway is usable at once. */
export const ROOT_QUOTA = 100_000_000;
