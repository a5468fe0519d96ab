import { useLingui } from "@lingui/react/macro";
import { Braces, Plus, Rows3, X } from "lucide-react";
import { useState } from "react";
import { JsonEditor } from "../../components/json-editor";
import { Button } from "../../ui/button";
import { IconButton } from "../../ui/icon-button";
import { Input } from "../../ui/input";

type MappingEditorProps = {
  /** JSON text of an object; "" is none. */
  value: string;
  onValueChange: (value: string) => void;
  /** Names of the two columns. */
  from: string;
  to: string;
  template: string;
  /** Why one side of a row cannot be; null when it can. */
  check?: (text: string) => string | null;
  id?: string;
  "aria-labelledby"?: string;
  "aria-describedby"?: string;
  "aria-invalid"?: boolean;
};

type Pair = readonly [from: string, to: string];

/** The pairs of a JSON object of texts; null when it is something else, which only the JSON view can show. */
export function pairsOf(json: string): Pair[] | null {
  if (json.trim() === "") return [];
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
    const entries = Object.entries(value);
    const flat = entries.every(([, to]) => typeof to === "string" || typeof to === "number");
    return flat ? entries.map(([from, to]) => [from, String(to)] as const) : null;
  } catch {
    return null;
  }
}

/** The JSON of pairs; rows that are not named yet are left out, none at all is "". */
export function jsonOf(pairs: readonly Pair[]): string {
  const named = pairs.filter(([from]) => from.trim() !== "").map(([from, to]) => [from.trim(), to.trim()]);
  return named.length === 0 ? "" : JSON.stringify(Object.fromEntries(named), null, 2);
}

/** A mapping of names as rows of two columns, or as JSON; both show the same text. */
export function MappingEditor({ value, onValueChange, from, to, template, check, ...wiring }: MappingEditorProps) {
  const { t } = useLingui();
  const [asJson, setAsJson] = useState(false);
  // Rows being typed: they may be incomplete, which JSON cannot say.
  const [typed, setTyped] = useState<{ json: string; pairs: readonly Pair[] }>(() => ({
    json: value,
    pairs: pairsOf(value) ?? [],
  }));
  const stored = pairsOf(value);
  const pairs = typed.json === value ? typed.pairs : (stored ?? []);
  const pretty = JSON.stringify(JSON.parse(template), null, 2);

  const keep = (next: readonly Pair[]) => {
    const json = jsonOf(next);
    setTyped({ json, pairs: next });
    onValueChange(json);
  };
  const edit = (index: number, side: 0 | 1, text: string) =>
    keep(pairs.map((pair, at) => (at !== index ? pair : side === 0 ? [text, pair[1]] : [pair[0], text])));

  const complaint = ([source, target]: Pair, index: number): string | null => {
    const name = source.trim();
    if (name === "") return target.trim() === "" ? null : t`请填写左侧`;
    if (pairs.findIndex(([other]) => other.trim() === name) !== index) return t`重复，以最后一行为准`;
    if (target.trim() === "") return t`请填写右侧`;
    return check?.(name) ?? check?.(target.trim()) ?? null;
  };

  if (asJson || stored === null) {
    return (
      <div role="group" aria-labelledby={wiring["aria-labelledby"]} className="grid gap-1">
        <JsonEditor {...wiring} value={value} onValueChange={onValueChange} rows={5} template={pretty} />
        <Button
          size="sm"
          variant="ghost"
          className="justify-self-start"
          disabled={stored === null}
          onClick={() => setAsJson(false)}
        >
          <Rows3 aria-hidden />
          {t`以表格编辑`}
        </Button>
      </div>
    );
  }

  return (
    <div
      role="group"
      aria-labelledby={wiring["aria-labelledby"]}
      aria-describedby={wiring["aria-describedby"]}
      className="grid gap-1.5"
    >
      {pairs.length > 0 ? (
        <div aria-hidden className="grid grid-cols-[1fr_16px_1fr_32px] gap-1.5 text-xs text-muted">
          <span>{from}</span>
          <span />
          <span>{to}</span>
        </div>
      ) : null}
      {pairs.map((pair, index) => (
        // Rows have no identity of their own; the place is what the user sees.
        <PairRow
          key={index}
          {...{ pair, from, to }}
          row={index + 1}
          problem={complaint(pair, index)}
          onEdit={(side, text) => edit(index, side, text)}
          onRemove={() => keep(pairs.filter((_, at) => at !== index))}
        />
      ))}
      <div className="flex flex-wrap gap-1">
        <Button size="sm" onClick={() => keep([...pairs, ["", ""]])}>
          <Plus aria-hidden />
          {t`添加一行`}
        </Button>
        {pairs.length === 0 ? (
          <Button size="sm" variant="ghost" onClick={() => keep(pairsOf(template) ?? [])}>{t`填入模板`}</Button>
        ) : null}
        <Button size="sm" variant="ghost" onClick={() => setAsJson(true)}>
          <Braces aria-hidden />
          {t`以 JSON 编辑`}
        </Button>
      </div>
    </div>
  );
}

type PairRowProps = {
  pair: Pair;
  from: string;
  to: string;
  /** From 1. */
  row: number;
  problem: string | null;
  onEdit: (side: 0 | 1, text: string) => void;
  onRemove: () => void;
};

function PairRow({ pair, from, to, row, problem, onEdit, onRemove }: PairRowProps) {
  const { t } = useLingui();
  return (
    <div className="grid gap-0.5">
      <div className="grid grid-cols-[1fr_16px_1fr_32px] items-center gap-1.5 pointer-coarse:grid-cols-[1fr_16px_1fr_40px]">
        <Input
          aria-label={t`${from}（第 ${row} 行）`}
          aria-invalid={problem ? true : undefined}
          value={pair[0]}
          onChange={(event) => onEdit(0, event.target.value)}
          className="min-w-0 font-mono text-xs"
        />
        <span aria-hidden className="text-center text-muted">
          →
        </span>
        <Input
          aria-label={t`${to}（第 ${row} 行）`}
          aria-invalid={problem ? true : undefined}
          value={pair[1]}
          onChange={(event) => onEdit(1, event.target.value)}
          className="min-w-0 font-mono text-xs"
        />
        <IconButton label={t`删除第 ${row} 行`} onClick={onRemove}>
          <X />
        </IconButton>
      </div>
      {problem ? (
        <p role="status" className="text-xs text-red-fg">
          {problem}
        </p>
      ) : null}
    </div>
  );
}
