import { useLingui } from "@lingui/react/macro";
import { TriangleAlert } from "lucide-react";
import { Link } from "wouter";
import { CHANNEL_STATUS } from "../../../shared/channel";
import { ROLE } from "../../../shared/roles";
import { useHasRole } from "../../lib/session";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";

/** Names that are shown. */
const SHOWN = 3;

/** What needs an administrator's attention, each with a link to fix it; renders nothing while there is none. */
export function Attention() {
  const { t } = useLingui();
  const root = useHasRole(ROLE.root);
  const { data } = trpc.dashboard.attention.useQuery(undefined, { meta: { quiet: true } });
  if (!data) return null;
  const {
    auto_disabled: count,
    low_balances: low,
    failing_tests: failing,
    withdrawals,
    unpriced_models,
    unlisted_proxy: proxy,
  } = data;
  const unpriced = unpriced_models.length;
  const names = unpriced_models.slice(0, SHOWN).join(", ");
  const lines = [
    ...(data.channels === 0 ? [{ text: t`还没有渠道，调用无处可去`, to: "/channel/add", action: t`添加渠道` }] : []),
    ...(count > 0
      ? [
          {
            text: t`${count} 个渠道被自动禁用`,
            to: `/channel?status=${CHANNEL_STATUS.auto_disabled}`,
            action: t`查看渠道`,
          },
        ]
      : []),
    ...(low > 0
      ? [{ text: t`${low} 个渠道的余额快用完了`, to: `/channel?status=${CHANNEL_STATUS.enabled}`, action: t`查看渠道` }]
      : []),
    ...(failing > 0 ? [{ text: t`${failing} 个渠道最近一次测试失败`, to: "/channel", action: t`查看渠道` }] : []),
    // Prices are the super administrator's.
    ...(unpriced > 0 && root
      ? [{ text: t`${unpriced} 个模型未定价，无法调用：${names}`, to: "/setting/pricing", action: t`设置价格` }]
      : []),
    ...(withdrawals > 0
      ? [{ text: t`${withdrawals} 笔提现待处理`, to: "/topup?invite=settle", action: t`去处理` }]
      : []),
    ...(proxy !== ""
      ? [
          {
            text: t`代理 ${proxy} 转发的客户端地址未被采信，所有人被算作同一个地址：请把它加入 WEIR_TRUSTED_PROXIES`,
            // A setting of the process: no page changes it.
            to: undefined,
            action: undefined,
          },
        ]
      : []),
  ];
  if (lines.length === 0) return null;
  return (
    <section
      aria-label={t`需要处理`}
      className="grid gap-2 rounded-lg border border-line bg-yellow-bg px-3 py-2 text-yellow-fg"
    >
      {lines.map(({ text, to, action }) => (
        <p key={text} className="flex flex-wrap items-center gap-2">
          <TriangleAlert aria-hidden className="size-4 shrink-0" />
          <span className="flex-1">{text}</span>
          {to && (
            <Button asChild size="sm">
              <Link href={to}>{action}</Link>
            </Button>
          )}
        </p>
      ))}
    </section>
  );
}
