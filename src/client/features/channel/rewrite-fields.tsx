import { useLingui } from "@lingui/react/macro";
import { useFormContext } from "react-hook-form";
import { channelTemplates, channelType } from "../../../shared/channel-types";
import { HEADER_HINT } from "../../../shared/header-override";
import { FormField } from "../../components/form-field";
import { JsonEditor } from "../../components/json-editor";
import { currentLanguage } from "../../lib/i18n";
import { lazy, WhileLoading } from "../../lib/lazy";
import { Skeleton } from "../../ui/skeleton";
import type { ChannelValues } from "./channel-values";
import { MappingEditor } from "./mapping-editor";

const SettingFields = lazy(() => import("./setting-fields"));

const PARAM_TEMPLATE = JSON.stringify(
  { operations: [{ mode: "set", path: "temperature", value: 0, keep_origin: true }] },
  null,
  2,
);
const HEADER_TEMPLATE = JSON.stringify({ "X-Example": "value" }, null, 2);

/** What is changed of a call on its way to the vendor, and of the answer's status. */
export function RewriteFields() {
  const { t } = useLingui();
  const { control, watch } = useFormContext<ChannelValues>();
  const checkCode = (text: string) => (/^[1-5]\d\d$/.test(text) ? null : t`状态码应为三位数字`);
  return (
    <>
      <FormField control={control} name="model_mapping" label={t`模型映射`} hint={t`请求的模型名称 → 发给上游的名称`}>
        {(field) => (
          <MappingEditor
            {...field.control}
            from={t`请求的模型`}
            to={t`上游的模型`}
            template={channelTemplates.model_mapping}
          />
        )}
      </FormField>
      <FormField
        control={control}
        name="status_code_mapping"
        label={t`状态码映射`}
        hint={t`改写上游返回的状态码，重试与禁用按改写后的判断`}
      >
        {(field) => (
          <MappingEditor
            {...field.control}
            from={t`上游状态码`}
            to={t`改写为`}
            template={channelTemplates.status_code_mapping}
            check={checkCode}
          />
        )}
      </FormField>
      <FormField control={control} name="setting" label={t`渠道额外设置`}>
        {(field) => (
          <WhileLoading show={<Skeleton className="h-40" />}>
            <SettingFields {...field.control} type={channelType(watch("type"))} />
          </WhileLoading>
        )}
      </FormField>
      <FormField
        control={control}
        name="param_override"
        label={t`参数覆盖`}
        hint={t`改写发给上游的请求体：要覆盖的字段，或 operations 列表`}
      >
        {(field) => <JsonEditor {...field.control} rows={4} template={PARAM_TEMPLATE} />}
      </FormField>
      <FormField control={control} name="header_override" label={t`请求头覆盖`} hint={HEADER_HINT[currentLanguage()]}>
        {(field) => <JsonEditor {...field.control} rows={4} template={HEADER_TEMPLATE} />}
      </FormField>
    </>
  );
}
