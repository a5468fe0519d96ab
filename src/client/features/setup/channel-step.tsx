import { useLingui } from "@lingui/react/macro";
import { Sparkles } from "lucide-react";
import { useState } from "react";
import type { ChannelType } from "../../../shared/channel-types";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { ChannelForm } from "./channel-form";
import { StepFrame } from "./step-frame";
import { TypeGrid } from "./type-grid";

/** Step 3: the first channel, the demo channel, or none yet. */
export default function ChannelStep({ onDone, onLater }: { onDone: () => void; onLater: () => void }) {
  const { t } = useLingui();
  const [type, setType] = useState<ChannelType | null>(null);
  const demo = trpc.demo.createChannel.useMutation({ onSuccess: onDone });

  return (
    <StepFrame
      step="channel"
      title={t`添加第一个渠道`}
      description={t`渠道是你在上游服务商的账户：选择类型，粘贴密钥，测试连接。`}
    >
      <div className="flex flex-wrap items-center gap-3 rounded-lg border border-line bg-surface px-4 py-3">
        <Sparkles aria-hidden className="size-5 shrink-0 text-accent-text" />
        <p className="min-w-48 flex-1 text-ink-2">
          {t`手边没有密钥？内置的演示渠道会复述你说的话，不访问任何上游，适合先走一遍流程。`}
        </p>
        <Button loading={demo.isPending} onClick={() => demo.mutate()}>{t`用演示渠道`}</Button>
      </div>
      <TypeGrid value={type?.id ?? null} onValueChange={setType} />
      {type ? (
        <ChannelForm key={type.id} type={type} onDone={onDone} onLater={onLater} />
      ) : (
        <div className="flex justify-end">
          <Button size="lg" variant="ghost" onClick={onLater}>{t`稍后`}</Button>
        </div>
      )}
    </StepFrame>
  );
}
