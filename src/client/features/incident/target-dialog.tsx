import { useLingui } from "@lingui/react/macro";
import { CircleCheck, CircleX } from "lucide-react";
import { useId, useState } from "react";
import { SEVERITIES } from "../../../shared/alert-rules";
import {
  TARGET_TYPES,
  type TargetField,
  type TargetInput,
  TARGETS,
  type TargetType,
  type TargetView,
} from "../../../shared/alert-targets";
import { SEVERITY_NAMES } from "../../../shared/incidents";
import { FieldFrame, FormRow, FormStack } from "../../components/form-field";
import { faultOf } from "../../lib/errors";
import { currentLanguage } from "../../lib/i18n";
import { toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { Input } from "../../ui/input";
import { Select } from "../../ui/select";

/** One target as a form; a test sends what is typed, and shows what was answered. */
export function TargetDialog({ target, onClose }: { target: TargetView | undefined; onClose: () => void }) {
  const { t } = useLingui();
  const utils = trpc.useUtils();
  const id = useId();
  const lang = currentLanguage();
  const [type, setType] = useState<TargetType>(target?.type ?? "webhook");
  const [name, setName] = useState(target?.name ?? "");
  const [language, setLanguage] = useState(target?.lang ?? lang);
  const [least, setLeast] = useState(target?.least ?? "warning");
  const [texts, setTexts] = useState<Partial<Record<TargetField, string>>>(target?.open ?? {});
  const saving = trpc.incident.saveTarget.useMutation({
    meta: { quiet: true },
    onSuccess: () => {
      toastSuccess(t`保存成功`);
      onClose();
    },
    onSettled: () => utils.incident.targets.invalidate(),
  });
  const testing = trpc.incident.testTarget.useMutation({ meta: { quiet: true } });
  const { fields } = TARGETS[type];
  const input: TargetInput = {
    name: name.trim(),
    type,
    lang: language,
    least,
    on: target?.on ?? true,
    ...Object.fromEntries(fields.map(({ field }) => [field, texts[field] ?? ""])),
    ...(target && { was: target.name }),
  };
  const error = saving.error ?? testing.error;
  const change = (field: TargetField, value: string) => {
    testing.reset();
    setTexts((now) => ({ ...now, [field]: value }));
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={target ? t`编辑通知对象` : t`添加通知对象`}
      footer={
        <>
          <Button
            loading={testing.isPending}
            onClick={() => !testing.isPending && testing.mutate(input)}
          >{t`发送测试`}</Button>
          <Button
            variant="primary"
            loading={saving.isPending}
            onClick={() => !saving.isPending && saving.mutate(input)}
          >{t`保存`}</Button>
        </>
      }
    >
      <FormStack>
        <FormRow>
          <FieldFrame id={`${id}-name`} label={t`名称`} required>
            <Input id={`${id}-name`} value={name} maxLength={60} onChange={(event) => setName(event.target.value)} />
          </FieldFrame>
          <FieldFrame id={`${id}-type`} label={t`类型`}>
            <Select
              id={`${id}-type`}
              value={type}
              options={TARGET_TYPES.map((value) => ({ value, label: TARGETS[value][lang] }))}
              onValueChange={(next) => {
                const chosen = TARGET_TYPES.find((one) => one === next);
                if (chosen) setType(chosen);
                testing.reset();
              }}
            />
          </FieldFrame>
        </FormRow>
        {fields.map(({ field, required, secret, ...label }) => {
          const stored = secret === true && target?.type === type && target.set.includes(field);
          return (
            <FieldFrame key={field} id={`${id}-${field}`} label={label[lang]} required={required}>
              <Input
                id={`${id}-${field}`}
                type={secret === true ? "password" : "text"}
                autoComplete="off"
                value={texts[field] ?? ""}
                placeholder={stored ? t`已设置，留空则不修改` : undefined}
                onChange={(event) => change(field, event.target.value)}
              />
            </FieldFrame>
          );
        })}
        <FormRow>
          <FieldFrame id={`${id}-lang`} label={t`消息语言`}>
            <Select
              id={`${id}-lang`}
              value={language}
              options={[
                { value: "zh", label: "中文" },
                { value: "en", label: "English" },
              ]}
              onValueChange={(next) => setLanguage(next === "en" ? "en" : "zh")}
            />
          </FieldFrame>
          <FieldFrame id={`${id}-least`} label={t`最低级别`}>
            <Select
              id={`${id}-least`}
              value={least}
              options={SEVERITIES.map((value) => ({ value, label: SEVERITY_NAMES[value][lang] }))}
              onValueChange={(next) => setLeast(SEVERITIES.find((one) => one === next) ?? "warning")}
            />
          </FieldFrame>
        </FormRow>
        {error ? (
          <p role="alert" className="text-xs text-red-fg">
            {faultOf(error).message}
          </p>
        ) : null}
        {testing.data ? (
          <p
            role="status"
            className={`flex items-start gap-2 wrap-anywhere ${testing.data.ok ? "text-green-fg" : "text-red-fg"}`}
          >
            {testing.data.ok ? (
              <CircleCheck aria-hidden className="mt-0.5 size-4 shrink-0" />
            ) : (
              <CircleX aria-hidden className="mt-0.5 size-4 shrink-0" />
            )}
            <span>
              {testing.data.ok ? t`测试已送达。` : t`测试未送达。`} {testing.data.answer}
            </span>
          </p>
        ) : null}
      </FormStack>
    </Dialog>
  );
}
