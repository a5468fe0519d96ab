import { useLingui } from "@lingui/react/macro";
import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import { useRef, type ReactNode } from "react";
import { cn } from "../lib/cn";
import { IconButton } from "./icon-button";
import { layerRoot } from "./layers";

type DialogProps = {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: ReactNode;
  description?: ReactNode;
  /** Buttons, right aligned. */
  footer?: ReactNode;
  className?: string;
  children?: ReactNode;
};

/** A window over the page that must be answered or closed. */
export function Dialog({ open, onOpenChange, title, description, footer, className, children }: DialogProps) {
  const { t } = useLingui();
  const content = useRef<HTMLDivElement>(null);
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal container={layerRoot()}>
        <Radix.Overlay className="fixed inset-0 z-50 bg-overlay data-[state=open]:animate-in data-[state=open]:fade-in" />
        <Radix.Content
          ref={content}
          // The window takes the focus itself unless a field in it asked for it: its title is read, no tooltip pops up.
          onOpenAutoFocus={(event) => {
            event.preventDefault();
            content.current?.focus();
          }}
          {...(description ? {} : { "aria-describedby": undefined })}
          className={cn(
            "floating fixed top-1/2 left-1/2 flex max-h-[calc(100dvh-32px)] w-[min(480px,calc(100vw-32px))] -translate-x-1/2",
            "-translate-y-1/2 flex-col rounded-xl outline-none data-[state=open]:animate-in data-[state=open]:fade-in",
            className,
          )}
        >
          <div className="flex items-start justify-between gap-2 px-5 pt-4">
            <Radix.Title className="text-md">{title}</Radix.Title>
            <Radix.Close asChild>
              <IconButton label={t`关闭`} className="-mt-1 -mr-2">
                <X />
              </IconButton>
            </Radix.Close>
          </div>
          <div className="overflow-y-auto px-5 pt-1 pb-4">
            {description ? <Radix.Description className="text-ink-2">{description}</Radix.Description> : null}
            {children}
          </div>
          {footer ? <div className="flex justify-end gap-2 border-t border-line px-5 py-3">{footer}</div> : null}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
