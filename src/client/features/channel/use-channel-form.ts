import { t } from "@lingui/core/macro";
import { TRPCClientError } from "@trpc/client";
import { useId, useMemo, useState } from "react";
import { useForm, useWatch } from "react-hook-form";
import type { ChannelView } from "../../../shared/channel";
import { useFormDraft } from "../../lib/drafts";
import { faultOf } from "../../lib/errors";
import { useOnce, useOpening } from "../../lib/once";
import { toastError, toastInfo, toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { changedFields, channelResolver, emptyChannel, fieldsOf, refusedField, valuesOf } from "./channel-values";

export type ChannelFormState = ReturnType<typeof useChannelForm>;

/** Keys are secrets: they never go into local storage. */
const NOT_IN_DRAFTS = ["key"] as const;

/**
 * The state of the form for a new channel, or for the stored one that is given. `onSaved` gets what the server
 * answered: one channel, or as many as there were keys.
 */
export function useChannelForm({
  channel,
  onSaved,
}: {
  channel: ChannelView | undefined;
  onSaved: (channels: readonly ChannelView[]) => void;
}) {
  const formId = useId();
  const stored = channel !== undefined;
  // What was there when the form was opened; a later answer of the server must not change what is being edited.
  const [before] = useState(() => (channel ? valuesOf(channel) : emptyChannel));
  const resolver = useMemo(() => channelResolver(stored), [stored]);
  const form = useForm({ defaultValues: before, resolver, shouldFocusError: false });
  // Read while rendering, because react-hook-form keeps track only of what is; the draft asks for it later.
  void form.formState.isDirty;
  const draft = useFormDraft(form, channel ? `channel-edit-${channel.id}` : "channel-new", { omit: NOT_IN_DRAFTS });
  const values = useWatch({ control: form.control, compute: (current) => current });
  const changes = changedFields(before, values);

  const utils = trpc.useUtils();
  const opening = useOpening();
  const create = trpc.channel.create.useMutation({ trpc: opening });
  const update = trpc.channel.update.useMutation();
  const saving = create.isPending || update.isPending;

  const save = form.handleSubmit(async () => {
    const typed = form.getValues();
    const touched = changedFields(before, typed);
    if (channel && touched.length === 0) {
      toastInfo(t`没有任何修改！`);
      return;
    }
    try {
      const saved = channel
        ? [await update.mutateAsync({ id: channel.id, ...fieldsOf(typed, touched) })]
        : await create.mutateAsync(fieldsOf(typed));
      draft.discard();
      toastSuccess(channel ? t`渠道更新成功！` : t`渠道创建成功！`);
      void utils.channel.invalidate();
      onSaved(saved);
    } catch (error) {
      // The toast comes from the query client; here the words go to the field that they are about.
      const field = refusedField(error instanceof TRPCClientError ? error.data : null, typed);
      if (field) form.setError(field, { type: "server", message: faultOf(error).message });
    }
  });

  const saveOnce = useOnce(save);
  const submit = () => {
    if (!Array.isArray(form.getValues("models"))) toastError(t`提交失败，请勿重复提交！`);
    else void saveOnce();
  };

  return { form, formId, draft, stored, before, channelId: channel?.id, saving, changes, submit };
}
