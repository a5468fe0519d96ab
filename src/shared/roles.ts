/** Roles are numbers on the wire; a check is always "at least". */
export const ROLE = { guest: 0, user: 1, admin: 10, root: 100 } as const;

/** 3 is "deleted" in imports from older systems: banned everywhere, and left only by delete (D-32). */
export const USER_STATUS = { active: 1, banned: 2, locked: 3 } as const;

/** `POST /api/user/manage` knows these five. */
export const MANAGE_ACTIONS = ["promote", "demote", "enable", "disable", "delete"] as const;
export type ManageAction = (typeof MANAGE_ACTIONS)[number];

/** `read` is also the export of a user's data; `erase` removes personal data for ever. */
export const USER_ACTIONS = ["read", "create", "update", ...MANAGE_ACTIONS, "erase"] as const;
export type UserAction = (typeof USER_ACTIONS)[number];

export interface Standing {
  id: number;
  role: number;
}

/** The account that is acted on; for `create` the new one. */
export interface Target extends Standing {
  /** Active when absent. */
  status?: number;
  deleted?: boolean;
}

/**
 * The hierarchy as one pure function: the server refuses by it, the console disables menu items by it. Returns the code
 * of the refusal (shared/errors.ts), or undefined when the act is allowed. Specification, D-32 to D-34,
 * D-54, D-55.
 */
export function mayActOn(actor: Standing, target: Target, action: UserAction) {
  if (actor.role < ROLE.admin) return "forbidden" as const;
  if (action === "create") return target.role >= actor.role ? ("role_too_high" as const) : undefined;
  if (action === "read") {
    const allowed = actor.id === target.id || actor.role >= ROLE.root || target.role < actor.role;
    return allowed ? undefined : ("same_or_higher_level" as const);
  }
  if (target.role >= ROLE.root && (action === "disable" || action === "delete" || action === "demote")) {
    return "root_protected" as const;
  }
  if (target.role >= actor.role) return "same_or_higher_level" as const;
  if (action === "promote" && actor.role < ROLE.root) return "promote_needs_root" as const;
  if (action === "erase") return actor.role < ROLE.root ? ("forbidden" as const) : undefined;
  return unfit(target, action);
}

/** The error of an act that would change nothing, or revert what cannot be reverted. */
function unfit({ role, status = USER_STATUS.active, deleted = false }: Target, action: UserAction) {
  if (deleted) return "user_deleted" as const;
  if (action === "promote" && role >= ROLE.admin) return "user_already_admin" as const;
  if (action === "demote" && role < ROLE.admin) return "user_already_ordinary" as const;
  if (action === "enable" && status === USER_STATUS.active) return "user_already_enabled" as const;
  if (action === "disable" && status === USER_STATUS.banned) return "user_already_disabled" as const;
  if ((action === "enable" || action === "disable") && status === USER_STATUS.locked) return "user_locked" as const;
  return undefined;
}
