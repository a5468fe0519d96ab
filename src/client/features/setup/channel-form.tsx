import { useLingui } from "@lingui/react/macro";
import { CircleAlert, CircleCheck, Info, Plug } from "lucide-react";
import { useEffect, useId, useRef, useState } from "react";
import type { ChannelType } from "../../../shared/channel-types";
import { FieldFrame } from "../../components/form-field";
import { formatMilliseconds } from "../../lib/format";
import { currentLanguage } from "../../lib/i18n";
import { Button } from "../../ui/button";
import { Collapsible } from "../../ui/collapsible";
import { Input, Textarea } from "../../ui/input";
import { TokenInput } from "../../ui/token-input";
import { PasswordInput } from "../auth/password-input";
import { type FirstChannel, type Problems, type Trial, useFirstChannel } from "./use-first-channel";

interface FieldProps {
  /** Of the form; the fields' ids begin with it. */
  id: string;
  type: ChannelType;
  channel: FirstChannel;
}

/** The few fields that a first channel of this type needs; the rest keeps its defaults. */
export function ChannelForm({ type, onDone, onLater }: { type: ChannelType; onDone: () => void; onLater: () => void }) {
  const { t } = useLingui();
  const id = useId();
  const channel = useFirstChannel(type, onDone);
  const { trial, trying, saved, saving, saveProblem } = channel;
  // Where the operator runs the upstream, its address comes first; elsewhere it is an exception.
  const addressFirst = type.base_url_field.required || type.base_url.includes("//localhost");
  const own = { id, type, channel };
  // The choice of a type above may fill the screen; its fields come into view, the focus stays with the choice.
  const form = useRef<HTMLFormElement>(null);
  // In braces: browsers return a promise here, which is no clean-up.
  useEffect(() => {
    form.current?.scrollIntoView({ block: "nearest" });
  }, []);
  return (
    <form
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        channel.save();
      }}
      className="grid gap-4 border-t border-line pt-5"
    >
      {addressFirst ? <AddressField {...own} /> : null}
      <KeyField {...own} />
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <Button onClick={channel.tryConnection} loading={trying}>
          {trying ? null : <Plug aria-hidden />}
          {t`测试连接`}
        </Button>
        <div role="status" className="min-w-0 flex-1">
          <TrialLine trial={trial} />
        </div>
      </div>
      <OtherField {...own} />
      <ModelsField {...own} />
      {addressFirst ? null : <OtherAddress {...own} />}
      {saveProblem ? (
        <div role="alert" className="grid gap-2 rounded-lg bg-red-bg px-3 py-2 text-red-fg">
          <p className="flex gap-2 wrap-anywhere">
            <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
            {saveProblem}
          </p>
        </div>
      ) : null}
      <div className="flex flex-wrap justify-end gap-2">
        {saved ? (
          <Button size="lg" variant="ghost" onClick={onDone}>{t`不再测试，继续`}</Button>
        ) : (
          <Button size="lg" variant="ghost" onClick={onLater}>{t`稍后`}</Button>
        )}
        <Button type="submit" size="lg" variant="primary" loading={saving}>
          {channel.testing ? t`正在测试…` : saved ? t`保存并重新测试` : t`保存并继续`}
        </Button>
      </div>
    </form>
  );
}

const wiring = (id: string, field: keyof Problems, problems: Problems) => ({
  id: `${id}-${field}`,
  "aria-describedby": [`${id}-${field}-hint`, problems[field] ? `${id}-${field}-error` : ""].join(" ").trim(),
  "aria-invalid": problems[field] ? true : undefined,
});

