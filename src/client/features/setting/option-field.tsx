import { useLingui } from "@lingui/react/macro";
import { memo, useId, useState } from "react";
import { optionFacts } from "../../../shared/option-facts";
import type { OptionKey } from "../../../shared/options";
import type { Lang } from "../../../shared/text";
import { confirm } from "../../components/confirm";
import { FieldFrame } from "../../components/form-field";
import { JsonEditor } from "../../components/json-editor";
import { OperatorText } from "../../components/operator-content/operator-content";
import { currentLanguage } from "../../lib/i18n";
import { toastError } from "../../lib/toast";
import { Button } from "../../ui/button";
import { Input, Textarea } from "../../ui/input";
import { Select } from "../../ui/select";
import { SwitchField } from "../../ui/switch";
import { TokenInput } from "../../ui/token-input";
import type { OptionChecks } from "./option-checks";
import { nameOf, needsOf, problemOf } from "./setting-values";
import { SettingHistory } from "./setting-history";
import { type SettingsState, useSettings } from "./use-settings";

/** The field of one option, and its history beside it once it is pointed at or has the focus: there are a hundred. */
export function OptionField({ name }: { name: OptionKey }) {
  const [near, setNear] = useState(false);
  const approach = () => setNear(true);
  return (
    <div
      className="group/option grid grid-cols-[minmax(0,1fr)_1.75rem] items-start gap-1"
      onPointerEnter={approach}
      onFocus={approach}
    >
      <FieldByKind name={name} />
      {near ? (
        <span className="opacity-0 group-focus-within/option:opacity-100 group-hover/option:opacity-100 pointer-coarse:opacity-100">
          <SettingHistory keys={[name]} name={optionFacts[name].label[currentLanguage()]} />
        </span>
      ) : null}
    </div>
  );
}

/** By its kind in the registry. */
function FieldByKind({ name }: { name: OptionKey }) {
  const { kind } = optionFacts[name];
  const { text, problem, change, checks } = useSettings();
  if (kind === "flag") return <FlagField name={name} />;
  if (kind === "long") return <ContentField name={name} />;
  return (
    <PlainField
      name={name}
      value={text(name)}
      problem={problem(name)}
      change={change}
      checks={checks}
      lang={currentLanguage()}
    />
  );
}

/** Rendered again only when its own value changes: a page has a hundred fields, some of them long tables. */
const PlainField = memo(function PlainField({
  name,
  value,
  problem,
  change,
  checks,
  lang,
}: {
  name: OptionKey;
  value: string;
  problem: string | undefined;
  change: SettingsState["change"];
  checks: OptionChecks | undefined;
  lang: Lang;
}) {
  const id = useId();
  const { kind, label, hint, unit } = optionFacts[name];
  const checked = checks && kind === "json" && value.trim() !== "" ? problemOf(name, value, lang, checks) : undefined;
  const error = problem ?? checked;
  const notes = [unit?.[lang], hint?.[lang]].filter(Boolean).join(" · ");
  return (
    <FieldFrame id={id} label={label[lang]} hint={notes || undefined} {...(error ? { error } : {})}>
      <Control
        name={name}
        value={value}
        onValue={(next) => change(name, next)}
        aria={{
          id,
          "aria-labelledby": `${id}-label`,
          "aria-describedby": [notes ? `${id}-hint` : "", error ? `${id}-error` : ""].join(" ").trim() || undefined,
          "aria-invalid": error ? true : undefined,
        }}
      />
    </FieldFrame>
  );
});

interface ControlProps {
  name: OptionKey;
  value: string;
  onValue: (text: string) => void;
  aria: {
    id: string;
    "aria-labelledby": string;
    "aria-describedby": string | undefined;
    "aria-invalid": boolean | undefined;
  };
}

