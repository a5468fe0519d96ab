import type { ComponentProps } from "react";
import { cn } from "../lib/cn";

/**
 * A plain table for details and small lists; lists of objects use components/data-grid. `wide` when it may not fit a
 * narrow panel: its scroll area then takes the focus, so that the arrow keys move it.
 */
export function Table({ className, wide, ...props }: ComponentProps<"table"> & { wide?: boolean }) {
  return (
    <div className="w-full overflow-x-auto -outline-offset-2" tabIndex={wide ? 0 : undefined}>
      <table className={cn("w-full border-collapse text-sm", className)} {...props} />
    </div>
  );
}

export function Th({ className, ...props }: ComponentProps<"th">) {
  return (
    <th
      scope="col"
      className={cn("border-b border-line px-3 py-2 text-left text-xs font-medium text-muted", className)}
      {...props}
    />
  );
}

export function Td({ className, ...props }: ComponentProps<"td">) {
  return <td className={cn("border-b border-line px-3 py-2 align-top", className)} {...props} />;
}
