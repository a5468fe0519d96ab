import { useLingui } from "@lingui/react/macro";
import { Link } from "wouter";
import type { RepairReport } from "../../../shared/channel-operations";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";

/** What a repair found that only an operator can fix; each channel leads to its form. */
export function RepairDialog({ report, onClose }: { report: RepairReport; onClose: () => void }) {
  const { t } = useLingui();
  const { checked, repaired, problems } = report;
  const count = problems.length;
  const names: Record<RepairReport["problems"][number]["field"], string> = {
    key: t`密钥无法解密，请重新填写`,
    type: t`未知的渠道类型`,
    model_mapping: t`模型映射不是合法的 JSON`,
    status_code_mapping: t`状态码映射不是合法的 JSON`,
    setting: t`渠道额外设置不是合法的 JSON`,
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t`有 ${count} 处需要人工处理`}
      description={t`检查了 ${checked} 个渠道，自动修复了 ${repaired} 个。`}
      footer={<Button variant="primary" onClick={onClose}>{t`知道了`}</Button>}
    >
      <ul className="mt-3 divide-y divide-line rounded-lg border border-line">
        {problems.map(({ id, name, field }) => (
          <li key={`${id} ${field}`} className="flex min-h-10 flex-wrap items-center gap-2 px-3 py-1.5">
            <Badge>#{id}</Badge>
            <Link
              href={`/channel?edit=${id}`}
              onClick={onClose}
              className="min-w-0 truncate text-accent-text hover:underline"
            >
              {name || `#${id}`}
            </Link>
            <span className="text-ink-2">{names[field]}</span>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
