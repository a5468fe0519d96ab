import type { ComponentProps } from "react";
import { cn } from "../lib/cn";

/** One line of text. */
export function Input({ className, type = "text", ...props }: ComponentProps<"input">) {
  return <input type={type} className={cn("control", className)} {...props} />;
}

/** Several lines of text. */
export function Textarea({ className, rows = 4, ...props }: ComponentProps<"textarea">) {
  return <textarea rows={rows} className={cn("control h-auto py-1.5 pointer-coarse:h-auto", className)} {...props} />;
}
