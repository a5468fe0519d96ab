import { useLingui } from "@lingui/react/macro";
import type { ReactNode } from "react";
import { growthOf, type PriceChange } from "../../../shared/price-import";
import { priceKeys, type PriceNumbers, toDollars } from "../../../shared/price-rows";
import { Badge } from "../../ui/badge";
import { Checkbox } from "../../ui/checkbox";
import { Table, Td, Th } from "../../ui/table";
import { fieldNames } from "./price-fields";

/** Rows that are drawn; all are counted and taken over. */
export const SHOWN = 300;

interface DifferenceTableProps<Change extends PriceChange> {
  label: string;
  changes: readonly Change[];
  chosen: ReadonlySet<string>;
  onChosen: (names: ReadonlySet<string>) => void;
  /** Columns behind the difference. */
  columns?: readonly { header: string; cell: (change: Change) => ReactNode; numeric?: boolean }[];
}

/** Changes of prices, a row each, to be chosen from. */
export function DifferenceTable<Change extends PriceChange>({
  label,
  changes,
  chosen,
  onChosen,
  columns = [],
}: DifferenceTableProps<Change>) {
  const { t } = useLingui();
  const [count, more] = [chosen.size, changes.length - SHOWN];
  const toggle = (name: string) => {
    const next = new Set(chosen);
    if (!next.delete(name)) next.add(name);
    onChosen(next);
  };
  return (
    <>
      <Table wide aria-label={label}>
        <thead>
          <tr>
            <Th className="w-10">
              <Checkbox
                aria-label={t`全选`}
                checked={count === changes.length ? true : count === 0 ? false : "indeterminate"}
                onCheckedChange={(on) => onChosen(on === true ? new Set(changes.map(({ name }) => name)) : new Set())}
              />
            </Th>
            <Th className="whitespace-nowrap">{t`模型`}</Th>
            <Th>{t`现在`}</Th>
            <Th>{t`之后`}</Th>
            <Th>{t`变化`}</Th>
            {columns.map(({ header }) => (
              <Th key={header}>{header}</Th>
            ))}
          </tr>
        </thead>
        <tbody>
          {changes.slice(0, SHOWN).map((change) => (
            <tr key={change.name}>
              <Td>
                <Checkbox
                  aria-label={change.name}
                  checked={chosen.has(change.name)}
                  onCheckedChange={() => toggle(change.name)}
                />
              </Td>
              <Td className="min-w-36 font-mono text-xs wrap-anywhere">{change.name}</Td>
              <Td>
                <Numbers numbers={change.before} other={change.after} />
              </Td>
              <Td>
                <Numbers numbers={change.after} other={change.before} />
              </Td>
              <Td>
                <Growth change={change} />
              </Td>
              {columns.map(({ header, cell, numeric }) => (
                <Td key={header} className={numeric ? "tabular-nums" : "text-muted"}>
                  {cell(change)}
                </Td>
              ))}
            </tr>
          ))}
        </tbody>
      </Table>
      {more > 0 ? <p className="text-muted">{t`另有 ${more} 处未列出，全选时一并应用。`}</p> : null}
    </>
  );
}

/** A price that moves by more than this factor is marked. */
const STEEP = 1.5;

/** The prices of one side that differ from the other's. */
function Numbers({ numbers, other }: { numbers: PriceNumbers; other: PriceNumbers }) {
  const { t } = useLingui();
  const [shown, against] = [toDollars(numbers), toDollars(other)];
  const different = priceKeys.filter((key) => shown[key] !== undefined && shown[key] !== against[key]);
  if (different.length === 0) return <span className="text-muted">—</span>;
  return (
    <span className="flex flex-wrap gap-x-3 tabular-nums">
      {different.map((key) => (
        <span key={key}>
          <span className="text-muted">{key === "ModelPrice" ? t`每次` : t(fieldNames[key].usd)}</span>{" "}
          {`$${shown[key]}`}
        </span>
      ))}
    </span>
  );
}

/** By how much the main price moves. */
function Growth({ change }: { change: PriceChange }) {
  const { t } = useLingui();
  const growth = growthOf(change);
  if (change.kind === "new") return <Badge hue="green">{t`新增`}</Badge>;
  if (growth === undefined || growth === 1) return <Badge>{t`修改`}</Badge>;
  const percent = `${growth > 1 ? "+" : ""}${Math.round((growth - 1) * 100)}%`;
  return <Badge hue={growth > STEEP || growth < 1 / STEEP ? "red" : "blue"}>{percent}</Badge>;
}
