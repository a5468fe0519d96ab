import { useLingui } from "@lingui/react/macro";
import { useId } from "react";
import { useForm } from "react-hook-form";
import { REDEMPTION_LIMITS, type RedemptionView } from "../../../shared/redemption";
import { FormField, FormStack } from "../../components/form-field";
import { QuotaField } from "../../components/quota-field";
import { useOnce, useOpening } from "../../lib/once";
import { toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { DateTimeField } from "../../ui/date-time-field";
import { Drawer } from "../../ui/drawer";
import { Input } from "../../ui/input";
import { NumberField } from "../../ui/number-field";
import { emptyRedemption, fieldsOf, redemptionResolver, valuesOf } from "./redemption-values";

export type RedemptionFormDrawerProps = {
  /** undefined: new codes. */
  stored: RedemptionView | undefined;
  onClose: () => void;
  /** The codes that were made, and what they are called and worth. */
  onCreated: (batch: NewBatch) => void;
};

export interface NewBatch {
  name: string;
  quota: number;
  codes: readonly string[];
}

/** The form of new codes, or of a stored unused one. */
export default function RedemptionFormDrawer({ stored, onClose, onCreated }: RedemptionFormDrawerProps) {
  const { t } = useLingui();
  const formId = useId();
  const utils = trpc.useUtils();
  const before = stored ? valuesOf(stored) : emptyRedemption;
  const form = useForm({ defaultValues: before, resolver: redemptionResolver(before.expired_time), mode: "onTouched" });
  const opening = useOpening();
  const create = trpc.redemption.create.useMutation({ trpc: opening, gcTime: 0 });
  const update = trpc.redemption.update.useMutation();
  const saving = create.isPending || update.isPending;
  const { control } = form;
  const max = REDEMPTION_LIMITS.batch;

  const save = form.handleSubmit(async (values) => {
    const { count, ...fields } = fieldsOf(values);
    try {
      if (stored) {
        await update.mutateAsync({ id: stored.id, ...fields });
        toastSuccess(t`兑换码更新成功！`);
        onClose();
      } else {
        const codes = await create.mutateAsync({ ...fields, count });
        toastSuccess(t`兑换码创建成功！`);
        onCreated({ name: fields.name ?? "", quota: fields.quota, codes });
      }
      void utils.redemption.invalidate();
    } catch {
      // The query client shows the error.
    }
  });
  const submit = useOnce(save);

  return (
    <Drawer
      open
      modal={false}
      onOpenChange={(open) => !open && onClose()}
      title={stored ? t`编辑兑换码` : t`添加兑换码`}
      footer={
        <>
          <span className="flex-1" />
          <Button onClick={onClose}>{t`取消`}</Button>
          <Button type="submit" form={formId} variant="primary" loading={saving}>
            {stored ? t`保存` : t`创建`}
          </Button>
        </>
      }
    >
      <form
        id={formId}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <FormStack>
          <FormField
            control={control}
            name="name"
            label={t`名称`}
            hint={t`最多 20 个字符；留空时以额度命名`}
            errorValues={{ max: REDEMPTION_LIMITS.name }}
          >
            {(field) => <Input {...field.input} autoComplete="off" placeholder={t`例如：新年活动`} />}
          </FormField>
          <FormField control={control} name="quota" label={t`面额`} required>
            {(field) => <QuotaField {...field.control} picks />}
          </FormField>
          <FormField control={control} name="expired_time" label={t`过期时间`} hint={t`留空表示永不过期`}>
            {(field) => <DateTimeField {...field.control} />}
          </FormField>
          {stored ? null : (
            <FormField control={control} name="count" label={t`数量`} hint={t`一次最多 ${max} 个`} required>
              {(field) => <NumberField {...field.control} min={1} max={max} step={1} />}
            </FormField>
          )}
        </FormStack>
      </form>
    </Drawer>
  );
}
