import { useLingui } from "@lingui/react/macro";
import type { ReactNode } from "react";
import { FormProvider, useFormContext, useWatch } from "react-hook-form";
import { TOKEN_DEFAULTS, TOKEN_LIMITS } from "../../../shared/token";
import { DraftNotice } from "../../components/draft-notice";
import { knownName } from "../../../shared/known-names";
import { FormFooter } from "../../components/form-footer";
import { FormField } from "../../components/form-field";
import { QuotaField } from "../../components/quota-field";
import { groupRatioHue } from "../../components/status";
import { useHotkeys } from "../../lib/hotkeys";
import { currentLanguage } from "../../lib/i18n";
import { useUser } from "../../lib/session";
import { trpc } from "../../lib/trpc";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Input, Textarea } from "../../ui/input";
import { NumberField } from "../../ui/number-field";
import { RadioCards, type RadioCard } from "../../ui/radio-cards";
import { Skeleton } from "../../ui/skeleton";
import { SwitchField } from "../../ui/switch";
import { TokenInput } from "../../ui/token-input";
import { ExpiryField, timeZoneName } from "./expiry-field";
import { DrawingField } from "./drawing-field";
import { LimitFields } from "./limit-fields";
import type { TokenValues } from "./token-values";
import type { TokenFormState } from "./use-token-form";

/** The fields of a token, new or stored. */
export function TokenForm({ state }: { state: TokenFormState }) {
  const { form, formId, draft, stored } = state;
  useHotkeys({ "$mod+Enter": () => void state.submit() });
  return (
    <FormProvider {...form}>
      <DraftNotice {...draft} />
      <form
        id={formId}
        noValidate
        className="grid grid-cols-[minmax(0,1fr)] gap-5"
        onSubmit={(event) => {
          event.preventDefault();
          void state.submit();
        }}
      >
        <NameField />
        <QuotaFields />
        <ExpiryFields />
        <GroupField />
        <ModelFields />
        <AddressFields />
        <LimitFields />
        <DrawingField />
        {stored ? null : <CountField />}
      </form>
    </FormProvider>
  );
}

/** Save and cancel. */
export function TokenFormFooter({ state, onCancel }: { state: TokenFormState; onCancel: () => void }) {
  const { t } = useLingui();
  const count = state.changes.length;
  return (
    <FormFooter {...state} onCancel={onCancel}>
      <span role="status" className="mr-auto text-ink-2">
        {state.stored && count > 0 ? t`${count} 处修改` : ""}
      </span>
    </FormFooter>
  );
}

function NameField() {
  const { t } = useLingui();
  const { control } = useFormContext<TokenValues>();
  return (
    <FormField control={control} name="name" label={t`名称`} required>
      {(field) => <Input {...field.input} autoComplete="off" placeholder={t`例如：我的脚本`} />}
    </FormField>
  );
}

function QuotaFields() {
  const { t } = useLingui();
  const { control, setValue, clearErrors } = useFormContext<TokenValues>();
  const unlimited = useWatch({ control, name: "unlimited_quota" });
  return (
    <div className="grid gap-2">
      <FormField
        control={control}
        name="remain_quota"
        label={t`令牌额度`}
        hint={t`令牌最多可用这么多；实际消费仍受账户余额限制。`}
      >
        {(field) => <QuotaField {...field.control} picks disabled={unlimited} />}
      </FormField>
      <SwitchField
        label={t`无限额度`}
        checked={unlimited}
        onCheckedChange={(on) => {
          setValue("unlimited_quota", on, { shouldDirty: true });
          if (!on) return;
          setValue("count", 1);
          clearErrors(["remain_quota", "count"]);
        }}
      />
    </div>
  );
}

function ExpiryFields() {
  const { t } = useLingui();
  const { control } = useFormContext<TokenValues>();
  const zone = timeZoneName();
  return (
    <FormField
      control={control}
      name="expired_time"
      label={t`过期时间`}
      hint={t`格式 yyyy-MM-dd HH:mm:ss，-1 表示永不过期；时区 ${zone}`}
    >
      {(field) => <ExpiryField field={field} />}
    </FormField>
  );
}

