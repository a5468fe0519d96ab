import { useLingui } from "@lingui/react/macro";
import { CircleCheck, TriangleAlert, Zap } from "lucide-react";
import { useState } from "react";
import type { ChannelTestResult } from "../../../shared/channel";
import { channelType } from "../../../shared/channel-types";
import { useOnce } from "../../lib/once";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Popover, PopoverAnchor, PopoverContent } from "../../ui/popover";
import { changedFields, fieldsOf } from "./channel-values";
import type { ChannelFormState } from "./use-channel-form";

/** Tests the channel as the form has it, before anything is saved. */
export function DraftTest({ state }: { state: ChannelFormState }) {
  const { t } = useLingui();
  const testing = trpc.channel.testDraft.useMutation();
  const [result, setResult] = useState<ChannelTestResult>();
  const type = channelType(state.form.watch("type"));

  const run = useOnce(async () => {
    setResult(undefined);
    const typed = state.form.getValues();
    const {
      priority: _p,
      weight: _w,
      max_input_tokens: _m,
      ...fields
    } = state.channelId === undefined ? fieldsOf(typed) : fieldsOf(typed, changedFields(state.before, typed));
    try {
      setResult(
        await testing.mutateAsync({ ...fields, ...(state.channelId !== undefined && { id: state.channelId }) }),
      );
    } catch {
      // The query client shows what kept it from being asked.
    }
  });
  const seconds = result?.time.toFixed(2);

  return (
    <Popover open={result !== undefined} onOpenChange={(open) => !open && setResult(undefined)}>
      <PopoverAnchor asChild>
        <Button
          loading={testing.isPending}
          disabled={!type?.test}
          title={type?.test ? t`用当前填写的内容测试，不会保存` : t`该类型渠道不支持测试`}
          onClick={() => void run()}
        >
          {testing.isPending ? null : <Zap aria-hidden />}
          {t`测试`}
        </Button>
      </PopoverAnchor>
      {result ? (
        <PopoverContent aria-label={t`测试结果`} align="end" className="w-[min(360px,calc(100vw-32px))]">
          <p role="status" className="flex items-start gap-2 wrap-anywhere">
            {result.success ? (
              <CircleCheck aria-hidden className="mt-0.5 size-4 shrink-0 text-green-fg" />
            ) : (
              <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-red-fg" />
            )}
            {result.success ? t`测试成功，耗时 ${seconds} 秒。内容还没有保存。` : result.message}
          </p>
        </PopoverContent>
      ) : null}
    </Popover>
  );
}
