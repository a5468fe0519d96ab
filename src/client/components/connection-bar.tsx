import { useLingui } from "@lingui/react/macro";
import { CloudOff } from "lucide-react";
import { formatTime } from "../lib/format";
import { useLostConnection } from "../lib/connection";

/** Where it ends, for what lies below it: its text takes three lines on a small screen. */
const END = "--below-bars";
/** The top bar's height. */
const TOP = 48;

/** Keeps its end known while the bar is there. */
function measured(bar: HTMLElement | null) {
  if (!bar) return;
  const { style } = document.documentElement;
  const observer = new ResizeObserver(() => style.setProperty(END, `${TOP + bar.offsetHeight}px`));
  observer.observe(bar);
  return () => {
    observer.disconnect();
    style.removeProperty(END);
  };
}

/** Says that the server cannot be reached, and how old what is shown is. It goes by itself. */
export function ConnectionBar() {
  const { t } = useLingui();
  const lostAt = useLostConnection();
  if (lostAt === null) return null;
  const time = formatTime(lostAt);
  return (
    <div
      ref={measured}
      role="status"
      className="sticky top-12 z-20 flex items-center gap-2 border-b border-line bg-yellow-bg px-4 py-2 text-sm text-yellow-fg"
    >
      <CloudOff aria-hidden className="size-4 shrink-0" />
      {t`无法连接到服务器，正在重试。显示的内容截至 ${time}。`}
    </div>
  );
}
