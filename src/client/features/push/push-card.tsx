import { useLingui } from "@lingui/react/macro";
import { Smartphone } from "lucide-react";
import { useEffect, useState } from "react";
import { TimeAgo } from "../../components/time-ago";
import { lazy, WhileLoading } from "../../lib/lazy";
import { toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Card, CardBody, CardHeader } from "../../ui/card";
import { CopyButton } from "../../ui/copy-button";
import { deviceOf } from "../personal/device";

const QRCodeSVG = lazy(async () => ({ default: (await import("qrcode.react")).QRCodeSVG }));

/**
 * How often the list is refetched while a code is shown, in milliseconds: the phone reports to the server, not here.
 */
const LOOK_EVERY = 3_000;

/** Phones that get notices, and the QR code that binds another one. */
export default function PushCard() {
  const { t } = useLingui();
  const utils = trpc.useUtils();
  const [shown, setShown] = useState(false);
  const phones = trpc.push.phones.useQuery(undefined, { refetchInterval: shown ? LOOK_EVERY : false });
  const begin = trpc.push.begin.useMutation({ onSuccess: () => setShown(true) });
  const remove = trpc.push.remove.useMutation({
    onSuccess: () => toastSuccess(t`手机已解绑`),
    onSettled: () => void utils.push.phones.invalidate(),
  });
  const list = phones.data ?? [];
  return (
    <Card>
      <CardHeader
        title={t`手机推送`}
        description={t`用手机扫描二维码，通知会同时推送到手机的浏览器。iPhone 需要先把本站添加到主屏幕。`}
      />
      <CardBody className="grid gap-4">
        {list.length > 0 ? (
          <ul className="divide-y divide-line">
            {list.map(({ id, user_agent, created_at }) => (
              <li key={id} className="flex items-center gap-3 py-3 first:pt-0 last:pb-0">
                <Smartphone aria-hidden className="size-5 shrink-0 text-muted" />
                <div className="min-w-0 flex-1">
                  <p className="font-medium">{deviceOf(user_agent) || t`未知设备`}</p>
                  <p className="text-muted">
                    <TimeAgo value={created_at} />
                  </p>
                </div>
                <Button
                  loading={remove.isPending && remove.variables.id === id}
                  onClick={() => remove.mutate({ id })}
                >{t`解绑`}</Button>
              </li>
            ))}
          </ul>
        ) : null}
        {shown && begin.data ? (
          <Code
            key={begin.data.url}
            url={begin.data.url}
            expires_at={begin.data.expires_at}
            loading={begin.isPending}
            onRenew={() => begin.mutate()}
          />
        ) : (
          <Button
            className="justify-self-start"
            loading={begin.isPending}
            onClick={() => begin.mutate()}
          >{t`绑定手机`}</Button>
        )}
      </CardBody>
    </Card>
  );
}

/** The code until its time is up; then it says so and offers another one (C-019). */
function Code({
  url,
  expires_at,
  loading,
  onRenew,
}: {
  url: string;
  expires_at: number;
  loading: boolean;
  onRenew: () => void;
}) {
  const { t } = useLingui();
  const [left, setLeft] = useState(() => secondsUntil(expires_at));
  useEffect(() => {
    const timer = setInterval(() => setLeft(secondsUntil(expires_at)), 500);
    return () => clearInterval(timer);
  }, [expires_at]);
  const expired = left === 0;
  return (
    <div className="flex flex-wrap items-center gap-4">
      {/* White in both themes: cameras want dark on light. */}
      <div className={expired ? "rounded-md bg-white p-3 opacity-20" : "rounded-md bg-white p-3"}>
        <WhileLoading show={<div className="size-40" />}>
          <QRCodeSVG value={url} size={160} title={t`绑定手机的二维码`} aria-hidden={expired} />
        </WhileLoading>
      </div>
      <div className="grid min-w-0 flex-1 basis-48 justify-items-start gap-2">
        {expired ? (
          <p className="text-red-fg" role="status">{t`二维码已过期`}</p>
        ) : (
          <p className="tabular-nums">{t`${left} 秒内有效，只能使用一次`}</p>
        )}
        {expired ? null : (
          <p className="flex items-center gap-1 text-muted">
            {t`不能扫码？复制链接到手机打开`}
            <CopyButton text={url} label={t`复制绑定链接`} />
          </p>
        )}
        <Button loading={loading} onClick={onRenew}>{t`重新获取`}</Button>
      </div>
    </div>
  );
}

const secondsUntil = (time: number): number => Math.max(0, Math.ceil(time - Date.now() / 1000));
