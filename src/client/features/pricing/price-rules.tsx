import { useLingui } from "@lingui/react/macro";
import { useMemo, useState } from "react";
import { type Stretch, weekOf } from "../../../shared/price-rule-check";
import { ruleText } from "../../../shared/price-rule-text";
import type { DisplayPrices } from "../../../shared/price-display";
import { isServiceRule, isTimed, type PriceRule } from "../../../shared/price-rules";
import { cn } from "../../lib/cn";
import { currentLanguage } from "../../lib/i18n";

/** What a rule makes of the price, in one group. */
type PricesOf = (rule: PriceRule) => DisplayPrices;

function RulePrices({ prices }: { prices: DisplayPrices | undefined }) {
  const { t } = useLingui();
  const { input, output, call } = prices ?? {};
  if (call !== undefined) return <span className="block text-xs text-muted">{t`即每次 $${call}`}</span>;
  if (input === undefined || output === undefined) return null;
  return <span className="block text-xs text-muted">{t`即输入 $${input}，输出 $${output}（每百万 Token）`}</span>;
}

/** The rules of a model's price as sentences, and the week where hours matter; nothing for most models. */
export function PriceRules({ rules, pricesOf }: { rules: readonly PriceRule[] | undefined; pricesOf?: PricesOf }) {
  const { t } = useLingui();
  if (!rules || rules.length === 0) return null;
  return (
    <section className="grid gap-2" aria-label={t`价格规则`}>
      <p className="text-muted">
        {rules.some(isTimed)
          ? t`从上到下，第一条适用的规则生效；都不适用时按上面的普通价格计费。时间以调用开始时为准。`
          : t`从上到下，第一条适用的规则生效；都不适用时按上面的普通价格计费。`}
      </p>
      <ol className="grid list-decimal gap-1 pl-5">
        {rules.map((rule) => (
          <li key={rule.name}>
            <b>{rule.name}</b> <span>{ruleText(rule, currentLanguage())}</span>
            <RulePrices prices={pricesOf?.(rule)} />
          </li>
        ))}
      </ol>
      {rules.some(isServiceRule) ? (
        <p className="text-xs text-muted">{t`服务档位、处理地区和速度以上游实际提供的为准：渠道没有转发、或上游没有照办的，不按它计费。`}</p>
      ) : null}
      <RuleWeek rules={rules} />
    </section>
  );
}

/**
 * Rules that multiply whatever price the others made, as sentences: lists whose first rule that applies counts. Nothing
 * for most models.
 */
export function FactorRules({ lists, pricesOf }: { lists: readonly (readonly PriceRule[])[]; pricesOf?: PricesOf }) {
  const { t } = useLingui();
  const shown = lists.filter((rules) => rules.length > 0);
  if (shown.length === 0) return null;
  return (
    <section className="grid gap-2" aria-label={t`倍数规则`}>
      <p className="text-muted">{t`普通价格或规则得出的价格再乘以下面的倍数；每一组中第一条适用的生效。`}</p>
      {shown.map((rules, place) => (
        <ol key={place} className="grid list-decimal gap-1 pl-5">
          {rules.map((rule) => (
            <li key={JSON.stringify(rule.when)}>
              <span>{ruleText(rule, currentLanguage())}</span>
              <RulePrices prices={rule.when.batch && pricesOf?.(rule)} />
            </li>
          ))}
        </ol>
      ))}
    </section>
  );
}

const COLOURS = ["bg-blue-fg", "bg-green-fg", "bg-orange-fg", "bg-red-fg", "bg-yellow-fg"] as const;

const AXIS = ["00:00", "06:00", "12:00", "18:00", "24:00"];

/**
 * The next seven days in the reader's own time, a line a day: where rules of hours and dates overlap, the lower half
 * shows the one that does not count; where none holds, the line is empty. Nothing without such rules.
 */
export function RuleWeek({ rules }: { rules: readonly PriceRule[] }) {
  const { t } = useLingui();
  const [today] = useState(() => new Date().setHours(0, 0, 0, 0));
  // What an ordinary call pays: a tier, a region or a speed has to be asked for.
  const timed = useMemo(() => rules.filter((rule) => isTimed(rule) && !isServiceRule(rule)), [rules]);
  const days = useMemo(
    () => (timed.length === 0 ? [] : Array.from({ length: 7 }, (_, i) => dayOf(timed, today, i))),
    [timed, today],
  );
  if (timed.length === 0) return null;
  const format = new Intl.DateTimeFormat(currentLanguage(), { weekday: "short", month: "numeric", day: "numeric" });
  const clock = new Intl.DateTimeFormat(currentLanguage(), { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const hidden = (others: readonly PriceRule[]): string => {
    const names = others.map(({ name }) => name).join(", ");
    return names === "" ? "" : t`（被遮盖：${names}）`;
  };
  const said = ({ from, to, rule, others }: Stretch): string =>
    `${clock.format(from)}–${clock.format(to)} ${rule?.name ?? t`普通价格`}${hidden(others)}`;
  return (
    <figure className="grid gap-1">
      <figcaption className="text-xs text-muted">{t`未来七天的时段（${zone}）`}</figcaption>
      <div aria-hidden className="ml-[6.5rem] flex justify-between text-xs text-muted tabular-nums">
        {AXIS.map((hour) => (
          <span key={hour}>{hour}</span>
        ))}
      </div>
      {days.map(({ start, end, stretches }) => (
        <div key={start} className="grid grid-cols-[6rem_1fr] items-center gap-2">
          <span className="text-xs tabular-nums">{format.format(start)}</span>
          <div
            role="img"
            aria-label={stretches.map(said).join(", ")}
            className="flex h-4 overflow-hidden rounded-sm bg-muted/20"
          >
            {stretches.map((stretch) => (
              <span
                key={stretch.from}
                title={said(stretch)}
                className="flex h-full flex-col"
                style={{ width: `${((stretch.to - stretch.from) / (end - start)) * 100}%` }}
              >
                {[stretch.rule, ...stretch.others.slice(0, 1)].map((rule, place) => (
                  <span key={place} className={cn("flex-1", colourOf(timed, rule))} />
                ))}
              </span>
            ))}
          </div>
        </div>
      ))}
      <ul aria-hidden className="flex flex-wrap gap-x-4 gap-y-1 text-xs text-muted">
        {timed.map((rule) => (
          <li key={rule.name} className="flex items-center gap-1.5">
            <span className={cn("size-3 rounded-sm", colourOf(timed, rule))} />
            {rule.name}
          </li>
        ))}
        <li className="flex items-center gap-1.5">
          <span className="size-3 rounded-sm bg-muted/20" />
          {t`普通价格`}
        </li>
      </ul>
    </figure>
  );
}

/** A day of the reader's calendar: 23 or 25 hours where their clock changes. */
function dayOf(rules: readonly PriceRule[], today: number, after: number) {
  const date = new Date(today);
  const at = (days: number): number => new Date(date.getFullYear(), date.getMonth(), date.getDate() + days).getTime();
  const [start, end] = [at(after), at(after + 1)];
  return { start, end, stretches: weekOf(rules, start, end - start) };
}

const colourOf = (rules: readonly PriceRule[], rule: PriceRule | undefined): string =>
  rule ? (COLOURS[rules.indexOf(rule) % COLOURS.length] ?? "") : "";
