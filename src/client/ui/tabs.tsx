import { Tabs as Radix } from "radix-ui";
import { type ComponentProps, useLayoutEffect, useRef } from "react";
import { cn } from "../lib/cn";

export const Tabs = Radix.Root;

/** Scrolls where there is no room for all tabs; the active one is always in sight. */
export function TabsList({ className, ...props }: ComponentProps<typeof Radix.List>) {
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const row = list.current;
    if (!row) return undefined;
    showActive(row);
    const watch = new MutationObserver(() => showActive(row));
    watch.observe(row, { subtree: true, attributes: true, attributeFilter: ["data-state"] });
    return () => watch.disconnect();
  }, []);
  return (
    <Radix.List ref={list} className={cn("flex gap-1 overflow-x-auto border-b border-line", className)} {...props} />
  );
}

/** Only the row scrolls: the page stays where it is, as it would not with `scrollIntoView`. */
function showActive(row: HTMLElement): void {
  const active = row.querySelector("[role=tab][data-state=active]")?.getBoundingClientRect();
  const { left, right } = row.getBoundingClientRect();
  if (!active || (active.left >= left && active.right <= right)) return;
  row.scrollLeft += (active.left + active.right - left - right) / 2;
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
