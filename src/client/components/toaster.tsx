import { useLingui } from "@lingui/react/macro";
import { useEffect } from "react";
import { toast, Toaster as Sonner } from "sonner";
import { useDarkTheme } from "../lib/theme";
import { showToasts } from "../lib/toast";

const BELOW_BARS = "calc(var(--below-bars, 48px) + 8px)";

/** The stack of toasts, read out politely. */
export default function Toaster() {
  const { t } = useLingui();
  const dark = useDarkTheme();
  // Sonner listens once it is mounted; what is inside is mounted first.
  useEffect(() => showToasts(toast), []);
  return (
    <Sonner
      theme={dark ? "dark" : "light"}
      // The pager is at the bottom, the buttons of a page at the top right: neither is covered.
      position="top-center"
      // Below the top bar, and below the bar of a lost connection while that is there.
      offset={{ top: BELOW_BARS }}
      mobileOffset={{ top: BELOW_BARS }}
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
