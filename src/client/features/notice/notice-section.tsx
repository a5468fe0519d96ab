import { useLingui } from "@lingui/react/macro";
import { useForm, useWatch, type Control } from "react-hook-form";
import { NOTIFY_TYPE_NAMES, NOTIFY_TYPES } from "../../../shared/notice";
import { FormField } from "../../components/form-field";
import { faultOf, reportError } from "../../lib/errors";
import { currentLanguage } from "../../lib/i18n";
import { useOnce } from "../../lib/once";
import { toastError, toastInfo, toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Card, CardBody, CardHeader } from "../../ui/card";
import { Input } from "../../ui/input";
import { NumberField } from "../../ui/number-field";
import { Select } from "../../ui/select";
import { Skeleton } from "../../ui/skeleton";
import { QuotaField } from "../../components/quota-field";
import { inputOf, type NoticeValues, noticeResolver, valuesOf } from "./notice-values";

/** How the signed-in user is notified that their balance is low. */
export default function NoticeSection() {
  const { t } = useLingui();
  const self = trpc.user.self.useQuery();
  return (
    <Card>
      <CardHeader title={t`额度提醒`} description={t`余额低于阈值时通知你，每两小时最多一次。`} />
      <CardBody>
        {self.data ? (
          <NoticeForm key={self.data.setting} setting={self.data.setting} email={self.data.email} />
        ) : (
          <Skeleton className="h-40 rounded-lg" />
        )}
      </CardBody>
    </Card>
  );
}

function NoticeForm({ setting, email }: { setting: string; email: string }) {
  const { t } = useLingui();
  const { values, secrets } = valuesOf(setting);
  const { control, handleSubmit, formState, reset } = useForm({
    defaultValues: values,
    resolver: noticeResolver,
    mode: "onTouched",
  });
  const utils = trpc.useUtils();
  const saving = trpc.notice.save.useMutation({ meta: { quiet: true } });
  const testing = trpc.notice.test.useMutation({ meta: { quiet: true } });
  const changed = formState.isDirty;

  const save = handleSubmit(async (typed) => {
    if (!changed) {
      toastInfo(t`没有任何修改！`);
      return;
    }
    try {
      await saving.mutateAsync(inputOf(typed));
      toastSuccess(t`提醒设置已保存！`);
      reset({ ...typed, webhook_secret: "", gotify_token: "" });
      await utils.user.self.invalidate();
    } catch (error) {
      reportError(error);
    }
  });
  const submit = useOnce(save);

  const test = async () => {
    try {
      await testing.mutateAsync();
      toastSuccess(t`测试通知已发送`);
    } catch (error) {
      toastError(faultOf(error).message);
    }
  };

  return (
    <form
      noValidate
      className="grid max-w-xl gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <FormField control={control} name="notify_type" label={t`通知方式`}>
        {(field) => (
          <Select
            {...field.control}
            onValueChange={(chosen) => field.setValue(NOTIFY_TYPES.find((type) => type === chosen) ?? "email")}
            options={NOTIFY_TYPES.map((type) => ({ value: type, label: NOTIFY_TYPE_NAMES[type][currentLanguage()] }))}
          />
        )}
      </FormField>
      <FormField
        control={control}
        name="quota_warning_threshold"
        label={t`提醒阈值`}
        hint={t`0 表示使用站点的默认阈值。`}
      >
        {(field) => <QuotaField {...field.control} />}
      </FormField>
      <DestinationFields control={control} email={email} secrets={secrets} />
      <div className="flex flex-wrap items-center gap-2">
        <Button type="submit" variant="primary" loading={saving.isPending}>{t`保存`}</Button>
        <Button onClick={() => void test()} loading={testing.isPending} disabled={changed}>{t`发送测试通知`}</Button>
        {changed ? <span className="text-muted">{t`保存后才能测试`}</span> : null}
      </div>
    </form>
  );
}

/** The fields of the chosen notification method. */
function DestinationFields({
  control,
  email,
  secrets,
}: {
  control: Control<NoticeValues>;
  email: string;
  secrets: { webhook: boolean; gotify: boolean };
}) {
  const { t } = useLingui();
  const type = useWatch({ control, name: "notify_type" });
  const kept = t`已设置，留空则不变`;
  switch (type) {
    case "email":
      return (
        <FormField
          control={control}
          name="notification_email"
          label={t`通知邮箱`}
          hint={email ? t`留空则使用账户邮箱 ${email}` : t`账户没有绑定邮箱，请填写。`}
        >
          {(field) => <Input {...field.input} type="email" autoComplete="email" />}
        </FormField>
      );
    case "webhook":
      return (
        <>
          <FormField control={control} name="webhook_url" label={t`Webhook 地址`}>
            {(field) => <Input {...field.input} type="url" autoComplete="off" placeholder="https://example.com/hook" />}
          </FormField>
          <FormField
            control={control}
            name="webhook_secret"
            label={t`签名密钥`}
            hint={t`请求头 X-Webhook-Signature 是请求体的 HMAC-SHA256（十六进制）；更换地址后需要重新填写。`}
          >
            {(field) => (
              <Input
                {...field.input}
                type="password"
                autoComplete="new-password"
                placeholder={secrets.webhook ? kept : ""}
              />
            )}
          </FormField>
        </>
      );
    case "bark":
      return (
        <FormField control={control} name="bark_url" label={t`Bark 地址`} hint={t`服务器地址加设备密钥。`}>
          {(field) => (
            <Input {...field.input} type="url" autoComplete="off" placeholder="https://api.day.app/device-key" />
          )}
        </FormField>
      );
    case "gotify":
      return (
        <>
          <FormField control={control} name="gotify_url" label={t`Gotify 服务器`}>
            {(field) => (
              <Input {...field.input} type="url" autoComplete="off" placeholder="https://gotify.example.com" />
            )}
          </FormField>
          <FormField control={control} name="gotify_token" label={t`应用令牌`} hint={t`更换服务器后需要重新填写。`}>
            {(field) => (
              <Input
                {...field.input}
                type="password"
                autoComplete="new-password"
                placeholder={secrets.gotify ? kept : ""}
              />
            )}
          </FormField>
          <FormField control={control} name="gotify_priority" label={t`优先级`}>
            {(field) => <NumberField {...field.control} min={0} max={10} step={1} />}
          </FormField>
        </>
      );
  }
}
