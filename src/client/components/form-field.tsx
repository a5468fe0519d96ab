import { useId, type ComponentProps, type ReactNode } from "react";
import {
  useController,
  type Control,
  type FieldPath,
  type FieldPathValue,
  type FieldValues,
  type RefCallBack,
} from "react-hook-form";
import { errors, errorText, type ErrorCode, type ErrorValues } from "../../shared/errors";
import { cn } from "../lib/cn";
import { currentLanguage } from "../lib/i18n";
import { Label } from "../ui/label";

interface Wiring {
  id: string;
  "aria-labelledby": string;
  "aria-describedby": string | undefined;
  "aria-invalid": boolean | undefined;
}

/** What a field hands to its control. */
export interface FieldParts<T> {
  /** For Input and Textarea: `<Input {...field.input} />`. */
  input: Wiring & {
    name: string;
    ref: RefCallBack;
    value: T;
    onChange: (event: unknown) => void;
    onBlur: () => void;
  };
  /**
   * For controls with `value` and `onValueChange` (Select, Combobox, NumberField …): `<Select {...field.control} />`.
   */
  control: Wiring & { value: T; onValueChange: (value: T) => void };
  value: T;
  setValue: (value: T) => void;
}

type FormFieldProps<V extends FieldValues, N extends FieldPath<V>> = {
  control: Control<V>;
  name: N;
  label: ReactNode;
  hint?: ReactNode;
  required?: boolean;
  /** Fills the placeholders of an error text from shared/errors, such as `{ max: 20 }`. */
  errorValues?: ErrorValues;
  className?: string;
  children: (field: FieldParts<FieldPathValue<V, N>>) => ReactNode;
};

/** A field of a react-hook-form form: label, control, hint and error, wired for assistive technology. */
export function FormField<V extends FieldValues, N extends FieldPath<V>>({
  control,
  name,
  label,
  hint,
  required,
  errorValues,
  className,
  children,
}: FormFieldProps<V, N>) {
  const id = useId();
  const { field, fieldState } = useController({ control, name });
  const error = fieldMessage(fieldState.error?.message, errorValues);
  const wiring: Wiring = {
    id,
    "aria-labelledby": `${id}-label`,
    "aria-describedby": [hint ? `${id}-hint` : "", error ? `${id}-error` : ""].join(" ").trim() || undefined,
    "aria-invalid": error ? true : undefined,
  };

  return (
    <FieldFrame id={id} label={label} hint={hint} error={error} required={required} className={className}>
      {children({
        input: {
          ...wiring,
          name: field.name,
          ref: field.ref,
          value: field.value,
          onChange: field.onChange,
          onBlur: field.onBlur,
        },
        control: { ...wiring, value: field.value, onValueChange: field.onChange },
        value: field.value,
        setValue: field.onChange,
      })}
    </FieldFrame>
  );
}

/** The shared schemas name an error code as their message, so that a form and a call refuse with the same words. */
function fieldMessage(message: string | undefined, values: ErrorValues = {}): string | undefined {
  return message !== undefined && isErrorCode(message) ? errorText(message, values, currentLanguage()) : message;
}

function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(errors, text);
}

/** The frame of a field without react-hook-form; the control carries `id` and the `-hint` and `-error` ids. */
export function FieldFrame({
  id,
  label,
  hint,
  error,
  required,
  className,
  children,
}: {
  id: string;
  label: ReactNode;
  hint?: ReactNode;
  error?: string;
  required?: boolean;
  className?: string;
  children: ReactNode;
}) {
  return (
    <div className={cn("grid grid-cols-[minmax(0,1fr)] content-start gap-1", className)}>
      <Label id={`${id}-label`} htmlFor={id}>
        {label}
        {required ? (
          <span aria-hidden className="ml-0.5 text-red-fg">
            *
          </span>
        ) : null}
      </Label>
      {children}
      {hint ? (
        <div id={`${id}-hint`} className="text-xs text-muted">
          {hint}
        </div>
      ) : null}
      {error ? (
        <p id={`${id}-error`} role="alert" className="text-xs text-red-fg">
          {error}
        </p>
      ) : null}
    </div>
  );
}

/** The fields of a form, one below the other. */
export function FormStack({ className, ...props }: ComponentProps<"div">) {
  return <div className={cn("grid grid-cols-[minmax(0,1fr)] gap-4", className)} {...props} />;
}

/** Fields side by side; below each other on a phone. */
export function FormRow({ className, ...props }: ComponentProps<"div">) {
  return <div className={cn("grid grid-cols-[minmax(0,1fr)] gap-4 sm:grid-cols-2 sm:gap-3", className)} {...props} />;
}
