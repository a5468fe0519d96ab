import { useLingui } from "@lingui/react/macro";
import { KeyRound } from "lucide-react";
import { useId, useState } from "react";
import { CHANNEL_STATUS, type ChannelView } from "../../../shared/channel";
import { isMultiKeyMode } from "../../../shared/channel-keys";
import { channelType } from "../../../shared/channel-types";
import { OVERLAP_MINUTES, OVERLAP_MINUTES_MAX } from "../../../shared/key-rotation";
import { FieldFrame } from "../../components/form-field";
import { formatTime } from "../../lib/format";
import { useOnce, useOpening } from "../../lib/once";
import { toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { IconButton } from "../../ui/icon-button";
import { Textarea } from "../../ui/input";
import { NumberField } from "../../ui/number-field";
import { Select } from "../../ui/select";

/** Opens the rotation of a channel's key. */
export function RotateButton({ channel }: { channel: ChannelView }) {
  const { t } = useLingui();
  const [open, setOpen] = useState(false);
  return (
    <>
      <IconButton label={t`轮换密钥`} size="sm" variant="secondary" onClick={() => setOpen(true)}>
        <KeyRound />
      </IconButton>
      {open ? <RotateDialog channel={channel} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

/** Asks for the new key and how long the old one serves beside it. The channel is as it was where the test fails. */
function RotateDialog({ channel, onClose }: { channel: ChannelView; onClose: () => void }) {
  const { t } = useLingui();
  const [formId, keyId, overlapId, oldId] = [useId(), useId(), useId(), useId()];
  const [key, setKey] = useState("");
  const [overlap, setOverlap] = useState<number | null>(OVERLAP_MINUTES);
  const several = isMultiKeyMode(channel.multi_key_mode);
  const keys = trpc.channel.keys.useQuery({ id: channel.id }, { enabled: several });
  const serving = (keys.data ?? []).filter(({ status }) => status !== CHANNEL_STATUS.disabled);
  const [chosen, setChosen] = useState<string>();
  const old = chosen ?? (serving[0] ? String(serving[0].id) : "");
  const utils = trpc.useUtils();
  const opening = useOpening();
  const rotating = trpc.channel.rotateKey.useMutation({ trpc: opening });
  const testable = channelType(channel.type)?.test ?? false;
  const badOverlap = overlap === null || !Number.isInteger(overlap) || overlap < 0 || overlap > OVERLAP_MINUTES_MAX;
  const invalid = key.trim() === "" || badOverlap || (several && old === "");

  const submit = useOnce(async () => {
    if (invalid) return;
    try {
      const { retires_at } = await rotating.mutateAsync({
        id: channel.id,
        key: key.trim(),
        overlap_minutes: overlap,
        ...(several && { key_id: Number(old) }),
      });
      const until = formatTime(retires_at);
      toastSuccess(retires_at > 0 ? t`新密钥已启用，旧密钥用到 ${until}` : t`新密钥已启用，旧密钥已停用`);
      onClose();
    } catch {
      // The query client shows why; what was typed stays.
    }
    void utils.channel.invalidate();
  });

  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t`轮换密钥`}
      description={
        testable ? t`新密钥通过测试后才会启用；测试失败时渠道不变。` : t`该类型渠道不支持测试，新密钥会直接启用。`
      }
      footer={
        <>
          <Button onClick={onClose}>{t`取消`}</Button>
          <Button type="submit" form={formId} variant="primary" disabled={invalid} loading={rotating.isPending}>
            {testable ? t`测试并轮换` : t`轮换`}
          </Button>
        </>
      }
    >
      <form
        id={formId}
        noValidate
        autoComplete="off"
        className="mt-3 grid gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <FieldFrame id={keyId} label={t`新密钥`} required>
          <Textarea
            id={keyId}
            rows={3}
            autoFocus
            autoComplete="off"
            spellCheck={false}
            value={key}
            onChange={(event) => setKey(event.target.value)}
            className="font-mono text-xs wrap-anywhere [-webkit-text-security:disc]"
          />
        </FieldFrame>
        {several ? (
          <FieldFrame id={oldId} label={t`替换的密钥`} required>
            <Select
              id={oldId}
              aria-labelledby={`${oldId}-label`}
              value={old}
              onValueChange={setChosen}
              options={serving.map(({ id, position, hint }) => ({ value: String(id), label: `#${position} ${hint}` }))}
            />
          </FieldFrame>
        ) : null}
        <FieldFrame id={overlapId} label={t`重叠时间`} hint={t`这段时间里新旧密钥都可用；0 表示旧密钥立即停用`}>
          <NumberField
            id={overlapId}
            aria-labelledby={`${overlapId}-label`}
            aria-describedby={`${overlapId}-hint`}
            aria-invalid={badOverlap}
            value={overlap}
            min={0}
            max={OVERLAP_MINUTES_MAX}
            step={1}
            unit={t`分钟`}
            onValueChange={setOverlap}
          />
        </FieldFrame>
      </form>
    </Dialog>
  );
}
