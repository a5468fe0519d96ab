import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { CircleX, RotateCcw, Wrench } from "lucide-react";
import { Link } from "wouter";
import { ErrorBoundary } from "../../components/error-boundary";
import { cn } from "../../lib/cn";
import { formatCount, formatDollars, formatMilliseconds } from "../../lib/format";
import { lazy, WhileLoading } from "../../lib/lazy";
import { displayInCurrency, quotaPerUnit, useStatus } from "../../lib/status";
import { Button } from "../../ui/button";
import { Collapsible } from "../../ui/collapsible";
import { CopyButton } from "../../ui/copy-button";
import { IconButton } from "../../ui/icon-button";
import { Spinner } from "../../ui/spinner";
import type { Answer } from "./conversation";

const ModelText = lazy(() => import("./model-text"));

/** One model's answer: reasoning folded, text, tool calls, what it cost, and what can be done with it. */
export function AnswerView({ answer, running, onRetry }: { answer: Answer; running: boolean; onRetry: () => void }) {
  const { t } = useLingui();
  const { model, text, reasoning, tools, error } = answer;
  const empty = text === "" && reasoning === "" && tools.length === 0;
  return (
    <article
      aria-label={t`${model} 的回答`}
      aria-busy={running}
      data-state={answer.state}
      className={cn("min-w-0 rounded-lg border bg-surface p-3", error ? "border-red-solid/50" : "border-line")}
    >
      <header className="mb-1 flex min-h-6 items-center gap-2 text-xs text-muted">
        <span className="truncate font-medium text-ink-2">{model}</span>
        {running ? <Spinner /> : null}
        {answer.state === "incomplete" && !running ? <span>{t`已停止`}</span> : null}
      </header>
      {reasoning === "" ? null : (
        <Collapsible
          title={<span className="text-sm text-ink-2">{running && text === "" ? t`思考中…` : t`思考过程`}</span>}
        >
          <p className="border-l-2 border-line pl-3 text-sm whitespace-pre-wrap wrap-anywhere text-ink-2">
            {reasoning}
          </p>
        </Collapsible>
      )}
      {text === "" ? null : (
        <ErrorBoundary resetKey={answer.id}>
          <WhileLoading show={<p className="whitespace-pre-wrap wrap-anywhere">{text}</p>}>
            <ModelText text={text} />
          </WhileLoading>
        </ErrorBoundary>
      )}
      {tools.map((tool, index) => (
        <div key={index} className="mt-2 rounded-md border border-line bg-sunken p-2">
          <p className="flex items-center gap-1.5 text-xs font-medium">
            <Wrench aria-hidden className="size-3.5" />
            <Trans>调用工具 {tool.name}</Trans>
          </p>
          <pre
            tabIndex={0}
            aria-label={t`工具参数`}
            className="mt-1 overflow-x-auto font-mono text-xs whitespace-pre-wrap wrap-anywhere"
          >
            {tool.arguments}
          </pre>
        </div>
      ))}
      {empty && running ? <p className="text-muted">{t`等待第一个字…`}</p> : null}
      {empty && answer.state === "complete" ? <p className="text-muted">{t`模型没有返回内容`}</p> : null}
      {error ? (
        <div role="alert" className="mt-1 grid justify-items-start gap-2 rounded-md bg-red-bg p-2 text-red-fg">
          <p className="flex gap-2 wrap-anywhere">
            <CircleX aria-hidden className="mt-0.5 size-4 shrink-0" />
            {error.status > 0 ? `${error.status} · ${error.message}` : error.message}
          </p>
          <Button size="sm" onClick={onRetry}>
            <RotateCcw aria-hidden />
            {t`重试`}
          </Button>
        </div>
      ) : null}
      {running ? null : (
        <footer className="mt-2 flex flex-wrap items-center gap-x-2 gap-y-1">
          {text === "" ? null : <CopyButton text={text} label={t`复制回答`} />}
          <IconButton size="sm" label={t`重新生成`} onClick={onRetry}>
            <RotateCcw />
          </IconButton>
          <Facts answer={answer} />
        </footer>
      )}
    </article>
  );
}

/** Time to the first word, tokens and price; the price leads to the log row. */
function Facts({ answer: { bill, ttft, duration, request_id } }: { answer: Answer }) {
  const { t } = useLingui();
  // Renders again when the status, and with it the unit, arrives.
  useStatus();
  const first = ttft === undefined ? "" : formatMilliseconds(ttft);
  const whole = duration === undefined ? "" : formatMilliseconds(duration);
  const units = formatCount(bill?.quota ?? 0);
  const cost = bill && (displayInCurrency() ? formatDollars(bill.quota, quotaPerUnit(), 6) : t`${units} 额度`);
  return (
    <span className="flex flex-wrap gap-x-3 gap-y-1 text-xs tabular-nums text-muted">
      {first ? (
        <span title={t`首字时间`}>
          <Trans>首字 {first}</Trans>
        </span>
      ) : null}
      {whole ? (
        <span title={t`总用时`}>
          <Trans>用时 {whole}</Trans>
        </span>
      ) : null}
      {bill ? (
        <span title={t`输入 ${bill.prompt_tokens}，输出 ${bill.completion_tokens}`}>
          <Plural value={bill.prompt_tokens + bill.completion_tokens} one="# token" other="# tokens" />
        </span>
      ) : null}
      {request_id ? (
        <Link
          href={`/log?request_id=${encodeURIComponent(request_id)}${bill ? `&open=${bill.log_id}` : ""}`}
          className="text-accent-text underline underline-offset-2"
        >
          {cost ? <Trans>费用 {cost}</Trans> : t`查看日志`}
        </Link>
      ) : null}
    </span>
  );
}
