import { useLingui } from "@lingui/react/macro";
import { X } from "lucide-react";
import { useId, useState, type ClipboardEvent, type KeyboardEvent } from "react";
import { cn } from "../lib/cn";
import { useListKeys } from "./use-list-keys";

type TokenInputProps = {
  value: readonly string[];
  onValueChange: (value: string[]) => void;
  /** Known values, offered while typing. */
  suggestions?: readonly string[];
  /** false allows only suggested values. */
  freeText?: boolean;
  /** Returns a complaint about one value, or null; values with a complaint are shown in red. */
  validate?: (token: string) => string | null;
  placeholder?: string;
  disabled?: boolean;
  id?: string;
  className?: string;
  "aria-label"?: string;
  "aria-labelledby"?: string;
  "aria-describedby"?: string;
  "aria-invalid"?: boolean;
};

const SHOWN_SUGGESTIONS = 50;

/**
 * A list of short values (models, groups, addresses). Enter and comma add what was typed, a pasted list is split at
 * commas and line breaks, Backspace in the empty field takes the last one away; doubles are dropped.
 */
export function TokenInput({
  value,
  onValueChange,
  suggestions = [],
  freeText = true,
  validate,
  placeholder,
  disabled,
  className,
  id,
  ...aria
}: TokenInputProps) {
  const listId = useId();
  const { text, setText, open, setOpen, offered, list, add, onKeyDown, onPaste } = useTokens({
    value,
    onValueChange,
    suggestions,
    freeText,
  });

  return (
    <div className="relative" onBlur={(event) => !event.currentTarget.contains(event.relatedTarget) && setOpen(false)}>
      <div
        className={cn(
          "control flex h-auto min-h-8 flex-wrap items-center gap-1 p-1 focus-within:outline-2 pointer-coarse:h-auto",
          "focus-within:outline-offset-2 focus-within:outline-accent",
          className,
        )}
      >
        {value.map((token) => (
          <Token
            key={token}
            token={token}
            complaint={validate?.(token) ?? null}
            disabled={disabled}
            onRemove={() => onValueChange(value.filter((other) => other !== token))}
          />
        ))}
        <input
          id={id}
          value={text}
          disabled={disabled}
          role="combobox"
          aria-expanded={open && offered.length > 0}
          aria-controls={open && offered.length > 0 ? listId : undefined}
          aria-activedescendant={open && offered.length > 0 ? `${listId}-${list.active}` : undefined}
          autoComplete="off"
          placeholder={value.length === 0 ? placeholder : undefined}
          onChange={(event) => {
            setText(event.target.value);
            setOpen(true);
            list.setActive(0);
          }}
          onFocus={() => setOpen(suggestions.length > 0)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
          onBlur={() => freeText && text.trim() && add([text])}
          className="h-6 min-w-24 flex-1 bg-transparent px-1.5 outline-none"
          {...aria}
        />
      </div>
      {open && offered.length > 0 ? (
        <Suggestions id={listId} offered={offered} list={list} onChoose={(option) => add([option])} />
      ) : null}
    </div>
  );
}

type TokensOptions = Required<Pick<TokenInputProps, "value" | "onValueChange" | "suggestions" | "freeText">>;

/** The text being typed, the suggestions that match it, and what keys and a paste do with them. */
function useTokens({ value, onValueChange, suggestions, freeText }: TokensOptions) {
  const [text, setText] = useState("");
  const [open, setOpen] = useState(false);
  const needle = text.trim().toLowerCase();
  const offered = suggestions
    .filter((option) => !value.includes(option) && option.toLowerCase().includes(needle))
    .slice(0, SHOWN_SUGGESTIONS);

  const add = (parts: string[]) => {
    const clean = parts.map((part) => part.trim()).filter((part) => part && (freeText || suggestions.includes(part)));
    if (clean.length > 0) onValueChange([...new Set([...value, ...clean])]);
    setText("");
    list.setActive(0);
  };
  const list = useListKeys(offered.length, (index) => {
    const option = offered[index];
    if (option) add([option]);
  });

  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.nativeEvent.isComposing) return;
    const exact = offered.some((option) => option.toLowerCase() === needle);
    if (event.key === "Backspace" && text === "" && value.length > 0) onValueChange(value.slice(0, -1));
    else if (event.key === "Escape" && open) {
      // Only the list closes, not the drawer around it.
      event.stopPropagation();
      setOpen(false);
    } else if ((event.key === "Enter" || event.key === ",") && text.trim() && freeText && (!open || !exact)) {
      event.preventDefault();
      add([text]);
    } else if (event.key === "Enter" && !open) event.preventDefault();
    else if (event.key === "ArrowDown" && !open) setOpen(true);
    else if (open) list.onKeyDown(event);
  };

  const onPaste = (event: ClipboardEvent) => {
    const pasted = event.clipboardData.getData("text");
    if (!/[,，\n]/.test(pasted)) return;
    event.preventDefault();
    add(pasted.split(/[,，\n]/));
  };

  return { text, setText, open, setOpen, offered, list, add, onKeyDown, onPaste };
}

type TokenProps = { token: string; complaint: string | null; disabled: boolean | undefined; onRemove: () => void };

function Token({ token, complaint, disabled, onRemove }: TokenProps) {
  const { t } = useLingui();
  return (
    <span
      title={complaint ?? token}
      className={cn(
        "inline-flex h-6 max-w-full items-center gap-0.5 rounded-sm bg-grey-bg pl-1.5 text-xs text-grey-fg",
        complaint && "bg-red-bg text-red-fg",
      )}
    >
      <span className="truncate">{token}</span>
      <button
        type="button"
        disabled={disabled}
        aria-label={t`移除 ${token}`}
        onClick={onRemove}
        className="inline-flex size-6 items-center justify-center rounded-sm hover:bg-line"
      >
        <X aria-hidden className="size-3" />
      </button>
    </span>
  );
}

type SuggestionsProps = {
  id: string;
  offered: readonly string[];
  list: ReturnType<typeof useListKeys>;
  onChoose: (option: string) => void;
};

function Suggestions({ id, offered, list, onChoose }: SuggestionsProps) {
  const { t } = useLingui();
  return (
    <ul
      id={id}
      role="listbox"
      aria-label={t`建议`}
      ref={list.ref}
      className="floating absolute inset-x-0 top-full mt-1 max-h-64 overflow-y-auto p-1"
    >
      {offered.map((option, index) => (
        <li
          key={option}
          id={`${id}-${index}`}
          role="option"
          aria-selected={false}
          data-highlighted={index === list.active ? "" : undefined}
          onPointerMove={() => list.setActive(index)}
          onPointerDown={(event) => {
            event.preventDefault();
            onChoose(option);
          }}
          className="menu-item"
        >
          {option}
        </li>
      ))}
    </ul>
  );
}
