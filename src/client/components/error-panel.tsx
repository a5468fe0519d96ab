import { Trans, useLingui } from "@lingui/react/macro";
import { RotateCw, TriangleAlert } from "lucide-react";
import { faultOf } from "../lib/errors";
import { Button } from "../ui/button";
import { CopyButton } from "../ui/copy-button";

/** A part of the page that could not be shown: what, the request id, another try, and the details to pass on. */
export function ErrorPanel({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const { t } = useLingui();
  const fault = faultOf(error);
  const details = [
    fault.message,
    `status: ${fault.status}`,
    `request id: ${fault.requestId ?? "-"}`,
    `page: ${location.pathname}${location.search}`,
    `time: ${new Date().toISOString()}`,
  ].join("\n");

  return (
    <div role="alert" className="flex flex-col items-center gap-2 px-4 py-12 text-center">
      <TriangleAlert aria-hidden className="size-8 text-red-fg" strokeWidth={1.5} />
      <p className="max-w-prose text-base font-medium wrap-anywhere">{fault.message || t`未知错误`}</p>
      {fault.requestId ? (
        <p className="text-muted">
          <Trans>
            请求 ID <code className="font-mono">{fault.requestId}</code>
          </Trans>
        </p>
      ) : null}
      <div className="mt-2 flex items-center gap-2">
        {fault.kind === "outdated" ? (
          <Button onClick={() => location.reload()}>
            <RotateCw aria-hidden />
            {t`重新加载`}
          </Button>
        ) : onRetry ? (
          <Button onClick={onRetry}>
            <RotateCw aria-hidden />
            {t`重试`}
          </Button>
        ) : null}
        <CopyButton text={details} label={t`复制错误详情`} />
      </div>
    </div>
  );
}
