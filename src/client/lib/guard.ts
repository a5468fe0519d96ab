import { ROLE } from "../../shared/roles";
import { loginPath } from "./login-path";

/** Who may open a page. */
export type Access = "public" | "user" | "admin" | "root";

const NEEDED: Readonly<Record<Access, number>> = {
  public: ROLE.guest,
  user: ROLE.user,
  admin: ROLE.admin,
  root: ROLE.root,
};

export type Verdict = { kind: "allow" } | { kind: "forbidden" } | { kind: "redirect"; to: string };

/** True when a user with `role` (0: not signed in) may open a page of this access. */
export function mayOpen(access: Access, role: number): boolean {
  return role >= NEEDED[access];
}

/**
 * What happens when a page is opened: strangers go to the login page and come back after it, users without the role see
 * the no-permission page and stay signed in (C-046).
 */
export function judge(
  access: Access,
  user: { role: number } | null,
  at: { pathname: string; search: string },
): Verdict {
  const role = user?.role ?? ROLE.guest;
  if (mayOpen(access, role)) return { kind: "allow" };
  return user ? { kind: "forbidden" } : { kind: "redirect", to: loginPath(at) };
}
