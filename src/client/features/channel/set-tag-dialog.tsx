import { useLingui } from "@lingui/react/macro";
import { useId, useState } from "react";
import type { ChannelView } from "../../../shared/channel";
import { errorText } from "../../../shared/errors";
import { FieldFrame } from "../../components/form-field";
import { currentLanguage } from "../../lib/i18n";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { Input } from "../../ui/input";
import { useChannelActions } from "./channel-actions";

/** One tag for the selected channels, or none. */
export function SetTagDialog({ channels, onClose }: { channels: readonly ChannelView[]; onClose: () => void }) {
  const { t } = useLingui();
  const id = useId();
  const actions = useChannelActions();
  const tags = trpc.channel.tags.useQuery(undefined, { meta: { quiet: true } });
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<string>();
  const count = channels.length;

  const save = async (tag: string | null) => {
    onClose();
    await actions.setTag(channels, tag);
  };
  const submit = () => {
    if (text.trim() === "") setProblem(errorText("tag_empty", {}, currentLanguage()));
    else void save(text.trim());
  };

  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t`为 ${count} 个渠道设置标签`}
      footer={
        <>
          {channels.some((channel) => channel.tag) ? (
            <Button variant="ghost" className="mr-auto" onClick={() => void save(null)}>{t`移除标签`}</Button>
          ) : null}
          <Button onClick={onClose}>{t`取消`}</Button>
          <Button type="submit" form={`${id}-form`} variant="primary">{t`确定`}</Button>
        </>
      }
    >
      <form
        id={`${id}-form`}
        noValidate
        className="pt-2"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <FieldFrame id={id} label={t`标签`} hint={t`同一标签的渠道可以一起管理`} error={problem}>
          <Input
            id={id}
            autoFocus
            autoComplete="off"
            maxLength={200}
            list={`${id}-list`}
            value={text}
            aria-invalid={problem ? true : undefined}
            aria-describedby={problem ? `${id}-error` : `${id}-hint`}
            onChange={(event) => {
              setText(event.target.value);
              setProblem(undefined);
            }}
          />
        </FieldFrame>
        <datalist id={`${id}-list`}>
          {(tags.data ?? []).map((tag) => (
            <option key={tag} value={tag} />
          ))}
        </datalist>
      </form>
    </Dialog>
  );
}
