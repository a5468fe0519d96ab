import { useLingui } from "@lingui/react/macro";
import { PencilLine, Power, PowerOff, Tags, Trash2, X, Zap } from "lucide-react";
import { useState } from "react";
import { CHANNEL_STATUS, type ChannelView } from "../../../shared/channel";
import { channelType } from "../../../shared/channel-types";
import { errorText, type ErrorCode } from "../../../shared/errors";
import { currentLanguage } from "../../lib/i18n";
import { toastInfo } from "../../lib/toast";
import { Button } from "../../ui/button";
import { IconButton } from "../../ui/icon-button";
import { useChannelActions } from "./channel-actions";
import { useRunTests } from "./channel-tests";

/**
 * What can be done to the selected channels: the second line of the toolbar, on a phone at the bottom of the screen.
 * Its buttons can always be pressed and say what is missing (C-419, C-422).
 */
export default function BatchBar({
  channels,
  onClear,
  onTag,
  onEdit,
  onLeave,
}: {
  /** Selected; a selected tag counts as its channels. */
  channels: readonly ChannelView[];
  onClear: () => void;
  onTag: () => void;
  onEdit: () => void;
  onLeave: () => void;
}) {
  const { t } = useLingui();
  const actions = useChannelActions();
  const count = channels.length;
  const runTests = useRunTests();
  const [testing, setTesting] = useState(false);
  const [answered, setAnswered] = useState<ReadonlySet<number>>(new Set());
  // As after an import, which leaves all disabled.
  const ready = channels.filter(({ id, status }) => answered.has(id) && status !== CHANNEL_STATUS.enabled);
  const waiting = ready.length;
  const test = async () => {
    setTesting(true);
    const testable = channels.filter(({ type }) => channelType(type)?.test);
    const { ok, failed, answered: good } = await runTests(testable.map((channel) => ({ channel })));
    setTesting(false);
    setAnswered(good);
    const skipped = count - ok - failed;
    const counts = t`成功 ${ok} 个，失败 ${failed} 个，跳过 ${skipped} 个`;
    const changed = "";
    toastInfo(t`渠道测试完成：${counts}${changed}`);
  };
  const withSelection = (missing: ErrorCode, act: () => unknown) => () => {
    if (count === 0) toastInfo(errorText(missing, {}, currentLanguage()), { id: missing });
    else void act();
  };

  return (
    <div
      role="toolbar"
      aria-label={t`批量操作`}
      className="order-last flex w-full flex-wrap items-center gap-1.5 rounded-lg border border-line bg-accent-soft px-2 py-1.5 max-sm:floating max-sm:fixed max-sm:inset-x-3 max-sm:bottom-3 max-sm:z-30 max-sm:w-auto"
    >
      <span role="status" className="mr-1 min-w-20 px-1 font-medium tabular-nums">{t`已选择 ${count} 个渠道`}</span>
      <Button size="sm" onClick={withSelection("batch_empty", () => actions.setAllEnabled(channels, true))}>
        <Power aria-hidden />
        {t`启用`}
      </Button>
      <Button size="sm" onClick={withSelection("batch_empty", () => actions.setAllEnabled(channels, false))}>
        <PowerOff aria-hidden />
        {t`禁用`}
      </Button>
      <Button size="sm" onClick={withSelection("batch_tag_empty", onTag)}>
        <Tags aria-hidden />
        {t`设置标签`}
      </Button>
      <Button size="sm" onClick={withSelection("batch_empty", onEdit)}>
        <PencilLine aria-hidden />
        {t`批量编辑`}
      </Button>
      <Button size="sm" loading={testing} onClick={withSelection("batch_empty", test)}>
        {testing ? null : <Zap aria-hidden />}
        {t`测试`}
      </Button>
      {waiting > 0 && !testing ? (
        <Button size="sm" onClick={() => void actions.setAllEnabled(ready, true)}>
          <Power aria-hidden />
          {t`启用有应答的 ${waiting} 个`}
        </Button>
      ) : null}
      <Button
        size="sm"
        className="text-red-fg"
        onClick={withSelection("batch_delete_empty", async () => (await actions.removeAll(channels)) && onClear())}
      >
        <Trash2 aria-hidden />
        {t`删除所选`}
      </Button>
      <span className="flex-1" />
      {count > 0 ? (
        <Button size="sm" variant="ghost" className="max-sm:hidden" onClick={onClear}>{t`取消选择`}</Button>
      ) : null}
      <IconButton label={t`退出批量操作`} size="sm" onClick={onLeave}>
        <X />
      </IconButton>
    </div>
  );
}
