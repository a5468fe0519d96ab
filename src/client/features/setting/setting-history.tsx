import { useLingui } from "@lingui/react/macro";
import { History } from "lucide-react";
import { useState } from "react";
import type { OptionKey } from "../../../shared/options";
import { lazy, WhileLoading } from "../../lib/lazy";
import { Dialog } from "../../ui/dialog";
import { IconButton } from "../../ui/icon-button";
import { Skeleton } from "../../ui/skeleton";

const OptionHistory = lazy(() => import("./option-history"));

/** The history of one setting, or of those of a table, behind a button beside it. */
export function SettingHistory({ keys, name }: { keys: readonly OptionKey[]; name: string }) {
  const { t } = useLingui();
  const [open, setOpen] = useState(false);
  return (
    <>
      <IconButton label={t`${name}的修改历史`} size="sm" onClick={() => setOpen(true)}>
        <History />
      </IconButton>
      {open ? (
        <Dialog open onOpenChange={setOpen} title={t`${name}的修改历史`} className="w-[min(640px,calc(100vw-32px))]">
          <WhileLoading show={<Skeleton className="h-32" />}>
            <OptionHistory keys={keys} />
          </WhileLoading>
        </Dialog>
      ) : null}
    </>
  );
}
