import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { ErrorPanel } from "../../components/error-panel";
import { copyText } from "../../lib/clipboard";
import { toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Card, CardBody, CardHeader } from "../../ui/card";
import { Skeleton } from "../../ui/skeleton";

/** How many models are shown before "show more". */
const FIRST = 10;

/** The models that the user may call; a click copies a name. */
export default function ModelsCard() {
  const { t } = useLingui();
  const [open, setOpen] = useState(false);
  const query = trpc.group.models.useQuery({}, { staleTime: 60_000, meta: { quiet: true } });
  const models = query.data ?? [];
  const shown = open ? models : models.slice(0, FIRST);
  const hidden = models.length - FIRST;
  const copy = async (model: string) => {
    if (await copyText(model)) toastSuccess(t`已复制：${model}`);
  };
  return (
    <Card>
      <CardHeader title={t`可用模型`} description={t`点击模型名称即可复制。`} />
      <CardBody>
        {query.data ? (
          <div className="grid justify-items-start gap-3">
            {models.length === 0 ? <p className="text-muted">{t`暂无可用模型`}</p> : null}
            <ul className="flex flex-wrap gap-2">
              {shown.map((model) => (
                <li key={model} className="max-w-full">
                  <Button size="sm" className="max-w-full font-mono font-normal" onClick={() => void copy(model)}>
                    <span className="truncate">{model}</span>
                  </Button>
                </li>
              ))}
            </ul>
            {hidden > 0 ? (
              <Button variant="link" aria-expanded={open} onClick={() => setOpen(!open)}>
                {open ? t`收起` : t`更多（${hidden}）`}
              </Button>
            ) : null}
          </div>
        ) : query.error ? (
          <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />
        ) : (
          <Skeleton className="h-16" />
        )}
      </CardBody>
    </Card>
  );
}
