import { OperatorText } from "../components/operator-content/operator-content";
import { useStatus } from "../lib/status";

/** The operator's footer and the version. It comes with the status, cached or fresh; no timer waits for it. */
export function Footer() {
  const status = useStatus();
  const text = (status.footer_html ?? "").trim();
  return (
    <footer
      data-print="hide"
      className="flex min-h-10 flex-wrap items-center justify-between gap-x-4 px-4 py-2 text-xs text-muted sm:px-6"
    >
      {text ? <OperatorText text={text} demote className="content-small min-w-0" /> : <span />}
      <span>{status.version ? `${status.system_name || "Weir"} ${status.version}` : ""}</span>
    </footer>
  );
}
