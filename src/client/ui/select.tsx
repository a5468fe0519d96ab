import { Check, ChevronDown } from "lucide-react";
import { Select as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { cn } from "../lib/cn";
import { layerRoot } from "./layers";

export type SelectOption = { value: string; label: ReactNode; hint?: ReactNode; disabled?: boolean };

type SelectProps = {
  value: string | undefined;
  onValueChange: (value: string) => void;
  options: readonly SelectOption[];
  placeholder?: string;
  disabled?: boolean;
  id?: string;
  className?: string;
  "aria-label"?: string;
  "aria-labelledby"?: string;
  "aria-describedby"?: string;
  "aria-invalid"?: boolean;
};

/** One of a few choices. An option's value is never ""; for more than about ten choices use Combobox. */
export function Select({ value, onValueChange, options, placeholder, disabled, className, ...aria }: SelectProps) {
  return (
    <Radix.Root value={value} onValueChange={onValueChange} disabled={disabled}>
      <Radix.Trigger
        className={cn("control inline-flex items-center justify-between gap-2 data-placeholder:text-muted", className)}
        {...aria}
      >
        <span className="truncate">
          <Radix.Value placeholder={placeholder} />
        </span>
        <ChevronDown aria-hidden className="size-4 shrink-0 text-muted" />
      </Radix.Trigger>
      <Radix.Portal container={layerRoot()}>
        <Radix.Content
          position="popper"
          sideOffset={4}
          className="floating max-h-(--radix-select-content-available-height) min-w-(--radix-select-trigger-width) p-1"
        >
          <Radix.Viewport>
            {options.map((option) => (
              <Radix.Item key={option.value} value={option.value} disabled={option.disabled} className="menu-item pr-7">
                <Radix.ItemText>{option.label}</Radix.ItemText>
                {option.hint ? <span className="ml-auto text-xs text-muted">{option.hint}</span> : null}
                <Radix.ItemIndicator className="absolute right-2">
                  <Check aria-hidden className="size-4" />
                </Radix.ItemIndicator>
              </Radix.Item>
            ))}
          </Radix.Viewport>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
