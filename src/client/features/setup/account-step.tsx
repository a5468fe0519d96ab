import { t } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { ArrowRight } from "lucide-react";
import { useEffect } from "react";
import { useForm, type FieldErrors, type Resolver, type ResolverResult } from "react-hook-form";
import { errorText } from "../../../shared/errors";
import { PASSWORD_MIN, ROOT_PASSWORD_MAX, USERNAME_MAX } from "../../../shared/user";
import { FieldFrame, FormField } from "../../components/form-field";
import { currentLanguage, languageNames, setLanguage, type Language } from "../../lib/i18n";
import { setTheme, useTheme } from "../../lib/theme";
import type { ThemeChoice } from "../../lib/theme-choice";
import { Button } from "../../ui/button";
import { Input } from "../../ui/input";
import { Select } from "../../ui/select";
import { PasswordInput } from "../auth/password-input";
import { guessLanguage } from "./guess-language";
import { PasswordMeter } from "./password-meter";
import { codeTyped } from "./setup-link";
import { StepFrame } from "./step-frame";

export interface Account {
  username: string;
  password: string;
  repeat: string;
  /** The set-up code, from the link or typed. */
  code: string;
}

type AccountStepProps = {
  start: Account;
  /** The code did not come with the link, or was refused: there is a field for it. */
  asksCode: boolean;
  /** The server did not accept the code of an earlier try. */
  codeRefused: boolean;
  onDone: (account: Account) => void;
};

const languages: readonly Language[] = ["zh", "en"];

/** Step 1: language and theme, and the root account. */
export function AccountStep({ start, asksCode, codeRefused, onDone }: AccountStepProps) {
  const { t, i18n } = useLingui();
  const theme = useTheme();
  const form = useForm<Account>({ defaultValues: start, resolver, mode: "onTouched" });
  const { control, handleSubmit, setError, setFocus, watch } = form;

  useEffect(() => void guessLanguage(), []);
  useEffect(() => {
    if (codeRefused) {
      setError("code", { message: errorText("setup_code_wrong", {}, currentLanguage()) });
      setFocus("code");
    } else setFocus("username");
  }, [codeRefused, setError, setFocus]);

  const themes: { value: ThemeChoice; label: string }[] = [
    { value: "system", label: t`跟随系统` },
    { value: "light", label: t`日间模式` },
    { value: "dark", label: t`夜间模式` },
  ];

  return (
    <StepFrame
      step="account"
      title={t`欢迎使用 Weir`}
      description={t`先创建超级管理员账户。没有默认密码，这个账户由你设定。`}
    >
      <form
        noValidate
        onSubmit={handleSubmit(async (account) => {
          await setLanguage(currentLanguage());
          onDone(account);
        })}
        className="grid gap-4"
      >
        <div className="grid gap-4 sm:grid-cols-2">
          <FieldFrame id="setup-language" label={t`语言`}>
            <Select
              id="setup-language"
              aria-labelledby="setup-language-label"
              value={i18n.locale}
              onValueChange={(value) => void setLanguage(languages.find((language) => language === value) ?? "zh")}
              options={languages.map((language) => ({ value: language, label: languageNames[language] }))}
            />
          </FieldFrame>
          <FieldFrame id="setup-theme" label={t`主题`}>
            <Select
              id="setup-theme"
              aria-labelledby="setup-theme-label"
              value={theme}
              onValueChange={(value) => setTheme(themes.find((choice) => choice.value === value)?.value ?? "system")}
              options={themes}
            />
          </FieldFrame>
        </div>
        <FormField control={control} name="username" label={t`用户名`} hint={t`最多 ${USERNAME_MAX} 个字符`} required>
          {({ input }) => <Input {...input} autoComplete="username" autoCapitalize="none" spellCheck={false} />}
        </FormField>
        <FormField
          control={control}
          name="password"
          label={t`密码`}
          hint={<PasswordMeter password={watch("password")} />}
          required
        >
          {({ input }) => <PasswordInput {...input} autoComplete="new-password" />}
        </FormField>
        <FormField control={control} name="repeat" label={t`再次输入密码`} required>
          {({ input }) => <PasswordInput {...input} autoComplete="new-password" />}
        </FormField>
        {asksCode ? (
          <FormField
            control={control}
            name="code"
            label={t`初始化码`}
            hint={t`服务启动时会输出一个带有初始化码的链接：打开它，或把它粘贴到这里。它证明你能操作这台服务器。`}
            required
          >
            {({ input }) => (
              <Input {...input} autoComplete="off" autoCapitalize="none" spellCheck={false} className="font-mono" />
            )}
          </FormField>
        ) : null}
        <div className="flex justify-end">
          <Button type="submit" variant="primary" size="lg" className="max-sm:w-full">
            {t`下一步`}
            <ArrowRight aria-hidden />
          </Button>
        </div>
      </form>
    </StepFrame>
  );
}

/** The server's own rules and words, before the call. */
const resolver: Resolver<Account> = ({ username, password, repeat, code }): ResolverResult<Account> => {
  const language = currentLanguage();
  const problems = {
    username:
      username.trim() === "" || [...username.trim()].length > USERNAME_MAX
        ? errorText("username_length", { max: USERNAME_MAX }, language)
        : undefined,
    password:
      password.length < PASSWORD_MIN
        ? errorText("password_too_short", {}, language)
        : password.length > ROOT_PASSWORD_MAX
          ? errorText("password_too_long", { max: ROOT_PASSWORD_MAX }, language)
          : undefined,
    repeat:
      repeat === "" ? t`请再次输入密码` : repeat === password ? undefined : errorText("passwords_differ", {}, language),
    code: codeTyped(code) === "" ? errorText("setup_code_wrong", {}, language) : undefined,
  };
  const errors: FieldErrors<Account> = Object.fromEntries(
    Object.entries(problems).flatMap(([field, message]) => (message ? [[field, { type: "rule", message }]] : [])),
  );
  if (Object.keys(errors).length > 0) return { values: {}, errors };
  return { values: { username: username.trim(), password, repeat, code: codeTyped(code) }, errors: {} };
};
