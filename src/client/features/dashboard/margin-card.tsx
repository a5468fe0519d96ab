import { useLingui } from "@lingui/react/macro";
import { keepPreviousData } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { useState } from "react";
import type { Dimension, MarginItem } from "../../../shared/dashboard";
import { csvText, downloadText } from "../../lib/download";
import { quotaPerUnit } from "../../lib/status";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Card, CardBody, CardHeader } from "../../ui/card";
import { Checkbox } from "../../ui/checkbox";
import { Table, Td, Th } from "../../ui/table";
import type { Range } from "./dashboard-range";
import { useDashboardWords } from "./measure";

/** Rows that are drawn; the file has all. */
const SHOWN = 20;

type Sums = Pick<MarginItem, "quota" | "costed_quota" | "upstream_cost">;

/** Dollars that the costed calls brought, cost and earned; `share`: of what they brought. */
function figures({ quota, costed_quota, upstream_cost }: Sums) {
  const [earned, cost] = [costed_quota / quotaPerUnit(), upstream_cost / 1e9];
  return {
    charged: quota / quotaPerUnit(),
    earned,
    cost,
    margin: earned - cost,
    share: earned > 0 ? 1 - cost / earned : null,
  };
}

const dollars = (usd: number): string => `${usd < 0 ? "-" : ""}$${Math.abs(usd).toFixed(Math.abs(usd) < 1 ? 4 : 2)}`;
const percent = (share: number | null): string => (share === null ? "—" : `${(share * 100).toFixed(1)}%`);

/** What calls brought and what their upstreams took, by item or by day. Only calls whose cost is known are compared. */
export function MarginCard({ range, group_by }: { range: Range; group_by: Dimension }) {
  const { t } = useLingui();
  const words = useDashboardWords();
  const [byDay, setByDay] = useState(false);
  const query = trpc.dashboard.margin.useQuery(
    { start_timestamp: range.start, end_timestamp: range.end, group_by: byDay ? "day" : group_by },
    { placeholderData: keepPreviousData, meta: { quiet: true } },
  );
  const view = query.data;
  // Nothing to say where no call's cost is known.
  if (!view || view.totals.costed_quota === 0) return null;
  const total = figures(view.totals);
  const known = percent(view.totals.quota > 0 ? view.totals.costed_quota / view.totals.quota : null);
  const first = byDay ? t`日期（UTC）` : words.dimensions[group_by];
  const nameOf = (item: MarginItem): string =>
    byDay ? item.key : item.label || (item.key === "" ? t`（无）` : `#${item.key}`);
  const more = view.items.length - SHOWN;
  const download = () => {
    const head = [first, "charged_usd", "costed_usd", "cost_usd", "margin_usd"];
    const rows = view.items.map((item) => {
      const { charged, earned, cost, margin } = figures(item);
      return [nameOf(item), charged, earned, cost, margin];
    });
    downloadText("margin.csv", csvText([head, ...rows]), "text/csv");
  };
  return (
    <Card>
      <CardHeader
        title={t`成本与利润`}
        description={t`收入中 ${known} 的成本已知，利润只按这部分计算`}
        actions={
          <>
            <label className="flex items-center gap-2">
              <Checkbox checked={byDay} onCheckedChange={(on) => setByDay(on === true)} />
              {t`按天`}
            </label>
            <Button size="sm" onClick={download}>
              <Download aria-hidden />
              CSV
            </Button>
          </>
        }
      />
      <CardBody>
        <Table wide aria-label={t`成本与利润`}>
          <thead>
            <tr>
              <Th>{first}</Th>
              <Th className="text-right">{t`收入`}</Th>
              <Th className="text-right">{t`成本`}</Th>
              <Th className="text-right">{t`利润`}</Th>
              <Th className="text-right">{t`利润率`}</Th>
            </tr>
          </thead>
          <tbody>
            {view.items.slice(0, SHOWN).map((item) => (
              <Line key={`${item.key} ${item.owner}`} name={nameOf(item)} sums={item} />
            ))}
          </tbody>
          <tfoot>
            <tr className="font-medium">
              <Td>{t`合计`}</Td>
              <Td className="text-right tabular-nums">{dollars(total.earned)}</Td>
              <Td className="text-right tabular-nums">{dollars(total.cost)}</Td>
              <Td className="text-right tabular-nums">{dollars(total.margin)}</Td>
              <Td className="text-right tabular-nums">{percent(total.share)}</Td>
            </tr>
          </tfoot>
        </Table>
        {more > 0 ? <p className="mt-2 text-muted">{t`另有 ${more} 行，CSV 中包含全部。`}</p> : null}
      </CardBody>
    </Card>
  );
}

function Line({ name, sums }: { name: string; sums: Sums }) {
  const { earned, cost, margin, share } = figures(sums);
  const isKnown = sums.costed_quota !== 0 || sums.upstream_cost !== 0;
  return (
    <tr>
      <Td className="wrap-anywhere">{name}</Td>
      <Td className="text-right tabular-nums">{isKnown ? dollars(earned) : "—"}</Td>
      <Td className="text-right tabular-nums">{isKnown ? dollars(cost) : "—"}</Td>
      <Td className={margin < 0 ? "text-right text-red-fg tabular-nums" : "text-right tabular-nums"}>
        {isKnown ? dollars(margin) : "—"}
      </Td>
      <Td className="text-right tabular-nums">{isKnown ? percent(share) : "—"}</Td>
    </tr>
  );
}
