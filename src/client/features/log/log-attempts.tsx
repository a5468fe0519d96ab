import { useLingui } from "@lingui/react/macro";
import { type AttemptRecord, NOT_RETRIED } from "../../../shared/log";
import { formatMilliseconds } from "../../lib/format";
import { currentLanguage } from "../../lib/i18n";
import { Badge } from "../../ui/badge";
import { ChannelNumberLink } from "./log-links";

/** Every try of a call as a waterfall: when it began, how long it took, what the upstream said. */
export function LogAttempts({ attempts }: { attempts: readonly AttemptRecord[] }) {
  const { t } = useLingui();
  if (attempts.length === 0) return <p className="text-muted">{t`没有尝试任何渠道。`}</p>;
  const end = Math.max(1, ...attempts.map((attempt) => attempt.start_ms + attempt.duration_ms));
  return (
    <ol className="grid gap-3">
      {attempts.map((attempt, index) => {
        const failed = attempt.failure !== "";
        const place = index + 1;
        return (
          <li key={`${attempt.channel} ${attempt.start_ms}`} className="grid gap-1">
            <div className="flex flex-wrap items-center gap-2">
              <span className="font-medium">{t`第 ${place} 次`}</span>
              <ChannelNumberLink
                id={attempt.channel}
              >{`${attempt.channel} · ${attempt.channel_name}`}</ChannelNumberLink>
              {attempt.key ? (
                <span className="font-mono text-xs text-muted">{`#${attempt.key.position} ${attempt.key.hint}`}</span>
              ) : null}
              <Badge hue={failed ? "red" : "green"}>{attempt.status > 0 ? attempt.status : t`无响应`}</Badge>
              {failed ? <Badge hue="orange">{attempt.failure}</Badge> : null}
              {attempt.dialect === undefined ? null : <Badge>{attempt.dialect}</Badge>}
              <span className="text-muted tabular-nums">{formatMilliseconds(attempt.duration_ms)}</span>
              {attempt.first_content_ms >= 0 ? (
                <span className="text-muted tabular-nums">{t`首字 ${formatMilliseconds(attempt.first_content_ms)}`}</span>
              ) : null}
            </div>
            <div aria-hidden className="relative h-1.5 rounded-sm bg-sunken">
              <div
                className={
                  failed ? "absolute h-full rounded-sm bg-red-solid" : "absolute h-full rounded-sm bg-green-solid"
                }
                style={{
                  left: `${(attempt.start_ms / end) * 100}%`,
                  width: `${Math.max(1, (attempt.duration_ms / end) * 100)}%`,
                }}
              />
            </div>
            {attempt.message ? <p className="text-xs wrap-anywhere text-muted">{attempt.message}</p> : null}
            {attempt.not_retried ? (
              <p className="text-xs">{NOT_RETRIED[attempt.not_retried][currentLanguage()]}</p>
            ) : null}
            {attempt.upstream_request_id ? (
              <p className="text-xs text-muted">
                {t`上游请求 ID`} <code className="font-mono">{attempt.upstream_request_id}</code>
              </p>
            ) : null}
          </li>
        );
      })}
    </ol>
  );
}
