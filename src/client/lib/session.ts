import { useSyncExternalStore } from "react";
import { ROLE } from "../../shared/roles";
import { readStoredJson, writeStored } from "./storage";

/** What login answers and is kept as local storage `user`; other fields that the server sends stay with it. */
export interface StoredUser {
  id: number;
  username: string;
  display_name: string;
  role: number;
  status: number;
  group: string;
}

const KEY = "user";
const listeners = new Set<() => void>();
let user: StoredUser | null = readUser();

function isStoredUser(value: unknown): value is StoredUser {
  if (typeof value !== "object" || value === null) return false;
  return "id" in value && typeof value.id === "number" && "role" in value && typeof value.role === "number";
}

function readUser(): StoredUser | null {
  return readStoredJson(KEY, isStoredUser);
}

function set(next: StoredUser | null): void {
  user = next;
  for (const listener of listeners) listener();
}

/** Remembers who is signed in: the whole `data` of the login answer. */
export function storeUser(next: StoredUser): void {
  writeStored(KEY, JSON.stringify(next));
  set(next);
}

/** Forgets who is signed in; the server's session is ended by the logout call, not by this. */
export function clearUser(): void {
  writeStored(KEY, null);
  set(null);
}

/** The signed-in user according to local storage; null when there is none. The server checks each call all the same. */
export function currentUser(): StoredUser | null {
  return user;
}

/** Follows sign-ins and sign-outs in other tabs; call once at start. */
export function watchSession(): void {
  set(readUser());
  window.addEventListener("storage", (event) => {
    if (event.key === KEY || event.key === null) set(readUser());
  });
}

/** Like `currentUser`, for components. */
export function useUser(): StoredUser | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => user,
  );
}

/** True when the signed-in user has at least `role`. */
export function useHasRole(role: number): boolean {
  return (useUser()?.role ?? ROLE.guest) >= role;
}
