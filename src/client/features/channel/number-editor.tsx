import { useLingui } from "@lingui/react/macro";
import { Check, X } from "lucide-react";
import { useEffect, useId, useRef, useState } from "react";
import { IconButton } from "../../ui/icon-button";
import { Input } from "../../ui/input";
import { useChannelActions } from "./channel-actions";
import { readRoutingNumber, type RoutingField } from "./channel-numbers";
import { channelsOf, type ListRow } from "./channel-rows";

/** The field behind a figure of the list. Only Enter and the tick save. */
export default function NumberEditor({
  row,
  field,
  label,
  start,
  onClose,
}: {
  row: ListRow;
  field: RoutingField;
  label: string;
  start: number | undefined;
  onClose: () => void;
}) {
  const { t } = useLingui();
  const id = useId();
  const actions = useChannelActions();
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(start === undefined ? "" : String(start));
  const [problem, setProblem] = useState<string | null>(null);
  const count = channelsOf(row).length;
  // Once: a ref function runs again at each render, that is at each key, and the next key would replace what was typed.
  useEffect(() => {
    input.current?.focus();
    input.current?.select();
  }, []);

  const save = () => {
    const read = readRoutingNumber(field, text);
    if ("problem" in read) {
      setProblem(read.problem);
      return;
    }
    onClose();
    if (read.value !== start) void actions.setNumber(row, field, read.value);
  };

  return (
    <form
      noValidate
      className="grid gap-1.5"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <label htmlFor={id} className="text-xs text-ink-2">
        {label}
        {row.kind === "tag" ? <span className="ml-1 text-muted">{t`应用到 ${count} 个渠道`}</span> : null}
      </label>
      <div className="flex items-center gap-1">
        <Input
          id={id}
          ref={input}
          inputMode="numeric"
          autoComplete="off"
          value={text}
          aria-invalid={problem ? true : undefined}
          aria-describedby={problem ? `${id}-error` : undefined}
          onChange={(event) => {
            setText(event.target.value);
            setProblem(null);
          }}
          className="min-w-0 flex-1 tabular-nums"
        />
        <IconButton type="submit" label={t`保存`} variant="primary">
          <Check />
        </IconButton>
        <IconButton label={t`取消`} onClick={onClose}>
          <X />
        </IconButton>
      </div>
      {problem ? (
        <p id={`${id}-error`} role="alert" className="text-xs text-red-fg">
          {problem}
        </p>
      ) : null}
    </form>
  );
}
