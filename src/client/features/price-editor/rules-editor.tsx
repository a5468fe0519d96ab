import { useLingui } from "@lingui/react/macro";
import { useDeferredValue, useId, useMemo, useState } from "react";
import { parseOption } from "../../../shared/options";
import { checkRules } from "../../../shared/price-rule-check";
import { priceNoteOf } from "../../../shared/price-rows";
import type { PriceRule } from "../../../shared/price-rules";
import { batchRule } from "../../../shared/factor-rules";
import { tierRule } from "../../../shared/long-context";
import { longContextOf, resolvePrice } from "../../../shared/pricing";
import { EmptyState } from "../../components/empty-state";
import { FieldFrame } from "../../components/form-field";
import { JsonEditor } from "../../components/json-editor";
import { currentLanguage } from "../../lib/i18n";
import { textParam, useUrlState } from "../../lib/url-state";
import { Button } from "../../ui/button";
import { Combobox } from "../../ui/combobox";
import { SwitchField } from "../../ui/switch";
import { PriceNote } from "../pricing/price-note";
import { FactorRules, PriceRules, RuleWeek } from "../pricing/price-rules";
import { factorLists, isOfBatches } from "../pricing/prices";
import { Calculator } from "./price-why";
import { type RuleDraft, ruleDrafts, ruleOf } from "./rule-draft";
import { RuleList } from "./rule-list";
import type { Prices, useSavePrices } from "./use-prices";

const PARAMS = { model: textParam() };
interface RulesEditorProps {
  prices: Prices;
  saver: ReturnType<typeof useSavePrices>;
}

/** The rules of one model: a form or JSON, with the week drawn, what overlaps and what a call would cost. */
export default function RulesEditor({ prices, saver }: RulesEditorProps) {
  const { t } = useLingui();
  const id = useId();
  const [{ model }, patch] = useUrlState(PARAMS);
  const models = useMemo(() => {
    const names = new Set([...Object.keys(prices.tables.PriceRules), ...prices.rows.map(({ name }) => name)]);
    return [...names].sort().map((name) => ({ value: name, label: name }));
  }, [prices]);
  return (
    <div className="grid max-w-[960px] gap-4">
      <p className="text-muted">{t`按时段、输入长度、服务档位、批处理、缓存、图片、视频或请求的成员改变价格。第一条适用的规则生效，都不适用时按普通价格计费。`}</p>
      <FieldFrame id={id} label={t`模型`} className="w-72">
        <Combobox
          id={id}
          aria-labelledby={`${id}-label`}
          placeholder={t`选择模型`}
          value={model || null}
          options={models}
          onValueChange={(next) => patch({ model: next ?? "" })}
        />
      </FieldFrame>
      {model === "" ? (
        <EmptyState title={t`选择一个模型`} description={t`这里会显示它的价格规则。`} />
      ) : (
        <ModelRules
          key={`${model} ${JSON.stringify(prices.tables.PriceRules[model])}`}
          model={model}
          prices={prices}
          saver={saver}
        />
      )}
    </div>
  );
}

