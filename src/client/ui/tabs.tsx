import { Tabs as Radix } from "radix-ui";
import type { ComponentProps } from "react";
import { cn } from "../lib/cn";

export const Tabs = Radix.Root;

export function TabsList({ className, ...props }: ComponentProps<typeof Radix.List>) {
  return <Radix.List className={cn("flex gap-1 overflow-x-auto border-b border-line", className)} {...props} />;
}

export function TabsTrigger({ className, ...props }: ComponentProps<typeof Radix.Trigger>) {
  return (
    <Radix.Trigger
      className={cn(
        "-mb-px h-9 shrink-0 border-b-2 border-transparent px-3 text-sm text-ink-2 hover:text-ink",
        "-outline-offset-2 data-[state=active]:border-accent data-[state=active]:font-medium",
        "data-[state=active]:text-ink pointer-coarse:h-10",
        className,
      )}
      {...props}
    />
  );
}

export function TabsContent({ className, ...props }: ComponentProps<typeof Radix.Content>) {
  return <Radix.Content className={cn("pt-4", className)} {...props} />;
}
