import { useEffect, useLayoutEffect, useRef, useSyncExternalStore } from "react";
import { tinykeys } from "tinykeys";
import { readStored, writeStored } from "./storage";

/**
 * Keys of a page, as tinykeys writes them: a letter ("j"), a sign ("[Shift]+?"), a name ("Enter") or two in a row
 * ("g c"). `$mod+k` means Ctrl, or Command on a Mac.
 */
export type Hotkeys = Readonly<Record<string, (event: KeyboardEvent) => void>>;

const KEY = "single-keys";
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

function isIgnored(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.isComposing || event.altKey) return true;
  if (event.ctrlKey || event.metaKey) return false;
  return isTaken(event) || isOwnKey(event) || (event.key.length === 1 && !singleKeysAreOn());
}

/** The keys of every component that is there, latest handlers. */
const mounted = new Set<{ current: Hotkeys }>();
let stop = (): void => undefined;

/**
 * One listener for all of them, so that the second key of a sequence is not taken for a key of its own by another
 * component; sequences come first.
 */
function listen(): void {
  stop();
  const names = [...new Set([...mounted].flatMap((keys) => Object.keys(keys.current)))];
  const inOrder = names.toSorted((a, b) => b.split(" ").length - a.split(" ").length);
  const run = (name: string) => (event: KeyboardEvent) => {
    event.preventDefault();
    for (const keys of mounted) keys.current[name]?.(event);
  };
  stop = tinykeys(window, Object.fromEntries(inOrder.map((name) => [name, run(name)])), { ignore: isIgnored });
}

/** Listens to `keys` while the component is there. The latest handlers are used. */
export function useHotkeys(keys: Hotkeys): void {
  const latest = useRef(keys);
  useLayoutEffect(() => {
    latest.current = keys;
  });

  const names = Object.keys(keys).join("\n");
  useEffect(() => {
    mounted.add(latest);
    listen();
    return () => {
      mounted.delete(latest);
      listen();
    };
  }, [names]);
}
