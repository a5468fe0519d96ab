import { t } from "@lingui/core/macro";
import { CHANNEL_STATUS, type ChannelView, type ManualStatus } from "../../../shared/channel";
import { confirm } from "../../components/confirm";
import { faultOf } from "../../lib/errors";
import { toastError, toastSuccess, toastUndo } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { useOptimisticChannels, type RowChange } from "./channel-cache";
import type { RoutingField } from "./channel-numbers";
import { channelsOf, type ListRow } from "./channel-rows";

const changing = (ids: readonly number[], fields: Partial<ChannelView>): RowChange => {
  const concerned = new Set(ids);
  return (row) => (concerned.has(row.id) ? { ...row, ...fields } : row);
};

/** What people set; only the system disables automatically, and going back from there is "disabled by hand". */
const byHand = (status: number): ManualStatus =>
  status === CHANNEL_STATUS.enabled ? CHANNEL_STATUS.enabled : CHANNEL_STATUS.disabled;

/** The ids of channels, put together by what they have in common. */
function idsBy<K>(channels: readonly ChannelView[], key: (channel: ChannelView) => K): [K, number[]][] {
  const groups = new Map<K, number[]>();
  for (const channel of channels) groups.set(key(channel), [...(groups.get(key(channel)) ?? []), channel.id]);
  return [...groups];
}

/** Enabling and disabling. */
function useChannelSwitches() {
  const optimistic = useOptimisticChannels();
  const update = trpc.channel.update.useMutation();
  const tagEnable = trpc.channel.tagEnable.useMutation();
  const tagDisable = trpc.channel.tagDisable.useMutation();
  const batchStatus = trpc.channel.batchStatus.useMutation();

  const changeStatus = (ids: readonly number[], status: ManualStatus, call: () => Promise<unknown>) =>
    optimistic(changing(ids, { status, other_info: "" }), call);

  /** Gives each channel the status it had. */
  const restoreStatus = (before: readonly ChannelView[]) => {
    for (const [status, ids] of idsBy(before, (channel) => byHand(channel.status))) {
      void changeStatus(ids, status, () => batchStatus.mutateAsync({ ids, status }));
    }
  };

  /** Enables or disables one channel. */
  const setEnabled = async (channel: ChannelView, enabled: boolean): Promise<boolean> => {
    const { id, name } = channel;
    const to = enabled ? CHANNEL_STATUS.enabled : CHANNEL_STATUS.disabled;
    if (!(await changeStatus([id], to, () => update.mutateAsync({ id, status: to })))) return false;
    const before = byHand(channel.status);
    toastUndo(
      enabled ? t`已启用渠道 ${name}` : t`已禁用渠道 ${name}`,
      () => void changeStatus([id], before, () => update.mutateAsync({ id, status: before })),
    );
    return true;
  };

  /** Enables or disables several. */
  const setAllEnabled = async (channels: readonly ChannelView[], enabled: boolean): Promise<boolean> => {
    const ids = channels.map((channel) => channel.id);
    const status = enabled ? CHANNEL_STATUS.enabled : CHANNEL_STATUS.disabled;
    if (!(await changeStatus(ids, status, () => batchStatus.mutateAsync({ ids, status })))) return false;
    const count = ids.length;
    toastUndo(enabled ? t`已启用 ${count} 个渠道` : t`已禁用 ${count} 个渠道`, () => restoreStatus(channels));
    return true;
  };

  /** Enables or disables every channel of a tag. */
  const setTagEnabled = async (tag: string, channels: readonly ChannelView[], enabled: boolean): Promise<void> => {
    const ids = channels.map((channel) => channel.id);
    const status = enabled ? CHANNEL_STATUS.enabled : CHANNEL_STATUS.disabled;
    const done = await changeStatus(ids, status, () => (enabled ? tagEnable : tagDisable).mutateAsync({ tag }));
    if (!done) return;
    toastUndo(enabled ? t`已启用标签 ${tag} 的全部渠道` : t`已禁用标签 ${tag} 的全部渠道`, () =>
      restoreStatus(channels),
    );
  };

  return { setEnabled, setAllEnabled, setTagEnabled };
}

/** Draining: no new calls, and those that run may end. */
function useChannelDrain() {
  const optimistic = useOptimisticChannels();
  const drain = trpc.channel.drain.useMutation();
  const resume = trpc.channel.resume.useMutation();

  const setDrained = async ({ id, name }: Pick<ChannelView, "id" | "name">, on: boolean): Promise<void> => {
    const set = (drained: boolean) =>
      optimistic(
        changing([id], { draining_since: drained ? Math.floor(Date.now() / 1000) : 0, drain_deadline: 0 }),
        () => (drained ? drain : resume).mutateAsync({ id }),
      );
    if (await set(on)) toastUndo(on ? t`正在排空渠道 ${name}` : t`渠道 ${name} 已恢复`, () => void set(!on));
  };

  return { setDrained };
}

