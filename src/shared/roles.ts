import type { Text } from "./text";

/** Roles are numbers on the wire; a check is always "at least". Specification, accounts section 4. */
export const ROLE = { guest: 0, user: 1, admin: 10, root: 100 } as const;
export type Role = (typeof ROLE)[keyof typeof ROLE];

export const ROLE_NAMES: Record<number, Text> = {
  [ROLE.user]: { zh: "普通用户", en: "User" },
  [ROLE.admin]: { zh: "管理员", en: "Administrator" },
  [ROLE.root]: { zh: "超级管理员", en: "Super administrator" },
};

export const USER_STATUS = { active: 1, banned: 2, locked: 3 } as const;

export type UserAction = "read" | "update" | "create" | "enable" | "disable" | "delete" | "promote" | "demote";

interface Standing {
  id: number;
  role: number;
}

/**
 * The hierarchy as one pure function: the server refuses by it, the console hides buttons by it.
 * Answers the code of the refusal (shared/errors.ts), or undefined when the act is allowed.
 * Source: accounts.md section 6. For `create`, target is the account to be made.
 */
export function mayActOn(actor: Standing, target: Standing, action: UserAction) {
  if (actor.role < ROLE.admin) return "forbidden" as const;
  if (target.role === ROLE.root && (action === "disable" || action === "delete" || action === "demote")) {
    return "root_protected" as const;
  }
  if (action === "create") return target.role >= actor.role ? ("role_too_high" as const) : undefined;
  if (actor.role !== ROLE.root && target.role >= actor.role) return "same_or_higher_level" as const;
  if (action === "promote" && actor.role !== ROLE.root) return "promote_needs_root" as const;
  return undefined;
}
