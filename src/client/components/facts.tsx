import type { ReactNode } from "react";
import { cn } from "../lib/cn";

/** A fact of a `dl` in two columns; a wide one takes both. */
export function Fact({ name, wide, children }: { name: string; wide?: boolean; children: ReactNode }) {
  return (
    <div className={cn("min-w-0", wide && "col-span-2")}>
      <dt className="text-xs text-muted">{name}</dt>
      <dd className="mt-0.5 flex min-h-6 items-center">{children}</dd>
    </div>
  );
}

/** A number of a `dl`, with its name above it. */
export function Figure({ label, className, children }: { label: string; className?: string; children: ReactNode }) {
  return (
    <div>
      <dt className="text-xs text-muted">{label}</dt>
      <dd className={cn("text-md tabular-nums", className)}>{children}</dd>
    </div>
  );
}

/** A fact of a `dl` with its name beside it. */
export function FactLine({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0 wrap-anywhere">{children}</dd>
    </>
  );
}
