import { useLingui } from "@lingui/react/macro";
import type { Health } from "../../shared/health";
import { cn } from "../lib/cn";
import { Tooltip } from "../ui/tooltip";

/** The form says the same as the colour. */
const LOOKS: Readonly<Record<Health, string>> = {
  good: "rounded-full bg-green-solid",
  poor: "rotate-45 scale-90 bg-yellow-solid",
  bad: "bg-red-solid",
  unknown: "rounded-full border-[1.5px] border-line-control",
};

/** A bar of an hour, in a line of `h-full`: the height says the same as the colour. */
export const HEALTH_BARS: Readonly<Record<Health, string>> = {
  good: "h-full bg-green-solid",
  poor: "h-3/4 bg-yellow-solid",
  bad: "h-1/2 bg-red-solid",
  unknown: "h-0.5 bg-line-control/50",
};

/** The word for each state of health. */
function useHealthName(): (health: Health) => string {
  const { t } = useLingui();
  const names: Readonly<Record<Health, string>> = {
    good: t`健康`,
    poor: t`不稳定`,
    bad: t`故障`,
    unknown: t`没有调用`,
  };
  return (health) => names[health];
}

/** The sign alone, for a place that says it in words. */
export const HealthSign = ({ health, className }: { health: Health; className?: string }) => (
  <span aria-hidden className={cn("inline-block size-2 shrink-0", LOOKS[health], className)} />
);

/** A dot for how something does; `detail` says from what that is known. */
export function HealthDot({ health, detail }: { health: Health; detail: string }) {
  const text = `${useHealthName()(health)} · ${detail}`;
  return (
    <Tooltip content={text}>
      <span role="img" aria-label={text} data-health={health} className="inline-flex p-0.5">
        <HealthSign health={health} />
      </span>
    </Tooltip>
  );
}
