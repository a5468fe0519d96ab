import { Label as Radix } from "radix-ui";
import type { ComponentProps } from "react";
import { cn } from "../lib/cn";

/** The name of a field. */
export function Label({ className, ...props }: ComponentProps<typeof Radix.Root>) {
  return <Radix.Root className={cn("text-sm font-medium text-ink", className)} {...props} />;
}
