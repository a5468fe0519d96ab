/**
 * Whether a rule over the series holds, for each of its subjects: pure, by the series and the time. An incident begins
 * at the rule's figure and ends well below it (`hold` lies between), so that one that wavers is told once.
 */
import type { SeriesRule } from "../../../shared/alert-rules";
import type { IncidentCode } from "../../../shared/incidents";
import { measureOf, type SeriesReader, type Sums } from "./series";

export interface Verdict {
  /** "channel:3", '' = the whole server. */
  subject: string;
  /**
   * `on`: it begins or goes on. `hold`: it goes on, but does not begin. `unknown`: too few calls to say. A subject
   * without a verdict is fine.
   */
  state: "on" | "hold" | "unknown";
  code: IncidentCode;
  params: Readonly<Record<string, unknown>>;
}

/** An incident ends below this part of what began it. */
const HOLD = 0.8;
const HOUR_MINUTES = 60;
const NOTHING: Readonly<Sums> = { calls: 0, errors: 0, quota: 0, seconds: 0 };

/**
 * `now`: epoch seconds; windows are whole minutes, the present one included. `open`: subjects that the rule has an
 * incident of.
 */
export function judge(rule: SeriesRule, series: SeriesReader, now: number, open: ReadonlySet<string>): Verdict[] {
  const last = Math.floor(now / 60);
  const window = series.sums(rule.per, last - rule.minutes + 1, last);
  const before = (minutes: number) => series.sums(rule.per, last - rule.minutes - minutes + 1, last - rule.minutes);
  const found: Verdict[] = [];
  const subjectOf = (item: string): string => (rule.per === "server" ? "" : `${rule.per}:${item}`);
  const say = (
    item: string,
    state: Verdict["state"],
    code: IncidentCode,
    params: Readonly<Record<string, unknown>>,
  ): void => {
    if (rule.only !== undefined && !rule.only.includes(item)) return;
    found.push({ subject: subjectOf(item), state, code, params: { ...params, minutes: rule.minutes } });
  };
  /** Whether its window had calls, or something was said of it. */
  const judged = (subject: string): boolean =>
    found.some((verdict) => verdict.subject === subject) ||
    [...window.keys()].some((item) => subjectOf(item) === subject);

  switch (rule.kind) {
    case "share":
      for (const [item, { calls, errors }] of window) {
        const percent = (errors / calls) * 100;
        const params = { percent, calls, errors };
        if (calls < rule.at_least)
          say(item, errors > 0 && percent >= rule.percent * HOLD ? "hold" : "unknown", "errors_share", params);
        else if (percent >= rule.percent) say(item, "on", "errors_share", params);
        else if (percent >= rule.percent * HOLD) say(item, "hold", "errors_share", params);
      }
      // No call at all says nothing about the upstream.
      for (const subject of open)
        if (!judged(subject)) found.push({ subject, state: "unknown", code: "errors_share", params: {} });
      return found;
    case "threshold": {
      const items =
        rule.under === undefined ? window.keys() : new Set([...window.keys(), ...before(HOUR_MINUTES).keys()]);
      for (const item of items) {
        const sums = window.get(item) ?? NOTHING;
        if (sums.calls < (rule.at_least ?? 0)) continue;
        const value = measureOf(sums, rule.measure);
        const params = { measure: rule.measure, value, limit: rule.over ?? rule.under ?? 0 };
        if (rule.over !== undefined) {
          if (value >= rule.over) say(item, "on", "threshold_over", params);
          else if (value >= rule.over * HOLD) say(item, "hold", "threshold_over", params);
        } else if (rule.under !== undefined) {
          if (value <= rule.under) say(item, "on", "threshold_under", params);
          else if (value <= rule.under / HOLD) say(item, "hold", "threshold_under", params);
        }
      }
      return found;
    }
    case "change": {
      const up = rule.direction === "up";
      const share = rule.percent / 100;
      for (const [item, past] of before(rule.minutes)) {
        if (past.calls < rule.at_least) continue;
        const [value, then] = [measureOf(window.get(item) ?? NOTHING, rule.measure), measureOf(past, rule.measure)];
        if (then === 0) continue;
        const change = up ? value / then - 1 : 1 - value / then;
        const params = { measure: rule.measure, value, before: then };
        const code = up ? "change_up" : "change_down";
        if (change >= share) say(item, "on", code, params);
        else if (change >= share * HOLD) say(item, "hold", code, params);
      }
      return found;
    }
    case "silence":
      for (const [item, { calls }] of before(HOUR_MINUTES)) {
        if (window.has(item)) continue;
        say(item, calls >= rule.at_least ? "on" : "hold", "silence", { calls });
      }
      for (const subject of open)
        if (!judged(subject)) found.push({ subject, state: "hold", code: "silence", params: {} });
      return found;
  }
}

/** How many minutes of the series the rules look back. */
export const lookBack = (rules: readonly SeriesRule[]): number =>
  Math.max(
    0,
    ...rules.map(({ kind, minutes }) => minutes + Math.max(minutes * Number(kind === "change"), HOUR_MINUTES)),
  ) + 1;
