import type { ComponentProps } from "react";
import { cn } from "../lib/cn";

/** A grey bar in the place and size of what is being loaded. */
export function Skeleton({ className, ...props }: ComponentProps<"div">) {
  return (
    <div aria-hidden data-loading className={cn("h-4 animate-pulse rounded-sm bg-sunken", className)} {...props} />
  );
}
