import { useLingui } from "@lingui/react/macro";
import { TriangleAlert } from "lucide-react";
import { Link } from "wouter";
import { CHANNEL_STATUS } from "../../../shared/channel";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";

/** What waits for an administrator, each with the place where it is mended; nothing while nothing waits. */
export function Attention() {
  const { t } = useLingui();
  const counts = trpc.channel.statusCounts.useQuery(undefined, { meta: { quiet: true } });
  const count = counts.data?.[CHANNEL_STATUS.auto_disabled] ?? 0;
  const total = counts.data ? Object.values(counts.data).reduce((sum, n) => sum + n, 0) : undefined;
  const lines = [
    ...(total === 0 ? [{ text: t`还没有渠道，调用无处可去`, to: "/channel/add", action: t`添加渠道` }] : []),
    ...(count > 0 ? [{ text: t`${count} 个渠道被自动禁用`, to: `/channel?status=${CHANNEL_STATUS.auto_disabled}`, action: t`查看渠道` }] : []),
  ];
  if (lines.length === 0) return null;
  return (
    <section aria-label={t`需要处理`} className="grid gap-2 rounded-lg border border-line bg-yellow-bg px-3 py-2 text-yellow-fg">
      {lines.map(({ text, to, action }) => (
        <p key={to} className="flex flex-wrap items-center gap-2">
          <TriangleAlert aria-hidden className="size-4 shrink-0" />
          <span className="flex-1">{text}</span>
          <Button asChild size="sm"><Link href={to}>{action}</Link></Button>
        </p>
      ))}
    </section>
  );
}
