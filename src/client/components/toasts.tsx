import { type ComponentType, useEffect, useState } from "react";
import { onToast } from "../lib/toast";

/** By then the page is there; later the connection may be gone, and that needs a toast. In milliseconds. */
const FETCH_AFTER = 2000;

/**
 * Where toasts appear (lib/toast). What shows them is fetched at the first toast, or soon after the page; if that
 * fails, the toast waits and the next one tries again.
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
    const timer = setTimeout(fetch, FETCH_AFTER);
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, []);
  return Toaster ? <Toaster /> : null;
}
