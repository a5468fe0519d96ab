import { useLingui } from "@lingui/react/macro";
import { keepPreviousData } from "@tanstack/react-query";
import { createContext, use, useMemo, useState, type ReactNode } from "react";
import type { HealthHour } from "../../../shared/channel-operations";
import { cn } from "../../lib/cn";
import { formatNumber, formatTime } from "../../lib/format";
import { trpc } from "../../lib/trpc";
import { Skeleton } from "../../ui/skeleton";
import { Tooltip } from "../../ui/tooltip";

/** Most channels that one call is asked about (healthInput of shared/channel-operations). */
const MOST = 200;
const FRESH_MS = 60_000;

const Health = createContext<Readonly<Record<number, HealthHour[]>> | undefined>(undefined);

/** The last 24 hours of some channels, renewed every minute. */
export function useHealth(ids: readonly number[]) {
  const wanted = useMemo(() => [...new Set(ids)].slice(0, MOST).sort((a, b) => a - b), [ids]);
  return trpc.channel.health.useQuery(
    { ids: wanted },
    {
      enabled: wanted.length > 0,
      staleTime: FRESH_MS,
      refetchInterval: FRESH_MS,
      placeholderData: keepPreviousData,
      meta: { quiet: true },
    },
  );
}

/** Brings the health of the channels on the page, in one call for all of them. */
export function HealthProvider({ ids, children }: { ids: readonly number[]; children: ReactNode }) {
  return <Health value={useHealth(ids).data}>{children}</Health>;
}

/** The hours of several channels as those of one. */
export function sumHours(channels: readonly (readonly HealthHour[])[]): HealthHour[] {
  return (channels[0] ?? []).map((first, index) => {
    const same = channels.flatMap((hours) => hours[index] ?? []);
    const sum = (field: "calls" | "errors" | "quota" | "tokens") =>
      same.reduce((total, hour) => total + hour[field], 0);
    const served = same.reduce((total, hour) => total + hour.calls - hour.errors, 0);
    const time = same.reduce((total, hour) => total + hour.seconds * (hour.calls - hour.errors), 0);
    return {
      hour: first.hour,
      calls: sum("calls"),
      errors: sum("errors"),
      quota: sum("quota"),
      tokens: sum("tokens"),
      seconds: served === 0 ? 0 : Math.round((time / served) * 10) / 10,
    };
  });
}

/** What an hour looks like; the height says the same as the colour. */
function lookOf({ calls, errors }: HealthHour): string {
  if (calls === 0) return "h-0.5 bg-line-control/50";
  const share = (calls - errors) / calls;
  if (share >= 0.95) return "h-full bg-green-solid";
  return share >= 0.8 ? "h-3/4 bg-yellow-solid" : "h-1/2 bg-red-solid";
}

const percent = ({ calls, errors }: Pick<HealthHour, "calls" | "errors">): string =>
  `${(Math.floor(((calls - errors) / calls) * 1000) / 10).toFixed(1)}%`;

/** An hour, or the whole day, in words. */
export function useHealthWords() {
  const { t } = useLingui();
  const clock = (hour: number) => formatTime(hour).slice(5, 16);
  const ofHour = (hour: HealthHour): string => {
    const when = clock(hour.hour);
    if (hour.calls === 0) return t`${when}：没有调用`;
    const calls = formatNumber(hour.calls);
    const share = percent(hour);
    const { errors, seconds } = hour;
    return t`${when}：${calls} 次调用，成功率 ${share}，${errors} 次出错，平均 ${seconds} 秒`;
  };
  const ofDay = (hours: readonly HealthHour[]): string => {
    const total = hours.reduce((sum, hour) => ({ calls: sum.calls + hour.calls, errors: sum.errors + hour.errors }), {
      calls: 0,
      errors: 0,
    });
    if (total.calls === 0) return t`近 24 小时没有调用`;
    const calls = formatNumber(total.calls);
    const share = percent(total);
    const { errors } = total;
    return t`近 24 小时：${calls} 次调用，成功率 ${share}，${errors} 次出错`;
  };
  return { clock, ofHour, ofDay };
}

/** 24 bars, oldest first. The pointer and the arrow keys go from hour to hour, whose figures are shown and read out. */
export function HealthBars({ hours, className }: { hours: readonly HealthHour[]; className?: string }) {
  const words = useHealthWords();
  const [at, setAt] = useState<number | null>(null);
  const pointed = at === null ? undefined : hours[at];
  const day = words.ofDay(hours);
  const text = pointed ? words.ofHour(pointed) : day;
  const last = hours.length - 1;

  return (
    <Tooltip content={text}>
      <span
        // A group and no image: what an arrow key finds is read out from inside it.
        role="group"
        aria-label={day}
        tabIndex={0}
        data-row-control
        className={cn("flex h-5 w-24 items-end gap-px rounded-sm -outline-offset-1", className)}
        onMouseMove={(event) => {
          const box = event.currentTarget.getBoundingClientRect();
          const place = Math.floor(((event.clientX - box.left) / box.width) * hours.length);
          setAt(Math.max(0, Math.min(last, place)));
        }}
        onMouseLeave={() => setAt(null)}
        onBlur={() => setAt(null)}
        onKeyDown={(event) => {
          if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
          event.preventDefault();
          const step = event.key === "ArrowLeft" ? -1 : 1;
          setAt(Math.max(0, Math.min(last, (at ?? last + 1) + step)));
        }}
      >
        {hours.map((hour, index) => (
          <span
            key={hour.hour}
            aria-hidden
            className={cn("flex-1 rounded-[1px]", lookOf(hour), index === at && "outline-1 outline-ink")}
          />
        ))}
        <span role="status" className="sr-only">
          {pointed ? text : ""}
        </span>
      </span>
    </Tooltip>
  );
}

/** The bars of a row: of a channel, or of all channels of a tag together. */
export function HealthCell({ ids }: { ids: readonly number[] }) {
  const { t } = useLingui();
  const health = use(Health);
  if (!health) return <Skeleton className="h-3 w-24" />;
  const known = ids.flatMap((id) => (health[id] ? [health[id]] : []));
  // A page with more channels than one call may name: rather nothing than half of a tag.
  if (known.length < ids.length || known.length === 0)
    return (
      <span className="text-muted" title={t`展开后可见`}>
        —
      </span>
    );
  return <HealthBars hours={known.length === 1 ? (known[0] ?? []) : sumHours(known)} />;
}
