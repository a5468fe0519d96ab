import { useLingui } from "@lingui/react/macro";
import { ChevronDown, ChevronUp } from "lucide-react";
import { END_REASONS, LOG_TYPE } from "../../../shared/log";
import type { LogView } from "../../../shared/log-list";
import { warningText } from "../../../shared/warning-text";
import { readDoubts } from "../../../shared/usage-doubt";
import { ErrorPanel } from "../../components/error-panel";
import { FactLine } from "../../components/facts";
import { Quota } from "../../components/quota";
import { durationHue, firstTokenHue, logType } from "../../components/status";
import { StatusBadge } from "../../components/status-badge";
import { UsageDoubtText } from "../../components/usage-doubts";
import { formatDollars, formatMilliseconds, formatNumber, formatTime } from "../../lib/format";
import { currentLanguage } from "../../lib/i18n";
import { trpc } from "../../lib/trpc";
import { Badge } from "../../ui/badge";
import { CodeBlock } from "../../ui/code-block";
import { CopyButton } from "../../ui/copy-button";
import { Drawer } from "../../ui/drawer";
import { IconButton } from "../../ui/icon-button";
import { Skeleton } from "../../ui/skeleton";
import { Tabs, TabsContent, TabsList, TabsTrigger } from "../../ui/tabs";
import { AskedModel } from "./log-asked";
import { LogAttempts } from "./log-attempts";
import { LogBill } from "./log-bill";
import { LogCause } from "./log-cause";
import { LogContent } from "./log-content";
import { LogRefund } from "./log-refund";
import { attemptsOf, readDetails, reasonHue } from "./log-details";
import { LogSelection } from "./log-selection";
import { ChannelLink, GroupLink, ModelLink, RequestLink, Seconds, TokenLink } from "./log-links";
import { LogUser } from "./log-user";
import { textOf } from "./row-text";

interface LogInspectorProps {
  /** Id of the row, from the address. */
  id: string | null;
  /** The row as the list has it, shown until the server's answer with the full row arrives. */
  known: LogView | undefined;
  /** Only administrators see channels and attempts. */
  admin: boolean;
  onClose: () => void;
  /** To the next row of the list (1) or the one before (-1). */
  onStep: (by: 1 | -1) => void;
}

/** Where a call went, why it ended and what it cost, to the unit. */
export function LogInspector({ id, known, admin, onClose, onStep }: LogInspectorProps) {
  const { t } = useLingui();
  const number = Number(id);
  const asked = id !== null && Number.isSafeInteger(number) && number > 0;
  const query = trpc.log.get.useQuery(
    { id: number },
    { enabled: asked, initialData: known, staleTime: 5_000, meta: { quiet: true } },
  );
  const row = query.data;
  return (
    <Drawer
      open={id !== null}
      onOpenChange={(open) => !open && onClose()}
      modal={false}
      pageKeys
      title={row ? row.model_name || t`日志详情` : t`日志详情`}
      headerExtra={
        <>
          {row ? <StatusBadge table={logType} value={row.type} /> : null}
          <CopyButton text={`${location.origin}/log?open=${number}`} label={t`复制链接`} />
          <IconButton label={t`上一条`} shortcut="K" onClick={() => onStep(-1)}>
            <ChevronUp />
          </IconButton>
          <IconButton label={t`下一条`} shortcut="J" onClick={() => onStep(1)}>
            <ChevronDown />
          </IconButton>
        </>
      }
    >
      {row ? (
        <Inspected row={row} admin={admin} />
      ) : query.error ? (
        <ErrorPanel error={query.error} onRetry={query.refetch} />
      ) : (
        <Skeleton className="h-64" />
      )}
    </Drawer>
  );
}

function Id({ value }: { value: string }) {
  return (
    <span className="flex items-center gap-1">
      <code className="truncate font-mono text-xs">{value}</code>
      <CopyButton text={value} />
    </span>
  );
}

function endReason(reason: string): string {
  const text = Object.entries(END_REASONS).find(([name]) => name === reason)?.[1];
  return text ? text[currentLanguage()] : reason;
}

