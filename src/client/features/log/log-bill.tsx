import { Trans, useLingui } from "@lingui/react/macro";
import { CircleCheck, TriangleAlert } from "lucide-react";
import type { BillLine } from "../../../shared/charge";
import { LOG_TYPE } from "../../../shared/log";
import type { LogView } from "../../../shared/log-list";
import { Quota } from "../../components/quota";
import { formatNumber } from "../../lib/format";
import { Badge } from "../../ui/badge";
import { Table, Td, Th } from "../../ui/table";
import { billTotal, lineNames, onlyLine, ratioNames, readDetails } from "./log-details";

/** "× model ratio 1.25 × group ratio 1" */
function Factors({ line }: { line: BillLine }) {
  const { i18n } = useLingui();
  return (
    <span className="text-xs text-muted">
      {Object.entries(line.ratios)
        .map(([name, value]) => `${ratioNames[name] ? i18n._(ratioNames[name]) : name} ${value}`)
        .join(" × ")}
    </span>
  );
}

function Price({ line }: { line: BillLine }) {
  const { t } = useLingui();
  if (line.kind === "minimum") return null;
  const unit =
    line.kind === "call"
      ? line.ratios.seconds === undefined
        ? t`次`
        : t`秒`
      : line.kind === "tool"
        ? t`千次`
        : t`百万`;
  return <>{`$${line.usd} / ${unit}`}</>;
}

/** A row without lines: nothing was charged, or one amount that is the whole of it. */
function WithoutLines({ row }: { row: LogView }) {
  const { t, i18n } = useLingui();
  const only = onlyLine(row);
  if (readDetails(row.other).waived) return <p className="text-muted">{t`渠道的设置是：这样结束的调用不收费。`}</p>;
  if (!only)
    return (
      <p className="text-muted">
        {row.type === LOG_TYPE.consume || row.type === LOG_TYPE.error ? t`这次调用没有收费。` : t`这条日志不涉及收费。`}
      </p>
    );
  return (
    <Table aria-label={t`账单`}>
      <tbody>
        <tr>
          <Td>{i18n._(only)}</Td>
          <Td className="text-right">
            <Quota value={row.quota} decimals={6} />
          </Td>
          <Td className="text-right tabular-nums" data-testid="bill-charged">
            {row.quota}
          </Td>
        </tr>
      </tbody>
    </Table>
  );
}

/** What Weir's own cache marks saved, or cost where the cache was written first. */
function CacheSaving({ saved }: { saved: string | undefined }) {
  const { t } = useLingui();
  if (typeof saved !== "string") return null;
  const more = saved.replace("-", "");
  return (
    <p className="text-sm" data-testid="bill-cache">
      {more === saved
        ? t`自动缓存标记为这次调用节省了 ${saved} 额度。`
        : t`自动缓存标记：写入缓存比普通输入多花 ${more} 额度，之后的读取会省回来。`}
    </p>
  );
}

/** What a job came to when it was done, where it was charged at an estimate. */
function Settled({ row }: { row: LogView }) {
  const { t } = useLingui();
  const { settled } = readDetails(row.other);
  if (!settled || settled.quota === row.quota) return null;
  const [input, output] = [formatNumber(settled.prompt_tokens), formatNumber(settled.completion_tokens)];
  const units = formatNumber(settled.quota);
  return (
    <p className="text-sm" data-testid="bill-settled">
      {t`任务完成时按实际用量结算，共 ${units} 额度（输入 ${input}、输出 ${output} 个 Token）；差额另有一条日志。`}
    </p>
  );
}

/** The lines of a bill, their exact sum, and what was charged; without `quota` it is an example. */
export function BillTable({ bill, quota }: { bill: readonly BillLine[]; quota?: number }) {
  const { t, i18n } = useLingui();
  const total = billTotal(bill);
  return (
    <Table aria-label={t`账单`}>
      <thead>
        <tr>
          <Th>{t`项目`}</Th>
          <Th className="text-right">{t`数量`}</Th>
          <Th className="text-right">{t`单价`}</Th>
          <Th className="text-right">{t`额度`}</Th>
        </tr>
      </thead>
      <tbody>
        {bill.map((line) => (
          <tr key={`${line.kind} ${line.tool ?? ""}`}>
            <Td>
              <span className="block">{line.tool ?? i18n._(lineNames[line.kind])}</span>
              <Factors line={line} />
            </Td>
            <Td className="text-right tabular-nums">{formatNumber(line.count)}</Td>
            <Td className="text-right whitespace-nowrap tabular-nums">
              <Price line={line} />
            </Td>
            <Td className="text-right tabular-nums" data-units={line.units}>
              {line.units}
            </Td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <Td colSpan={3} className="font-medium">
            <span className="flex flex-wrap items-center gap-2">
              {t`合计`}
              {quota === undefined ? <Quota value={total.rounded} decimals={6} /> : null}
            </span>
          </Td>
          <Td className="text-right font-medium tabular-nums" data-testid="bill-exact">
            {total.exact}
          </Td>
        </tr>
        {quota === undefined ? null : (
          <tr>
            <Td colSpan={3} className="font-medium">
              <span className="flex flex-wrap items-center gap-2">
                <Trans>实际扣除</Trans>
                <Quota value={quota} decimals={6} />
                {total.rounded === quota ? (
                  <Badge hue="green" icon={<CircleCheck aria-hidden />}>{t`与账单一致`}</Badge>
                ) : (
                  <Badge hue="red" icon={<TriangleAlert aria-hidden />}>{t`与账单不一致`}</Badge>
                )}
              </span>
            </Td>
            <Td className="text-right font-medium tabular-nums" data-testid="bill-charged">
              {quota}
            </Td>
          </tr>
        )}
      </tfoot>
    </Table>
  );
}

/** The bill of a call: lines whose units sum to the charge, rounded once. Nothing is computed that was not charged. */
export function LogBill({ row }: { row: LogView }) {
  const { t } = useLingui();
  const details = readDetails(row.other);
  const { bill } = details;
  if (bill.length === 0) return <WithoutLines row={row} />;
  return (
    <div className="grid gap-3">
      {details.estimated ? (
        <p className="flex items-center gap-2 rounded-md bg-yellow-bg px-3 py-2 text-yellow-fg">
          <TriangleAlert aria-hidden className="size-4 shrink-0" />
          {t`上游没有返回可用的用量，全部或部分 Token 数是估算的。`}
        </p>
      ) : null}
      <BillTable bill={bill} quota={row.quota} />
      <CacheSaving saved={details.cache_saved} />
      <Settled row={row} />
      <p className="text-xs text-muted">{t`各行按精确小数计算，最后只四舍五入一次。`}</p>
    </div>
  );
}
