import { t } from "@lingui/core/macro";
import { TRPCClientError } from "@trpc/client";
import { useId, useState } from "react";
import { useForm, useWatch } from "react-hook-form";
import type { TokenView, TokenWithKey } from "../../../shared/token";
import { useFormDraft } from "../../lib/drafts";
import { faultOf, reportError } from "../../lib/errors";
import { useOnce, useOpening } from "../../lib/once";
import { toastInfo, toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { changedFields, emptyToken, fieldsOf, refusedField, tokenResolver, valuesOf } from "./token-values";

export type TokenFormState = ReturnType<typeof useTokenForm>;

/**
 * The state of the form for new tokens, or for the stored one that is given. `onCreated` gets the new tokens with their
 * keys, `onSaved` is called after a stored one was changed. `group` is what new tokens begin with.
 */
export function useTokenForm({
  token,
  group = "",
  onCreated,
  onSaved,
}: {
  token: TokenView | undefined;
  group?: string;
  onCreated: (tokens: readonly TokenWithKey[]) => void;
  onSaved: () => void;
}) {
  const formId = useId();
  // What was there when the form was opened; a later answer of the server must not change what is being edited.
  const [before] = useState(() => (token ? valuesOf(token) : { ...emptyToken, group }));
  const form = useForm({ defaultValues: before, resolver: tokenResolver, mode: "onTouched", shouldFocusError: false });
  const draft = useFormDraft(form, token ? `token-edit-${token.id}` : "token-new");
  const values = useWatch({ control: form.control, compute: (current) => current });
  const changes = changedFields(before, values);

  const utils = trpc.useUtils();
  // Refusals are shown at their field; what belongs to none is reported below.
  const opening = useOpening();
  const create = trpc.token.create.useMutation({ trpc: opening, meta: { quiet: true }, gcTime: 0 });
  const update = trpc.token.update.useMutation({ meta: { quiet: true } });
  const saving = create.isPending || update.isPending;

  const refused = (error: unknown) => {
    const field = refusedField(error instanceof TRPCClientError ? error.data : null, form.getValues());
    if (field) {
      form.setError(field, { type: "server", message: faultOf(error).message });
      focusComplaint(formId);
    } else if (["refused", "http", "bug"].includes(faultOf(error).kind)) reportError(error);
  };

  const save = form.handleSubmit(
    async () => {
      const typed = form.getValues();
      const { count, ...fields } = fieldsOf(typed);
      try {
        if (token) {
          // Only what was changed is sent, so that what a call took from the quota meanwhile is not given back.
          const touched = changedFields(before, typed);
          if (touched.length === 0) {
            toastInfo(t`没有任何修改！`);
            return;
          }
          const changed = Object.fromEntries(
            Object.entries(fields).filter(([field]) => touched.some((name) => name === field)),
          );
          await update.mutateAsync({ id: token.id, ...changed });
          draft.discard();
          toastSuccess(t`令牌更新成功！`);
          onSaved();
        } else {
          const created = await create.mutateAsync({ ...fields, count });
          draft.discard();
          toastSuccess(t`令牌创建成功！`);
          onCreated(created);
        }
        void utils.token.list.invalidate();
        void utils.token.get.invalidate();
      } catch (error) {
        refused(error);
      }
    },
    () => focusComplaint(formId),
  );

  const submit = useOnce(save);

  return { form, formId, draft, stored: token !== undefined, saving, changes, submit };
}

/** Leads to the first field with a complaint, when it has been drawn; not every control hands react-hook-form a ref. */
function focusComplaint(formId: string): void {
  setTimeout(() => document.getElementById(formId)?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
}
