import { useLingui } from "@lingui/react/macro";
import { useId, type ReactNode } from "react";
import type { ChannelView } from "../../../shared/channel";
import { channelTemplates } from "../../../shared/channel-types";
import { FieldFrame } from "../../components/form-field";
import { JsonEditor } from "../../components/json-editor";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Collapsible } from "../../ui/collapsible";
import { Dialog } from "../../ui/dialog";
import { Input } from "../../ui/input";
import { TokenInput } from "../../ui/token-input";
import { MappingEditor } from "./mapping-editor";
import { type EditedField, type EditMany, useEditMany } from "./use-edit-many";

/**
 * Fields of several channels at once: those of a tag when `tag` is given, else the selected ones (C-097, C-413 to
 * C-418).
 */
export function EditManyDialog({
  tag,
  channels,
  onClose,
}: {
  tag?: string;
  channels: readonly ChannelView[];
  onClose: () => void;
}) {
  const { t } = useLingui();
  const id = useId();
  const edit = useEditMany(tag, channels, onClose);
  const count = channels.length;
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={tag === undefined ? t`批量编辑 ${count} 个渠道` : t`编辑标签 ${tag}`}
      description={
        tag === undefined
          ? t`填写的字段会覆盖所选渠道的值，留空的字段保持不变。`
          : t`填写的字段会覆盖该标签下 ${count} 个渠道的值，留空的字段保持不变。`
      }
      className="w-[min(600px,calc(100vw-32px))]"
      footer={
        <>
          <Button onClick={onClose}>{t`取消`}</Button>
          <Button type="submit" form={`${id}-form`} variant="primary" loading={edit.saving}>{t`保存`}</Button>
        </>
      }
    >
      <form
        id={`${id}-form`}
        noValidate
        className="grid grid-cols-[minmax(0,1fr)] gap-4 pt-3"
        onSubmit={(event) => {
          event.preventDefault();
          edit.save();
        }}
      >
        {tag === undefined ? null : <TagField id={id} edit={edit} tag={tag} />}
        <ModelsAndGroups id={id} edit={edit} />
        <div className="grid grid-cols-2 items-start gap-3">
          <NumberText id={id} edit={edit} field="priority" label={t`优先级`} />
          <NumberText id={id} edit={edit} field="weight" label={t`权重`} />
        </div>
        <Rewrites id={id} edit={edit} />
      </form>
    </Dialog>
  );
}

interface FieldsProps {
  /** Of the form; the fields' ids begin with it. */
  id: string;
  edit: EditMany;
}

interface Wiring {
  id: string;
  "aria-labelledby": string;
  "aria-describedby"?: string;
  "aria-invalid"?: boolean;
}

type EditFieldProps = FieldsProps & {
  field: EditedField;
  label: string;
  hint?: string;
  children: (wiring: Wiring) => ReactNode;
};

/** The frame of a field, and what ties the control inside to it. */
function EditField({ id, edit, field, label, hint, children }: EditFieldProps) {
  const own = `${id}-${field}`;
  const problem = edit.problems[field];
  const described = [hint ? `${own}-hint` : "", problem ? `${own}-error` : ""].join(" ").trim();
  return (
    <FieldFrame id={own} label={label} hint={hint} error={problem}>
      {children({
        id: own,
        "aria-labelledby": `${own}-label`,
        ...(described ? { "aria-describedby": described } : {}),
        ...(problem ? { "aria-invalid": true } : {}),
      })}
    </FieldFrame>
  );
}

function TagField({ tag, ...own }: FieldsProps & { tag: string }) {
  const { t } = useLingui();
  const { typed, set } = own.edit;
  const tags = trpc.channel.tags.useQuery(undefined, { meta: { quiet: true } });
  const target = typed.new_tag.trim();
  const merges = target !== tag && tags.data?.includes(target);
  const hint =
    target === "" ? t`留空将解散此标签，渠道本身保留` : merges ? t`将并入已有的标签 ${target}` : t`清空则解散此标签`;
  return (
    <EditField {...own} field="new_tag" label={t`标签名称`} hint={hint}>
      {(wiring) => (
        <Input
          {...wiring}
          autoFocus
          autoComplete="off"
          maxLength={200}
          value={typed.new_tag}
          onChange={(event) => set("new_tag")(event.target.value)}
        />
      )}
    </EditField>
  );
}

function ModelsAndGroups(own: FieldsProps) {
  const { t } = useLingui();
  const { typed, set } = own.edit;
  const groups = trpc.group.list.useQuery(undefined, { staleTime: 60_000 });
  const known = trpc.channel.models.useQuery(undefined, { staleTime: 60_000 });
  return (
    <>
      <EditField {...own} field="models" label={t`模型`}>
        {(wiring) => (
          <TokenInput
            {...wiring}
            value={typed.models}
            onValueChange={set("models")}
            suggestions={known.data?.map((model) => model.id) ?? []}
            placeholder={t`保持不变`}
            className="max-h-40 overflow-y-auto"
          />
        )}
      </EditField>
      <EditField {...own} field="groups" label={t`分组`}>
        {(wiring) => (
          <TokenInput
            {...wiring}
            value={typed.groups}
            onValueChange={set("groups")}
            suggestions={groups.data ?? []}
            placeholder={t`保持不变`}
          />
        )}
      </EditField>
    </>
  );
}

/** A number as text: an empty one is no change. */
function NumberText({ field, label, ...own }: FieldsProps & { field: "priority" | "weight"; label: string }) {
  const { t } = useLingui();
  const { typed, set } = own.edit;
  return (
    <EditField {...own} field={field} label={label}>
      {(wiring) => (
        <Input
          {...wiring}
          inputMode="numeric"
          autoComplete="off"
          placeholder={t`保持不变`}
          value={typed[field]}
          onChange={(event) => set(field)(event.target.value)}
        />
      )}
    </EditField>
  );
}

function Rewrites(own: FieldsProps) {
  const { t } = useLingui();
  const { typed, set } = own.edit;
  return (
    <>
      <EditField {...own} field="model_mapping" label={t`模型映射`}>
        {(wiring) => (
          <MappingEditor
            {...wiring}
            value={typed.model_mapping}
            onValueChange={set("model_mapping")}
            from={t`请求的模型`}
            to={t`上游的模型`}
            template={channelTemplates.model_mapping}
          />
        )}
      </EditField>
      <Collapsible title={t`改写`}>
        <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
          {(
            [
              ["param_override", t`参数覆盖`],
              ["header_override", t`请求头覆盖`],
            ] as const
          ).map(([field, label]) => (
            <EditField key={field} {...own} field={field} label={label}>
              {(wiring) => <JsonEditor {...wiring} rows={3} value={typed[field]} onValueChange={set(field)} />}
            </EditField>
          ))}
        </div>
      </Collapsible>
    </>
  );
}
