import { t } from "@lingui/core/macro";
import { useState } from "react";
import { jsonObject, type ChannelView } from "../../../shared/channel";
import { isUntouched, type ChannelEdits } from "../../../shared/channel-operations";
import { errorText, type ErrorCode } from "../../../shared/errors";
import { faultOf } from "../../lib/errors";
import { currentLanguage } from "../../lib/i18n";
import { useOnce } from "../../lib/once";
import { toastError, toastInfo, toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { readRoutingNumber } from "./channel-numbers";

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
export type EditedField = keyof Typed;

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
function readTyped(typed: Typed): { edits: ChannelEdits } | { problems: Partial<Record<EditedField, string>> } {
  const problems: Partial<Record<EditedField, string>> = {};
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

export type EditMany = ReturnType<typeof useEditMany>;

/** The edit of several channels while it is made; of those of `tag` when it is given. */
export function useEditMany(tag: string | undefined, channels: readonly ChannelView[], onDone: () => void) {
  const utils = trpc.useUtils();
  const tagEdit = trpc.channel.tagEdit.useMutation({ meta: { quiet: true } });
  const batchEdit = trpc.channel.batchEdit.useMutation({ meta: { quiet: true } });
  const [typed, setTyped] = useState<Typed>({ ...EMPTY, new_tag: tag ?? "" });
  const [problems, setProblems] = useState<Partial<Record<EditedField, string>>>({});

  const set =
    <F extends EditedField>(field: F) =>
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
      onDone();
    } catch (error) {
      toastError(faultOf(error).message);
    } finally {
      void utils.channel.invalidate();
    }
  };

  const once = useOnce(save);

  return { typed, set, problems, save: () => void once(), saving: tagEdit.isPending || batchEdit.isPending };
}
