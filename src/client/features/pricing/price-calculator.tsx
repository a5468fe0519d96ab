import { useLingui } from "@lingui/react/macro";
import { useId, useState } from "react";
import type { Catalogue, CatalogueModel } from "../../../shared/price-list";
import { ruleText } from "../../../shared/price-rule-text";
import type { PriceRule } from "../../../shared/price-rules";
import { videoTariff } from "../../../shared/video-tariffs";
import { currentLanguage } from "../../lib/i18n";
import { formatDollars, formatNumber } from "../../lib/format";
import { Textarea } from "../../ui/input";
import { Label } from "../../ui/label";
import { DateTimeField } from "../../ui/date-time-field";
import { NumberField } from "../../ui/number-field";
import { Select } from "../../ui/select";
import { Table, Td, Th } from "../../ui/table";
import { TokenInput } from "../../ui/token-input";
import { conditionNames } from "./condition-names";
import {
  type AskedCall,
  asksForTime,
  askedValues,
  batchRules,
  costOf,
  factorLists,
  factorsFor,
  guessTokens,
  paidBy,
} from "./prices";

const MOST = 4;
const DAYS = 30;

function Field({
  label,
  value,
  onValue,
  disabled,
}: {
  label: string;
  value: number;
  onValue: (value: number) => void;
  disabled?: boolean;
}) {
  const id = useId();
  return (
    <div className="grid gap-1">
      <Label htmlFor={id}>{label}</Label>
      <NumberField
        id={id}
        min={0}
        step={1}
        value={value}
        disabled={disabled}
        onValueChange={(next) => onValue(Math.max(0, Math.trunc(next ?? 0)))}
      />
    </div>
  );
}

const NONE = "-";

/** What the rules, and the prices of videos, ask of a call besides its tokens. */
function AskedFields({
  rules,
  asked,
  seconds,
  audio,
  batch,
  onAsked,
}: {
  rules: readonly PriceRule[];
  asked: AskedCall;
  /** Videos are paid by the second. */
  seconds: boolean;
  /** Sound costs more. */
  audio: boolean;
  /** Batches cost something else. */
  batch: boolean;
  onAsked: (asked: AskedCall) => void;
}) {
  const { t } = useLingui();
  const id = useId();
  const nameOf = (key: string): string =>
    Object.hasOwn(conditionNames, key) ? t(conditionNames[key as keyof typeof conditionNames]) : key; // its own key
  return (
    <div className="grid grid-cols-2 gap-3">
      {asksForTime(rules) ? (
        <div className="col-span-2 grid gap-1">
          <Label htmlFor={`${id}-moment`}>{t`调用时间`}</Label>
          <DateTimeField
            id={`${id}-moment`}
            value={Math.floor(asked.moment / 1000)}
            onValueChange={(next) => onAsked({ ...asked, moment: next === null ? Date.now() : next * 1000 })}
          />
        </div>
      ) : null}
      {seconds || rules.some(({ when }) => when.seconds) ? (
        <div className="grid gap-1">
          <Label htmlFor={`${id}-seconds`}>{nameOf("seconds")}</Label>
          <NumberField
            id={`${id}-seconds`}
            min={1}
            unit={t`秒`}
            value={asked.seconds ?? null}
            onValueChange={(next) => onAsked({ ...asked, seconds: next !== null && next > 0 ? next : undefined })}
          />
        </div>
      ) : null}
      {[...askedValues(rules)].map(([key, values]) => (
        <div key={key} className="grid gap-1">
          <Label id={`${id}-${key}`}>{nameOf(key)}</Label>
          <Select
            aria-labelledby={`${id}-${key}`}
            value={asked.values?.[key] ?? NONE}
            options={[{ value: NONE, label: t`请求中没有` }, ...values.map((value) => ({ value, label: value }))]}
            onValueChange={(next) =>
              onAsked({ ...asked, values: { ...asked.values, [key]: next === NONE ? undefined : next } })
            }
          />
        </div>
      ))}
      {audio ? (
        <Choice
          label={t`声音`}
          on={asked.audio === true}
          words={[t`无声`, t`有声`]}
          onChoose={(on) => onAsked({ ...asked, audio: on })}
        />
      ) : null}
      {batch ? (
        <Choice
          label={t`批处理`}
          on={asked.batch === true}
          words={[t`单次调用`, t`批处理中的一次`]}
          onChoose={(on) => onAsked({ ...asked, batch: on })}
        />
      ) : null}
    </div>
  );
}

function Choice({
  label,
  on,
  words: [no, yes],
  onChoose,
}: {
  label: string;
  on: boolean;
  words: readonly [no: string, yes: string];
  onChoose: (on: boolean) => void;
}) {
  const id = useId();
  return (
    <div className="grid gap-1">
      <Label id={id}>{label}</Label>
      <Select
        aria-labelledby={id}
        value={on ? "1" : "0"}
        options={[
          { value: "0", label: no },
          { value: "1", label: yes },
        ]}
        onValueChange={(next) => onChoose(next === "1")}
      />
    </div>
  );
}

