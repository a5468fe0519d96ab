import { plural } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { keepPreviousData } from "@tanstack/react-query";
import { createContext, use, useMemo, useState, type ReactNode } from "react";
import { addUp, durationOf, firstTokenOf, healthOf, type HealthHour, speedOf, successOf } from "../../../shared/health";
import { HEALTH_BARS, HealthDot } from "../../components/health-dot";
import { Quota } from "../../components/quota";
import { type Course, FigureCourse } from "../../components/sparkline";
import { cn } from "../../lib/cn";
import { formatMilliseconds, formatNumber, formatPercent, formatTime } from "../../lib/format";
import { quotaText } from "../../lib/quota-text";
import { trpc } from "../../lib/trpc";
import { Skeleton } from "../../ui/skeleton";
import { Tooltip } from "../../ui/tooltip";

/** Most channels that one call is asked about (healthInput of shared/channel-operations). */
const MOST = 200;
const FRESH_MS = 60_000;

const Health = createContext<Readonly<Record<number, HealthHour[]>> | undefined>(undefined);

const options = {
  staleTime: FRESH_MS,
  refetchInterval: FRESH_MS,
  placeholderData: keepPreviousData,
  meta: { quiet: true },
} as const;

/** The last 24 hours of a channel, renewed every minute. */
export function useHealth(id: number) {
  return trpc.channel.health.useQuery({ ids: [id] }, options);
}

/** Brings the health of the channels on the page, in one call for all of them; in some for a long page. */
export function HealthProvider({ ids, children }: { ids: readonly number[]; children: ReactNode }) {
  const parts = useMemo(() => {
    const all = [...new Set(ids)].sort((a, b) => a - b);
    return Array.from({ length: Math.ceil(all.length / MOST) }, (_, part) => all.slice(part * MOST, (part + 1) * MOST));
  }, [ids]);
  const health = trpc.useQueries((calls) => parts.map((part) => calls.channel.health({ ids: part }, options)), {
    combine: joined,
  });
  return <Health value={health}>{children}</Health>;
}

/** Stable, so that what was combined is kept until an answer comes. */
const joined = (answers: { data: Readonly<Record<number, HealthHour[]>> | undefined }[]) =>
  answers.some(({ data }) => data)
    ? (Object.assign({}, ...answers.map(({ data }) => data)) as Readonly<Record<number, HealthHour[]>>)
    : undefined;

/** The hours of several channels as those of one. */
const sumHours = (channels: readonly (readonly HealthHour[])[]): HealthHour[] =>
  (channels[0] ?? []).map(({ hour }, index) => ({
    hour,
    ...addUp(channels.flatMap((hours) => hours[index] ?? [])),
  }));

/** An hour, or the whole day, in words. */
export function useHealthWords() {
  const { t } = useLingui();
  const clock = (hour: number) => formatTime(hour).slice(5, 16);
  const ofHour = (hour: HealthHour): string => {
    const when = clock(hour.hour);
    if (hour.calls === 0) return t`${when}：没有调用`;
    const calls = formatNumber(hour.calls);
    const share = formatPercent(successOf(hour) ?? 0);
    const { errors } = hour;
    const seconds = durationOf(hour) ?? 0;
    return t`${when}：${calls} 次调用，成功率 ${share}，${errors} 次出错，平均 ${seconds} 秒`;
  };
  const ofDay = (hours: readonly HealthHour[]): string => {
    const total = addUp(hours);
    if (total.calls === 0) return t`近 24 小时没有调用`;
    const calls = formatNumber(total.calls);
    const share = formatPercent(successOf(total) ?? 0);
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
            className={cn(
              "flex-1 rounded-[1px]",
              HEALTH_BARS[healthOf(successOf(hour))],
              index === at && "outline-1 outline-ink",
            )}
          />
        ))}
        <span role="status" className="sr-only">
          {pointed ? text : ""}
        </span>
      </span>
    </Tooltip>
  );
}

/** Hours that "now" is: the running one may have just begun. */
const NOW_HOURS = 2;

function NowDot({ hours }: { hours: readonly HealthHour[] }) {
  const { t } = useLingui();
  const now = addUp(hours.slice(-NOW_HOURS));
  const share = successOf(now);
  const percent = formatPercent(share ?? 0);
  return (
    <HealthDot
      health={healthOf(share)}
      detail={share === null ? t`近两小时` : t`近两小时 ${plural(now.calls, { other: "# 次调用" })}，成功率 ${percent}`}
    />
  );
}

/** The hours of a row: of a channel, or of all channels of a tag together; undefined where they are not known. */
function useRowHours(ids: readonly number[]): readonly HealthHour[] | "loading" | undefined {
  const health = use(Health);
  if (!health) return "loading";
  const known = ids.flatMap((id) => (health[id] ? [health[id]] : []));
  // While a part of a long page is on its way: rather nothing than half of a tag.
  if (known.length < ids.length || known.length === 0) return undefined;
  return known.length === 1 ? known[0] : sumHours(known);
}

/** How a row does now, and the bars of its day. */
export function HealthCell({ ids }: { ids: readonly number[] }) {
  const { t } = useLingui();
  const hours = useRowHours(ids);
  if (hours === "loading") return <Skeleton className="h-3 w-24" />;
  if (!hours)
    return (
      <span className="text-muted" title={t`展开后可见`}>
        —
      </span>
    );
  return (
    <span className="flex items-center gap-1.5">
      <NowDot hours={hours} />
      <HealthBars hours={hours} className="w-20" />
    </span>
  );
}

/** The figures of a day that have a course of their own. */
export type DayFigure = "success" | "first_token" | "speed" | "cost";

const READ: Readonly<
  Record<DayFigure, { of: (hour: HealthHour) => number | null; format: (value: number) => string }>
> = {
  success: { of: successOf, format: formatPercent },
  first_token: { of: firstTokenOf, format: formatMilliseconds },
  speed: { of: speedOf, format: formatNumber },
  cost: { of: ({ quota }) => quota, format: quotaText },
};

/** A figure of the day: what it is over all hours, and its course. */
export function dayFigure(figure: DayFigure, hours: readonly HealthHour[]): DayCourse {
  const { of, format } = READ[figure];
  const day = { hour: 0, ...addUp(hours) };
  const value = day.calls === 0 ? null : of(day);
  const values = hours.map((hour) => (hour.calls === 0 && figure !== "cost" ? null : of(hour)));
  return { text: value === null ? null : figure === "cost" ? <Quota value={value} /> : format(value), values, format };
}

interface DayCourse {
  text: ReactNode;
  values: Course;
  format: (value: number) => string;
}

/** One figure of a row's day with its course. */
export function DayCourseCell({ ids, figure }: { ids: readonly number[]; figure: DayFigure }) {
  const hours = useRowHours(ids);
  if (hours === "loading") return <Skeleton className="h-3 w-24" />;
  if (!hours) return <span className="text-muted">—</span>;
  const { text, ...course } = dayFigure(figure, hours);
  return <FigureCourse figure={text} {...course} />;
}
