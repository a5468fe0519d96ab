import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { ErrorPanel } from "../../components/error-panel";
import { formatTime } from "../../lib/format";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Card, CardBody, CardHeader } from "../../ui/card";
import { CodeBlock } from "../../ui/code-block";
import { Dialog } from "../../ui/dialog";
import { Skeleton } from "../../ui/skeleton";
import { DataExport } from "./data-export";
import { ImportWizard } from "./import-wizard";

/** The way in and the way out. */
export default function DataCards() {
  return (
    <>
      <ImportReports />
      <DataExport />
    </>
  );
}

/** How to move in from another gateway, and what each import found and did. */
function ImportReports() {
  const { t } = useLingui();
  const [open, setOpen] = useState<{ id: number; source: string }>();
  const list = trpc.import.reports.useQuery(undefined, { meta: { quiet: true } });
  return (
    <Card id="imports" className="mt-4 w-full max-w-[720px] lg:ml-58">
      <CardHeader
        title={t`从其他网关迁移`}
        description={t`用户、余额、令牌、渠道与价格从 new-api、one-api、one-hub、LiteLLM 或另一个 Weir 搬过来。在服务器上依次运行下面的命令。`}
      />
      <CardBody className="grid grid-cols-[minmax(0,1fr)] gap-3">
        <ImportWizard />
        {list.error ? <ErrorPanel error={list.error} onRetry={() => void list.refetch()} /> : null}
        {list.data?.length === 0 ? <p className="text-muted">{t`还没有迁移记录`}</p> : null}
        {list.data && list.data.length > 0 ? (
          <ul className="grid grid-cols-[minmax(0,1fr)] gap-1">
            {list.data.map((row) => (
              <li key={row.id} className="flex flex-wrap items-center gap-x-3">
                <span className="min-w-0 flex-1 basis-40 truncate">{row.source}</span>
                <span className="text-muted">{formatTime(row.created_at)}</span>
                <Button size="sm" onClick={() => setOpen(row)}>{t`查看报告`}</Button>
              </li>
            ))}
          </ul>
        ) : null}
      </CardBody>
      {open ? <Report id={open.id} source={open.source} onClose={() => setOpen(undefined)} /> : null}
    </Card>
  );
}

function Report({ id, source, onClose }: { id: number; source: string; onClose(): void }) {
  const { t } = useLingui();
  const report = trpc.import.report.useQuery({ id }, { meta: { quiet: true } });
  return (
    <Dialog open onOpenChange={onClose} title={t`迁移报告：${source}`} className="w-[min(960px,calc(100vw-32px))]">
      {report.error ? <ErrorPanel error={report.error} onRetry={() => void report.refetch()} /> : null}
      {report.data ? (
        <CodeBlock label={t`报告`} code={report.data.text} />
      ) : report.error ? null : (
        <Skeleton className="h-64" />
      )}
    </Dialog>
  );
}
