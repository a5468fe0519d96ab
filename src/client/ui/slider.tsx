import type { ComponentProps } from "react";
import { cn } from "../lib/cn";

type SliderProps = Omit<ComponentProps<"input">, "type" | "value" | "defaultValue" | "onChange"> & {
  value: number;
  onValueChange: (value: number) => void;
};

/** A number between two ends, by pointer or arrow keys: the browser's own range control. */
export function Slider({ value, onValueChange, className, ...props }: SliderProps) {
  return (
    <input
      type="range"
      value={value}
      onChange={(event) => onValueChange(event.target.valueAsNumber)}
      className={cn("h-6 w-full cursor-pointer accent-accent pointer-coarse:h-10", className)}
      {...props}
    />
  );
}
