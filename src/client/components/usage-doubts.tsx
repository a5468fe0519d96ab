import { useLingui } from "@lingui/react/macro";
import { DOUBTED_SIDES, USAGE_RULES, type UsageDoubt } from "../../shared/usage-doubt";
import { formatNumber } from "../lib/format";
import { currentLanguage } from "../lib/i18n";

/** A token count of the upstream that was rejected as implausible, and what was charged instead. */
export function UsageDoubtText({ doubt: { side, rule, reported, charged } }: { doubt: UsageDoubt }) {
  const { t } = useLingui();
  const language = currentLanguage();
  const [what, why] = [DOUBTED_SIDES[side][language], USAGE_RULES[rule][language]];
  const billed = formatNumber(charged);
  if (reported === null) return <>{t`上游报告的${what}${why}：计费 ${billed}`}</>;
  const said = formatNumber(reported);
  return <>{t`上游报告的${what} ${said} ${why}：计费 ${billed}`}</>;
}
