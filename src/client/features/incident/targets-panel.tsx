import { useLingui } from "@lingui/react/macro";
import { Pencil, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { TARGETS, type TargetView } from "../../../shared/alert-targets";
import { confirm } from "../../components/confirm";
import { ErrorPanel } from "../../components/error-panel";
import { currentLanguage } from "../../lib/i18n";
import { trpc } from "../../lib/trpc";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { IconButton } from "../../ui/icon-button";
import { Skeleton } from "../../ui/skeleton";
import { Switch } from "../../ui/switch";
import { TargetDialog } from "./target-dialog";

/** Where alerts are sent. Each change is saved at once, because secrets are never sent back. */
export default function TargetsPanel() {
  const { t } = useLingui();
  const utils = trpc.useUtils();
  const [edited, setEdited] = useState<TargetView | "new" | null>(null);
  const query = trpc.incident.targets.useQuery(undefined, { meta: { quiet: true } });
  const onSettled = () => utils.incident.targets.invalidate();
  const saving = trpc.incident.saveTarget.useMutation({ onSettled });
  const removing = trpc.incident.removeTarget.useMutation({ onSettled });
  const remove = async (name: string) => {
    const agreed = await confirm({
      title: t`删除通知对象 ${name}？`,
      description: t`它的地址和密钥会一并删除。`,
      action: t`删除`,
      danger: true,
    });
    if (agreed) removing.mutate({ name });
  };
  const lang = currentLanguage();
  return (
    <section aria-labelledby="alert-targets" className="grid grid-cols-[minmax(0,1fr)] gap-2">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h3 id="alert-targets" className="font-medium">{t`通知对象`}</h3>
        <Button size="sm" onClick={() => setEdited("new")}>
          <Plus aria-hidden />
          {t`添加通知对象`}
        </Button>
      </div>
      {query.error ? <ErrorPanel error={query.error} onRetry={() => void query.refetch()} /> : null}
      {query.data ? (
        <ul className="divide-y divide-line rounded-md border border-line">
          {query.data.map((target) => (
            <li key={target.name} className="flex items-center gap-3 px-3 py-2">
              <Switch
                aria-label={t`启用通知对象 ${target.name}`}
                checked={target.on}
                disabled={saving.isPending}
                onCheckedChange={(on) =>
                  saving.mutate({
                    name: target.name,
                    type: target.type,
                    lang: target.lang,
                    least: target.least,
                    on,
                    ...target.open,
                  })
                }
              />
              <div className="min-w-0 flex-1">
                <p className="flex flex-wrap items-center gap-2">
                  <span className="font-medium wrap-anywhere">{target.name}</span>
                  <Badge>{TARGETS[target.type][lang]}</Badge>
                </p>
                <p className="truncate text-ink-2">{Object.values(target.open).filter(Boolean).join(" · ")}</p>
              </div>
              <IconButton size="sm" label={t`编辑通知对象 ${target.name}`} onClick={() => setEdited(target)}>
                <Pencil />
              </IconButton>
              <IconButton size="sm" label={t`删除通知对象 ${target.name}`} onClick={() => void remove(target.name)}>
                <Trash2 />
              </IconButton>
            </li>
          ))}
          {query.data.length === 0 ? (
            <li className="px-3 py-4 text-center text-muted">{t`还没有通知对象：告警只通知超级管理员`}</li>
          ) : null}
        </ul>
      ) : query.error ? null : (
        <Skeleton className="h-24" />
      )}
      {edited === null ? null : (
        <TargetDialog target={edited === "new" ? undefined : edited} onClose={() => setEdited(null)} />
      )}
    </section>
  );
}
