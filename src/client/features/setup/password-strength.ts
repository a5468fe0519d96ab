import { PASSWORD_MIN } from "../../../shared/user";

/** 0: too short to be accepted; 1 weak, 2 fair, 3 good, 4 strong. */
export type PasswordStrength = 0 | 1 | 2 | 3 | 4;

const KINDS = [/[a-z]/, /[A-Z]/, /[0-9]/, /[^A-Za-z0-9]/];
/** What people type first when asked for eight characters. */
const COMMON = /password|qwerty|123456|abcdef|111111|iloveyou|admin|letmein/i;

/**
 * A rough measure that rewards length first and variety second. It says how a password looks, not how it was chosen:
 * a hint beside the field, never a reason to refuse.
 */
export function passwordStrength(password: string): PasswordStrength {
  if (password.length < PASSWORD_MIN) return 0;
  const kinds = KINDS.filter((kind) => kind.test(password)).length;
  const different = new Set(password).size;
  if (COMMON.test(password) || different < 5) return 1;
  const points = Math.min(password.length, 20) + 2 * kinds;
  if (points >= 22) return 4;
  if (points >= 17) return 3;
  return points >= 12 ? 2 : 1;
}
