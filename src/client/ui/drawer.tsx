import { useLingui } from "@lingui/react/macro";
import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import { useRef, useState, type KeyboardEvent, type PointerEvent, type ReactNode } from "react";
import { cn } from "../lib/cn";
import { readStored, writeStored } from "../lib/storage";
import { IconButton } from "./icon-button";
import { layerRoot } from "./layers";

const MIN_WIDTH = 400;
const DEFAULT_WIDTH = 560;
const WIDTH_KEY = "drawer-width";

type DrawerProps = {
  open: boolean;
  /** Called with false on Esc, the close button and (when modal) a press outside. */
  onOpenChange: (open: boolean) => void;
  title: ReactNode;
  /** Beside the title: status, switch, test button. */
  headerExtra?: ReactNode;
  /** A bar that stays at the bottom: save, cancel. */
  footer?: ReactNode;
  /** false leaves the list behind it usable; on narrow screens a drawer is always modal. */
  modal?: boolean;
  /** The keys of the page behind it hold in it, too: J and K walk on to the next row. For details, not for forms. */
  pageKeys?: boolean;
  children: ReactNode;
};

/** A panel at the right edge, 560 px wide at first, resizable; the whole screen on a phone. */
export function Drawer({
  open,
  onOpenChange,
  title,
  headerExtra,
  footer,
  modal = true,
  pageKeys,
  children,
}: DrawerProps) {
  const { t } = useLingui();
  const [width, setWidth] = useState(() => clamp(Number(readStored(WIDTH_KEY)) || DEFAULT_WIDTH));
  const isModal = modal || innerWidth < 1280;
  const content = useRef<HTMLDivElement>(null);

  return (
    <Radix.Root open={open} onOpenChange={onOpenChange} modal={isModal}>
      <Radix.Portal container={layerRoot()}>
        {isModal ? (
          <Radix.Overlay className="fixed inset-0 z-40 bg-overlay data-[state=open]:animate-in data-[state=open]:fade-in" />
        ) : null}
        <Radix.Content
          ref={content}
          aria-describedby={undefined}
          // The panel itself takes the focus: the title is read first, and no field opens a phone's keyboard unasked.
          onOpenAutoFocus={(event) => {
            event.preventDefault();
            content.current?.focus();
          }}
          onInteractOutside={(event) => {
            if (!isModal) event.preventDefault();
          }}
          style={{ width }}
          // On paper it stands instead of the page, whole.
          data-print="alone"
          data-page-keys={pageKeys ? "" : undefined}
          className={cn(
            "fixed inset-y-0 right-0 z-40 flex max-w-[100vw] flex-col border-l border-line bg-raised text-sm text-ink",
            // A server that is gone is said above it, too.
            "shadow-overlay outline-none max-sm:top-[var(--below-bars,0px)] max-sm:w-screen! data-[state=open]:animate-in",
            "data-[state=open]:slide-in-from-right-16 data-[state=open]:fade-in data-[state=open]:duration-[180ms]",
            "print:static print:w-full! print:animate-none! print:border-0 print:shadow-none",
          )}
        >
          <ResizeHandle width={width} onWidth={setWidth} label={t`调整面板宽度`} />
          {/* What has no room beside the title gets its own line: the title is what the drawer is about. */}
          <div className="relative flex min-h-12 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line py-1 pr-14 pl-4">
            <Radix.Title className="flex h-10 min-w-36 flex-1 items-center text-md">
              <span className="min-w-0 truncate">{title}</span>
            </Radix.Title>
            {headerExtra ? <div className="flex items-center gap-3">{headerExtra}</div> : null}
            <Radix.Close asChild>
              <IconButton label={t`关闭`} shortcut="Esc" className="absolute top-2 right-3 pointer-coarse:top-1">
                <X />
              </IconButton>
            </Radix.Close>
          </div>
          <div className="min-h-0 flex-1 overflow-y-auto p-4 print:overflow-visible">{children}</div>
          {footer ? (
            <div data-print="hide" className="flex items-center gap-2 border-t border-line px-4 py-3">
              {footer}
            </div>
          ) : null}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

function ResizeHandle({ width, onWidth, label }: { width: number; onWidth: (width: number) => void; label: string }) {
  const keep = (next: number) => {
    onWidth(next);
    writeStored(WIDTH_KEY, String(next));
  };
  const onPointerMove = (event: PointerEvent<HTMLDivElement>) => {
    if (event.currentTarget.hasPointerCapture(event.pointerId)) keep(clamp(innerWidth - event.clientX));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowLeft: 24, ArrowRight: -24 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    keep(clamp(width + step));
  };
  return (
    <div
      role="separator"
      data-print="hide"
      aria-orientation="vertical"
      aria-label={label}
      aria-valuenow={width}
      aria-valuemin={MIN_WIDTH}
      aria-valuemax={1200}
      tabIndex={0}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={onPointerMove}
      onDoubleClick={() => keep(DEFAULT_WIDTH)}
      onKeyDown={onKeyDown}
      className="absolute inset-y-0 -left-1 z-10 w-2 cursor-col-resize touch-none hover:bg-accent/40 focus-visible:bg-accent/60 max-sm:hidden"
    />
  );
}

function clamp(width: number): number {
  return Math.round(Math.max(MIN_WIDTH, Math.min(width, 1200, innerWidth - 80)));
}