function GroupField() {
  const { t } = useLingui();
  const { control } = useFormContext<TokenValues>();
  const own = useUser()?.group ?? "";
  const groups = trpc.group.own.useQuery(undefined, { staleTime: 60_000 });
  const chosen = useWatch({ control, name: "group" });
  const known = groups.data;

  const card = (
    value: string,
    title: ReactNode,
    description: ReactNode,
    ratio: number | undefined,
  ): RadioCard<string> => ({
    value,
    title: (
      <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <span className="wrap-anywhere">{title}</span>
        {ratio === undefined ? null : <Badge hue={groupRatioHue(ratio)}>{t`倍率 ${ratio}`}</Badge>}
      </span>
    ),
    description,
  });
  const cards: RadioCard<string>[] = [
    card("", t`用户分组`, own ? t`跟随账户，当前为 ${own}` : t`跟随账户`, known?.[own]?.ratio),
    ...Object.entries(known ?? {}).map(([name, { desc, ratio }]) =>
      card(name, name, desc === name ? null : knownName(desc, currentLanguage()), ratio),
    ),
  ];
  // A token keeps a group that may no longer be chosen, and its owner must see which.
  if (known && chosen !== "" && !Object.hasOwn(known, chosen)) {
    cards.push(card(chosen, chosen, t`已不可用，请改选其他分组`, undefined));
  }

  return (
    <FormField control={control} name="group" label={t`分组`}>
      {(field) =>
        groups.isPending ? (
          <Skeleton className="h-14 rounded-lg" />
        ) : (
          <RadioCards
            aria-labelledby={field.control["aria-labelledby"]}
            value={field.value}
            onValueChange={field.setValue}
            cards={cards}
          />
        )
      }
    </FormField>
  );
}

function ModelFields() {
  const { t } = useLingui();
  const { control, setValue } = useFormContext<TokenValues>();
  const own = useUser()?.group ?? "";
  const [enabled, group] = useWatch({ control, name: ["model_limits_enabled", "group"] });
  const asked = group || own;
  const models = trpc.group.models.useQuery(asked ? { group: asked } : {}, { staleTime: 60_000 });
  const offered = models.data ?? [];
  const count = offered.length;

  return (
    <div className="grid gap-2">
      <SwitchField
        label={t`限制模型`}
        hint={t`只允许调用下面选中的模型`}
        checked={enabled}
        onCheckedChange={(on) => setValue("model_limits_enabled", on, { shouldDirty: true, shouldValidate: !on })}
      />
      <FormField control={control} name="model_limits" label={t`可用模型`}>
        {(field) => (
          <div className="grid gap-2">
            <TokenInput
              {...field.control}
              suggestions={offered}
              disabled={!enabled}
              placeholder={enabled ? t`选择或输入模型名称` : t`打开上面的开关后选择`}
              className={enabled ? undefined : "opacity-50"}
            />
            {enabled ? (
              <div className="flex flex-wrap gap-2">
                <Button
                  size="sm"
                  disabled={count === 0}
                  onClick={() => field.setValue([...new Set([...field.value, ...offered])])}
                >
                  {t`全选（${count}）`}
                </Button>
                <Button
                  size="sm"
                  variant="ghost"
                  disabled={field.value.length === 0}
                  onClick={() => field.setValue([])}
                >
                  {t`清空`}
                </Button>
              </div>
            ) : null}
          </div>
        )}
      </FormField>
    </div>
  );
}

function AddressFields() {
  const { t } = useLingui();
  const { control } = useFormContext<TokenValues>();
  // A list of lines has a complaint a line.
  const perLine = "[&_[role=alert]]:whitespace-pre-line";
  return (
    <div className="grid gap-5 sm:grid-cols-2">
      <FormField
        control={control}
        name="allow_ips"
        label={t`IP 白名单`}
        hint={t`每行一个 IP 或网段，留空不限制`}
        className={perLine}
      >
        {(field) => (
          <Textarea
            {...field.input}
            rows={3}
            spellCheck={false}
            placeholder={"192.0.2.7\n10.0.0.0/8"}
            className="font-mono"
          />
        )}
      </FormField>
      <FormField
        control={control}
        name="deny_ips"
        label={t`IP 黑名单`}
        hint={t`先于白名单检查，格式相同`}
        className={perLine}
      >
        {(field) => (
          <Textarea {...field.input} rows={3} spellCheck={false} placeholder="2001:db8::/32" className="font-mono" />
        )}
      </FormField>
    </div>
  );
}

function CountField() {
  const { t } = useLingui();
  const { control } = useFormContext<TokenValues>();
  const unlimited = useWatch({ control, name: "unlimited_quota" });
  const max = TOKEN_LIMITS.batch;
  return (
    <FormField
      control={control}
      name="count"
      label={t`数量`}
      hint={unlimited ? t`无限额度的令牌一次创建一个` : t`最多 ${max} 个；从第二个起，名称后加 6 位随机字符`}
    >
      {(field) => (
        <div className="flex flex-wrap items-center gap-2">
          <div className="w-24">
            <NumberField {...field.control} min={1} max={max} step={1} disabled={unlimited} />
          </div>
          {TOKEN_DEFAULTS.batch_choices.map((choice) => (
            <Button
              key={choice}
              size="sm"
              disabled={unlimited}
              aria-pressed={field.value === choice}
              onClick={() => field.setValue(choice)}
              className={field.value === choice ? "border-accent bg-accent-soft" : undefined}
            >
              {choice}
            </Button>
          ))}
        </div>
      )}
    </FormField>
  );
}
