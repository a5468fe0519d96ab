import { type ComponentType, useEffect, useState } from "react";
import { onToast } from "../lib/toast";

/** A page that is only looked at needs no toast; an act that fails because the connection is gone does. */
const ACTS = ["pointerdown", "keydown"] as const;

/**
 * Where toasts appear (lib/toast). What shows them is fetched at the first toast, or when the user begins
 * to act; if that fails, the toast waits and the next one tries again.
 */
export function Toasts() {
  const [Toaster, setToaster] = useState<ComponentType | null>(null);
  useEffect(() => {
    const fetch = () =>
      void import("./toaster").then(
        (part) => setToaster(() => part.default),
        () => {},
      );
    const stop = onToast(fetch);
    const acts = new AbortController();
    const once = { once: true, capture: true, signal: acts.signal };
    for (const act of ACTS) window.addEventListener(act, fetch, once);
    return () => {
      stop();
      acts.abort();
    };
  }, []);
  return Toaster ? <Toaster /> : null;
}