function Control({ name, value, onValue, aria }: ControlProps) {
  const { kind, choices = [] } = optionFacts[name];
  if (kind === "secret") return <SecretField name={name} aria={aria} />;
  if (kind === "json")
    return (
      <JsonEditor
        {...aria}
        value={value}
        onValueChange={onValue}
        rows={Math.min(14, Math.max(4, value.split("\n").length))}
      />
    );
  if (kind === "choice")
    return (
      <Select
        {...aria}
        value={value}
        onValueChange={onValue}
        options={choices.map((choice) => ({ value: choice, label: choice }))}
      />
    );
  if (kind === "lines")
    return <Textarea {...aria} rows={6} value={value} onChange={(event) => onValue(event.target.value)} />;
  if (kind === "list")
    return (
      <TokenInput
        {...aria}
        value={value.split(",").filter(Boolean)}
        onValueChange={(items) => onValue(items.join(","))}
      />
    );
  const numeric = kind === "int" || kind === "decimal";
  return (
    <Input
      {...aria}
      value={value}
      autoComplete="off"
      inputMode={numeric ? (kind === "int" ? "numeric" : "decimal") : undefined}
      onChange={(event) => onValue(event.target.value)}
    />
  );
}

/** On and off at the next save. What needs something else first says what; turning password sign-in off asks (D-52). */
function FlagField({ name }: { name: OptionKey }) {
  const { t } = useLingui();
  const { text, change, stored, problem } = useSettings();
  const lang = currentLanguage();
  const { label, hint } = optionFacts[name];
  const toggle = async (on: boolean) => {
    const missing = needsOf(name, String(on), stored)
      .map((needed) => nameOf(needed, lang))
      .join("、");
    if (on && missing) {
      toastError(t`无法启用，请先填写：${missing}`);
      return;
    }
    if (name === "PasswordLoginEnabled" && !on) {
      const agreed = await confirm({
        title: t`关闭密码登录？`,
        description: t`没有绑定其他登录方式的用户，包括管理员，将无法再登录。如果因此无法登录，可在服务器上运行 weir rescue 重新打开密码登录。`,
        action: t`关闭密码登录`,
        danger: true,
      });
      if (!agreed) return;
    }
    change(name, String(on));
  };
  const error = problem(name);
  return (
    <div>
      <SwitchField
        label={label[lang]}
        hint={hint?.[lang]}
        checked={text(name) === "true"}
        onCheckedChange={(on) => void toggle(on)}
      />
      {error ? (
        <p role="alert" className="text-xs text-red-fg">
          {error}
        </p>
      ) : null}
    </div>
  );
}

/** Write only: shows whether a value is set, replaces or clears it. */
function SecretField({ name, aria }: Pick<ControlProps, "name" | "aria">) {
  const { t } = useLingui();
  const { text, change, isSet, changed } = useSettings();
  const value = text(name);
  const emptied = value === "" && changed([name]).length > 0;
  return (
    <div className="flex items-center gap-2">
      <Input
        {...aria}
        type="password"
        autoComplete="new-password"
        className="flex-1"
        value={value}
        placeholder={emptied ? t`保存后清除` : isSet(name) ? t`已设置 ••••，输入以更换` : t`未设置`}
        onChange={(event) => change(name, event.target.value === "" ? undefined : event.target.value)}
      />
      {isSet(name) ? (
        <Button onClick={() => change(name, emptied ? undefined : "")}>{emptied ? t`撤销` : t`清除`}</Button>
      ) : null}
    </div>
  );
}

/** Markdown or HTML with a sanitised preview. */
function ContentField({ name }: { name: OptionKey }) {
  const { t } = useLingui();
  const id = useId();
  const { text, change, problem } = useSettings();
  const [preview, setPreview] = useState(false);
  const { label } = optionFacts[name];
  const value = text(name);
  const error = problem(name);
  return (
    <FieldFrame
      id={id}
      label={label[currentLanguage()]}
      hint={
        <span className="flex items-center justify-between gap-2">
          {t`支持 Markdown 和 HTML；脚本会被移除`}
          <Button
            size="sm"
            variant="ghost"
            aria-expanded={preview}
            disabled={value.trim() === ""}
            onClick={() => setPreview(!preview)}
          >
            {preview ? t`收起预览` : t`预览`}
          </Button>
        </span>
      }
      {...(error ? { error } : {})}
    >
      <Textarea
        id={id}
        aria-describedby={`${id}-hint`}
        rows={6}
        value={value}
        onChange={(event) => change(name, event.target.value)}
      />
      {preview && value.trim() !== "" ? (
        <OperatorText text={value} demote className="rounded-md border border-line bg-sunken p-3" />
      ) : null}
    </FieldFrame>
  );
}
