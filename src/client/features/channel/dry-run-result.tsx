import { msg } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import {
  Ban,
  CircleCheck,
  CircleSlash,
  Gauge,
  Hourglass,
  Snowflake,
  Stethoscope,
  TriangleAlert,
  type LucideIcon,
} from "lucide-react";
import type { MessageDescriptor } from "@lingui/core";
import type { DryRun, DryRunChannel, DryRunLimit, DryRunStanding, DryRunStep } from "../../../shared/dry-run";
import { dryRunStandings } from "../../../shared/dry-run";
import type { LimitScope } from "../../../shared/limits";
import { STEP_REASONS } from "../../../shared/virtual-models";
import { EmptyState } from "../../components/empty-state";
import { Count, Quota } from "../../components/quota";
import { ScoreLine } from "../../components/score-line";
import { formatMilliseconds, formatRelative } from "../../lib/format";
import { currentLanguage } from "../../lib/i18n";
import { Badge, type Hue } from "../../ui/badge";
import { Table, Td, Th } from "../../ui/table";

const looks: Readonly<Record<DryRunStanding, { hue: Hue; icon: LucideIcon }>> = {
  ready: { hue: "green", icon: CircleCheck },
  cooling: { hue: "blue", icon: Snowflake },
  probing: { hue: "yellow", icon: Stethoscope },
  limited: { hue: "orange", icon: Gauge },
  draining: { hue: "orange", icon: Hourglass },
  unsupported: { hue: "grey", icon: CircleSlash },
  disabled: { hue: "grey", icon: Ban },
};

const scopes: Readonly<Record<LimitScope, MessageDescriptor>> = {
  token: msg`令牌`,
  user: msg`用户`,
  group: msg`分组`,
  model: msg`模型`,
  channel: msg({ message: "渠道", context: "singular" }),
};

const kinds: Readonly<Record<DryRunLimit["kind"], MessageDescriptor>> = {
  rpm: msg`每分钟请求`,
  tpm: msg`每分钟 tokens`,
  concurrency: msg`并发数`,
  budget_day: msg`每日预算`,
  budget_month: msg`每月预算`,
  requests: msg`周期内请求`,
  successful_requests: msg`周期内成功请求`,
};

/** Where the call would go: what rejects it, the channels in the order of attempts, price and limits. */
export function DryRunResult({ run }: { run: DryRun }) {
  const { t } = useLingui();
  const { operation, dialect, groups, price } = run;
  const group = groups.length > 0 ? `${run.group} → ${groups.join(" → ")}` : run.group;
  return (
    <div className="grid gap-4">
      {run.problems.length > 0 ? (
        <ul role="alert" className="grid gap-1 rounded-lg bg-red-bg px-3 py-2 text-red-fg">
          {run.problems.map(({ code, message }) => (
            <li key={code} className="flex gap-2 wrap-anywhere">
              <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
              {message}
            </li>
          ))}
        </ul>
      ) : null}
      <p className="text-ink-2 wrap-anywhere">
        {operation === "" ? null : t`接口 ${operation}，方言 ${dialect}，分组 ${group}`}
        {price ? (
          <>
            {" "}
            · <Prices price={price} />
          </>
        ) : null}
      </p>
      {run.steps ? <Ladder steps={run.steps} /> : <ChannelsOrNone run={run} />}
      {run.limits.length > 0 ? <Limits limits={run.limits} /> : null}
    </div>
  );
}

function Prices({ price }: { price: NonNullable<DryRun["price"]> }) {
  const { t } = useLingui();
  const { call, input, output } = price;
  if (call !== undefined) return <>{t`每次 $${call}`}</>;
  return <>{t`每百万 tokens：输入 $${input ?? "—"}，输出 $${output ?? "—"}`}</>;
}

function ChannelsOrNone({ run }: { run: DryRun }) {
  const { t } = useLingui();
  return run.channels.length === 0 ? <EmptyState title={t`没有渠道提供这个模型`} /> : <Channels run={run} />;
}

/** The steps of a virtual model: when a call comes to each, at what price, and to which channels. */
function Ladder({ steps }: { steps: readonly DryRunStep[] }) {
  const { t } = useLingui();
  const drawn = steps.some(({ weight }) => weight !== null);
  const total = steps.reduce((sum, { weight }) => sum + (weight ?? 0), 0);
  return (
    <ol aria-label={t`虚拟模型的步骤`} className="grid gap-4">
      {steps.map(({ on, weight, max_input_tokens, run }, index) => {
        const place = index + 1;
        const share = total > 0 ? Math.round(((weight ?? 0) / total) * 100) : 0;
        const reasons = on.map((reason) => STEP_REASONS[reason][currentLanguage()]).join(t`、`);
        return (
          <li key={`${run.group} ${run.model}`} className="grid gap-2">
            <p className="flex flex-wrap items-center gap-2">
              <span className="font-medium">{t`第 ${place} 步`}</span>
              <span className="font-mono text-xs wrap-anywhere">{run.model}</span>
              <Badge>{run.group}</Badge>
              {drawn ? <Badge hue="violet">{t`${share}% 的调用从这里开始`}</Badge> : null}
              {max_input_tokens > 0 ? <Badge>{t`输入至多 ${max_input_tokens} 个 Token`}</Badge> : null}
            </p>
            <p className="text-ink-2 wrap-anywhere">
              {index === 0 && !drawn
                ? t`最先尝试`
                : on.length === 0
                  ? t`仅在前面的步骤没有可用渠道时`
                  : t`转到此步的原因：${reasons}`}
              {run.price ? (
                <>
                  {" "}
                  · <Prices price={run.price} />
                </>
              ) : null}
            </p>
            {run.problems.map(({ code, message }) => (
              <p key={code} className="text-red-fg wrap-anywhere">
                {message}
              </p>
            ))}
            <ChannelsOrNone run={run} />
          </li>
        );
      })}
    </ol>
  );
}

