import type { ComponentProps, ReactNode } from "react";
import { cn } from "../lib/cn";

/** The hues that say a state; see components/status.ts for what they mean where. */
export type Hue = "green" | "lime" | "yellow" | "orange" | "red" | "blue" | "grey" | "violet";

const styles: Readonly<Record<Hue, string>> = {
  green: "bg-green-bg text-green-fg",
  lime: "bg-lime-bg text-lime-fg",
  yellow: "bg-yellow-bg text-yellow-fg",
  orange: "bg-orange-bg text-orange-fg",
  red: "bg-red-bg text-red-fg",
  blue: "bg-blue-bg text-blue-fg",
  grey: "bg-grey-bg text-grey-fg",
  violet: "bg-violet-bg text-violet-fg",
};

type BadgeProps = ComponentProps<"span"> & { hue?: Hue; icon?: ReactNode };

/** A short word on a tint. Colour never stands alone: give an icon or a word that says the same. */
export function Badge({ hue = "grey", icon, className, children, ...props }: BadgeProps) {
  return (
    <span
      data-badge=""
      className={cn(
        "inline-flex h-5 max-w-full align-middle items-center gap-1 rounded-sm px-1.5 text-xs normal-nums whitespace-nowrap [&_svg]:size-3",
        "[&_svg]:shrink-0",
        styles[hue],
        className,
      )}
      {...props}
    >
      {icon}
      <span className="truncate">{children}</span>
    </span>
  );
}
