import { useLingui } from "@lingui/react/macro";
import type { ChannelView } from "../../../shared/channel";
import { toastInfo } from "../../lib/toast";
import { Drawer } from "../../ui/drawer";
import { ChannelForm, ChannelFormFooter } from "./channel-form";
import { useChannelForm } from "./use-channel-form";
import { useWarnBeforeLeaving } from "./use-warn-before-leaving";

/** The form of a new channel, or of the stored one that is given, beside the list. */
export default function ChannelEditDrawer({
  channel,
  onClose,
  onSaved,
}: {
  channel: ChannelView | undefined;
  onClose: () => void;
  onSaved: (channels: readonly ChannelView[]) => void;
}) {
  const { t } = useLingui();
  const state = useChannelForm({ channel, onSaved });
  const unsaved = state.changes.length > 0;
  const close = () => {
    // Closing needs no confirmation, nothing is lost: the draft is offered when the form is opened again.
    if (unsaved) toastInfo(t`未保存的修改已留作草稿（不含密钥）`, { id: "channel-draft" });
    onClose();
  };
  useWarnBeforeLeaving(unsaved && state.changes.includes("key"));
  const name = channel?.name ?? "";

  return (
    <Drawer
      open
      modal={false}
      onOpenChange={(next) => !next && close()}
      title={channel ? t`编辑渠道 ${name}` : t`添加渠道`}
      footer={<ChannelFormFooter state={state} onCancel={close} />}
    >
      <ChannelForm state={state} level={3} />
    </Drawer>
  );
}
