import { AlertDialog as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { layerRoot } from "./layers";

type AlertDialogProps = {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: ReactNode;
  description?: ReactNode;
  /** Shown between the text and the buttons. */
  children?: ReactNode;
  cancel: ReactNode;
  action: ReactNode;
};

/** A question that only its buttons (and Esc) answer; the focus starts on the way out. */
export function AlertDialog({ open, onOpenChange, title, description, children, cancel, action }: AlertDialogProps) {
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal container={layerRoot()}>
        <Radix.Overlay className="fixed inset-0 z-50 bg-overlay data-[state=open]:animate-in data-[state=open]:fade-in" />
        <Radix.Content
          {...(description ? {} : { "aria-describedby": undefined })}
          className="floating fixed top-1/2 left-1/2 grid w-[min(440px,calc(100vw-32px))] -translate-x-1/2 -translate-y-1/2 gap-2 rounded-xl p-5 data-[state=open]:animate-in data-[state=open]:fade-in"
        >
          <Radix.Title className="text-md wrap-anywhere">{title}</Radix.Title>
          {description ? (
            <Radix.Description className="text-base text-ink-2 wrap-anywhere">{description}</Radix.Description>
          ) : null}
          {children}
          <div className="mt-3 flex justify-end gap-2">
            <Radix.Cancel asChild>{cancel}</Radix.Cancel>
            {action}
          </div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
