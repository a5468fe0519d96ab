import { useLingui } from "@lingui/react/macro";
import { Plus } from "lucide-react";
import { MOST_RULES } from "../../../shared/price-rules";
import { moved } from "../../lib/moved";
import { Button } from "../../ui/button";
import { emptyRule, type RuleDraft } from "./rule-draft";
import { RuleFields } from "./rule-fields";

/** The rules as a form, in their order. */
export function RuleList({
  rules,
  onRules,
}: {
  rules: readonly RuleDraft[];
  onRules: (rules: readonly RuleDraft[]) => void;
}) {
  const { t } = useLingui();
  const nextId = Math.max(-1, ...rules.map(({ id }) => id)) + 1;
  return (
    <>
      {rules.length === 0 ? <p className="text-muted">{t`没有规则：按普通价格计费。`}</p> : null}
      <ol className="grid gap-3" aria-label={t`规则`}>
        {rules.map((rule, index) => (
          <RuleFields
            key={rule.id}
            rule={rule}
            place={index + 1}
            last={index === rules.length - 1}
            onChange={(change) => onRules(rules.map((one) => (one.id === rule.id ? { ...one, ...change } : one)))}
            onMove={(by) => onRules(moved(rules, index, by))}
            onRemove={() => onRules(rules.filter((one) => one.id !== rule.id))}
          />
        ))}
      </ol>
      <Button
        className="justify-self-start"
        disabled={rules.length >= MOST_RULES}
        onClick={() => onRules([...rules, emptyRule(nextId, rules, t`规则`)])}
      >
        <Plus aria-hidden />
        {t`添加规则`}
      </Button>
    </>
  );
}
