import { cn } from "../lib/cn";
import { CopyButton } from "./copy-button";

/**
 * Code or data in fixed-width letters with a copy button. `copyText` is what lands on the clipboard when it differs
 * from what is shown (a masked key).
 */
export function CodeBlock({
  code,
  copyText,
  label,
  wrap,
  className,
}: {
  code: string;
  copyText?: string;
  /** Says what the code is. */
  label: string;
  wrap?: boolean;
  className?: string;
}) {
  return (
    <div className={cn("flex items-start gap-1 rounded-lg border border-line bg-sunken", className)}>
      <pre
        tabIndex={0}
        aria-label={label}
        className={cn(
          "max-h-96 min-w-0 flex-1 overflow-auto p-3 font-mono text-xs -outline-offset-2 print:max-h-none print:overflow-visible",
          wrap ? "whitespace-pre-wrap wrap-anywhere" : "whitespace-pre",
        )}
      >
        <code>{code}</code>
      </pre>
      <CopyButton text={copyText ?? code} className="m-1.5 ml-0 shrink-0" />
    </div>
  );
}
