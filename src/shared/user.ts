import * as z from "zod";

/** Specification, accounts section 9. The upper bound is bcrypt's (imported hashes). */
export const USERNAME_MAX = 12;
export const PASSWORD_MIN = 8;
export const PASSWORD_MAX = 72;

export const usernameSchema = z.string().trim().min(1, "credentials_missing").max(USERNAME_MAX, "username_length");
export const passwordSchema = z.string().min(PASSWORD_MIN, "password_too_short").max(PASSWORD_MAX, "password_too_long");

export const loginInput = z.object({
  username: z.string().trim().min(1, "credentials_missing").max(100),
  password: z.string().min(1, "credentials_missing").max(200),
  turnstile: z.string().max(4096).optional(),
});

/** Who the gateway is for; the wizard's three cards (design/console.md A.7). */
export const SETUP_MODES = ["self", "team", "public"] as const;
export type SetupMode = (typeof SETUP_MODES)[number];

export const setupInput = z
  .object({
    username: usernameSchema,
    password: passwordSchema,
    confirmPassword: z.string().optional(),
    SelfUseModeEnabled: z.boolean().default(false),
    DemoSiteEnabled: z.boolean().default(false),
    mode: z.enum(SETUP_MODES).optional(),
    server_address: z.string().max(300).optional(),
    /** Asked for when the caller is not on loopback; printed at start. */
    code: z.string().max(64).default(""),
  })
  .refine((v) => v.confirmPassword === undefined || v.confirmPassword === v.password, "passwords_differ");

/** What a sign-in answers and the console keeps in local storage under `user`. */
export interface SignedInUser {
  id: number;
  username: string;
  display_name: string;
  role: number;
  status: number;
  group: string;
}

/** Quota given to the first root account: 200 USD, so that an own gateway is usable at once. */
export const ROOT_QUOTA = 100_000_000;