function Channels({ run }: { run: DryRun }) {
  const { t } = useLingui();
  return (
    <Table wide>
      <caption className="sr-only">{t`渠道顺序`}</caption>
      <thead>
        <tr>
          <Th>{t`轮次`}</Th>
          <Th>{t({ message: "渠道", context: "singular" })}</Th>
          <Th className="text-right">{t`首选概率`}</Th>
          <Th>{t`状态`}</Th>
          <Th className="max-sm:hidden">{t`上游`}</Th>
        </tr>
      </thead>
      <tbody>
        {run.channels.map((channel) => (
          <ChannelLine
            key={channel.id}
            channel={channel}
            model={run.model}
            sticky={channel.id === run.sticky}
            grouped={run.groups.length > 0}
          />
        ))}
      </tbody>
    </Table>
  );
}

function ChannelLine({
  channel,
  model,
  sticky,
  grouped,
}: {
  channel: DryRunChannel;
  /** As it was asked for. */
  model: string;
  sticky: boolean;
  grouped: boolean;
}) {
  const { t } = useLingui();
  const { id, name, turn, share, standing, remaining_ms, upstream_model, url, group, priority, weight } = channel;
  const { hue, icon: Icon } = looks[standing];
  const percent = `${(share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0)}%`;
  return (
    <tr className={turn === 0 ? "text-muted" : undefined}>
      <Td className="tabular-nums">{turn === 0 ? "—" : turn}</Td>
      <Td>
        <span className="font-medium wrap-anywhere">{name}</span> <span className="text-muted">#{id}</span>
        <div className="text-xs text-muted">
          {t`优先级 ${priority} · 权重 ${weight}`}
          {grouped ? ` · ${group}` : ""}
        </div>
        {channel.score ? <ScoreLine score={channel.score} /> : null}
        {/* On a phone its column has no room. */}
        {upstream_model === model ? null : (
          <div className="font-mono text-xs wrap-anywhere sm:hidden">{upstream_model}</div>
        )}
      </Td>
      <Td className="text-right tabular-nums">{turn === 0 ? "—" : percent}</Td>
      <Td>
        <span className="flex flex-wrap gap-1">
          <Badge hue={hue} icon={<Icon aria-hidden />}>
            {dryRunStandings[standing][currentLanguage()]}
            {remaining_ms > 0 ? ` · ${formatMilliseconds(remaining_ms)}` : ""}
          </Badge>
          {sticky ? <Badge hue="violet">{t`会话保持`}</Badge> : null}
          {channel.translated ? <Badge>{t`需转换`}</Badge> : null}
        </span>
      </Td>
      <Td className="font-mono text-xs wrap-anywhere max-sm:hidden">
        {upstream_model}
        {url ? <div className="text-muted">{url}</div> : null}
      </Td>
    </tr>
  );
}

function Limits({ limits }: { limits: readonly DryRunLimit[] }) {
  const { t, i18n } = useLingui();
  return (
    <Table wide>
      <caption className="sr-only">{t`限额`}</caption>
      <thead>
        <tr>
          <Th>{t`限额`}</Th>
          <Th>{t`对象`}</Th>
          <Th className="text-right">{t`剩余`}</Th>
          <Th className="text-right">{t`上限`}</Th>
          <Th className="text-right">{t`重置`}</Th>
        </tr>
      </thead>
      <tbody>
        {limits.map(({ scope, of, kind, limit, remaining, reset_seconds }) => {
          const Amount = kind === "budget_day" || kind === "budget_month" ? Quota : Count;
          return (
            <tr key={`${scope} ${of} ${kind}`}>
              <Td>{i18n._(kinds[kind])}</Td>
              <Td className="wrap-anywhere">{`${i18n._(scopes[scope])} ${of}`}</Td>
              <Td className="text-right">
                {remaining <= 0 ? (
                  <Badge hue="red">
                    <Amount value={remaining} />
                  </Badge>
                ) : (
                  <Amount value={remaining} />
                )}
              </Td>
              <Td className="text-right">
                <Amount value={limit} />
              </Td>
              <Td className="text-right tabular-nums">{reset_seconds > 0 ? formatRelative(reset_seconds, 0) : "—"}</Td>
            </tr>
          );
        })}
      </tbody>
    </Table>
  );
}
