import { useLingui } from "@lingui/react/macro";
import { addUp, durationOf } from "../../../shared/health";
import { Count, Quota } from "../../components/quota";
import { ErrorPanel } from "../../components/error-panel";
import { Sparkline } from "../../components/sparkline";
import { Collapsible } from "../../ui/collapsible";
import { Skeleton } from "../../ui/skeleton";
import { type DayFigure, dayFigure, HealthBars, useHealth, useHealthWords } from "./health-bars";

/** The last 24 hours of a channel: bars, their sum, and the same hours as a table. */
export function HealthDay({ id }: { id: number }) {
  const { t } = useLingui();
  const words = useHealthWords();
  const health = useHealth(id);
  const hours = health.data?.[id];
  if (health.error) return <ErrorPanel error={health.error} onRetry={() => void health.refetch()} />;
  if (!hours) return <Skeleton className="h-24 rounded-lg" />;
  const busy = hours.filter((hour) => hour.calls > 0);
  const day = addUp(hours);
  const figures: readonly [DayFigure, string][] = [
    ["success", t`成功率`],
    ["first_token", t`首字`],
    ["speed", t`Token / 秒`],
    ["cost", t`费用`],
  ];

  return (
    <section
      aria-labelledby={`health-${id}`}
      className="grid grid-cols-[minmax(0,1fr)] gap-2 rounded-lg border border-line bg-surface p-3"
    >
      <h3 id={`health-${id}`} className="font-medium">{t`近 24 小时`}</h3>
      <HealthBars hours={hours} className="h-12 w-full gap-0.5" />
      <div aria-hidden className="flex justify-between text-xs text-muted tabular-nums">
        <span>{words.clock(hours[0]?.hour ?? 0)}</span>
        <span>{t`现在`}</span>
      </div>
      <p className="text-ink-2">
        {words.ofDay(hours)}
        {busy.length > 0 ? (
          <>
            {" · "}
            <Count value={day.tokens} /> tokens
          </>
        ) : null}
      </p>
      {busy.length > 0 ? (
        <dl className="grid grid-cols-2 gap-2 sm:grid-cols-4">
          {figures.map(([figure, title]) => {
            const { text, ...course } = dayFigure(figure, hours);
            return (
              <div key={figure} className="grid gap-1">
                <dt className="text-xs text-muted">{title}</dt>
                <dd className="grid gap-1 tabular-nums">
                  {text ?? "—"}
                  <Sparkline {...course} />
                </dd>
              </div>
            );
          })}
        </dl>
      ) : null}
      {busy.length > 0 ? (
        <Collapsible title={t`按小时列出`}>
          <div className="overflow-x-auto">
            <table className="w-full text-right tabular-nums">
              <caption className="sr-only">{t`有调用的小时`}</caption>
              <thead>
                <tr className="text-xs text-muted [&>th]:py-1 [&>th]:pl-3 [&>th]:font-medium">
                  <th scope="col" className="pl-0! text-left">{t`时间`}</th>
                  <th scope="col">{t`调用`}</th>
                  <th scope="col">{t`出错`}</th>
                  <th scope="col">{t`平均用时`}</th>
                  <th scope="col">{t`费用`}</th>
                </tr>
              </thead>
              <tbody>
                {busy.toReversed().map((hour) => (
                  <tr key={hour.hour} className="border-t border-line [&>*]:py-1 [&>*]:pl-3">
                    <th scope="row" className="pl-0! text-left font-normal">
                      {words.clock(hour.hour)}
                    </th>
                    <td>
                      <Count value={hour.calls} />
                    </td>
                    <td className={hour.errors > 0 ? "text-red-fg" : undefined}>
                      <Count value={hour.errors} />
                    </td>
                    <td>{hour.use_time > 0 ? `${durationOf(hour)} s` : "—"}</td>
                    <td>
                      <Quota value={hour.quota} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </Collapsible>
      ) : null}
    </section>
  );
}
