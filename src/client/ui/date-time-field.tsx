import type { ComponentProps } from "react";
import { cn } from "../lib/cn";

type DateTimeFieldProps = Omit<ComponentProps<"input">, "type" | "value" | "defaultValue" | "onChange"> & {
  /** Epoch seconds; null is no time. */
  value: number | null;
  onValueChange: (seconds: number | null) => void;
};

/** A moment in the user's own time zone, to the minute; the browser's own picker, which is good on phones too. */
export function DateTimeField({ value, onValueChange, className, ...props }: DateTimeFieldProps) {
  return (
    <input
      type="datetime-local"
      value={value === null ? "" : toLocalText(value)}
      onChange={(event) => {
        const milliseconds = event.target.value ? new Date(event.target.value).getTime() : Number.NaN;
        onValueChange(Number.isNaN(milliseconds) ? null : Math.floor(milliseconds / 1000));
      }}
      className={cn("control", className)}
      {...props}
    />
  );
}

/** `2026-11-21T09:30` in local time, as the input wants it. */
function toLocalText(seconds: number): string {
  const date = new Date(seconds * 1000);
  const two = (number: number) => String(number).padStart(2, "0");
  const day = `${String(date.getFullYear()).padStart(4, "0")}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}`;
}
