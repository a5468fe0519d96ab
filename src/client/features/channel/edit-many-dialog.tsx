import { useLingui } from "@lingui/react/macro";
import { useId, useState, type ReactNode } from "react";
import { jsonObject, type ChannelView } from "../../../shared/channel";
import { isUntouched, type ChannelEdits } from "../../../shared/channel-operations";
import { channelTemplates } from "../../../shared/channel-types";
import { errorText, type ErrorCode } from "../../../shared/errors";
import { FieldFrame } from "../../components/form-field";
import { JsonEditor } from "../../components/json-editor";
import { faultOf } from "../../lib/errors";
import { currentLanguage } from "../../lib/i18n";
import { toastError, toastInfo, toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Collapsible } from "../../ui/collapsible";
import { Dialog } from "../../ui/dialog";
import { Input } from "../../ui/input";
import { TokenInput } from "../../ui/token-input";
import { readRoutingNumber } from "./channel-numbers";
import { MappingEditor } from "./mapping-editor";

/** What is typed; an empty field leaves the channels as they are. */
interface Typed {
  new_tag: string;
  models: string[];
  groups: string[];
  priority: string;
  weight: string;
  model_mapping: string;
  param_override: string;
  header_override: string;
}
type Field = keyof Typed;

const EMPTY: Omit<Typed, "new_tag"> = {
  models: [],
  groups: [],
  priority: "",
  weight: "",
  model_mapping: "",
  param_override: "",
  header_override: "",
};

const say = (code: ErrorCode, values: Record<string, string> = {}): string =>
  errorText(code, values, currentLanguage());

