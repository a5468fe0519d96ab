import { Tooltip as Radix } from "radix-ui";
import type { ReactElement, ReactNode } from "react";
import { Kbd } from "./kbd";
import { layerRoot } from "./layers";

/** Put once around the console; tooltips open after 400 ms and at once when another was just open. */
export function TooltipProvider({ children }: { children: ReactNode }) {
  return (
    <Radix.Provider delayDuration={400} skipDelayDuration={200}>
      {children}
    </Radix.Provider>
  );
}

type TooltipProps = {
  content: ReactNode;
  shortcut?: string;
  side?: "top" | "right" | "bottom" | "left";
  /** One element that can take a ref and the focus. */
  children: ReactElement;
};

/** A hint for what has the pointer or the focus; never the only place of an information. */
export function Tooltip({ content, shortcut, side = "top", children }: TooltipProps) {
  if (!content) return children;
  return (
    <Radix.Root>
      <Radix.Trigger asChild>{children}</Radix.Trigger>
      <Radix.Portal container={layerRoot()}>
        <Radix.Content
          side={side}
          sideOffset={6}
          collisionPadding={8}
          className="pointer-events-none z-[60] max-w-80 rounded-md bg-ink px-2 py-1 text-xs text-canvas wrap-anywhere"
        >
          {content}
          {shortcut ? <Kbd className="ml-2 border-muted bg-transparent text-canvas">{shortcut}</Kbd> : null}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
