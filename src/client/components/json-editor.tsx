import { useLingui } from "@lingui/react/macro";
import { useRef, type UIEvent } from "react";
import { cn } from "../lib/cn";
import { jsonFault } from "../lib/json-fault";
import { Button } from "../ui/button";

type JsonEditorProps = {
  value: string;
  onValueChange: (value: string) => void;
  rows?: number;
  placeholder?: string;
  /** An example that a button fills in when the field is empty. */
  template?: string;
  disabled?: boolean;
  id?: string;
  "aria-label"?: string;
  "aria-labelledby"?: string;
  "aria-describedby"?: string;
  "aria-invalid"?: boolean;
};

/** JSON as text with line numbers; names the line of a syntax error, and formats on demand. Empty is allowed. */
export function JsonEditor({ value, onValueChange, rows = 6, template, disabled, ...props }: JsonEditorProps) {
  const { t } = useLingui();
  const gutter = useRef<HTMLDivElement>(null);
  const fault = value.trim() === "" ? null : jsonFault(value);
  const lines = value.split("\n").length;
  const onScroll = (event: UIEvent<HTMLTextAreaElement>) => {
    if (gutter.current) gutter.current.scrollTop = event.currentTarget.scrollTop;
  };

  return (
    <div className="grid gap-1">
      <div
        className={cn(
          "flex overflow-hidden rounded-md border border-line-control bg-surface focus-within:outline-2",
          "focus-within:outline-offset-2 focus-within:outline-accent",
          (fault || props["aria-invalid"]) && "border-red-solid",
        )}
      >
        <div
          ref={gutter}
          aria-hidden
          className="overflow-hidden bg-sunken py-1.5 text-right font-mono text-xs leading-5 text-muted select-none"
          style={{ height: rows * 20 + 12 }}
        >
          {Array.from({ length: lines }, (_, index) => (
            <div key={index} className={cn("px-2", fault?.line === index + 1 && "bg-red-bg text-red-fg")}>
              {index + 1}
            </div>
          ))}
        </div>
        <textarea
          value={value}
          disabled={disabled}
          spellCheck={false}
          wrap="off"
          onScroll={onScroll}
          onChange={(event) => onValueChange(event.target.value)}
          style={{ height: rows * 20 + 12 }}
          className="min-w-0 flex-1 resize-none bg-transparent px-2 py-1.5 font-mono text-xs leading-5 outline-none"
          {...props}
          aria-invalid={fault ? true : props["aria-invalid"]}
        />
      </div>
      <div className="flex min-h-7 items-center gap-2">
        <p role="status" className="flex-1 text-xs text-red-fg">
          {fault ? t`第 ${fault.line} 行第 ${fault.column} 列：不是合法的 JSON` : ""}
        </p>
        {template && value.trim() === "" ? (
          <Button size="sm" variant="ghost" disabled={disabled} onClick={() => onValueChange(template)}>
            {t`填入模板`}
          </Button>
        ) : (
          <Button
            size="sm"
            variant="ghost"
            disabled={disabled || fault !== null || value.trim() === ""}
            onClick={() => onValueChange(JSON.stringify(JSON.parse(value), null, 2))}
          >
            {t`格式化`}
          </Button>
        )}
      </div>
    </div>
  );
}
