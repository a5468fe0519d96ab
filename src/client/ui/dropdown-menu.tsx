import { Check, ChevronRight } from "lucide-react";
import { DropdownMenu as Radix } from "radix-ui";
import type { ComponentProps, ReactNode } from "react";
import { cn } from "../lib/cn";
import { Kbd } from "./kbd";
import { layerRoot } from "./layers";

/**
 * A menu. The page stays readable behind it: hiding it from assistive technology would hide what has the focus next.
 */
export function DropdownMenu({ modal = false, ...props }: ComponentProps<typeof Radix.Root>) {
  return <Radix.Root modal={modal} {...props} />;
}

export const DropdownMenuTrigger = Radix.Trigger;
export const DropdownMenuRadioGroup = Radix.RadioGroup;
export const DropdownMenuSub = Radix.Sub;

/** The list of a menu. */
export function DropdownMenuContent({ className, align = "end", ...props }: ComponentProps<typeof Radix.Content>) {
  return (
    <Radix.Portal container={layerRoot()}>
      <Radix.Content
        align={align}
        sideOffset={4}
        collisionPadding={8}
        className={cn(
          "floating max-h-(--radix-dropdown-menu-content-available-height) min-w-44 overflow-y-auto p-1",
          className,
        )}
        {...props}
      />
    </Radix.Portal>
  );
}

type ItemProps = ComponentProps<typeof Radix.Item> & { icon?: ReactNode; shortcut?: string; danger?: boolean };

/** One action of a menu. */
export function DropdownMenuItem({ icon, shortcut, danger, className, children, ...props }: ItemProps) {
  return (
    <Radix.Item
      className={cn("menu-item [&_svg]:size-4", danger && "text-red-fg data-[highlighted]:bg-red-bg", className)}
      {...props}
    >
      {icon}
      <span className="flex-1">{children}</span>
      {shortcut ? <Kbd>{shortcut}</Kbd> : null}
    </Radix.Item>
  );
}

/** The item that opens a menu beside it; inside DropdownMenuSub. */
export function DropdownMenuSubTrigger({ icon, children }: { icon?: ReactNode; children: ReactNode }) {
  return (
    <Radix.SubTrigger className="menu-item data-[state=open]:bg-accent-soft [&_svg]:size-4">
      {icon}
      <span className="flex-1">{children}</span>
      <ChevronRight aria-hidden className="text-muted" />
    </Radix.SubTrigger>
  );
}

export function DropdownMenuSubContent(props: ComponentProps<typeof Radix.SubContent>) {
  return (
    <Radix.Portal container={layerRoot()}>
      <Radix.SubContent sideOffset={4} collisionPadding={8} className="floating max-w-[90vw] min-w-36 p-1" {...props} />
    </Radix.Portal>
  );
}

/** A choice that can be on or off; the menu stays open. */
export function DropdownMenuCheckboxItem({ children, ...props }: ComponentProps<typeof Radix.CheckboxItem>) {
  return (
    <Radix.CheckboxItem className="menu-item pl-7" onSelect={(event) => event.preventDefault()} {...props}>
      <Radix.ItemIndicator className="absolute left-2">
        <Check aria-hidden className="size-4" />
      </Radix.ItemIndicator>
      {children}
    </Radix.CheckboxItem>
  );
}

/** One of several choices; inside DropdownMenuRadioGroup. */
export function DropdownMenuRadioItem({ children, ...props }: ComponentProps<typeof Radix.RadioItem>) {
  return (
    <Radix.RadioItem className="menu-item pl-7" {...props}>
      <Radix.ItemIndicator className="absolute left-2">
        <Check aria-hidden className="size-4" />
      </Radix.ItemIndicator>
      {children}
    </Radix.RadioItem>
  );
}

export function DropdownMenuLabel(props: ComponentProps<typeof Radix.Label>) {
  return <Radix.Label className="px-2 py-1 text-xs text-muted" {...props} />;
}

export function DropdownMenuSeparator() {
  return <Radix.Separator className="my-1 h-px bg-line" />;
}
