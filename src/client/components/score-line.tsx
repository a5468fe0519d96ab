import { useLingui } from "@lingui/react/macro";
import type { ScoreFactors } from "../../shared/score-factors";
import { formatDollars, formatMilliseconds } from "../lib/format";

/** What routing by score knows of a channel, in one line; less is better. */
export function ScoreLine({ score: { score, first_token_ms, success, free, cost } }: { score: ScoreFactors }) {
  const { t } = useLingui();
  const parts = [
    t`评分 ${score}`,
    first_token_ms === null ? t`首字未测得` : t`首字 ${formatMilliseconds(first_token_ms)}`,
    t`成功率 ${Math.round(success * 100)}%`,
    t`空闲 ${Math.round(free * 100)}%`,
    cost === null ? t`成本未知` : t`典型成本 ${formatDollars(cost, 1e9, 6)}`,
  ];
  return <span className="text-xs text-muted wrap-anywhere">{parts.join(" · ")}</span>;
}
