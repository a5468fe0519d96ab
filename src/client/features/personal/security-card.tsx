import { useLingui } from "@lingui/react/macro";
import { useState, type ReactNode } from "react";
import { copyText } from "../../lib/clipboard";
import { toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Card, CardBody, CardHeader } from "../../ui/card";
import { CopyButton } from "../../ui/copy-button";
import { Input } from "../../ui/input";
import { PasswordDialog } from "./password-dialog";

/** The password and the system access token. */
export default function SecurityCard() {
  const { t } = useLingui();
  const [changing, setChanging] = useState(false);
  return (
    <Card>
      <CardHeader title={t`安全`} />
      <CardBody className="grid gap-4">
        <Line title={t`密码`} text={t`修改后，其他设备上的登录和系统访问令牌会全部失效。`}>
          <Button onClick={() => setChanging(true)}>{t`修改密码`}</Button>
        </Line>
        <AccessToken />
        {changing ? <PasswordDialog onClose={() => setChanging(false)} /> : null}
      </CardBody>
    </Card>
  );
}

function AccessToken() {
  const { t } = useLingui();
  const making = trpc.user.newAccessToken.useMutation({
    onSuccess: async (token) => {
      if (await copyText(token)) toastSuccess(t`令牌已重置并已复制到剪贴板`);
    },
  });
  return (
    <div className="grid gap-2">
      <Line title={t`系统访问令牌`} text={t`供脚本调用管理接口。只显示这一次，生成新令牌后旧令牌立即失效。`}>
        <Button loading={making.isPending} onClick={() => making.mutate()}>{t`生成系统访问令牌`}</Button>
      </Line>
      {making.data ? (
        <div className="flex items-center gap-2">
          <Input
            readOnly
            aria-label={t`新的系统访问令牌`}
            value={making.data}
            onFocus={(event) => event.currentTarget.select()}
            className="min-w-0 flex-1 font-mono"
          />
          <CopyButton text={making.data} label={t`复制系统访问令牌`} />
        </div>
      ) : null}
    </div>
  );
}

function Line({ title, text, children }: { title: string; text: string; children: ReactNode }) {
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
      <div className="min-w-0 flex-1 basis-60">
        <p className="font-medium">{title}</p>
        <p className="text-muted">{text}</p>
      </div>
      {children}
    </div>
  );
}
