import { Switch as Radix } from "radix-ui";
import { useId, type ComponentProps, type ReactNode } from "react";
import { cn } from "../lib/cn";

/** On or off, at once. */
export function Switch({ className, ...props }: ComponentProps<typeof Radix.Root>) {
  return (
    <Radix.Root
      className={cn(
        "relative inline-flex h-5 w-9 shrink-0 items-center rounded-xl border border-line-control bg-sunken",
        "transition-colors duration-[120ms] before:absolute before:-inset-0.5 before:content-['']",
        "data-[state=checked]:border-accent data-[state=checked]:bg-accent disabled:cursor-not-allowed",
        "disabled:opacity-50 pointer-coarse:before:-inset-2.5",
        className,
      )}
      {...props}
    >
      <Radix.Thumb className="block size-3.5 translate-x-0.5 rounded-xl bg-line-control transition-transform duration-[120ms] data-[state=checked]:translate-x-[18px] data-[state=checked]:bg-on-accent" />
    </Radix.Root>
  );
}

/** A switch with its words beside it. */
export function SwitchField({
  label,
  hint,
  ...props
}: ComponentProps<typeof Switch> & {
  label: ReactNode;
  hint?: ReactNode;
}) {
  const id = useId();
  return (
    <div className="flex min-h-8 items-center justify-between gap-4 pointer-coarse:min-h-10">
      <div>
        <label htmlFor={id} className="font-medium">
          {label}
        </label>
        {hint ? (
          <p id={`${id}-hint`} className="text-xs text-muted">
            {hint}
          </p>
        ) : null}
      </div>
      <Switch id={id} aria-describedby={hint ? `${id}-hint` : undefined} {...props} />
    </div>
  );
}
