import { useLingui } from "@lingui/react/macro";
import { CircleX, SendHorizontal } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { formatMilliseconds } from "../../lib/format";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { sendTestRequest, type TestOutcome } from "./test-request";

/** For those without a terminal: sends one small call with the real key and shows the answer as it streams. */
export function TryIt({ tokenKey, model }: { tokenKey: string; model: string }) {
  const { t } = useLingui();
  const utils = trpc.useUtils();
  const [answer, setAnswer] = useState<string | null>(null);
  const [outcome, setOutcome] = useState<TestOutcome | null>(null);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const busy = answer !== null && outcome === null;

  const send = async () => {
    const controller = new AbortController();
    running.current = controller;
    setAnswer("");
    setOutcome(null);
    try {
      const ended = await sendTestRequest({
        key: tokenKey,
        model,
        text: t`你好，请用一句话介绍你自己。`,
        signal: controller.signal,
        onText: setAnswer,
      });
      setOutcome(ended);
      void utils.log.own.invalidate();
    } catch {
      // Aborted by leaving the page: no message is shown.
    }
  };

  return (
    <div className="grid gap-2">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <Button onClick={send} loading={busy} disabled={model === ""}>
          {busy ? null : <SendHorizontal aria-hidden />}
          {t`发送测试请求`}
        </Button>
        <span className="text-xs text-muted">{t`没有终端？从浏览器真实调用一次，按价格计费。`}</span>
      </div>
      {outcome?.ok === false ? (
        <p role="alert" className="flex gap-2 text-red-fg wrap-anywhere">
          <CircleX aria-hidden className="mt-0.5 size-4 shrink-0" />
          {outcome.status > 0 ? `${outcome.status} · ${outcome.message}` : t`请求没有得到回答：${outcome.message}`}
        </p>
      ) : null}
      {answer ? (
        <div className="rounded-lg border border-line bg-sunken px-3 py-2">
          <p aria-live="polite" aria-busy={busy} className="text-base whitespace-pre-wrap wrap-anywhere">
            {answer}
          </p>
          {outcome?.ok ? (
            <p className="mt-1 text-xs text-muted">
              {model} · {formatMilliseconds(outcome.milliseconds)}
            </p>
          ) : null}
        </div>
      ) : null}
    </div>
  );
}
