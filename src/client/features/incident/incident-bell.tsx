import { useLingui } from "@lingui/react/macro";
import { Bell, BellOff, Check } from "lucide-react";
import { useState } from "react";
import { Link } from "wouter";
import type { Severity } from "../../../shared/alert-rules";
import type { Health } from "../../../shared/health";
import { BELL_MOST, type IncidentView } from "../../../shared/incidents";
import { HealthSign } from "../../components/health-dot";
import { TimeAgo } from "../../components/time-ago";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { IconButton } from "../../ui/icon-button";
import { Popover, PopoverContent, PopoverTrigger } from "../../ui/popover";
import { SeverityBadge, textOfIncident, useIncidentActs } from "./incident-look";

const RENEW_MS = 15_000;
/** The bell's mute is for the working day; the page of incidents offers others. */
const MUTE_HOURS = 8;

/** What the gravest open incident says of the whole. */
const HEALTH: Readonly<Record<Severity | "", Exclude<Health, "unknown">>> = {
  "": "good",
  info: "good",
  warning: "poor",
  critical: "bad",
};

/**
 * The bell of the top bar, with a dot for the state of the whole: how many incidents were not seen, and the open ones,
 * the newest first.
 */
export default function IncidentBell() {
  const { t } = useLingui();
  const [open, setOpen] = useState(false);
  const query = trpc.incident.bell.useQuery(undefined, {
    staleTime: RENEW_MS,
    refetchInterval: RENEW_MS,
    meta: { quiet: true },
  });
  const { seen } = useIncidentActs();
  const { unseen = 0, open: all = 0, items = [], worst } = query.data ?? {};
  const count = unseen >= BELL_MOST ? `${BELL_MOST - 1}+` : String(unseen);
  const health = worst === undefined ? "unknown" : HEALTH[worst];
  const news = unseen === 0 ? t`告警` : t`告警：${count} 条未看`;
  const states = { good: t`系统正常`, poor: t`系统有警告`, bad: t`系统有严重告警` };
  return (
    <Popover open={open} onOpenChange={setOpen}>
      <PopoverTrigger asChild>
        <IconButton label={health === "unknown" ? news : `${news} · ${states[health]}`} className="relative">
          <Bell aria-hidden />
          {health === "unknown" ? null : (
            <HealthSign health={health} className="absolute right-1 bottom-1 outline-2 outline-surface" />
          )}
          {unseen > 0 ? (
            <span
              aria-hidden
              className="absolute -top-0.5 -right-0.5 min-w-4 rounded-xl bg-red-fg px-1 text-center text-[10px] leading-4 font-semibold text-surface tabular-nums"
            >
              {count}
            </span>
          ) : null}
        </IconButton>
      </PopoverTrigger>
      <PopoverContent align="end" aria-label={t`告警`} className="w-[min(400px,calc(100vw-16px))] p-0">
        <div className="flex items-center justify-between gap-2 border-b border-line px-3 py-2">
          <h2 className="font-medium">{t`未恢复的告警（${all}）`}</h2>
          {unseen > 0 ? (
            <Button
              size="sm"
              variant="ghost"
              loading={seen.isPending}
              onClick={() => !seen.isPending && seen.mutate({})}
            >{t`全部标为已看`}</Button>
          ) : null}
        </div>
        {items.length === 0 ? (
          <p className="px-3 py-6 text-center text-muted">{query.error ? t`暂时无法读取告警` : t`现在没有告警`}</p>
        ) : (
          <ul className="max-h-[min(420px,60dvh)] divide-y divide-line overflow-y-auto">
            {items.map((incident) => (
              <Item key={incident.id} incident={incident} onLeave={() => setOpen(false)} />
            ))}
          </ul>
        )}
        <Link
          href="/incident"
          className="block border-t border-line px-3 py-2 text-center text-accent-text hover:underline"
          onClick={() => setOpen(false)}
        >{t`所有告警`}</Link>
      </PopoverContent>
    </Popover>
  );
}

function Item({ incident, onLeave }: { incident: IncidentView; onLeave: () => void }) {
  const { t } = useLingui();
  const { seen, mute } = useIncidentActs();
  const { id, severity, path, opened_at, seen_by, muted_until } = incident;
  const muted = muted_until * 1000 > Date.now();
  return (
    <li className="grid gap-1 px-3 py-2">
      <div className="flex items-center gap-2">
        <SeverityBadge severity={severity} />
        {seen_by === 0 ? (
          <span className="size-2 rounded-full bg-accent">
            <span className="sr-only">{t`未看`}</span>
          </span>
        ) : null}
        <TimeAgo value={opened_at} className="ml-auto text-xs text-muted" />
        <IconButton
          size="sm"
          label={t`标为已看`}
          disabled={seen_by !== 0 || seen.isPending}
          onClick={() => seen.mutate({ ids: [id] })}
        >
          <Check />
        </IconButton>
        <IconButton
          size="sm"
          label={muted ? t`取消静音` : t`静音 ${MUTE_HOURS} 小时`}
          aria-pressed={muted}
          disabled={mute.isPending}
          onClick={() => mute.mutate({ id, hours: muted ? 0 : MUTE_HOURS })}
        >
          {muted ? <Bell /> : <BellOff />}
        </IconButton>
      </div>
      <Link href={path} className="wrap-anywhere text-ink hover:underline" onClick={onLeave}>
        {textOfIncident(incident)}
      </Link>
    </li>
  );
}
