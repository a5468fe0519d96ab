import { useLingui } from "@lingui/react/macro";
import { Pencil, Plus, RotateCcw, Trash2 } from "lucide-react";
import { useState } from "react";
import { type AlertRule, DEFAULT_RULES, isRuleOn, RULE_KINDS, severityOf } from "../../../shared/alert-rules";
import { ruleText } from "../../../shared/alert-rule-text";
import { optionFacts } from "../../../shared/option-facts";
import { parseOption } from "../../../shared/options";
import { currentLanguage } from "../../lib/i18n";
import { quotaText } from "../../lib/quota-text";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { IconButton } from "../../ui/icon-button";
import { Switch } from "../../ui/switch";
import { OptionField } from "../setting/option-field";
import { useSettings } from "../setting/use-settings";
import { SeverityBadge } from "./incident-look";
import { RuleDialog } from "./rule-dialog";

/** The alert rules as sentences with a switch each; a rule is edited in a window, all of them as JSON. */
export function RulesTable() {
  const { t } = useLingui();
  const { text, change, problem } = useSettings();
  const [edited, setEdited] = useState<AlertRule | "new" | null>(null);
  const [asJson, setAsJson] = useState(false);
  const lang = currentLanguage();
  const parsed = parseOption("AlertRules", text("AlertRules"));
  const rules = parsed.ok ? parsed.value : [];
  const complaint = problem("AlertRules");
  const save = (next: readonly AlertRule[]) => change("AlertRules", JSON.stringify(next));
  const replace = (old: AlertRule, next: AlertRule) =>
    save(rules.map((rule) => (rule.name === old.name ? next : rule)));
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-2" role="group" aria-label={optionFacts.AlertRules.label[lang]}>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <span className="font-medium">{optionFacts.AlertRules.label[lang]}</span>
        <span className="flex flex-wrap gap-1">
          <Button size="sm" variant="ghost" disabled={!parsed.ok} onClick={() => setAsJson(!asJson)}>
            {asJson ? t`表格编辑` : t`JSON 编辑`}
          </Button>
          <Button size="sm" variant="ghost" onClick={() => save(DEFAULT_RULES)}>
            <RotateCcw aria-hidden />
            {t`恢复默认`}
          </Button>
          <Button size="sm" onClick={() => setEdited("new")}>
            <Plus aria-hidden />
            {t`添加规则`}
          </Button>
        </span>
      </div>
      {asJson || !parsed.ok ? (
        <OptionField name="AlertRules" />
      ) : (
        <ul className="divide-y divide-line rounded-md border border-line">
          {rules.map((rule) => (
            <li key={rule.name} className="flex items-center gap-3 px-3 py-2">
              <Switch
                aria-label={t`启用规则 ${rule.name}`}
                checked={isRuleOn(rule)}
                onCheckedChange={(on) => replace(rule, { ...rule, on })}
              />
              <div className="min-w-0 flex-1">
                <p className="flex flex-wrap items-center gap-2">
                  <span className="font-medium wrap-anywhere">{rule.name}</span>
                  <SeverityBadge severity={severityOf(rule)} />
                  <Badge>{RULE_KINDS[rule.kind][lang]}</Badge>
                </p>
                <p className="wrap-anywhere text-ink-2">{ruleText(rule, lang, quotaText)}</p>
              </div>
              <IconButton size="sm" label={t`编辑规则 ${rule.name}`} onClick={() => setEdited(rule)}>
                <Pencil />
              </IconButton>
              <IconButton
                size="sm"
                label={t`删除规则 ${rule.name}`}
                onClick={() => save(rules.filter(({ name }) => name !== rule.name))}
              >
                <Trash2 />
              </IconButton>
            </li>
          ))}
          {rules.length === 0 ? (
            <li className="px-3 py-4 text-center text-muted">{t`没有规则：不会产生告警`}</li>
          ) : null}
        </ul>
      )}
      {complaint && !asJson ? (
        <p role="alert" className="text-xs text-red-fg">
          {complaint}
        </p>
      ) : null}
      {edited === null ? null : (
        <RuleDialog
          rule={edited === "new" ? undefined : edited}
          names={rules.map(({ name }) => name)}
          onClose={() => setEdited(null)}
          onSave={(next) => {
            if (edited === "new") save([...rules, next]);
            else replace(edited, next);
            setEdited(null);
          }}
        />
      )}
    </div>
  );
}