function Inspected({ row, admin }: { row: LogView; admin: boolean }) {
  const { t } = useLingui();
  const details = readDetails(row.other);
  const { frt = -1 } = details;
  const firstToken = frt >= 0 ? firstTokenHue(frt) : null;
  const text = textOf(row);
  const doubts = readDoubts(details.usage_doubts);
  const attempts = attemptsOf(details);
  return (
    <div className="grid gap-4">
      {row.type === LOG_TYPE.error ? <LogCause row={row} /> : null}
      <dl className="grid grid-cols-[max-content_1fr] gap-x-4 gap-y-1.5">
        <FactLine name={t`时间`}>{formatTime(row.created_at)}</FactLine>
        <FactLine name={t`花费`}>
          <Quota value={row.quota} decimals={6} />
        </FactLine>
        {row.end_reason ? (
          <FactLine name={t`结束原因`}>
            <Badge hue={reasonHue(row.end_reason)}>{endReason(row.end_reason)}</Badge>
          </FactLine>
        ) : null}
        {row.model_name ? (
          <FactLine name={t`模型`}>
            <ModelLink row={row} />
          </FactLine>
        ) : null}
        <FactLine name={t`用户`}>{admin ? <LogUser id={row.user_id} name={row.username} /> : row.username}</FactLine>
        {row.token_name ? (
          <FactLine name={t`令牌`}>
            <TokenLink row={row} />
          </FactLine>
        ) : null}
        {row.group ? (
          <FactLine name={t`分组`}>
            <GroupLink group={row.group} />
          </FactLine>
        ) : null}
        {admin && row.channel > 0 ? (
          <FactLine name={t({ message: "渠道", context: "singular" })}>
            <ChannelLink row={row} />
          </FactLine>
        ) : null}
        {details.asked_model !== undefined ? (
          <FactLine name={t`请求的模型`}>
            <AskedModel details={details} />
          </FactLine>
        ) : null}
        {details.is_model_mapped ? <FactLine name={t`上游模型`}>{details.upstream_model_name}</FactLine> : null}
        <FactLine name={t`输入 / 输出`}>{`${row.prompt_tokens} / ${row.completion_tokens}`}</FactLine>
        <FactLine name={t`用时`}>
          <span className="flex flex-wrap items-center gap-1">
            <Badge hue={durationHue(row.use_time)}>
              <Seconds value={row.use_time} />
            </Badge>
            {firstToken ? <Badge hue={firstToken}>{t`首字 ${formatMilliseconds(frt)}`}</Badge> : null}
            {row.is_stream ? <Badge hue="blue">{t`流式`}</Badge> : null}
          </span>
        </FactLine>
        {details.request_path ? (
          <FactLine name={t`接口`}>
            <code className="font-mono text-xs">{details.request_path}</code>
          </FactLine>
        ) : null}
        <FactLine name={t`请求 ID`}>
          <Id value={row.request_id} />
        </FactLine>
        {row.refund_of ? (
          <FactLine name={t`退还的调用`}>
            <RequestLink id={row.refund_of} />
          </FactLine>
        ) : null}
        {row.upstream_request_id ? (
          <FactLine name={t`上游请求 ID`}>
            <Id value={row.upstream_request_id} />
          </FactLine>
        ) : null}
        {row.upstream_cost !== undefined ? (
          <FactLine name={t`上游成本`}>{formatDollars(row.upstream_cost, 1e9, 9)}</FactLine>
        ) : null}
        {row.ip ? <FactLine name="IP">{row.ip}</FactLine> : null}
        {text && row.type !== LOG_TYPE.error ? <FactLine name={t`详情`}>{text}</FactLine> : null}
        {row.repeated > 0 ? (
          <FactLine
            name={t`重复`}
          >{t`同样的拒绝还有 ${formatNumber(row.repeated)} 次，最后一次在 ${formatTime(row.repeated_until)}`}</FactLine>
        ) : null}
      </dl>
      <Tabs defaultValue={row.type === LOG_TYPE.error && admin ? "attempts" : "bill"}>
        <TabsList aria-label={t`日志详情`}>
          <TabsTrigger value="bill">{t`账单`}</TabsTrigger>
          {admin ? <TabsTrigger value="attempts">{t`尝试`}</TabsTrigger> : null}
          {admin ? <TabsTrigger value="content">{t`内容`}</TabsTrigger> : null}
          <TabsTrigger value="raw">{t`原始数据`}</TabsTrigger>
        </TabsList>
        <TabsContent value="bill">
          <LogBill row={row} />
          {admin && row.type === LOG_TYPE.consume && row.quota > 0 ? <LogRefund row={row} /> : null}
        </TabsContent>
        {admin ? (
          <TabsContent value="attempts">
            <LogSelection selection={details.admin_info?.selection} />
            <LogAttempts attempts={attempts} />
          </TabsContent>
        ) : null}
        {admin ? (
          <TabsContent value="content">
            <LogContent requestId={row.request_id} path={details.request_path} />
          </TabsContent>
        ) : null}
        <TabsContent value="raw">
          <CodeBlock label={t`原始数据`} code={JSON.stringify({ ...row, other: details }, null, 2)} wrap />
        </TabsContent>
      </Tabs>
      {doubts.length > 0 ? (
        <ul className="list-disc pl-5 text-yellow-fg" data-testid="usage-doubts">
          {doubts.map((doubt) => (
            <li key={doubt.side}>
              <UsageDoubtText doubt={doubt} />
            </li>
          ))}
        </ul>
      ) : null}
      {details.warnings?.length ? (
        <ul className="list-disc pl-5 text-yellow-fg">
          {details.warnings.map((warning) => (
            <li key={warning}>{warningText(warning, currentLanguage())}</li>
          ))}
        </ul>
      ) : null}
    </div>
  );
}
