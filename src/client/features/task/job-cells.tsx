import { useLingui } from "@lingui/react/macro";
import { ImageOff, Play } from "lucide-react";
import { useState } from "react";
import { useNow } from "../../components/time-ago";
import { formatMilliseconds } from "../../lib/format";
import { Badge } from "../../ui/badge";
import { Progress } from "../../ui/progress";
import { Tooltip } from "../../ui/tooltip";
import { actionName, isOver, percentOf, statusLook, tookHue } from "./job-looks";

/** A job's times in seconds, 0 = not yet. */
export interface JobTimes {
  submitted: number;
  finished: number;
}

/** How long a job took, coloured; while it runs, how long it has been running, without colour. */
export function Took({ submitted, finished }: JobTimes) {
  const now = useNow();
  if (submitted <= 0) return <span className="text-muted">—</span>;
  if (finished <= 0) return <span className="text-muted tabular-nums">{lasting(Math.max(0, now - submitted))}</span>;
  const seconds = Math.max(0, finished - submitted);
  return <Badge hue={tookHue(seconds)}>{lasting(seconds)}</Badge>;
}

const lasting = (seconds: number): string => formatMilliseconds(seconds * 1000);

/** How far a job is: a bar with its number; a job that failed keeps how far it came. */
export function JobProgress({ progress, status }: { progress: string; status: string }) {
  const { t } = useLingui();
  const percent = percentOf(progress);
  if (percent === null)
    return progress ? <span className="truncate">{progress}</span> : <span className="text-muted">—</span>;
  const hue = isOver(status) || status === "" ? statusLook(status).hue : "blue";
  return (
    <span className="flex w-full items-center gap-2">
      <Progress value={percent} label={t`进度`} hue={hue} className="min-w-8 flex-1" />
      <span className="w-10 text-right text-xs tabular-nums">{`${percent}%`}</span>
    </span>
  );
}

/** What a job is: a known action by its name, any other as it came. */
export function ActionBadge({ action }: { action: string }) {
  const { i18n } = useLingui();
  const name = actionName(action);
  return action ? <Badge>{name ? i18n._(name) : action}</Badge> : <span className="text-muted">—</span>;
}

/** A long text in one line, whole on hover. */
export function LongText({ text }: { text: string }) {
  if (!text) return <span className="text-muted">—</span>;
  return (
    <Tooltip content={text.length > 600 ? `${text.slice(0, 600)}…` : text}>
      <span className="truncate">{text}</span>
    </Tooltip>
  );
}

/** A result in the list: the picture, small, or a sign. A press shows it in full. */
export function ResultButton({ picture, onOpen }: { picture?: string; onOpen: () => void }) {
  const { t } = useLingui();
  const [broken, setBroken] = useState(false);
  return (
    <button
      type="button"
      aria-label={t`查看结果`}
      onClick={(event) => {
        event.stopPropagation();
        onOpen();
      }}
      className="flex size-7 items-center justify-center overflow-hidden rounded-md border border-line bg-sunken text-muted hover:border-line-control"
    >
      {picture && !broken ? (
        <img
          src={picture}
          alt=""
          loading="lazy"
          decoding="async"
          className="size-full object-cover"
          onError={() => setBroken(true)}
        />
      ) : picture ? (
        <ImageOff aria-hidden className="size-4" />
      ) : (
        <Play aria-hidden className="size-4" />
      )}
    </button>
  );
}
