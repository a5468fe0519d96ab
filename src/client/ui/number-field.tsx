import { useEffect, useState, type ComponentProps } from "react";
import { cn } from "../lib/cn";

type NumberFieldProps = Omit<ComponentProps<"input">, "type" | "value" | "defaultValue" | "onChange"> & {
  /** null is an empty field. */
  value: number | null;
  onValueChange: (value: number | null) => void;
  /** Shown inside the field after the number. */
  unit?: string;
};

/**
 * A number. What is being typed ("-", "1.") is kept as text until it is a number, so the caret never jumps; the arrow
 * keys step as in any number field.
 */
export function NumberField({ value, onValueChange, unit, className, onBlur, ...props }: NumberFieldProps) {
  const [text, setText] = useState(value === null ? "" : String(value));

  useEffect(() => {
    setText((current) => (parse(current) === value ? current : value === null ? "" : String(value)));
  }, [value]);

  return (
    <span className="relative block">
      <input
        type="number"
        inputMode="decimal"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          onValueChange(parse(event.target.value));
        }}
        onBlur={(event) => {
          setText(value === null ? "" : String(value));
          onBlur?.(event);
        }}
        // Scrolling the page over a focused number must not change it.
        onWheel={(event) => event.currentTarget.blur()}
        className={cn("control", unit && "pr-14", className)}
        {...props}
      />
      {unit ? (
        <span className="pointer-events-none absolute inset-y-0 right-8 flex items-center text-muted">{unit}</span>
      ) : null}
    </span>
  );
}

function parse(text: string): number | null {
  if (text.trim() === "") return null;
  const number = Number(text);
  return Number.isFinite(number) ? number : null;
}
