import { Link } from "wouter";
import { useStatus } from "../lib/status";

/** The operator's logo and name; the product's until they are set. */
export function Brand() {
  const status = useStatus();
  return (
    <Link href="/" className="flex min-h-8 min-w-6 items-center gap-2 rounded-md font-semibold text-ink">
      {status.logo ? (
        <img src={status.logo} alt="" className="size-6 rounded-sm object-contain" />
      ) : (
        <svg aria-hidden viewBox="0 0 32 32" className="size-6 shrink-0">
          <rect width="32" height="32" rx="7" fill="var(--accent)" />
          <path
            d="M6 10l4.5 12L16 12l5.5 10L26 10"
            fill="none"
            stroke="var(--on-accent)"
            strokeWidth="3"
            strokeLinecap="round"
            strokeLinejoin="round"
          />
        </svg>
      )}
      <span className="truncate">{status.system_name || "Weir"}</span>
    </Link>
  );
}
