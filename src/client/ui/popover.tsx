import { Popover as Radix } from "radix-ui";
import type { ComponentProps } from "react";
import { cn } from "../lib/cn";
import { layerRoot } from "./layers";

export const Popover = Radix.Root;
export const PopoverTrigger = Radix.Trigger;
export const PopoverAnchor = Radix.Anchor;

/** A small panel beside what opened it; give it an `aria-label`. */
export function PopoverContent({ className, align = "start", ...props }: ComponentProps<typeof Radix.Content>) {
  return (
    <Radix.Portal container={layerRoot()}>
      <Radix.Content
        align={align}
        sideOffset={4}
        collisionPadding={8}
        className={cn("floating max-h-(--radix-popover-content-available-height) overflow-y-auto p-3", className)}
        {...props}
      />
    </Radix.Portal>
  );
}
