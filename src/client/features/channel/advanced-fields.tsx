import { useLingui } from "@lingui/react/macro";
import { useId } from "react";
import { useFormContext } from "react-hook-form";
import { channelType } from "../../../shared/channel-types";
import { FormField } from "../../components/form-field";
import { Input } from "../../ui/input";
import { NumberField } from "../../ui/number-field";
import { SwitchField } from "../../ui/switch";
import type { ChannelValues } from "./channel-values";

export function AdvancedFields() {
  const { t } = useLingui();
  const { control, watch } = useFormContext<ChannelValues>();
  const models = watch("models");
  const listId = useId();
  const first = models[0];
  return (
    <>
      {channelType(watch("type"))?.organization ? (
        <FormField
          control={control}
          name="openai_organization"
          label={t`组织`}
          hint={t`作为 OpenAI-Organization 发送，可留空`}
        >
          {({ input }) => <Input {...input} autoComplete="off" placeholder="org-…" />}
        </FormField>
      ) : null}
      <FormField control={control} name="test_model" label={t`测试模型`} hint={t`测试渠道时使用，留空则用第一个模型`}>
        {({ input }) => (
          <>
            <Input {...input} autoComplete="off" list={listId} placeholder={first} />
            <datalist id={listId}>
              {models.map((model) => (
                <option key={model} value={model} />
              ))}
            </datalist>
          </>
        )}
      </FormField>
      <FormField control={control} name="max_input_tokens" label={t`最大输入 tokens`} hint={t`0 表示不限`}>
        {(field) => <NumberField {...field.control} min={0} step={1} />}
      </FormField>
      <AutoBanField />
    </>
  );
}

function AutoBanField() {
  const { t } = useLingui();
  const { watch, setValue } = useFormContext<ChannelValues>();
  return (
    <SwitchField
      label={t`失败时自动禁用`}
      hint={t`上游明确拒绝密钥或额度用尽时，由系统停用此渠道`}
      checked={watch("auto_ban")}
      onCheckedChange={(on) => setValue("auto_ban", on, { shouldDirty: true })}
    />
  );
}
