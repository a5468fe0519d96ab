import { cva, type VariantProps } from "class-variance-authority";
import { Slot } from "radix-ui";
import type { ComponentProps } from "react";
import { cn } from "../lib/cn";
import { Spinner } from "./spinner";

export const buttonStyle = cva(
  `inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md border text-sm font-medium whitespace-nowrap
   transition-colors duration-[120ms] select-none disabled:cursor-not-allowed disabled:opacity-50
   aria-disabled:cursor-not-allowed aria-disabled:opacity-50 [&_svg]:size-4 [&_svg]:shrink-0`,
  {
    variants: {
      variant: {
        primary: "border-transparent bg-accent text-on-accent hover:bg-accent/90",
        secondary: "border-line-control bg-surface text-ink hover:bg-sunken",
        ghost: "border-transparent bg-transparent text-ink-2 hover:bg-sunken hover:text-ink",
        danger: "border-transparent bg-red-fg text-surface hover:opacity-90",
        link: "h-auto! border-transparent px-0! text-accent-text hover:underline",
      },
      size: {
        sm: "h-7 px-2 pointer-coarse:h-10",
        md: "h-8 px-3 pointer-coarse:h-10",
        lg: "h-10 px-4 text-base",
      },
    },
    defaultVariants: { variant: "secondary", size: "md" },
  },
);

export type ButtonProps = ComponentProps<"button"> &
  VariantProps<typeof buttonStyle> & {
    /** Renders the child (a link, say) with the look of a button. */
    asChild?: boolean;
    /** Shows a spinner and refuses clicks; the button keeps the focus. */
    loading?: boolean;
  };

/** A button; `type="button"` unless said otherwise, so that it never submits a form by accident. */
export function Button({ variant, size, asChild, loading, className, children, onClick, ...props }: ButtonProps) {
  const style = cn(buttonStyle({ variant, size }), className);
  if (asChild) {
    return (
      <Slot.Root className={style} onClick={onClick} {...props}>
        {children}
      </Slot.Root>
    );
  }
  return (
    <button
      type="button"
      className={style}
      aria-disabled={loading || undefined}
      aria-busy={loading || undefined}
      onClick={loading ? (event) => event.preventDefault() : onClick}
      {...props}
    >
      {loading ? <Spinner /> : null}
      {children}
    </button>
  );
}
