import { t } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { TriangleAlert } from "lucide-react";
import { useEffect, useRef, useState, type FormEvent } from "react";
import { Link, Redirect, useSearch } from "wouter";
import { navigate } from "wouter/use-browser-location";
import { confirm } from "../../components/confirm";
import { FieldFrame } from "../../components/form-field";
import { faultOf } from "../../lib/errors";
import { pathAfterLogin } from "../../lib/login-path";
import { clearUser, useUser } from "../../lib/session";
import { useStatus } from "../../lib/status";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Input } from "../../ui/input";
import { PasskeySignIn } from "../factor/passkey-sign-in";
import { SignInElsewhere } from "../identity/sign-in-elsewhere";
import { AuthCard } from "./auth-card";
import { PasswordInput } from "./password-input";
import { Problem } from "./problem";
import { useBotCheck } from "./use-bot-check";
import { useSignedIn } from "./use-signed-in";

/** `/login`: username or e-mail and password; leads to the page that was asked for, else to the tokens. */
export default function LoginPage() {
  const { t } = useLingui();
  const status = useStatus();
  const user = useUser();
  const search = useSearch();
  const name = status.system_name || "Weir";
  const expired = new URLSearchParams(search).get("expired") === "true";
  // A visitor whose session has expired is not signed in, even if local storage still has the user (D-08).
  const [before] = useState(user);
  const stale = expired && user !== null && user === before;
  useEffect(() => {
    if (stale) clearUser();
  }, [stale]);

  if (stale) return null;
  if (user) return <Redirect to={pathAfterLogin(search)} replace />;
  return (
    <AuthCard title={t`登录 ${name}`}>
      {expired ? (
        <p role="status" className="flex gap-2 rounded-lg bg-yellow-bg px-3 py-2 text-yellow-fg">
          <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
          {t`未登录或登录已过期，请重新登录！`}
        </p>
      ) : null}
      {status.password_login === false ? <p className="text-muted">{t`管理员关闭了密码登录`}</p> : <PasswordForm />}
      <p className="flex flex-wrap justify-between gap-2">
        {status.register_enabled === false ? null : (
          <Link href="/register" className="text-accent-text hover:underline">{t`注册账户`}</Link>
        )}
        {status.password_login === false ? null : (
          <Link href="/reset" className="text-accent-text hover:underline">{t`忘记密码？`}</Link>
        )}
      </p>
      <PasskeySignIn />
      <SignInElsewhere />
    </AuthCard>
  );
}

/** The first account of older systems, as it may come with imported data (D-44). */
const DEFAULT_ACCOUNT = { username: "root", password: "123456" } as const;

async function warnOfDefaultPassword(): Promise<void> {
  const go = await confirm({
    title: t`您正在使用默认密码！`,
    description: t`请立刻修改默认密码！`,
    action: t`去修改`,
    danger: true,
  });
  if (go) navigate("/setting?tab=personal");
}

function PasswordForm() {
  const { t } = useLingui();
  const username = useRef<HTMLInputElement>(null);
  const password = useRef<HTMLInputElement>(null);
  const [problem, setProblem] = useState<string>();
  const { widget, pass, renew } = useBotCheck();
  const signedIn = useSignedIn();
  const login = trpc.auth.login.useMutation({
    meta: { quiet: true },
    onSuccess: (answer, typed) => {
      signedIn(answer);
      if (typed.username === DEFAULT_ACCOUNT.username && typed.password === DEFAULT_ACCOUNT.password)
        void warnOfDefaultPassword();
    },
    onSettled: renew,
    onError: (error) => {
      setProblem(faultOf(error).message);
      password.current?.select();
    },
  });

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (login.isPending) return;
    // Read from the fields, not from state: a browser's password manager fills them without telling React.
    const values = { username: username.current?.value.trim() ?? "", password: password.current?.value ?? "" };
    if (values.username === "" || values.password === "") {
      setProblem(t`请输入用户名和密码！`);
      (values.username === "" ? username : password).current?.focus();
      return;
    }
    const passed = pass();
    if (!passed) return;
    setProblem(undefined);
    login.mutate({ ...values, ...passed });
  };

  return (
    <form onSubmit={submit} noValidate className="grid gap-4">
      <FieldFrame id="login-username" label={t`用户名或邮箱`}>
        <Input
          id="login-username"
          ref={username}
          name="username"
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          autoFocus
          aria-describedby={problem ? "login-problem" : undefined}
        />
      </FieldFrame>
      <FieldFrame id="login-password" label={t`密码`}>
        <PasswordInput
          id="login-password"
          ref={password}
          name="password"
          autoComplete="current-password"
          aria-describedby={problem ? "login-problem" : undefined}
        />
      </FieldFrame>
      {widget}
      <Problem id="login-problem">{problem}</Problem>
      <Button type="submit" variant="primary" size="lg" loading={login.isPending}>
        {t`登录`}
      </Button>
    </form>
  );
}
