import { useLingui } from "@lingui/react/macro";
import { QRCodeSVG } from "qrcode.react";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import { ErrorPanel } from "../../components/error-panel";
import { faultOf } from "../../lib/errors";
import { toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { CopyButton } from "../../ui/copy-button";
import { Dialog } from "../../ui/dialog";
import { Skeleton } from "../../ui/skeleton";
import { CodeForm } from "./code-form";

/** Scan, show a first code, keep the recovery codes. */
export function TotpSetupDialog({ onClose }: { onClose: () => void }) {
  const { t } = useLingui();
  const utils = trpc.useUtils();
  const [codes, setCodes] = useState<readonly string[]>();
  const setup = trpc.factor.setup.useMutation({ meta: { quiet: true } });
  const enable = trpc.factor.enable.useMutation({
    meta: { quiet: true },
    onSuccess: ({ backup_codes }) => {
      setCodes(backup_codes);
      toastSuccess(t`两步验证已启用`);
      void utils.factor.status.invalidate();
    },
  });
  const begin = useEffectEvent(() => setup.mutate());
  const began = useRef(false);
  useEffect(() => {
    // Each begin makes a new secret; a second round of effects must not replace the one that is shown.
    if (began.current) return;
    began.current = true;
    begin();
  }, []);

  if (codes) return <RecoveryCodes codes={codes} onClose={onClose} />;
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t`启用两步验证`}
      description={t`用身份验证器应用扫描二维码，然后输入它显示的 6 位验证码。`}
    >
      <div className="mt-4 grid gap-4">
        {setup.data ? (
          <>
            <div className="mx-auto rounded-lg bg-white p-3">
              <QRCodeSVG value={setup.data.uri} size={184} marginSize={1} title={t`两步验证二维码`} />
            </div>
            <p className="flex items-center gap-1 text-muted">
              <span className="min-w-0 flex-1 font-mono text-xs wrap-anywhere">{setup.data.secret}</span>
              <CopyButton text={setup.data.secret} label={t`复制密钥`} />
            </p>
            <CodeForm
              action={t`启用`}
              pending={enable.isPending}
              problem={enable.error ? faultOf(enable.error).message : undefined}
              onCode={(code) => enable.mutate({ code })}
            />
          </>
        ) : setup.error ? (
          <ErrorPanel error={setup.error} onRetry={() => setup.mutate()} />
        ) : (
          <Skeleton className="h-48" />
        )}
      </div>
    </Dialog>
  );
}

/** Switching off, or new recovery codes: both want a code first. */
export function TotpCodeDialog({ act, onClose }: { act: "disable" | "renew"; onClose: () => void }) {
  const { t } = useLingui();
  const utils = trpc.useUtils();
  const [codes, setCodes] = useState<readonly string[]>();
  const changed = () => void utils.factor.status.invalidate();
  const disable = trpc.factor.disable.useMutation({
    meta: { quiet: true },
    onSuccess: () => {
      toastSuccess(t`两步验证已停用`);
      changed();
      onClose();
    },
  });
  const renew = trpc.factor.recoveryCodes.useMutation({
    meta: { quiet: true },
    onSuccess: ({ backup_codes }) => {
      setCodes(backup_codes);
      changed();
    },
  });
  if (codes) return <RecoveryCodes codes={codes} onClose={onClose} />;
  const off = act === "disable";
  const call = off ? disable : renew;
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={off ? t`停用两步验证` : t`更换恢复代码`}
      description={off ? t`停用后登录不再需要验证码。` : t`旧的恢复代码将全部失效。`}
    >
      <div className="mt-4">
        <CodeForm
          action={off ? t`停用` : t`更换`}
          hint={t`身份验证器应用中的 6 位验证码，或一个恢复代码`}
          danger={off}
          pending={call.isPending}
          problem={call.error ? faultOf(call.error).message : undefined}
          onCode={(code) => call.mutate({ code })}
        />
      </div>
    </Dialog>
  );
}

/** Shown once: the server keeps their hashes only. */
function RecoveryCodes({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  const { t } = useLingui();
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t`恢复代码`}
      description={t`请妥善保存：丢失手机时，每个代码可以代替验证码登录一次。关闭后不会再显示。`}
      footer={<Button variant="primary" onClick={onClose}>{t`我已保存`}</Button>}
    >
      <div className="mt-4 flex items-start gap-2">
        <ul aria-label={t`恢复代码`} className="grid flex-1 grid-cols-1 gap-1 font-mono text-sm sm:grid-cols-2">
          {codes.map((code) => (
            <li key={code}>{code}</li>
          ))}
        </ul>
        <CopyButton text={codes.join("\n")} label={t`复制全部`} />
      </div>
    </Dialog>
  );
}
