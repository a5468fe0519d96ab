import { Progress as Radix } from "radix-ui";
import { cn } from "../lib/cn";
import type { Hue } from "./badge";

const fill: Readonly<Record<Hue, string>> = {
  green: "bg-green-solid",
  lime: "bg-lime-solid",
  yellow: "bg-yellow-solid",
  orange: "bg-orange-solid",
  red: "bg-red-solid",
  blue: "bg-blue-solid",
  grey: "bg-grey-solid",
  violet: "bg-violet-solid",
};

/** A share of a whole; `value` from 0 to 100, null when it is not known. */
export function Progress({
  value,
  label,
  hue = "violet",
  className,
}: {
  value: number | null;
  label: string;
  hue?: Hue;
  className?: string;
}) {
  const shown = value === null ? null : Math.max(0, Math.min(100, value));
  return (
    <Radix.Root
      value={shown}
      aria-label={label}
      className={cn("relative h-1.5 w-full overflow-hidden rounded-sm bg-sunken", className)}
    >
      <Radix.Indicator
        className={cn("h-full transition-[width] duration-[180ms]", fill[hue], shown === null && "w-1/3 animate-pulse")}
        style={shown === null ? undefined : { width: `${shown}%` }}
      />
    </Radix.Root>
  );
}
