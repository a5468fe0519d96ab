import { ChevronRight } from "lucide-react";
import { Collapsible as Radix } from "radix-ui";
import type { ReactNode } from "react";

/** A section that can be opened; closed at first unless `defaultOpen`. */
export function Collapsible({
  title,
  defaultOpen,
  open,
  onOpenChange,
  children,
}: {
  title: ReactNode;
  defaultOpen?: boolean;
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
  children: ReactNode;
}) {
  return (
    <Radix.Root defaultOpen={defaultOpen} open={open} onOpenChange={onOpenChange}>
      <Radix.Trigger className="group flex min-h-8 w-full items-center gap-1.5 rounded-md text-left font-medium pointer-coarse:min-h-10">
        <ChevronRight
          aria-hidden
          className="size-4 text-muted transition-transform duration-[120ms] group-data-[state=open]:rotate-90"
        />
        {title}
      </Radix.Trigger>
      <Radix.Content className="pt-2 pl-5.5">{children}</Radix.Content>
    </Radix.Root>
  );
}
