import { t } from "@lingui/core/macro";
import { toast } from "sonner";

/** How long an action can be undone, in milliseconds. */
const UNDO_TIME = 8000;

/** A success. A toast with the same `id` replaces the one on screen. */
export function toastSuccess(message: string, options: { id?: string } = {}): void {
  toast.success(message, options);
}

/** An information. */
export function toastInfo(message: string, options: { id?: string } = {}): void {
  toast.info(message, options);
}

/** An error; the same message is not stacked. */
export function toastError(message: string, options: { id?: string } = {}): void {
  toast.error(message, { id: options.id ?? message, duration: 6000 });
}

/**
 * Says what was done and offers 撤销 for eight seconds, or for `duration` milliseconds. An error of `undo` is shown by
 * the caller's mutation.
 */
export function toastUndo(message: string, undo: () => void, duration = UNDO_TIME): void {
  toast.success(message, { duration, action: { label: t`撤销`, onClick: undo } });
}
