import { useLingui } from "@lingui/react/macro";
import { useId } from "react";
import { useFormContext } from "react-hook-form";
import { FormField } from "../../components/form-field";
import { trpc } from "../../lib/trpc";
import { Input } from "../../ui/input";
import { NumberField } from "../../ui/number-field";
import { TokenInput } from "../../ui/token-input";
import type { ChannelValues } from "./channel-values";

/** Whose calls a channel serves, and how often among its like. */
export function RoutingFields() {
  const { t } = useLingui();
  const { control } = useFormContext<ChannelValues>();
  const groups = trpc.group.list.useQuery(undefined, { staleTime: 60_000 });
  const tags = trpc.channel.tags.useQuery(undefined, { meta: { quiet: true } });
  const tagList = useId();
  return (
    <>
      <FormField control={control} name="groups" label={t`分组`} required hint={t`这些分组的令牌可以使用此渠道`}>
        {(field) => <TokenInput {...field.control} suggestions={groups.data ?? []} />}
      </FormField>
      <FormField control={control} name="tag" label={t`标签`} hint={t`同一标签的渠道可以一起管理`}>
        {({ input }) => (
          <>
            <Input {...input} autoComplete="off" list={tagList} />
            <datalist id={tagList}>
              {(tags.data ?? []).map((tag) => (
                <option key={tag} value={tag} />
              ))}
            </datalist>
          </>
        )}
      </FormField>
      <div className="grid grid-cols-2 items-start gap-3">
        <FormField control={control} name="priority" label={t`优先级`} hint={t`数值大的先用，用尽后才轮到下一级`}>
          {(field) => <NumberField {...field.control} step={1} />}
        </FormField>
        <FormField control={control} name="weight" label={t`权重`} hint={t`同一优先级内按权重分配`}>
          {(field) => <NumberField {...field.control} step={1} />}
        </FormField>
      </div>
    </>
  );
}
