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
    <div className={cn("relative rounded-lg border border-line bg-sunken", className)}>
      <pre
        tabIndex={0}
        aria-label={label}
        className={cn(
          "max-h-96 overflow-auto p-3 pr-12 font-mono text-xs -outline-offset-2",
          wrap ? "whitespace-pre-wrap wrap-anywhere" : "whitespace-pre",
        )}
      >
        <code>{code}</code>
      </pre>
      <CopyButton text={copyText ?? code} className="absolute top-1.5 right-1.5 bg-sunken" />
    </div>
  );
}
