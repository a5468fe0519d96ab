import { Trans, useLingui } from "@lingui/react/macro";
import { Plus, X } from "lucide-react";
import { useId } from "react";
import type { GroupChoice } from "../../../shared/group";
import { knownName } from "../../../shared/known-names";
import { currentLanguage } from "../../lib/i18n";
import { Button } from "../../ui/button";
import { Combobox } from "../../ui/combobox";
import { IconButton } from "../../ui/icon-button";
import { Textarea } from "../../ui/input";
import { Label } from "../../ui/label";
import { NumberField } from "../../ui/number-field";
import { Select } from "../../ui/select";
import { Slider } from "../../ui/slider";
import { MAX_MODELS, type Settings } from "./storage";

interface PanelProps {
  /** Those in force. */
  settings: Settings;
  onChange: (change: Partial<Settings>) => void;
  groups: Readonly<Record<string, GroupChoice>>;
  /** What can be called in the group; undefined until it is known. */
  models: readonly string[] | undefined;
  /** A job takes only the group. */
  job: boolean;
}

/** Group, models, temperature, limit and system prompt of the next call. */
export function SettingsPanel({ settings, onChange: setSettings, groups, models, job }: PanelProps) {
  const { t } = useLingui();
  const id = useId();
  const { group } = settings;

  return (
    <div className="grid grid-cols-[minmax(0,1fr)] content-start gap-4">
      <div className="grid gap-1">
        <Label id={`${id}-group`}>{t`分组`}</Label>
        <Select
          aria-labelledby={`${id}-group`}
          value={group || undefined}
          onValueChange={(value) => setSettings({ group: value })}
          options={Object.entries(groups).map(([name, { desc, ratio }]) => ({
            value: name,
            label: desc && desc !== name ? `${name} · ${knownName(desc, currentLanguage())}` : name,
            hint: `×${ratio}`,
          }))}
        />
      </div>
      {job ? null : <ChatFields settings={settings} onChange={setSettings} models={models} />}
    </div>
  );
}

/** The settings of chat calls only. */
function ChatFields({ settings, onChange: setSettings, models }: Pick<PanelProps, "settings" | "onChange" | "models">) {
  const { t } = useLingui();
  const id = useId();
  const { models: chosen, temperature } = settings;
  const loading = models === undefined;
  const usable = models ?? [];
  const options = usable.map((model) => ({ value: model, label: model }));
  const spare = usable.find((model) => !chosen.includes(model));
  return (
    <>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-1">
        <span className="text-sm font-medium">{chosen.length > 1 ? t`对比模型` : t`模型`}</span>
        {(chosen.length > 0 ? chosen : [""]).map((model, index) => (
          <div key={index} className="flex gap-1">
            <Combobox
              aria-label={index === 0 ? t`模型` : t`模型 ${index + 1}`}
              value={model || null}
              placeholder={loading ? t`正在加载` : t`没有可用的模型`}
              options={options.filter(({ value }) => value === model || !chosen.includes(value))}
              onValueChange={(value) =>
                value !== null && setSettings({ models: chosen.length > 0 ? chosen.with(index, value) : [value] })
              }
            />
            {chosen.length > 1 ? (
              <IconButton
                label={t`移除 ${model}`}
                onClick={() => setSettings({ models: chosen.filter((_, at) => at !== index) })}
              >
                <X />
              </IconButton>
            ) : null}
          </div>
        ))}
        {spare !== undefined && chosen.length > 0 && chosen.length < MAX_MODELS ? (
          <Button
            variant="ghost"
            size="sm"
            className="justify-self-start"
            onClick={() => setSettings({ models: [...chosen, spare] })}
          >
            <Plus aria-hidden />
            {t`添加对比模型`}
          </Button>
        ) : null}
      </div>
      <div className="grid gap-1">
        <Label htmlFor={`${id}-temperature`} className="flex justify-between">
          {t`温度`}
          <span className="tabular-nums text-ink-2">{temperature.toFixed(1)}</span>
        </Label>
        <Slider
          id={`${id}-temperature`}
          min={0.1}
          max={1}
          step={0.1}
          value={temperature}
          onValueChange={(value) => setSettings({ temperature: value })}
        />
      </div>
      <div className="grid gap-1">
        <Label htmlFor={`${id}-limit`}>{t`最大 token 数`}</Label>
        <NumberField
          id={`${id}-limit`}
          min={0}
          step={1}
          aria-describedby={`${id}-limit-hint`}
          value={settings.max_tokens}
          onValueChange={(value) => setSettings({ max_tokens: Math.max(0, Math.floor(value ?? 0)) })}
        />
        <p id={`${id}-limit-hint`} className="text-xs text-muted">
          <Trans>0 = 不限</Trans>
        </p>
      </div>
      <div className="grid gap-1">
        <Label htmlFor={`${id}-system`}>{t`系统提示词`}</Label>
        <Textarea
          id={`${id}-system`}
          rows={5}
          value={settings.system}
          placeholder={t`例如：你是一个简洁的助手。`}
          onChange={(event) => setSettings({ system: event.target.value })}
        />
      </div>
    </>
  );
}
