import { useLingui } from "@lingui/react/macro";
import { useSyncExternalStore } from "react";
import { formatRelative, formatTime } from "../lib/format";
import { Tooltip } from "../ui/tooltip";

const TICK = 15_000;
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;
let now = Math.floor(Date.now() / 1000);

/** One timer for all times on the page; it stops while none is shown. */
function subscribe(listener: () => void) {
  if (listeners.size === 0) {
    now = Math.floor(Date.now() / 1000);
    timer = setInterval(() => {
      now = Math.floor(Date.now() / 1000);
      for (const each of listeners) each();
    }, TICK);
  }
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) clearInterval(timer);
  };
}

/** The present in epoch seconds, renewed every 15 s. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

/** A moment (epoch seconds) as "3 minutes ago", in full on hover; 0 and null are "never". */
export function TimeAgo({ value, className }: { value: number | null | undefined; className?: string }) {
  const { t } = useLingui();
  const current = useNow();
  if (!value || value < 0) return <span className={className}>{t`从未`}</span>;
  const full = formatTime(value);
  return (
    <Tooltip content={full}>
      <time dateTime={new Date(value * 1000).toISOString()} data-full={full} className={className}>
        {formatRelative(value, Math.max(current, Math.min(value, Math.floor(Date.now() / 1000))))}
      </time>
    </Tooltip>
  );
}
