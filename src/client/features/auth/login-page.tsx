import { useLingui } from "@lingui/react/macro";
import { CircleAlert, TriangleAlert } from "lucide-react";
import { useRef, useState, type FormEvent } from "react";
import { Redirect, useSearch } from "wouter";
import { FieldFrame } from "../../components/form-field";
import { faultOf } from "../../lib/errors";
import { pathAfterLogin } from "../../lib/login-path";
import { storeUser, useUser } from "../../lib/session";
import { useStatus } from "../../lib/status";
import { toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Input } from "../../ui/input";
import { SignInElsewhere } from "../identity/sign-in-elsewhere";
import { AuthCard } from "./auth-card";
import { PasswordInput } from "./password-input";

/** `/login`: username or e-mail and password; leads to the page that was asked for, else to the tokens. */
export default function LoginPage() {
  const { t } = useLingui();
  const status = useStatus();
  const user = useUser();
  const search = useSearch();
  const name = status.system_name || "Weir";

  if (user) return <Redirect to={pathAfterLogin(search)} replace />;
  return (
    <AuthCard title={t`登录 ${name}`}>
      {new URLSearchParams(search).get("expired") === "true" ? (
        <p role="status" className="flex gap-2 rounded-lg bg-yellow-bg px-3 py-2 text-yellow-fg">
          <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
          {t`未登录或登录已过期，请重新登录！`}
        </p>
      ) : null}
      {status.password_login === false ? (
        <p className="text-muted">{t`管理员关闭了密码登录`}</p>
      ) : (
        <PasswordForm />
      )}
      <SignInElsewhere />
    </AuthCard>
  );
}

function PasswordForm() {
  const { t } = useLingui();
  const username = useRef<HTMLInputElement>(null);
  const password = useRef<HTMLInputElement>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const login = trpc.auth.login.useMutation({
    meta: { quiet: true },
    onSuccess: (user) => {
      toastSuccess(t`登录成功！`);
      storeUser(user);
    },
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
    setProblem(null);
    login.mutate(values);
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
      {problem ? (
        <p id="login-problem" role="alert" className="flex gap-2 text-red-fg">
          <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
          {problem}
        </p>
      ) : null}
      <Button type="submit" variant="primary" size="lg" loading={login.isPending}>
        {t`登录`}
      </Button>
    </form>
  );
}