const laidOut = (rules: unknown): string => JSON.stringify(rules, null, 2);

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function ModelRules({ model, prices, saver }: RulesEditorProps & { model: string }) {
  const { t } = useLingui();
  const { tables } = prices;
  const own = Object.hasOwn(tables.PriceRules, model) ? tables.PriceRules[model] : undefined;
  const price = resolvePrice(model, "default", "default", tables);
  const tiers = longContextOf(model, tables).map(tierRule).toReversed();
  const first = own ?? (price.unpriced ? [] : (price.rules ?? []));
  const [drafts, setDrafts] = useState<readonly RuleDraft[]>(() => ruleDrafts(first));
  /** The text of the expert's view; null: the form is shown. */
  const [json, setJson] = useState<string | null>(null);
  const [tried, setTried] = useState(false);
  const text = json ?? laidOut(drafts.map(ruleOf));
  const parsed = parseOption("PriceRules", JSON.stringify({ [model]: parsedJson(text) ?? null }));
  const rules = parsed.ok ? parsed.value[model] : undefined;
  const after = useMemo(
    () => rules && { ...tables, PriceRules: { ...tables.PriceRules, [model]: rules } },
    // The text decides: the parsed list is another object at every rendering.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
    [text, tables, model],
  );
  const store = (next: Readonly<Record<string, readonly PriceRule[]>>) =>
    void saver.saveText("PriceRules", laidOut(tables.PriceRules), laidOut(next)).catch(() => false);
  const { [model]: _, ...others } = tables.PriceRules;
  const unchanged = text === laidOut(ruleDrafts(first).map(ruleOf));
  const showJson = (on: boolean) => {
    if (rules) setDrafts(ruleDrafts(rules));
    setJson(on ? text : null);
  };
  const shown = after?.PriceRules[model] ?? [];
  const discount = batchRule(Number(prices.text("BatchRatio")));
  const isDiscounted = !price.unpriced && price.by === "ratio" && !shown.some(isOfBatches);
  return (
    <>
      {own === undefined ? (
        <p className="text-muted">{t`这个模型没有自己的规则，下面是它现在适用的规则；保存后成为它自己的规则，空列表表示没有规则。`}</p>
      ) : null}
      <PriceNote note={priceNoteOf(tables, model)} />
      <div className="w-72 max-w-full">
        <SwitchField
          label={t`用 JSON 编辑`}
          checked={json !== null}
          disabled={json !== null && !parsed.ok}
          onCheckedChange={showJson}
        />
      </div>
      {json === null ? (
        <RuleList rules={drafts} onRules={setDrafts} />
      ) : (
        <JsonEditor
          aria-label={t`规则的 JSON`}
          rows={14}
          value={json}
          onValueChange={setJson}
          aria-invalid={!parsed.ok}
        />
      )}
      {parsed.ok || (json === null && !tried) ? null : (
        <p role="alert" className="text-red-fg">
          {parsed.problem[currentLanguage()]}
        </p>
      )}
      <div className="flex flex-wrap gap-2">
        <Button
          variant="primary"
          loading={saver.saving}
          onClick={() => {
            setTried(true);
            if (after) store(after.PriceRules);
          }}
        >{t`保存`}</Button>
        <Button
          disabled={unchanged}
          onClick={() => {
            setDrafts(ruleDrafts(first));
            setJson(json === null ? null : laidOut(first));
            setTried(false);
          }}
        >{t`撤销修改`}</Button>
        {own === undefined ? null : <Button onClick={() => store(others)}>{t`删除自己的规则`}</Button>}
      </div>
      {after ? (
        <>
          {json === null ? <RuleWeek rules={shown} /> : <PriceRules rules={shown} />}
          <FactorRules lists={[tiers, ...factorLists(model), isDiscounted ? [discount] : []]} />
          <Report rules={shown} />
          <section className="grid gap-2">
            <h2 className="text-md">{t`哪条规则会适用`}</h2>
            <Calculator prices={{ ...prices, tables: after }} model={model} group="default" userGroup="default" />
          </section>
        </>
      ) : null}
    </>
  );
}

/** Rules that overlap, rules that never apply, and lengths that no rule has. */
function Report({ rules }: { rules: readonly PriceRule[] }) {
  const { t } = useLingui();
  const [now] = useState(() => Date.now());
  const checked = useDeferredValue(rules);
  const { overlaps, gaps } = useMemo(() => checkRules(checked, now), [checked, now]);
  if (overlaps.length === 0 && gaps.length === 0) return null;
  const name = (place: number): string => checked[place]?.name ?? "";
  return (
    <ul className="grid list-disc gap-1 pl-5 text-ink-2" aria-label={t`规则的重叠与空隙`}>
      {overlaps.map(({ first, second, hidden }) => {
        const [one, other] = [name(first), name(second)];
        return (
          <li key={`${first} ${second}`}>
            {hidden
              ? t`“${other}”永远不会生效：“${one}”总是先适用。`
              : t`“${one}”与“${other}”重叠，重叠处“${one}”生效。`}
          </li>
        );
      })}
      {gaps.map(({ over = 0, up_to = 0 }) => (
        <li key={over}>{t`输入超过 ${over}、至多 ${up_to} 个 Token 时没有规则，按普通价格计费。`}</li>
      ))}
    </ul>
  );
}
