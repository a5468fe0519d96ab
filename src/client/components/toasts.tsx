import { useLingui } from "@lingui/react/macro";
import { Toaster } from "sonner";
import { useDarkTheme } from "../lib/theme";

/** Where toasts appear (lib/toast): one stack, read out politely. */
export function Toasts() {
  const { t } = useLingui();
  const dark = useDarkTheme();
  return (
    <Toaster
      theme={dark ? "dark" : "light"}
      // The pager is at the bottom, the buttons of a page at the top right: neither is covered.
      position="top-center"
      offset={{ top: 56 }}
      containerAriaLabel={t`通知`}
      toastOptions={{
        classNames: {
          toast: "floating! bg-raised! text-ink! border-line! gap-2! font-sans!",
          success: "[&_[data-icon]]:text-green-fg",
          error: "[&_[data-icon]]:text-red-fg",
          info: "[&_[data-icon]]:text-blue-fg",
          actionButton: "h-7! bg-accent! text-on-accent!",
        },
      }}
    />
  );
}
