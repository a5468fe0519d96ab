import { useLingui } from "@lingui/react/macro";
import { Eye, EyeOff, FileJson } from "lucide-react";
import { useRef, useState } from "react";
import { useFormContext } from "react-hook-form";
import { splitKeys } from "../../../shared/channel";
import { isMultiKeyMode } from "../../../shared/channel-keys";
import { channelType, type ChannelType } from "../../../shared/channel-types";
import { FormField, type FieldParts } from "../../components/form-field";
import { JsonEditor } from "../../components/json-editor";
import { cn } from "../../lib/cn";
import { currentLanguage } from "../../lib/i18n";
import { lazy, WhileLoading } from "../../lib/lazy";
import { Button } from "../../ui/button";
import { IconButton } from "../../ui/icon-button";
import { Input, Textarea } from "../../ui/input";
import { Select } from "../../ui/select";
import { Skeleton } from "../../ui/skeleton";
import { ADDRESS_FIELDS, changesDestination, trimBaseUrl, type ChannelValues } from "./channel-values";
import { TypePicker } from "./type-picker";

const KeyList = lazy(() => import("./key-list"));

/**
 * Type, name, address, key, and whatever else the picked type declares. `before`: what is stored, undefined for a new
 * channel.
 */
export function ConnectionFields({
  before,
  channelId,
}: {
  before: ChannelValues | undefined;
  channelId: number | undefined;
}) {
  const { t } = useLingui();
  const form = useFormContext<ChannelValues>();
  const stored = before !== undefined;
  const type = channelType(form.watch("type"));
  const onType = useTypeChange();

  return (
    <>
      <FormField control={form.control} name="type" label={t`类型`} required>
        {({ control }) => <TypePicker {...control} onValueChange={onType} />}
      </FormField>
      <FormField control={form.control} name="name" label={t`名称`} required>
        {({ input }) => <Input {...input} autoComplete="off" placeholder={t`给渠道起一个名字`} />}
      </FormField>
      {type ? (
        <>
          <BaseUrlField type={type} />
          {channelId !== undefined && stored && form.formState.defaultValues?.multi_key_mode ? (
            <WhileLoading show={<Skeleton className="h-24" />}>
              <KeyList channelId={channelId} />
            </WhileLoading>
          ) : null}
          <KeyField type={type} before={before} />
          <KeyModeField stored={stored} />
          {type.other ? <OtherField type={type} declared={type.other} /> : null}
        </>
      ) : null}
    </>
  );
}

/**
 * Changing the type keeps what still has a meaning. Default models are filled in while none is chosen, and replaced as
 * long as they are still exactly those that were filled in; `other` means something else for each type.
 */
function useTypeChange(): (type: number) => void {
  const form = useFormContext<ChannelValues>();
  const prefilled = useRef("");
  return (next) => {
    const { type, models } = form.getValues();
    if (next === type) return;
    const change = { shouldDirty: true, shouldValidate: form.formState.isSubmitted };
    form.setValue("type", next, change);
    form.clearErrors("type");
    if (models.length === 0 || models.join(",") === prefilled.current) {
      const defaults = [...(channelType(next)?.models ?? [])];
      prefilled.current = defaults.join(",");
      form.setValue("models", defaults, change);
    }
    if (form.getValues("other") !== "") form.setValue("other", "", change);
  };
}

function BaseUrlField({ type }: { type: ChannelType }) {
  const { t } = useLingui();
  const form = useFormContext<ChannelValues>();
  const [trimmed, setTrimmed] = useState<string | null>(null);
  const declared = type.base_url_field;
  const lang = currentLanguage();
  const what = trimmed ?? "";

  return (
    <FormField
      control={form.control}
      name="base_url"
      label={declared.label[lang]}
      required={declared.required}
      hint={
        trimmed !== null ? (
          <span role="status" className="text-blue-fg">{t`已去掉结尾的 ${what}，Weir 会自动补上路径`}</span>
        ) : (
          declared.hint?.[lang]
        )
      }
    >
      {({ input, value, setValue }) => (
        <Input
          {...input}
          type="text"
          inputMode="url"
          autoComplete="off"
          spellCheck={false}
          placeholder={type.base_url || "https://"}
          onChange={(event) => {
            setTrimmed(null);
            input.onChange(event);
          }}
          onBlur={() => {
            input.onBlur();
            const bare = trimBaseUrl(type.id, value);
            if (bare === value) return;
            const cut = value.trim().slice(bare.length);
            setTrimmed(cut === "" ? null : cut);
            setValue(bare);
          }}
        />
      )}
    </FormField>
  );
}

/** Whether several keys are several channels, or one channel that takes them by chance or in turn. */
function KeyModeField({ stored }: { stored: boolean }) {
  const { t } = useLingui();
  const { control } = useFormContext<ChannelValues>();
  return (
    <FormField control={control} name="multi_key_mode" label={t`密钥模式`}>
      {({ control: wiring, value, setValue }) => (
        <Select
          {...wiring}
          value={value === "" ? ONE_KEY : value}
          onValueChange={(next) => setValue(isMultiKeyMode(next) ? next : "")}
          options={[
            { value: ONE_KEY, label: stored ? t`单个密钥` : t`每个密钥一个渠道` },
            { value: "random", label: t`一个渠道多个密钥，随机使用` },
            { value: "polling", label: t`一个渠道多个密钥，轮流使用` },
          ]}
        />
      )}
    </FormField>
  );
}

