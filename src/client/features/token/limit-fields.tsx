import { useLingui } from "@lingui/react/macro";
import { useFormContext } from "react-hook-form";
import { FormField } from "../../components/form-field";
import { QuotaField } from "../../components/quota-field";
import { NumberField } from "../../ui/number-field";
import type { TokenValues } from "./token-values";

/** Requests, tokens and calls at once, and what may be spent a day and a month. */
export function LimitFields() {
  const { t } = useLingui();
  const { control } = useFormContext<TokenValues>();
  return (
    <fieldset>
      <legend className="font-medium">{t`限制`}</legend>
      <p className="mb-2 text-xs text-muted">{t`0 表示不限`}</p>
      <div className="grid grid-cols-3 gap-3">
        <FormField control={control} name="rpm" label={t`每分钟请求`}>
          {(field) => <NumberField {...field.control} min={0} step={1} />}
        </FormField>
        <FormField control={control} name="tpm" label={t`每分钟 tokens`}>
          {(field) => <NumberField {...field.control} min={0} step={1} />}
        </FormField>
        <FormField control={control} name="concurrency" label={t`并发数`}>
          {(field) => <NumberField {...field.control} min={0} step={1} />}
        </FormField>
      </div>
      <div className="mt-3 grid gap-3 sm:grid-cols-2">
        <FormField control={control} name="budget_day" label={t`每日预算`} hint={t`按服务器时区，每天 0 点重新计算`}>
          {(field) => <QuotaField {...field.control} />}
        </FormField>
        <FormField control={control} name="budget_month" label={t`每月预算`} hint={t`按服务器时区，每月 1 日重新计算`}>
          {(field) => <QuotaField {...field.control} />}
        </FormField>
      </div>
    </fieldset>
  );
}
