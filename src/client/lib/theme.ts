import { useSyncExternalStore } from "react";
import { applyTheme, storedTheme, type ThemeChoice } from "./theme-choice";
import { writeStored } from "./storage";

const listeners = new Set<() => void>();
let choice: ThemeChoice = storedTheme();

function notify() {
  applyTheme(choice);
  for (const listener of listeners) listener();
}

/** Chooses a theme, remembers it and shows it at once. */
export function setTheme(next: ThemeChoice): void {
  choice = next;
  writeStored("theme", next);
  notify();
}

/** Follows the system's setting and choices made in other tabs; call once at start. */
export function watchTheme(): void {
  choice = storedTheme();
  notify();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", notify);
  window.addEventListener("storage", (event) => {
    if (event.key !== "theme") return;
    choice = storedTheme();
    notify();
  });
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The user's choice: light, dark, or system (follow the system's setting). */
export function useTheme(): ThemeChoice {
  return useSyncExternalStore(subscribe, () => choice);
}

/** The theme in force, for parts that cannot use CSS variables. */
export function useDarkTheme(): boolean {
  return useSyncExternalStore(subscribe, () => document.documentElement.dataset["theme"] === "dark");
}
