import { useLingui } from "@lingui/react/macro";
import { Copy, Download } from "lucide-react";
import { copyText } from "../../lib/clipboard";
import { csvText, downloadText } from "../../lib/download";
import { formatDollars } from "../../lib/format";
import { quotaPerUnit } from "../../lib/status";
import { toastSuccess } from "../../lib/toast";
import { Button } from "../../ui/button";
import { CopyButton } from "../../ui/copy-button";
import { Drawer } from "../../ui/drawer";
import type { NewBatch } from "./redemption-form";

/** The codes of a batch just made: copied, or kept as a file (C-130). */
export function NewCodesDrawer({ batch, onClose }: { batch: NewBatch; onClose: () => void }) {
  const { t } = useLingui();
  const { codes, quota } = batch;
  const count = codes.length;
  const name = batch.name || formatDollars(quota, quotaPerUnit());
  const lines = codes.join("\n");
  const copyAll = async () => {
    if (await copyText(lines)) toastSuccess(t`已复制 ${count} 个兑换码`);
  };
  return (
    <Drawer open modal={false} onOpenChange={(open) => !open && onClose()} title={t`已创建 ${count} 个兑换码`}>
      <div className="grid gap-3">
        <div className="flex flex-wrap gap-2">
          <Button variant="primary" onClick={() => void copyAll()}>
            <Copy aria-hidden />
            {t`复制全部`}
          </Button>
          <Button onClick={() => downloadText(`${name}.txt`, `${lines}\n`)}>
            <Download aria-hidden />
            {t`下载 TXT`}
          </Button>
          <Button
            onClick={() =>
              downloadText(
                `${name}.csv`,
                csvText([["name", "key", "quota"], ...codes.map((code) => [name, code, quota])]),
                "text/csv",
              )
            }
          >
            <Download aria-hidden />
            {t`下载 CSV`}
          </Button>
        </div>
        <ul aria-label={t`新兑换码`} className="divide-y divide-line rounded-lg border border-line">
          {codes.map((code, index) => {
            const number = index + 1;
            return (
              <li key={code} className="flex min-h-10 items-center gap-3 py-1 pr-1.5 pl-3">
                <code className="min-w-0 flex-1 font-mono text-xs break-all select-all">{code}</code>
                <CopyButton text={code} label={t`复制第 ${number} 个兑换码`} />
              </li>
            );
          })}
        </ul>
      </div>
    </Drawer>
  );
}
