import { LoaderCircle } from "lucide-react";
import { cn } from "../lib/cn";

/** Something is going on; put the words beside it. */
export function Spinner({ className }: { className?: string }) {
  return <LoaderCircle aria-hidden className={cn("size-4 animate-spin", className)} />;
}