/** What calls of this size would cost, here and with up to three other models; the arithmetic is the ledger's own. */
export function PriceCalculator({
  catalogue,
  item,
  group,
}: {
  catalogue: Catalogue;
  item: CatalogueModel;
  group: string;
}) {
  const { t } = useLingui();
  const ids = { text: useId(), others: useId() };
  const [asked, setAsked] = useState<AskedCall>(() => ({ moment: Date.now() }));
  const [tokens, setTokens] = useState({ input: 1000, cached: 0, output: 500, calls: 1000 });
  const [text, setText] = useState("");
  const [others, setOthers] = useState<string[]>([]);
  const set = (change: Partial<typeof tokens>) => setTokens({ ...tokens, ...change });

  const guessed = text === "" ? null : guessTokens(text);
  const input = guessed ?? tokens.input;
  const guessedText = formatNumber(guessed ?? 0);
  const cached = Math.min(tokens.cached, input);
  const usage = { input: input - cached, cache_read: cached, output: tokens.output };
  const callable = catalogue.models.filter((model) => model.factors);
  const compared = [item, ...others.flatMap((name) => callable.find((model) => model.model === name) ?? [])];
  const rules = compared.flatMap((model) => [...(model.rules ?? []), ...factorLists(model.model).flat()]);
  const by = new Set(compared.map(paidBy));
  const tariffs = compared.flatMap((model) => videoTariff(model.model) ?? []);
  const extra = {
    seconds: tariffs.some(({ clips }) => clips === undefined),
    audio: tariffs.some(({ audio }) => audio !== undefined),
    batch: compared.some((model) => batchRules(catalogue, model).length > 0),
  };
  const asks = rules.length > 0 || extra.seconds || extra.batch;
  const dollars = (units: number) => formatDollars(units, catalogue.quota_per_unit, 6);

  return (
    <div className="grid gap-4">
      <div className="grid grid-cols-2 gap-3">
        {by.has("tokens") ? (
          <>
            <Field
              label={t`输入 Token`}
              value={input}
              disabled={guessed !== null}
              onValue={(value) => set({ input: value })}
            />
            <Field label={t`其中命中缓存`} value={tokens.cached} onValue={(value) => set({ cached: value })} />
            <Field label={t`输出 Token`} value={tokens.output} onValue={(value) => set({ output: value })} />
          </>
        ) : null}
        {by.has("results") ? (
          <Field
            label={t`每次生成的数量`}
            value={asked.results ?? 1}
            onValue={(results) => setAsked({ ...asked, results: Math.max(1, results) })}
          />
        ) : null}
        <Field label={t`每天调用次数`} value={tokens.calls} onValue={(value) => set({ calls: value })} />
      </div>
      {asks ? <AskedFields rules={rules} asked={asked} {...extra} onAsked={setAsked} /> : null}
      {by.has("tokens") ? (
        <div className="grid gap-1">
          <Label htmlFor={ids.text}>{t`或粘贴文本作为输入`}</Label>
          <Textarea id={ids.text} rows={3} value={text} onChange={(event) => setText(event.target.value)} />
          {guessed !== null ? (
            <p className="text-xs text-muted">{t`约 ${guessedText} 个 Token，仅为估算，实际以上游计数为准。`}</p>
          ) : null}
        </div>
      ) : null}
      <div className="grid gap-1">
        <Label htmlFor={ids.others}>{t`与其他模型比较（最多 ${MOST - 1} 个）`}</Label>
        <TokenInput
          id={ids.others}
          value={others}
          freeText={false}
          suggestions={
            others.length >= MOST - 1
              ? []
              : callable.filter((model) => model.model !== item.model).map((model) => model.model)
          }
          onValueChange={(names) => setOthers(names.filter((name) => name !== item.model).slice(0, MOST - 1))}
        />
      </div>
      <Table wide aria-label={t`费用`}>
        <thead>
          <tr>
            <Th>{t`模型`}</Th>
            <Th className="text-right">{t`每次`}</Th>
            <Th className="text-right">{t`每天`}</Th>
            <Th className="text-right">{t`每月（${DAYS} 天）`}</Th>
          </tr>
        </thead>
        <tbody>
          {compared.map((model) => {
            const charge = costOf(catalogue, model, group, usage, asked);
            const units = charge?.quota;
            const rule = charge?.rule?.name;
            const cell = (times: number) => (units === undefined ? "—" : dollars(units * times));
            return (
              <tr key={model.model}>
                <Td className="min-w-36 text-xs wrap-anywhere">
                  <span className="font-mono">{model.model}</span>
                  {model.rules || rule !== undefined ? (
                    <span className="block text-muted">{rule === undefined ? t`普通价格` : t`规则：${rule}`}</span>
                  ) : null}
                  {factorsFor(catalogue, model, asked).map((factor) => (
                    <span key={JSON.stringify(factor.when)} className="block text-muted">
                      {ruleText(factor, currentLanguage())}
                    </span>
                  ))}
                </Td>
                <Td className="text-right tabular-nums">{cell(1)}</Td>
                <Td className="text-right tabular-nums">{cell(tokens.calls)}</Td>
                <Td className="text-right tabular-nums">{cell(tokens.calls * DAYS)}</Td>
              </tr>
            );
          })}
        </tbody>
      </Table>
      {tariffs.length > 0 ? (
        <p className="text-xs text-muted">{t`没有填写的时长和分辨率按该模型的默认值计算。`}</p>
      ) : null}
    </div>
  );
}
