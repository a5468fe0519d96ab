import { useLingui } from "@lingui/react/macro";
import { Smartphone } from "lucide-react";
import { useState } from "react";
import { ErrorPanel } from "../../components/error-panel";
import { lazy, WhileLoading } from "../../lib/lazy";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Card, CardBody, CardHeader } from "../../ui/card";
import { Skeleton } from "../../ui/skeleton";
import { BindingRow } from "../personal/binding-row";
import { PasskeyList } from "./passkey-list";

// They draw QR codes.
const dialogs = () => import("./totp-dialogs");
const TotpSetupDialog = lazy(async () => ({ default: (await dialogs()).TotpSetupDialog }));
const TotpCodeDialog = lazy(async () => ({ default: (await dialogs()).TotpCodeDialog }));

/** One-time codes and passkeys of the own account. */
export default function FactorCard() {
  const { t } = useLingui();
  const status = trpc.factor.status.useQuery(undefined, { meta: { quiet: true } });
  const [open, setOpen] = useState<"setup" | "disable" | "renew" | null>(null);
  const { data } = status;
  const close = () => setOpen(null);
  const left = data?.backup_codes_remaining ?? 0;
  return (
    <Card>
      <CardHeader
        title={t`登录保护`}
        description={t`两步验证在密码或第三方登录之后再要求一个验证码；通行密钥可以代替密码和验证码。`}
      />
      <CardBody>
        {data ? (
          <ul className="divide-y divide-line">
            <BindingRow
              icon={Smartphone}
              name={t`两步验证（验证器应用）`}
              bound={data.enabled ? t`已启用，剩余 ${left} 个恢复代码` : t`未启用`}
            >
              {data.enabled ? (
                <>
                  <Button onClick={() => setOpen("renew")}>{t`更换恢复代码`}</Button>
                  <Button onClick={() => setOpen("disable")}>{t`停用`}</Button>
                </>
              ) : (
                <Button onClick={() => setOpen("setup")}>{t`启用`}</Button>
              )}
            </BindingRow>
            <PasskeyList passkeys={data.passkeys} />
          </ul>
        ) : status.error ? (
          <ErrorPanel error={status.error} onRetry={() => void status.refetch()} />
        ) : (
          <Skeleton className="h-24" />
        )}
      </CardBody>
      <WhileLoading show={null}>
        {open === "setup" ? <TotpSetupDialog onClose={close} /> : null}
        {open === "disable" || open === "renew" ? <TotpCodeDialog act={open} onClose={close} /> : null}
      </WhileLoading>
    </Card>
  );
}
