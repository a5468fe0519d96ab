import { useLingui } from "@lingui/react/macro";
import { Copy, Hourglass, Pencil, Play, Power, PowerOff, Radar, Trash2, Zap } from "lucide-react";
import { CHANNEL_STATUS, type ChannelView } from "../../../shared/channel";
import { channelType } from "../../../shared/channel-types";
import type { GridAction } from "../../components/data-grid/types";
import type { useChannelActions } from "./channel-actions";
import type { ListDialog } from "./channel-dialogs";
import type { ChannelGrid } from "./channel-list-query";
import type { ListRow } from "./channel-rows";
import { useRunTest } from "./channel-tests";

/** The menu of a row: of a channel, or of a tag. */
export function useRowActions(
  grid: ChannelGrid,
  actions: ReturnType<typeof useChannelActions>,
  setDialog: (dialog: ListDialog) => void,
): (row: ListRow) => readonly GridAction[] {
  const { t } = useLingui();
  const runTest = useRunTest();

  const ofTag = ({ tag, channels }: Extract<ListRow, { kind: "tag" }>): readonly GridAction[] => {
    return [
      {
        id: "enable",
        label: t`启用全部`,
        icon: Power,
        onSelect: () => void actions.setTagEnabled(tag, channels, true),
      },
      {
        id: "disable",
        label: t`禁用全部`,
        icon: PowerOff,
        onSelect: () => void actions.setTagEnabled(tag, channels, false),
      },
      {
        id: "edit",
        label: t`编辑标签`,
        icon: Pencil,
        shortcut: "E",
        onSelect: () => setDialog({ kind: "edit-tag", tag, channels }),
      },
    ];
  };

  const drainOf = (channel: ChannelView): readonly GridAction[] => {
    if (channel.status !== CHANNEL_STATUS.enabled) return [];
    const drains = channel.draining_since > 0;
    return [
      {
        id: drains ? "resume" : "drain",
        label: drains ? t`结束排空` : t`排空`,
        icon: drains ? Play : Hourglass,
        onSelect: () => void actions.setDrained(channel, !drains),
      },
    ];
  };

  const ofChannel = (channel: ChannelView): readonly GridAction[] => {
    return [
      {
        id: "test",
        label: t`测试`,
        icon: Zap,
        disabled: !channelType(channel.type)?.test,
        onSelect: () => void runTest(channel),
      },
      { id: "upstream", label: t`检测上游`, icon: Radar, onSelect: () => setDialog({ kind: "upstream", channel }) },
      { id: "edit", label: t`编辑`, icon: Pencil, shortcut: "E", onSelect: () => grid.setEdit(channel.id) },
      { id: "copy", label: t`复制`, icon: Copy, shortcut: "C", onSelect: () => void actions.copy(channel) },
      channel.status === CHANNEL_STATUS.enabled
        ? { id: "disable", label: t`禁用`, icon: PowerOff, onSelect: () => void actions.setEnabled(channel, false) }
        : { id: "enable", label: t`启用`, icon: Power, onSelect: () => void actions.setEnabled(channel, true) },
      ...drainOf(channel),
      {
        id: "delete",
        label: t`删除`,
        icon: Trash2,
        danger: true,
        separated: true,
        onSelect: async () => {
          const gone = await actions.remove(channel);
          if (gone && grid.open === String(channel.id)) grid.setOpen(null);
        },
      },
    ];
  };

  return (row) => (row.kind === "tag" ? ofTag(row) : ofChannel(row.channel));
}
