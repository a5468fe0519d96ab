import { useLingui } from "@lingui/react/macro";
import { Braces, Rows3 } from "lucide-react";
import { useId, useState } from "react";
import { jsonObject } from "../../../shared/channel";
import {
  settingMembers,
  type SettingMember,
  settingNames,
  settingProblem,
  type SettingName,
} from "../../../shared/channel-setting";
import type { ChannelType } from "../../../shared/channel-types";
import { FieldFrame } from "../../components/form-field";
import { JsonEditor } from "../../components/json-editor";
import { cn } from "../../lib/cn";
import { currentLanguage } from "../../lib/i18n";
import { Button } from "../../ui/button";
import { Input, Textarea } from "../../ui/input";
import { NumberField } from "../../ui/number-field";
import { Select } from "../../ui/select";
import { SwitchField } from "../../ui/switch";

type SettingFieldsProps = {
  type: ChannelType | undefined;
  /** JSON text of an object; "" is none. */
  value: string;
  onValueChange: (value: string) => void;
  id: string;
  "aria-labelledby": string;
  "aria-describedby"?: string | undefined;
  "aria-invalid"?: boolean | undefined;
};

/** The members that a type offers: what it cannot use is not shown, unless it is set. */
function offered(type: ChannelType | undefined, stored: Record<string, unknown>): SettingName[] {
  return settingNames.filter((name) => {
    if (stored[name] !== undefined) return true;
    if (name === "proxy") return type?.proxy ?? true;
    if (name === "force_format" || name === "thinking_to_content") return type?.settings.includes(name) ?? true;
    return true;
  });
}

/** A figure whose hint is a few words takes half a line. */
function isNarrow(name: SettingName): boolean {
  const { kind, hint }: SettingMember = settingMembers[name];
  return kind === "number" && (hint?.zh.length ?? 0) < 24;
}

/** A channel's `setting`: a field for each declared member, or the JSON text itself. */
export default function SettingFields({ type, value, onValueChange, ...wiring }: SettingFieldsProps) {
  const { t } = useLingui();
  const [asText, setAsText] = useState(false);
  const stored = jsonObject(value);
  if (asText || !stored) {
    return (
      <div className="grid gap-1">
        <JsonEditor {...wiring} value={value} onValueChange={onValueChange} rows={6} />
        <Button
          size="sm"
          variant="ghost"
          className="justify-self-start"
          disabled={!stored}
          onClick={() => setAsText(false)}
        >
          <Rows3 aria-hidden />
          {t`按字段编辑`}
        </Button>
      </div>
    );
  }
  const set = (name: SettingName, next: unknown) => {
    const { [name]: _, ...rest } = stored;
    const members = next === undefined ? rest : { ...rest, [name]: next };
    onValueChange(Object.keys(members).length === 0 ? "" : JSON.stringify(members, null, 2));
  };
  return (
    <div
      role="group"
      id={wiring.id}
      aria-labelledby={wiring["aria-labelledby"]}
      aria-describedby={wiring["aria-describedby"]}
      className="grid grid-cols-2 items-start gap-x-3 gap-y-4"
    >
      {offered(type, stored).map((name) => (
        <div key={name} className={cn("grid", !isNarrow(name) && "col-span-full")}>
          <MemberField name={name} value={stored[name]} onValueChange={(next) => set(name, next)} />
        </div>
      ))}
      <Button size="sm" variant="ghost" className="col-span-full justify-self-start" onClick={() => setAsText(true)}>
        <Braces aria-hidden />
        {t`以 JSON 编辑`}
      </Button>
    </div>
  );
}

/** One member; undefined means that it is not set. */
function MemberField({
  name,
  value,
  onValueChange,
}: {
  name: SettingName;
  value: unknown;
  onValueChange: (value: unknown) => void;
}) {
  const id = useId();
  const lang = currentLanguage();
  const member: SettingMember = settingMembers[name];
  const label = member.label[lang];
  const hint = member.hint?.[lang];
  const error = settingProblem(name, value)?.[lang];
  if (member.kind === "switch") {
    return (
      <SwitchField
        label={label}
        hint={hint}
        checked={value === true}
        onCheckedChange={(on) => onValueChange(on || undefined)}
      />
    );
  }
  const describedBy = [hint ? `${id}-hint` : "", error ? `${id}-error` : ""].join(" ").trim() || undefined;
  const wiring = {
    id,
    "aria-labelledby": `${id}-label`,
    "aria-describedby": describedBy,
    "aria-invalid": error ? true : undefined,
  };
  const text = typeof value === "string" ? value : "";
  return (
    <FieldFrame id={id} label={label} hint={hint} error={error}>
      {member.kind === "number" ? (
        <NumberField
          {...wiring}
          value={typeof value === "number" ? value : null}
          onValueChange={(next) => onValueChange(next ?? undefined)}
          min={member.min}
          max={member.max}
          step={1}
          unit={member.unit[lang]}
        />
      ) : member.kind === "choice" ? (
        <Select
          {...wiring}
          value={text || member.choices[0]?.value}
          onValueChange={(next) => onValueChange(next === member.choices[0]?.value ? undefined : next)}
          options={member.choices.map((choice) => ({ value: choice.value, label: choice.label[lang] }))}
        />
      ) : member.kind === "long-text" ? (
        <Textarea
          {...wiring}
          rows={3}
          value={text}
          onChange={(event) => onValueChange(event.target.value || undefined)}
        />
      ) : (
        <Input
          {...wiring}
          value={text}
          onChange={(event) => onValueChange(event.target.value || undefined)}
          placeholder={member.placeholder}
          autoComplete="off"
          spellCheck={false}
        />
      )}
    </FieldFrame>
  );
}
