import { useLingui } from "@lingui/react/macro";
import { BellRing } from "lucide-react";
import { useState } from "react";
import { useSearch } from "wouter";
import { errorText } from "../../../shared/errors";
import { faultOf } from "../../lib/errors";
import { currentLanguage } from "../../lib/i18n";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { AuthCard } from "../auth/auth-card";
import { Problem } from "../auth/problem";
import { canPush, subscribeBrowser } from "./subscribe";

/**
 * `/push?code=`, where the QR code leads: asks this browser for its permission and subscribes it. Needs no
 * sign-in.
 */
export default function PushPage() {
  const { t } = useLingui();
  const code = new URLSearchParams(useSearch()).get("code") ?? "";
  const [state, setState] = useState<"ready" | "working" | "done">("ready");
  const [problem, setProblem] = useState<string>();
  const key = trpc.push.key.useQuery(undefined, {
    staleTime: Number.POSITIVE_INFINITY,
    enabled: code !== "" && canPush(),
  });
  const subscribe = trpc.push.subscribe.useMutation({ meta: { quiet: true } });

  const bind = async (publicKey: string) => {
    setState("working");
    setProblem(undefined);
    try {
      const subscription = await subscribeBrowser(publicKey);
      if (!subscription) {
        setProblem(t`浏览器不允许本站发送通知，请在浏览器设置中允许后重试。`);
        return setState("ready");
      }
      await subscribe.mutateAsync({ code, ...subscription });
      setState("done");
    } catch (error) {
      const fault = faultOf(error);
      setProblem(fault.kind === "bug" ? t`浏览器无法连接推送服务：${fault.message}` : fault.message);
      setState("ready");
    }
  };

  return (
    <AuthCard title={t`手机推送`}>
      {code === "" ? (
        <Problem>{errorText("push_code_invalid", {}, currentLanguage())}</Problem>
      ) : !canPush() ? (
        <Problem>{t`此浏览器不支持推送，或本站没有使用 HTTPS。iPhone 请先把本站添加到主屏幕，再从主屏幕打开。`}</Problem>
      ) : state === "done" ? (
        <p role="status" className="text-green-fg">{t`绑定成功，通知会推送到此浏览器。`}</p>
      ) : (
        <>
          <p>{t`允许后，余额不足等通知会推送到此浏览器。`}</p>
          <Problem>{problem}</Problem>
          <Button
            variant="primary"
            size="lg"
            disabled={key.data === undefined}
            loading={state === "working"}
            onClick={() => key.data && void bind(key.data)}
          >
            <BellRing aria-hidden />
            {t`在此浏览器接收通知`}
          </Button>
        </>
      )}
    </AuthCard>
  );
}
