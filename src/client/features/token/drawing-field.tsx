import { useLingui } from "@lingui/react/macro";
import { useFormContext } from "react-hook-form";
import { MJ_MODES, type MjMode, tokenMjMode } from "../../../shared/midjourney";
import { FormField } from "../../components/form-field";
import { useStatus } from "../../lib/status";
import { Select } from "../../ui/select";
import type { TokenValues } from "./token-values";

/** The modes of drawing jobs in words. */
export function useModeNames(): Record<MjMode, string> {
  const { t } = useLingui();
  return { fast: t`快速（fast）`, relax: t`慢速（relax）`, turbo: t`极速（turbo）` };
}

/** A choice's value is never "". */
const CALLER = "caller";

/** How fast the token's drawing jobs are wanted; not shown where drawing is switched off and nothing is chosen. */
export function DrawingField() {
  const { t } = useLingui();
  const { control, getValues } = useFormContext<TokenValues>();
  const names = useModeNames();
  const { enable_drawing = true } = useStatus();
  if (!enable_drawing && !getValues("mj_mode")) return null;
  return (
    <FormField control={control} name="mj_mode" label={t`绘图模式`} hint={t`用于路径中没有指定模式的 /mj 请求`}>
      {(field) => (
        <Select
          {...field.control}
          value={field.value || CALLER}
          onValueChange={(mode) => field.setValue(tokenMjMode(mode))}
          options={[
            { value: CALLER, label: t`由调用方决定` },
            ...MJ_MODES.map((mode) => ({ value: mode, label: names[mode] })),
          ]}
        />
      )}
    </FormField>
  );
}