function AddressField({ id, type, channel: { fields, problems, change } }: FieldProps) {
  const { t } = useLingui();
  const language = currentLanguage();
  return (
    <FieldFrame
      id={`${id}-base_url`}
      label={type.base_url_field.label[language]}
      hint={type.base_url_field.hint?.[language] ?? (type.base_url ? t`留空使用默认地址` : undefined)}
      error={problems.base_url}
      required={type.base_url_field.required}
    >
      <Input
        {...wiring(id, "base_url", problems)}
        type="url"
        inputMode="url"
        spellCheck={false}
        placeholder={type.base_url}
        value={fields.base_url}
        onChange={(event) => change({ base_url: event.target.value })}
        className="font-mono"
      />
    </FieldFrame>
  );
}

/** The address of a type that has one of its own, folded. */
function OtherAddress(props: FieldProps) {
  const { t } = useLingui();
  const [open, setOpen] = useState(false);
  return (
    <Collapsible
      title={t`使用其他接口地址`}
      open={open || props.channel.problems.base_url !== undefined}
      onOpenChange={setOpen}
    >
      <AddressField {...props} />
    </Collapsible>
  );
}

function KeyField({ id, type, channel: { fields, problems, change, onPaste } }: FieldProps) {
  const { t } = useLingui();
  const language = currentLanguage();
  const { kind, optional } = type.key_format;
  const own = { ...wiring(id, "key", problems), value: fields.key, onPaste, className: "font-mono" };
  return (
    <FieldFrame
      id={`${id}-key`}
      label={t`密钥`}
      hint={optional ? t`${type.key_format.hint[language]}，可以不填` : t`格式：${type.key_format.hint[language]}`}
      error={problems.key}
      required={!optional}
    >
      {kind === "json" ? (
        <Textarea {...own} spellCheck={false} onChange={(event) => change({ key: event.target.value })} />
      ) : (
        <PasswordInput {...own} autoComplete="off" onChange={(event) => change({ key: event.target.value })} />
      )}
    </FieldFrame>
  );
}

/** The field that only some types have: a version, a region. */
function OtherField({ id, type, channel: { fields, problems, change } }: FieldProps) {
  const language = currentLanguage();
  if (!type.other) return null;
  return (
    <FieldFrame
      id={`${id}-other`}
      label={type.other.label[language]}
      hint={type.other.hint?.[language]}
      error={problems.other}
      required={type.other.required}
    >
      <Input
        {...wiring(id, "other", problems)}
        value={fields.other}
        onChange={(event) => change({ other: event.target.value })}
      />
    </FieldFrame>
  );
}

function ModelsField({ id, channel: { models, setModels, offered, problems } }: FieldProps) {
  const { t } = useLingui();
  const [open, setOpen] = useState(false);
  return (
    <Collapsible title={t`模型：已选 ${models.length} 个`} open={open || models.length === 0} onOpenChange={setOpen}>
      <FieldFrame
        id={`${id}-models`}
        label={t`模型名称`}
        hint={t`输入后按回车可添加其他名称`}
        error={problems.models}
        required
      >
        <TokenInput
          {...wiring(id, "models", problems)}
          value={models}
          onValueChange={setModels}
          suggestions={offered}
        />
      </FieldFrame>
    </Collapsible>
  );
}

function TrialLine({ trial }: { trial: Trial | null }) {
  const { t } = useLingui();
  if (trial?.kind === "listed") {
    return (
      <p className="flex items-center gap-2 text-green-fg">
        <CircleCheck aria-hidden className="size-4 shrink-0" />
        {t`${formatMilliseconds(trial.milliseconds)} · ${trial.count} 个模型`}
      </p>
    );
  }
  if (trial?.kind === "on-save") {
    return (
      <p className="flex gap-2 text-ink-2">
        <Info aria-hidden className="mt-0.5 size-4 shrink-0" />
        {t`模型列表要在保存后才能获取；保存时会发送一次真实请求来测试。`}
      </p>
    );
  }
  if (!trial) return null;
  return (
    <p className="flex gap-2 text-red-fg wrap-anywhere">
      <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
      {trial.kind === "forbidden" ? t`这个地址不会被访问：链路本地地址和云平台的元数据地址始终被拒绝。` : trial.message}
    </p>
  );
}
