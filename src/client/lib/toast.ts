import { t } from "@lingui/core/macro";
import type { toast as Sonner } from "sonner";

/** How long an action can be undone, in milliseconds. */
const UNDO_TIME = 8000;

/** sonner, which the shell does without: components/toasts fetches it once it is wanted. */
let shown: typeof Sonner | null = null;
/** What was said before there was anything to show it with. */
let waiting: ((toast: typeof Sonner) => void)[] = [];
let fetchToaster: (() => void) | null = null;

function show(how: (toast: typeof Sonner) => void): void {
  if (shown) return how(shown);
  waiting.push(how);
  if (fetchToaster) return fetchToaster();
  // The place may appear together with the page that says it; what has no place is not kept for another page.
  setTimeout(() => {
    if (!fetchToaster) waiting = [];
  });
}

/** From now on there is a place for toasts: calls `fetch` while some wait to be shown. Returns how to stop. */
export function onToast(fetch: () => void): () => void {
  fetchToaster = fetch;
  if (waiting.length > 0) fetch();
  return () => {
    fetchToaster = null;
    waiting = [];
  };
}

/** From now on toasts go to `toast`, those that wait first. Returns how to stop: then they wait again. */
export function showToasts(toast: typeof Sonner): () => void {
  shown = toast;
  for (const how of waiting) how(toast);
  waiting = [];
  return () => {
    shown = null;
  };
}

/** A success. A toast with the same `id` replaces the one on screen. */
export function toastSuccess(message: string, options: { id?: string } = {}): void {
  show((toast) => toast.success(message, options));
}

/** An information; the same message is not stacked. A toast with the same `id`, and its button, is replaced. */
export function toastInfo(message: string, options: { id?: string } = {}): void {
  show((toast) => toast.info(message, { id: message, action: undefined, duration: undefined, ...options }));
}

/** Something that takes a while, until a toast with the same `id` replaces it. */
export function toastProgress(message: string, { id, stop }: { id: string; stop: () => void }): void {
  const label = t`停止`;
  show((toast) => toast.loading(message, { id, duration: Infinity, action: { label, onClick: stop } }));
}

/** An error; the same message is not stacked. */
export function toastError(message: string, options: { id?: string } = {}): void {
  show((toast) => toast.error(message, { id: options.id ?? message, duration: 6000 }));
}

/**
 * Says what was done and offers 撤销 for eight seconds, or for `duration` milliseconds. An error of `undo` is shown by
 * the caller's mutation.
 */
export function toastUndo(message: string, undo: () => void, duration = UNDO_TIME): void {
  const label = t`撤销`;
  show((toast) => toast.success(message, { duration, action: { label, onClick: undo } }));
}
