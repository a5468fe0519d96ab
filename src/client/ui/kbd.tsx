import type { ComponentProps } from "react";
import { cn } from "../lib/cn";

/** A key of the keyboard. */
export function Kbd({ className, ...props }: ComponentProps<"kbd">) {
  return (
    <kbd
      className={cn(
        "inline-flex h-5 min-w-5 items-center justify-center rounded-sm border border-line bg-sunken px-1 font-sans text-xs",
        "text-ink-2 pointer-coarse:hidden",
        className,
      )}
      {...props}
    />
  );
}
