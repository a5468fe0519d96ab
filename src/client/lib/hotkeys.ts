import { useEffect, useLayoutEffect, useRef, useSyncExternalStore } from "react";
import { readStored, writeStored } from "./storage";

/**
 * Keys of a page: a letter ("j"), a sign ("/", "?"), a name ("Enter") or two in a row ("g c"). `mod+k` means Ctrl, or
 * Command on a Mac.
 */
export type Hotkeys = Readonly<Record<string, (event: KeyboardEvent) => void>>;

const KEY = "single-keys";
const SEQUENCE_TIME = 1000;
const listeners = new Set<() => void>();

/** Switches keys without a modifier on or off (WCAG 2.1.4); remembered. */
export function setSingleKeys(on: boolean): void {
  writeStored(KEY, on ? null : "off");
  for (const listener of listeners) listener();
}

/** True unless the user switched keys without a modifier off. */
function singleKeysAreOn(): boolean {
  return readStored(KEY) !== "off";
}

export function useSingleKeys(): boolean {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, singleKeysAreOn);
}

/** True when the key belongs to a field or to an open layer (dialog, menu, list) and not to the page. */
function isTaken(event: KeyboardEvent): boolean {
  const target = event.target;
  if (!(target instanceof Element)) return false;
  if (target.closest("input, textarea, select, [contenteditable=true]")) return true;
  return (
    target.closest("[role=dialog]:not([data-page-keys]), [role=alertdialog], [role=menu], [role=listbox]") !== null
  );
}

/** Enter and Space already mean something on a button or a link. */
function isOwnKey(event: KeyboardEvent): boolean {
  return (
    (event.key === "Enter" || event.key === " ") &&
    event.target instanceof Element &&
    event.target.closest("button, a[href], summary") !== null
  );
}

let pending: { key: string; at: number } | null = null;

/** The first key of a sequence, when it was pressed just now. */
function firstKey(): string | null {
  return pending !== null && performance.now() - pending.at < SEQUENCE_TIME ? pending.key : null;
}

/** Listens to `keys` while the component is there and `enabled`. The latest handlers are used. */
export function useHotkeys(keys: Hotkeys, { enabled = true }: { enabled?: boolean } = {}): void {
  const latest = useRef(keys);
  useLayoutEffect(() => {
    latest.current = keys;
  });

  useEffect(() => {
    if (!enabled) return;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing || event.altKey) return;
      const mod = event.ctrlKey || event.metaKey;
      const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
      const name = mod ? `mod+${key}` : key;
      if (!mod && (isTaken(event) || isOwnKey(event) || (key.length === 1 && !singleKeysAreOn()))) return;
      const first = firstKey();
      const handler = (first && latest.current[`${first} ${name}`]) || (!first && latest.current[name]);
      if (handler) {
        event.preventDefault();
        handler(event);
      }
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, [enabled]);
}

/** Remembers the first key of a sequence such as `g c`; installed once, by the shell. */
export function watchSequences(starters: readonly string[]): () => void {
  const onKeyDown = (event: KeyboardEvent) => {
    const free = !event.ctrlKey && !event.metaKey && !event.altKey && !isTaken(event) && singleKeysAreOn();
    const key = event.key.toLowerCase();
    const starts = free && firstKey() === null && starters.includes(key);
    // Set or cleared only when this event is through, so that every listener sees the same state.
    setTimeout(() => {
      pending = starts ? { key, at: performance.now() } : null;
    });
  };
  window.addEventListener("keydown", onKeyDown);
  return () => window.removeEventListener("keydown", onKeyDown);
}
