import { useLingui } from "@lingui/react/macro";
import { FieldFrame } from "../../components/form-field";
import { type Language, languageNames, setLanguage } from "../../lib/i18n";
import { toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Card, CardBody, CardHeader } from "../../ui/card";
import { Select } from "../../ui/select";

const LANGUAGES: readonly Language[] = ["zh", "en"];

/** The language of the console in this browser, and of what is sent to the account. */
export default function PreferencesCard() {
  const { t, i18n } = useLingui();
  const utils = trpc.useUtils();
  const saving = trpc.notice.save.useMutation({
    onSuccess: () => {
      toastSuccess(t`语言已保存！`);
      void utils.user.self.invalidate();
    },
  });
  const choose = async (chosen: string) => {
    const language = LANGUAGES.find((known) => known === chosen) ?? "zh";
    await setLanguage(language);
    saving.mutate({ language });
  };
  return (
    <Card>
      <CardHeader title={t`偏好`} />
      <CardBody>
        <FieldFrame id="language" label={t`语言`} hint={t`界面的语言，也是通知邮件的语言。`} className="max-w-xs">
          <Select
            id="language"
            value={i18n.locale}
            onValueChange={(chosen) => void choose(chosen)}
            options={LANGUAGES.map((language) => ({ value: language, label: languageNames[language] }))}
          />
        </FieldFrame>
      </CardBody>
    </Card>
  );
}
