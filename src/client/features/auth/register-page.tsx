import { useLingui } from "@lingui/react/macro";
import { Check, Circle } from "lucide-react";
import { useEffect, useState, type FormEvent } from "react";
import { Link, Redirect, useLocation, useSearch } from "wouter";
import { errorText } from "../../../shared/errors";
import { PASSWORD_MAX, PASSWORD_MIN, USERNAME_MAX } from "../../../shared/user";
import { FieldFrame } from "../../components/form-field";
import { faultOf } from "../../lib/errors";
import { currentLanguage } from "../../lib/i18n";
import { useUser } from "../../lib/session";
import { useStatus } from "../../lib/status";
import { readStored, writeStored } from "../../lib/storage";
import { toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Input } from "../../ui/input";
import { SignInElsewhere } from "../identity/sign-in-elsewhere";
import { AuthCard } from "./auth-card";
import { PasswordInput } from "./password-input";
import { Problem } from "./problem";
import { SendCodeButton } from "./send-code-button";
import { useBotCheck } from "./use-bot-check";

/**
 * `/register`: name and password, and a mailed code where the operator wants one. `?aff=` is kept for
 * visitors who register later.
 */
export default function RegisterPage() {
  const { t } = useLingui();
  const status = useStatus();
  const user = useUser();
  const aff = new URLSearchParams(useSearch()).get("aff");
  const name = status.system_name || "Weir";
  useEffect(() => {
    if (aff) writeStored("aff", aff);
  }, [aff]);

  if (user) return <Redirect to="/token" replace />;
  const closed = status.register_enabled === false;
  return (
    <AuthCard title={t`注册 ${name}`}>
      {closed ? (
        <p className="text-muted">{t`管理员关闭了新用户注册`}</p>
      ) : status.password_register === false ? (
        <p className="text-muted">{t`管理员关闭了密码注册，请使用其他方式`}</p>
      ) : (
        <RegisterForm verification={status.email_verification === true} />
      )}
      {closed ? null : <SignInElsewhere />}
      <p className="text-muted">
        {t`已有账户？`} <Link href="/login" className="text-accent-text underline">{t`登录`}</Link>
      </p>
    </AuthCard>
  );
}

const EMPTY = { username: "", password: "", password2: "", email: "", verification_code: "" };
type Field = keyof typeof EMPTY;

function RegisterForm({ verification }: { verification: boolean }) {
  const { t } = useLingui();
  const [, navigate] = useLocation();
  const [values, setValues] = useState(EMPTY);
  const [problem, setProblem] = useState<string>();
  const { widget, pass, renew } = useBotCheck();
  const register = trpc.auth.register.useMutation({
    meta: { quiet: true },
    onSuccess: () => {
      writeStored("aff", null);
      toastSuccess(t`注册成功！`);
      navigate("/login");
    },
    onError: (error) => setProblem(faultOf(error).message),
    onSettled: renew,
  });
  const field = (name: Field) => ({
    id: `register-${name}`,
    name,
    value: values[name],
    onChange: (event: { currentTarget: { value: string } }) => {
      const { value } = event.currentTarget;
      setValues((current) => ({ ...current, [name]: value }));
      setProblem(undefined);
    },
  });

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (register.isPending) return;
    const wrong = complaintOf(values, verification, t`两次输入的密码不一致`);
    setProblem(wrong);
    if (wrong !== undefined) return;
    const passed = pass();
    if (!passed) return;
    const { email, verification_code, ...own } = values;
    register.mutate({
      ...own,
      ...(verification ? { email, verification_code } : {}),
      ...passed,
      aff_code: readStored("aff") ?? "",
    });
  };

  return (
    <form onSubmit={submit} noValidate className="grid gap-4">
      <FieldFrame id="register-username" label={t`用户名`} hint={t`最多 ${USERNAME_MAX} 个字符`}>
        <Input {...field("username")} autoComplete="username" autoCapitalize="none" spellCheck={false} autoFocus />
      </FieldFrame>
      <FieldFrame id="register-password" label={t`密码`}>
        <PasswordInput
          {...field("password")}
          autoComplete="new-password"
          placeholder={t`输入密码，最短 8 位，最长 20 位`}
          aria-describedby="register-rules"
        />
      </FieldFrame>
      <FieldFrame id="register-password2" label={t`确认密码`}>
        <PasswordInput {...field("password2")} autoComplete="new-password" aria-describedby="register-rules" />
      </FieldFrame>
      <ul id="register-rules" className="grid gap-1 text-xs">
        <Rule
          kept={values.password.length >= PASSWORD_MIN && values.password.length <= PASSWORD_MAX}
        >{t`密码 8 到 20 位`}</Rule>
        <Rule kept={values.password !== "" && values.password === values.password2}>{t`两次输入一致`}</Rule>
      </ul>
      {verification ? (
        <>
          <FieldFrame id="register-email" label={t`邮箱`}>
            <div className="flex gap-2">
              <Input {...field("email")} type="email" autoComplete="email" className="min-w-0 flex-1" />
              <SendCodeButton email={values.email} pass={pass} renew={renew} onProblem={setProblem} />
            </div>
          </FieldFrame>
          <FieldFrame id="register-verification_code" label={t`验证码`} hint={t`3 分钟内有效`}>
            <Input
              {...field("verification_code")}
              autoComplete="one-time-code"
              autoCapitalize="characters"
              spellCheck={false}
              className="font-mono"
            />
          </FieldFrame>
        </>
      ) : null}
      {widget}
      <Problem>{problem}</Problem>
      <Button type="submit" variant="primary" size="lg" loading={register.isPending}>{t`注册`}</Button>
    </form>
  );
}

/** The checks before the call; the server checks everything else (D-42). */
function complaintOf(values: typeof EMPTY, verification: boolean, differ: string): string | undefined {
  const lang = currentLanguage();
  if (values.username.trim() === "" || values.password === "") return errorText("credentials_missing", {}, lang);
  if (values.password.length < PASSWORD_MIN) return errorText("password_too_short", {}, lang);
  if (values.password !== values.password2) return differ;
  const missing = verification && (values.email.trim() === "" || values.verification_code.trim() === "");
  return missing ? errorText("verification_missing", {}, lang) : undefined;
}

function Rule({ kept, children }: { kept: boolean; children: string }) {
  const { t } = useLingui();
  return (
    <li className={kept ? "flex items-center gap-1.5 text-green-fg" : "flex items-center gap-1.5 text-muted"}>
      {kept ? (
        <Check aria-label={t`已满足`} className="size-3.5" />
      ) : (
        <Circle aria-label={t`未满足`} className="size-3.5" />
      )}
      {children}
    </li>
  );
}
