/** The windows of the channel list, loaded when the first of them is opened. */
import type { ChannelView } from "../../../shared/channel";
import type { RepairReport } from "../../../shared/channel-operations";
import { DryRunDialog } from "./dry-run-dialog";
import { EditManyDialog } from "./edit-many-dialog";
import { RepairDialog } from "./repair-dialog";
import { SetTagDialog } from "./set-tag-dialog";
import { UpstreamUseDialog } from "./upstream-use-dialog";

export type ListDialog =
  | { kind: "edit-tag"; tag: string; channels: readonly ChannelView[] }
  | { kind: "edit"; channels: readonly ChannelView[] }
  | { kind: "set-tag"; channels: readonly ChannelView[] }
  | { kind: "upstream"; channel: Pick<ChannelView, "id" | "name"> }
  | { kind: "repair"; report: RepairReport }
  | { kind: "dry-run" };

/** The window that is open. */
export default function ChannelDialogs({ dialog, onClose }: { dialog: ListDialog; onClose: () => void }) {
  switch (dialog.kind) {
    case "edit-tag":
      return <EditManyDialog tag={dialog.tag} channels={dialog.channels} onClose={onClose} />;
    case "edit":
      return <EditManyDialog channels={dialog.channels} onClose={onClose} />;
    case "set-tag":
      return <SetTagDialog channels={dialog.channels} onClose={onClose} />;
    case "upstream":
      return <UpstreamUseDialog channel={dialog.channel} onClose={onClose} />;
    case "dry-run":
      return <DryRunDialog onClose={onClose} />;
    case "repair":
      return <RepairDialog report={dialog.report} onClose={onClose} />;
  }
}
