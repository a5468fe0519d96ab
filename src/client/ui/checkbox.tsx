import { Check, Minus } from "lucide-react";
import { Checkbox as Radix } from "radix-ui";
import { useId, type ComponentProps, type ReactNode } from "react";
import { cn } from "../lib/cn";

/** A box to tick; `checked="indeterminate"` when only some of the items it represents are on. */
export function Checkbox({ className, ...props }: ComponentProps<typeof Radix.Root>) {
  return (
    <Radix.Root
      className={cn(
        // The box is 16 px; the target is 24 (40 for a finger) by the transparent frame around it.
        "group relative inline-flex size-4 shrink-0 items-center justify-center rounded-sm border border-line-control",
        "bg-surface before:absolute before:-inset-1 before:content-[''] pointer-coarse:before:-inset-3",
        "data-[state=checked]:border-accent data-[state=checked]:bg-accent data-[state=checked]:text-on-accent",
        "data-[state=indeterminate]:border-accent data-[state=indeterminate]:bg-accent",
        "data-[state=indeterminate]:text-on-accent disabled:cursor-not-allowed disabled:opacity-50",
        className,
      )}
      {...props}
    >
      <Radix.Indicator>
        {props.checked === "indeterminate" ? (
          <Minus aria-hidden className="size-3" strokeWidth={3} />
        ) : (
          <Check aria-hidden className="size-3" strokeWidth={3} />
        )}
      </Radix.Indicator>
    </Radix.Root>
  );
}

/** A checkbox with its words beside it. */
export function CheckboxField({
  label,
  hint,
  ...props
}: ComponentProps<typeof Checkbox> & {
  label: ReactNode;
  hint?: ReactNode;
}) {
  const id = useId();
  return (
    <div className="flex min-h-6 items-start gap-2 pointer-coarse:min-h-10">
      <Checkbox id={id} aria-describedby={hint ? `${id}-hint` : undefined} className="mt-0.5" {...props} />
      <div>
        <label htmlFor={id}>{label}</label>
        {hint ? (
          <p id={`${id}-hint`} className="text-xs text-muted">
            {hint}
          </p>
        ) : null}
      </div>
    </div>
  );
}