/** The edits of what was typed, or the complaints about it. */
function readTyped(typed: Typed): { edits: ChannelEdits } | { problems: Partial<Record<Field, string>> } {
  const problems: Partial<Record<Field, string>> = {};
  const edits: ChannelEdits = {};
  for (const field of ["priority", "weight"] as const) {
    if (typed[field].trim() === "") continue;
    const read = readRoutingNumber(field, typed[field]);
    if ("problem" in read) problems[field] = read.problem;
    else edits[field] = read.value;
  }
  if (jsonObject(typed.model_mapping) === undefined) problems.model_mapping = say("channel_mapping_invalid");
  for (const field of ["param_override", "header_override"] as const) {
    if (jsonObject(typed[field]) === undefined) problems[field] = say("channel_json_invalid", { field });
  }
  for (const field of ["model_mapping", "param_override", "header_override"] as const) {
    if (typed[field].trim()) edits[field] = typed[field];
  }
  if (typed.models.length > 0) edits.models = typed.models;
  if (typed.groups.length > 0) edits.groups = typed.groups;
  return Object.keys(problems).length > 0 ? { problems } : { edits };
}

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
  const utils = trpc.useUtils();
  const groups = trpc.group.list.useQuery(undefined, { staleTime: 60_000 });
  const known = trpc.channel.models.useQuery(undefined, { staleTime: 60_000 });
  const tags = trpc.channel.tags.useQuery(undefined, { enabled: tag !== undefined, meta: { quiet: true } });
  const tagEdit = trpc.channel.tagEdit.useMutation({ meta: { quiet: true } });
  const batchEdit = trpc.channel.batchEdit.useMutation({ meta: { quiet: true } });
  const [typed, setTyped] = useState<Typed>({ ...EMPTY, new_tag: tag ?? "" });
  const [problems, setProblems] = useState<Partial<Record<Field, string>>>({});
  const count = channels.length;
  const unchanged = t`保持不变`;

  const set =
    <F extends Field>(field: F) =>
    (value: Typed[F]) => {
      setTyped((current) => ({ ...current, [field]: value }));
      setProblems(({ [field]: _gone, ...others }) => others);
    };
  const save = async () => {
    const read = readTyped(typed);
    if ("problems" in read) {
      setProblems(read.problems);
      const [first] = Object.values(read.problems);
      if (first) toastError(first);
      return;
    }
    const renamed = tag === undefined || typed.new_tag.trim() === tag ? {} : { new_tag: typed.new_tag.trim() };
    if (isUntouched({ tag: tag ?? "", ...renamed, ...read.edits })) {
      toastInfo(say("tag_nothing_changed"), { id: "tag_nothing_changed" });
      return;
    }
    try {
      const ids = channels.map((channel) => channel.id);
      const changed =
        tag === undefined
          ? await batchEdit.mutateAsync({ ids, ...read.edits })
          : await tagEdit.mutateAsync({ tag, ...renamed, ...read.edits });
      toastSuccess(tag === undefined ? t`已更新 ${changed} 个渠道！` : t`标签更新成功！`);
      onClose();
    } catch (error) {
      toastError(faultOf(error).message);
    } finally {
      void utils.channel.invalidate();
    }
  };

  const frame = (field: Field, label: string, hint: string | undefined, control: (wiring: Wiring) => ReactNode) => {
    const own = `${id}-${field}`;
    const problem = problems[field];
    const described = [hint ? `${own}-hint` : "", problem ? `${own}-error` : ""].join(" ").trim();
    return (
      <FieldFrame id={own} label={label} hint={hint} error={problem}>
        {control({
          id: own,
          "aria-labelledby": `${own}-label`,
          ...(described ? { "aria-describedby": described } : {}),
          ...(problem ? { "aria-invalid": true } : {}),
        })}
      </FieldFrame>
    );
  };
  const target = typed.new_tag.trim();
  const merges = target !== tag && tags.data?.includes(target);
  const tagHint =
    target === "" ? t`留空将解散此标签，渠道本身保留` : merges ? t`将并入已有的标签 ${target}` : t`清空则解散此标签`;

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
          <Button
            type="submit"
            form={`${id}-form`}
            variant="primary"
            loading={tagEdit.isPending || batchEdit.isPending}
          >{t`保存`}</Button>
        </>
      }
    >
      <form
        id={`${id}-form`}
        noValidate
        className="grid grid-cols-[minmax(0,1fr)] gap-4 pt-3"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        {tag === undefined
          ? null
          : frame("new_tag", t`标签名称`, tagHint, (wiring) => (
              <Input
                {...wiring}
                autoFocus
                autoComplete="off"
                maxLength={200}
                value={typed.new_tag}
                onChange={(event) => set("new_tag")(event.target.value)}
              />
            ))}
        {frame("models", t`模型`, undefined, (wiring) => (
          <TokenInput
            {...wiring}
            value={typed.models}
            onValueChange={set("models")}
            suggestions={known.data?.map((model) => model.id) ?? []}
            placeholder={unchanged}
            className="max-h-40 overflow-y-auto"
          />
        ))}
        {frame("groups", t`分组`, undefined, (wiring) => (
          <TokenInput
            {...wiring}
            value={typed.groups}
            onValueChange={set("groups")}
            suggestions={groups.data ?? []}
            placeholder={unchanged}
          />
        ))}
        <div className="grid grid-cols-2 items-start gap-3">
          {(["priority", "weight"] as const).map((field) => (
            <div key={field}>
              {frame(field, field === "priority" ? t`优先级` : t`权重`, undefined, (wiring) => (
                <Input
                  {...wiring}
                  inputMode="numeric"
                  autoComplete="off"
                  placeholder={unchanged}
                  value={typed[field]}
                  onChange={(event) => set(field)(event.target.value)}
                />
              ))}
            </div>
          ))}
        </div>
        {frame("model_mapping", t`模型映射`, undefined, (wiring) => (
          <MappingEditor
            {...wiring}
            value={typed.model_mapping}
            onValueChange={set("model_mapping")}
            from={t`请求的模型`}
            to={t`上游的模型`}
            template={channelTemplates.model_mapping}
          />
        ))}
        <Collapsible title={t`改写`}>
          <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
            {frame("param_override", t`参数覆盖`, undefined, (wiring) => (
              <JsonEditor {...wiring} rows={3} value={typed.param_override} onValueChange={set("param_override")} />
            ))}
            {frame("header_override", t`请求头覆盖`, undefined, (wiring) => (
              <JsonEditor {...wiring} rows={3} value={typed.header_override} onValueChange={set("header_override")} />
            ))}
          </div>
        </Collapsible>
      </form>
    </Dialog>
  );
}

interface Wiring {
  id: string;
  "aria-labelledby": string;
  "aria-describedby"?: string;
  "aria-invalid"?: boolean;
}