/** Priority, weight and tag: what decides which channel serves. */
function useChannelRouting() {
  const optimistic = useOptimisticChannels();
  const update = trpc.channel.update.useMutation();
  const tagEdit = trpc.channel.tagEdit.useMutation();
  const batchEdit = trpc.channel.batchEdit.useMutation();
  const batchTag = trpc.channel.batchTag.useMutation();

  /** Sets priority or weight of a channel, or of every channel of a tag. */
  const setNumber = async (row: ListRow, field: RoutingField, value: number): Promise<void> => {
    const before = channelsOf(row);
    const call = () =>
      row.kind === "tag"
        ? tagEdit.mutateAsync({ tag: row.tag, [field]: value })
        : update.mutateAsync({ id: row.channel.id, [field]: value });
    if (
      !(await optimistic(
        changing(
          before.map(({ id }) => id),
          { [field]: value },
        ),
        call,
      ))
    )
      return;
    const name = row.kind === "tag" ? row.tag : row.channel.name;
    const message = field === "priority" ? t`${name} 的优先级已改为 ${value}` : t`${name} 的权重已改为 ${value}`;
    toastUndo(message, () => {
      for (const [old, ids] of idsBy(before, (channel) => channel[field])) {
        void optimistic(changing(ids, { [field]: old }), () => batchEdit.mutateAsync({ ids, [field]: old }));
      }
    });
  };

  /** Puts channels under a tag; null takes theirs away. */
  const setTag = async (channels: readonly ChannelView[], tag: string | null): Promise<boolean> => {
    const ids = channels.map((channel) => channel.id);
    const done = await optimistic(changing(ids, { tag: tag ?? "" }), () => batchTag.mutateAsync({ ids, tag }));
    if (!done) return false;
    const count = ids.length;
    toastUndo(tag === null ? t`已移除 ${count} 个渠道的标签` : t`已为 ${count} 个渠道设置标签！`, () => {
      for (const [old, those] of idsBy(channels, (channel) => channel.tag)) {
        void optimistic(changing(those, { tag: old }), () => batchTag.mutateAsync({ ids: those, tag: old || null }));
      }
    });
    return true;
  };

  return { setNumber, setTag };
}

/** Copying and deleting. */
function useChannelCopies() {
  const utils = trpc.useUtils();
  const copying = trpc.channel.copy.useMutation({ meta: { quiet: true } });
  const deleting = trpc.channel.delete.useMutation();
  const batchDelete = trpc.channel.batchDelete.useMutation();

  const copy = async ({ id }: Pick<ChannelView, "id">): Promise<void> => {
    try {
      const copied = await copying.mutateAsync({ id });
      toastSuccess(t`渠道复制成功：${copied.name}`);
    } catch (error) {
      const fault = faultOf(error);
      if (fault.kind === "refused" || fault.kind === "http") toastError(t`渠道复制失败：${fault.message}`);
    }
    void utils.channel.invalidate();
  };

  /** True when it was agreed to and done. */
  const remove = async ({ id, name }: Pick<ChannelView, "id" | "name">): Promise<boolean> => {
    const agreed = await confirm({
      title: t`删除渠道 ${name}？`,
      description: t`此操作无法撤销。已有的日志会保留。`,
      action: t`删除`,
      danger: true,
    });
    if (!agreed) return false;
    try {
      await deleting.mutateAsync({ id });
      toastSuccess(t`渠道已删除`);
      return true;
    } catch {
      return false;
    } finally {
      void utils.channel.invalidate();
    }
  };

  /** Deletes several, when that is agreed to. True when it was done. */
  const removeAll = async (channels: readonly ChannelView[]): Promise<boolean> => {
    const selected = channels.length;
    const names = channels
      .slice(0, 5)
      .map((channel) => channel.name)
      .join("、");
    const agreed = await confirm({
      title: t`删除所选的 ${selected} 个渠道？`,
      description:
        selected > 5
          ? t`${names} 等。此操作无法撤销，已有的日志会保留。`
          : t`${names}。此操作无法撤销，已有的日志会保留。`,
      action: t`删除 ${selected} 个渠道`,
      danger: true,
    });
    if (!agreed) return false;
    try {
      const count = await batchDelete.mutateAsync({ ids: channels.map((channel) => channel.id) });
      toastSuccess(t`已删除 ${count} 个通道！`);
      return true;
    } catch {
      return false;
    } finally {
      void utils.channel.invalidate();
    }
  };

  return { copy, remove, removeAll };
}

/**
 * What can be done to channels from the list and from the drawer. What can be undone is shown at once, taken back when
 * the server refuses, and offers its undoing for eight seconds. Failures are shown by the query client.
 */
export function useChannelActions() {
  return { ...useChannelSwitches(), ...useChannelDrain(), ...useChannelRouting(), ...useChannelCopies() };
}
