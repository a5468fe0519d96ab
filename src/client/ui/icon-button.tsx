import type { ReactNode } from "react";
import { cn } from "../lib/cn";
import { Button, type ButtonProps } from "./button";
import { Tooltip } from "./tooltip";

type IconButtonProps = Omit<ButtonProps, "children" | "aria-label" | "asChild"> & {
  /** Says what the button does: its accessible name and its tooltip. */
  label: string;
  /** A key that does the same, shown in the tooltip. */
  shortcut?: string;
  children: ReactNode;
};

/** A square button with an icon; the label is shown on hover and focus. It is nothing on paper. */
export function IconButton({ label, shortcut, className, size, variant = "ghost", ...props }: IconButtonProps) {
  return (
    <Tooltip content={label} shortcut={shortcut}>
      <Button
        variant={variant}
        size={size}
        aria-label={label}
        data-print="hide"
        className={cn("w-8 px-0 pointer-coarse:w-10", size === "sm" && "w-7", className)}
        {...props}
      />
    </Tooltip>
  );
}
