/** Second factors: one-time codes with recovery codes, and passkeys. */
import * as z from "zod";

/** Digits of a one-time code, and seconds of its time step (RFC 6238; the default of authenticator apps). */
export const TOTP_DIGITS = 6;
export const TOTP_PERIOD = 30;
export const RECOVERY_CODES = 10;
/** Wrong codes in one sign-in before it must start again. */
export const SECOND_STEP_TRIES = 5;
/** Most passkeys of one account. */
export const PASSKEYS_MAX = 20;
export const PASSKEY_NAME_MAX = 50;

/** A one-time code or a recovery code, as typed: spaces and dashes do not count. */
export const factorCodeInput = z.object({
  code: z
    .string({ error: "factor_code_missing" })
    .max(60)
    .transform((text) => text.replace(/[\s-]/g, "").toLowerCase())
    .pipe(z.string().min(1, "factor_code_missing")),
});

/** Which second factors an account has: one-time codes, and how many passkeys. */
export interface OwnedFactors {
  totp: boolean;
  passkeys: number;
}

/** Purposes of a passkey request: signing in with it alone, the second step of a sign-in, step-up. */
export const PASSKEY_USES = ["sign-in", "second-step", "step-up"] as const;
export type PasskeyUse = (typeof PASSKEY_USES)[number];
export const passkeyBeginInput = z.object({ use: z.enum(PASSKEY_USES) });

const base64url = z
  .string()
  .regex(/^[A-Za-z0-9_-]*$/)
  .max(20_000);
/** The browser's result (w3.org/TR/webauthn-3, RegistrationResponseJSON and AuthenticationResponseJSON). */
const credential = {
  id: base64url,
  rawId: base64url,
  type: z.literal("public-key"),
  clientExtensionResults: z.object({}).default({}),
};
export const passkeyRegisterInput = z.object({
  name: z.string().trim().max(PASSKEY_NAME_MAX).default(""),
  response: z.object({
    ...credential,
    response: z.object({
      clientDataJSON: base64url,
      attestationObject: base64url,
      transports: z.array(z.string().max(40)).max(10).default([]),
    }),
  }),
});
export const passkeyAnswerInput = z.object({
  use: z.enum(PASSKEY_USES),
  response: z.object({
    ...credential,
    response: z.object({
      clientDataJSON: base64url,
      authenticatorData: base64url,
      signature: base64url,
      userHandle: base64url.optional(),
    }),
  }),
});
/** The same two without their envelope, as programs of new-api send them. */
export const passkeyCreated = passkeyRegisterInput.shape.response;
export const passkeyUsed = passkeyAnswerInput.shape.response;

/** `POST /api/verify`: a step-up by a code, or by the passkey that was used just before. */
export const verifyInput = z.object({
  method: z.enum(["2fa", "passkey"]),
  code: z.string().max(60).default(""),
});
export const passkeyRenameInput = z.object({
  id: z.int().positive(),
  name: z.string().trim().min(1).max(PASSKEY_NAME_MAX),
});
export const passkeyIdInput = z.object({ id: z.int().positive() });

export interface PasskeyView {
  id: number;
  name: string;
  /** Synchronised by the device's maker, so that it works on the user's other devices. */
  backed_up: boolean;
  created_at: number;
  /** 0 = never. */
  last_used_at: number;
}

export interface FactorStatus {
  enabled: boolean;
  backup_codes_remaining: number;
  passkeys: PasskeyView[];
}
