/** A text that could not be copied and is to be shown for copying by hand. */
export type ClipboardFallbackListener = (text: string) => void;

let showFallback: ClipboardFallbackListener | null = null;

/** Registers the dialog that shows a text when the clipboard refuses; returns its removal. */
export function onClipboardFailure(listener: ClipboardFallbackListener): () => void {
  showFallback = listener;
  return () => {
    if (showFallback === listener) showFallback = null;
  };
}

/**
 * Puts `text` on the clipboard. False when the browser refused (no permission, page not secure): then the text is shown
 * in a dialog with 无法复制到剪贴板，请手动复制.
 */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Pages served without https have no clipboard API; the old command still works there.
    if (copyBySelection(text)) return true;
    showFallback?.(text);
    return false;
  }
}

function copyBySelection(text: string): boolean {
  if (navigator.clipboard || typeof document.execCommand !== "function") return false;
  const focused = document.activeElement;
  const area = document.createElement("textarea");
  area.value = text;
  area.setAttribute("readonly", "");
  area.className = "sr-only";
  (document.querySelector("[role=dialog]") ?? document.body).append(area);
  area.select();
  let copied = false;
  try {
    copied = document.execCommand("copy");
  } catch {
    copied = false;
  }
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return copied;
}