/** An option's value is never "". */
const ONE_KEY = "one";

function KeyField({ type, before }: { type: ChannelType; before: ChannelValues | undefined }) {
  const { t } = useLingui();
  const form = useFormContext<ChannelValues>();
  const [shown, setShown] = useState(false);
  const file = useRef<HTMLInputElement>(null);
  const isJson = type.key_format.kind === "json";
  const count = splitKeys(type.id, form.watch("key")).length;
  const several = form.watch("multi_key_mode") !== "";
  const format = type.key_format.hint[currentLanguage()];
  const stored = before !== undefined;
  const [id, base_url, other, setting] = form.watch(ADDRESS_FIELDS);
  const moved = stored && changesDestination(before, { type: id, base_url, other, setting });

  return (
    <FormField
      control={form.control}
      name="key"
      label={t`密钥`}
      required={!stored && !type.key_format.optional}
      hint={
        moved ? (
          <span
            role="status"
            className="text-blue-fg"
          >{t`地址或代理已改变：请重新填写密钥，它将替换已保存的密钥`}</span>
        ) : several ? (
          t`每行一个密钥，都属于这个渠道`
        ) : count > 1 && !stored ? (
          <span role="status" className="text-blue-fg">{t`检测到 ${count} 个密钥，将批量创建 ${count} 个渠道`}</span>
        ) : isJson ? (
          format
        ) : (
          t`格式：${format}`
        )
      }
    >
      {({ input, setValue }) => {
        const read = async (source: File | undefined) => {
          if (source) setValue((await source.text()).trim());
        };
        return (
          <div className="relative">
            <Textarea
              {...input}
              rows={isJson ? 6 : 3}
              autoComplete="off"
              spellCheck={false}
              placeholder={
                stored
                  ? several
                    ? t`要添加的密钥，留空则不添加`
                    : t`已保存，留空则不修改`
                  : isJson
                    ? t`粘贴 JSON，或把文件拖到这里`
                    : t`每行一个密钥，多行将批量创建`
              }
              onDragOver={(event) => isJson && event.preventDefault()}
              onDrop={(event) => {
                if (!isJson || event.dataTransfer.files.length === 0) return;
                event.preventDefault();
                void read(event.dataTransfer.files[0]);
              }}
              className={cn("pr-10 font-mono text-xs wrap-anywhere", !shown && "[-webkit-text-security:disc]")}
            />
            <IconButton
              label={shown ? t`隐藏密钥` : t`显示密钥`}
              size="sm"
              aria-pressed={shown}
              className="absolute top-0.5 right-0.5"
              onClick={() => setShown(!shown)}
            >
              {shown ? <EyeOff /> : <Eye />}
            </IconButton>
            {isJson ? (
              <>
                <Button size="sm" className="mt-1" onClick={() => file.current?.click()}>
                  <FileJson aria-hidden />
                  {t`选择 JSON 文件`}
                </Button>
                <input
                  ref={file}
                  type="file"
                  accept="application/json,.json"
                  hidden
                  aria-hidden
                  tabIndex={-1}
                  onChange={(event) => {
                    void read(event.target.files?.[0]);
                    event.target.value = "";
                  }}
                />
              </>
            ) : null}
          </div>
        );
      }}
    </FormField>
  );
}

function OtherField({ type, declared }: { type: ChannelType; declared: NonNullable<ChannelType["other"]> }) {
  const { t } = useLingui();
  const form = useFormContext<ChannelValues>();
  const lang = currentLanguage();
  const fallback = declared.default;
  return (
    <FormField
      control={form.control}
      name="other"
      label={declared.label[lang]}
      required={declared.required}
      hint={declared.hint?.[lang] ?? (fallback ? t`留空则使用 ${fallback}` : undefined)}
    >
      {(field) =>
        declared.kind === "text-or-map" ? (
          <TextOrMap key={type.id} field={field} template={declared.template ?? "{}"} />
        ) : (
          <Input {...field.input} autoComplete="off" placeholder={fallback} />
        )
      }
    </FormField>
  );
}

/** One text, or a JSON object of texts by model. */
function TextOrMap({ field, template }: { field: FieldParts<string>; template: string }) {
  const { t } = useLingui();
  const example: unknown = JSON.parse(template).default;
  if (field.value.trimStart().startsWith("{")) {
    return (
      <div className="grid">
        <JsonEditor {...field.control} rows={5} />
        <Button size="sm" variant="ghost" className="justify-self-start" onClick={() => field.setValue("")}>
          {t`改为单个值`}
        </Button>
      </div>
    );
  }
  return (
    <div className="flex gap-1">
      <Input {...field.input} autoComplete="off" placeholder={String(example ?? "")} />
      <Button onClick={() => field.setValue(JSON.stringify(JSON.parse(template), null, 2))}>{t`填入模板`}</Button>
    </div>
  );
}
