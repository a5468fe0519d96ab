import { useLingui } from "@lingui/react/macro";
import { CircleAlert } from "lucide-react";
import { useEffect, useEffectEvent, useRef } from "react";
import { Link, Redirect, useLocation, useParams, useSearch } from "wouter";
import { isRedirectProvider, type RedirectProvider } from "../../../shared/identity";
import { faultOf } from "../../lib/errors";
import { useUser } from "../../lib/session";
import { toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Spinner } from "../../ui/spinner";
import { AuthCard } from "../auth/auth-card";
import { useSignedIn } from "../auth/use-signed-in";
import NotFoundPage from "../errors/not-found-page";
import { titleOf } from "./providers";

/**
 * `/oauth/github` and its like: where a provider sends people back to. Leads to the tokens, or back to the settings.
 */
export default function OauthPage() {
  const { provider = "" } = useParams();
  return isRedirectProvider(provider) ? <Return provider={provider} /> : <NotFoundPage />;
}

function Return({ provider }: { provider: RedirectProvider }) {
  const { t } = useLingui();
  const [, navigate] = useLocation();
  const search = useSearch();
  const user = useUser();
  const signedIn = useSignedIn();
  const began = useRef(false);
  const name = titleOf(provider);
  const finish = trpc.identity.finish[provider].useMutation({
    meta: { quiet: true },
    onSuccess: (answer) => {
      if ("message" in answer) {
        toastSuccess(t`绑定成功！`);
        navigate("/setting?tab=personal", { replace: true });
        return;
      }
      signedIn(answer.data);
    },
  });

  const begin = useEffectEvent(() => {
    const given = new URLSearchParams(search);
    const text = (member: string) => given.get(member) ?? undefined;
    finish.mutate({
      code: text("code"),
      state: text("state"),
      iss: text("iss"),
      error: text("error_description") ?? text("error"),
    });
  });
  useEffect(() => {
    // A state works once: a second round of effects must not bring it again.
    if (began.current) return;
    began.current = true;
    begin();
  }, []);

  // At once, or after the second step.
  if (finish.data && "data" in finish.data && user) return <Redirect to="/token" replace />;
  return (
    <AuthCard title={t`使用 ${name} 登录`}>
      {finish.error ? (
        <>
          <p role="alert" className="flex gap-2 text-red-fg">
            <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
            <span className="wrap-anywhere">{faultOf(finish.error).message}</span>
          </p>
          <Button asChild size="lg">
            <Link href={user ? "/setting?tab=personal" : "/login"} replace>
              {user ? t`返回个人设置` : t`返回登录`}
            </Link>
          </Button>
        </>
      ) : (
        <p role="status" className="flex items-center gap-2 text-muted">
          <Spinner />
          {t`正在确认身份…`}
        </p>
      )}
    </AuthCard>
  );
}
