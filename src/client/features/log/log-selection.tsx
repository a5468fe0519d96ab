import { useLingui } from "@lingui/react/macro";
import { skipReasons } from "../../../shared/dry-run";
import { formatMilliseconds } from "../../lib/format";
import { currentLanguage } from "../../lib/i18n";
import { ScoreLine } from "../../components/score-line";
import { Badge } from "../../ui/badge";
import { choiceOf } from "./log-details";

/** A reason of a later release is shown as it is. */
const wordsFor = (why: string): string =>
  (Object.hasOwn(skipReasons, why) ? skipReasons[why]?.[currentLanguage()] : undefined) ?? why;

/** Why these channels were selected: how many candidates there were, which were skipped, and the affinity in force. */
export function LogSelection({ selection }: { selection: unknown }) {
  const { t } = useLingui();
  const choice = choiceOf(selection);
  if (!choice) return null;
  const { candidates, skipped, sticky, groups, scores } = choice;
  return (
    <section className="mb-3 grid gap-1.5">
      <p className="flex flex-wrap items-center gap-2">
        {t`候选渠道 ${candidates} 个`}
        {groups.length > 0 ? <span className="text-muted">{groups.join(" → ")}</span> : null}
        {sticky === undefined ? null : <Badge hue="violet">{t`会话保持：${sticky}`}</Badge>}
      </p>
      {scores.length > 0 ? (
        <ul className="grid gap-0.5" aria-label={t`渠道评分`}>
          {scores.map((score) => (
            <li key={score.channel}>
              {score.channel} · <ScoreLine score={score} />
            </li>
          ))}
        </ul>
      ) : null}
      {skipped.length > 0 ? (
        <ul className="flex flex-wrap gap-1.5" aria-label={t`跳过的渠道`}>
          {skipped.map(({ channel, why, remaining_ms }) => (
            <li key={`${channel} ${why}`}>
              <Badge hue="grey">
                {`${channel} · ${wordsFor(why)}`}
                {remaining_ms > 0 ? ` · ${formatMilliseconds(remaining_ms)}` : ""}
              </Badge>
            </li>
          ))}
        </ul>
      ) : null}
    </section>
  );
}
