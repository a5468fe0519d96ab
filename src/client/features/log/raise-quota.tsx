import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { lazy, WhileLoading } from "../../lib/lazy";
import { Button } from "../../ui/button";
import type { RaiseDialogProps } from "./raise-dialog";

const RaiseDialog = lazy<RaiseDialogProps>(() => import("./raise-dialog"));

/** Gives the token of a failed call more quota. */
export function RaiseQuota(token: Omit<RaiseDialogProps, "onClose">) {
  const { t } = useLingui();
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button size="sm" onClick={() => setOpen(true)}>{t`增加令牌额度`}</Button>
      {open ? (
        <WhileLoading show={null}>
          <RaiseDialog {...token} onClose={() => setOpen(false)} />
        </WhileLoading>
      ) : null}
    </>
  );
}
