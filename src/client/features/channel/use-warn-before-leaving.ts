import { useEffect } from "react";

/** Asks before the tab is closed while a typed key, which no draft keeps, would be lost. */
export function useWarnBeforeLeaving(enabled: boolean): void {
  useEffect(() => {
    if (!enabled) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", warn);
    return () => window.removeEventListener("beforeunload", warn);
  }, [enabled]);
}
