/** Which targets there are, and which of them hear of what. */
import { type AlertRule, isRuleOn, severityOf, severityRank, type Severity } from "../../../shared/alert-rules";
import { ACCOUNTS, type AlertTarget } from "../../../shared/alert-targets";
import type { Services } from "../../contracts/context";

type Needs = Pick<Services, "options">;

/** Root accounts hear of these events by a notice of their own (features/notice). */
const TOLD_BY_NOTICES: readonly string[] = ["channel_auto_disabled", "channel_key_auto_disabled"];

/** The rules that are switched on. */
export const rulesOf = ({ options }: Needs): readonly AlertRule[] => options.get("AlertRules").filter(isRuleOn);

/** The target of a name, when it is there and switched on. */
export const targetOf = ({ options }: Needs, name: string): AlertTarget | undefined =>
  options.get("AlertTargets").find((target) => target.name === name && target.on);

/** Names of the targets that are told of an incident of a rule. */
export function targetsFor({ options }: Needs, rule: AlertRule, severity: Severity = severityOf(rule)): string[] {
  const rank = severityRank(severity);
  const accounts =
    options.get("AlertAccounts") &&
    rank >= severityRank("warning") &&
    !(rule.kind === "event" && rule.events.every((name) => TOLD_BY_NOTICES.includes(name)));
  const names = options
    .get("AlertTargets")
    .filter((target) => target.on && rank >= severityRank(target.least))
    .map(({ name }) => name);
  return [...(accounts ? [ACCOUNTS] : []), ...names].filter((name) => rule.targets?.includes(name) ?? true);
}
