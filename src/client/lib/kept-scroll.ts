/** Where lists were scrolled to, so that Back and Forward lead to what was seen there. */
import { type RefObject, useLayoutEffect, useRef } from "react";

interface Scrolled {
  /** Of the list's own scroll area. */
  top: number;
  left: number;
  /** Of the window. */
  page: number;
}

const MOST = 50;
const kept = new Map<string, Scrolled>();

let traversed = false;
// wouter makes events of the calls (its use-browser-location.js); only the reader's Back and Forward are popstate.
addEventListener("popstate", () => (traversed = true));
addEventListener("pushState", () => (traversed = false));

/** Whether Back or Forward led to the page that is shown. */
export const cameBack = (): boolean => traversed;

/**
 * Remembers under `key` how far `area` and the window are scrolled, and scrolls there again when Back or Forward leads
 * to the list and its rows are `ready`.
 */
export function useKeptScroll(area: RefObject<HTMLElement | null>, key: string, ready: boolean): void {
  const place = `${location.pathname} ${key}`;
  const restored = useRef(false);

  useLayoutEffect(() => {
    if (!ready || restored.current) return;
    restored.current = true;
    const last = kept.get(place);
    if (!last || !traversed) return;
    area.current?.scrollTo(last.left, last.top);
    scrollTo(0, last.page);
  }, [area, place, ready]);

  useLayoutEffect(() => {
    if (!ready) return undefined;
    const element = area.current;
    const note = () => {
      kept.delete(place);
      kept.set(place, { top: element?.scrollTop ?? 0, left: element?.scrollLeft ?? 0, page: scrollY });
      const oldest = kept.size > MOST ? kept.keys().next().value : undefined;
      if (oldest !== undefined) kept.delete(oldest);
    };
    // Scrolling does not bubble; while this page is left, the next one's must not be taken for it.
    const noteOwn = () => element?.isConnected && note();
    element?.addEventListener("scroll", note, { passive: true });
    addEventListener("scroll", noteOwn, { passive: true });
    return () => {
      element?.removeEventListener("scroll", note);
      removeEventListener("scroll", noteOwn);
    };
  }, [area, place, ready]);
}
