import { useLingui } from "@lingui/react/macro";
import { useEffect, useRef, useState } from "react";
import { useDarkTheme } from "../../lib/theme";

/**
 * A page of the operator's choice inside the console. It may run scripts in its own origin and open windows, but not
 * navigate the console; it gets theme and language in the messages that existing pages expect.
 */
export function ContentFrame({ address, title }: { address: URL; title: string }) {
  const { i18n } = useLingui();
  const frame = useRef<HTMLIFrameElement>(null);
  const dark = useDarkTheme();
  // A page of our own origin would get out of the sandbox with both permissions.
  const foreign = address.origin !== location.origin;
  const [loaded, setLoaded] = useState(false);
  useEffect(() => {
    // Before that the frame holds an empty page of our own.
    if (!loaded) return;
    const target = foreign ? address.origin : "*";
    frame.current?.contentWindow?.postMessage({ themeMode: dark ? "dark" : "light" }, target);
    frame.current?.contentWindow?.postMessage({ lang: i18n.locale }, target);
  }, [loaded, dark, i18n.locale, foreign, address.origin]);

  return (
    <iframe
      ref={frame}
      src={address.href}
      title={title}
      onLoad={() => setLoaded(true)}
      sandbox={`allow-scripts allow-forms allow-popups allow-popups-to-escape-sandbox${foreign ? " allow-same-origin" : ""}`}
      referrerPolicy="no-referrer"
      className="min-h-[calc(100dvh-88px)] w-full flex-1 border-0 bg-surface"
    />
  );
}
