import { useCallback, useSyncExternalStore } from "react";

/** Whether a media query holds, live. */
export function useMedia(query: string): boolean {
  const subscribe = useCallback(
    (listener: () => void) => {
      const list = matchMedia(query);
      list.addEventListener("change", listener);
      return () => list.removeEventListener("change", listener);
    },
    [query],
  );
  return useSyncExternalStore(subscribe, () => matchMedia(query).matches);
}

/** Narrower than 640 px: lists become cards. */
export function usePhone(): boolean {
  return useMedia("(max-width: 639.98px)");
}
