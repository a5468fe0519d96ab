import { useLingui } from "@lingui/react/macro";
import { Mail } from "lucide-react";
import { useState, type FormEvent } from "react";
import { errorText } from "../../../shared/errors";
import { FieldFrame } from "../../components/form-field";
import { faultOf } from "../../lib/errors";
import { currentLanguage } from "../../lib/i18n";
import { toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { Input } from "../../ui/input";
import { Problem } from "../auth/problem";
import { SendCodeButton } from "../auth/send-code-button";
import { useBotCheck } from "../auth/use-bot-check";
import { BindingRow } from "./binding-row";

/** The account's e-mail address. */
export default function EmailBinding() {
  const { t } = useLingui();
  const [open, setOpen] = useState(false);
  const self = trpc.user.self.useQuery(undefined, { meta: { quiet: true } });
  const email = self.data?.email;
  return (
    <BindingRow icon={Mail} name={t`邮箱`} bound={email}>
      <Button disabled={!self.data} onClick={() => setOpen(true)}>
        {email ? t`修改绑定` : t`绑定`}
      </Button>
      {open ? <EmailDialog onClose={() => setOpen(false)} /> : null}
    </BindingRow>
  );
}

function EmailDialog({ onClose }: { onClose: () => void }) {
  const { t } = useLingui();
  const utils = trpc.useUtils();
  const [email, setEmail] = useState("");
  const [code, setCode] = useState("");
  const [problem, setProblem] = useState<string>();
  const { widget, pass, renew } = useBotCheck();
  const binding = trpc.auth.bindEmail.useMutation({
    meta: { quiet: true },
    onSuccess: () => {
      toastSuccess(t`邮箱绑定成功！`);
      void utils.user.self.invalidate();
      onClose();
    },
    onError: (error) => setProblem(faultOf(error).message),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (binding.isPending) return;
    if (email.trim() === "" || code.trim() === "")
      return setProblem(errorText("verification_missing", {}, currentLanguage()));
    setProblem(undefined);
    binding.mutate({ email: email.trim(), code: code.trim() });
  };
  return (
    <Dialog
      open
      onOpenChange={(next) => !next && onClose()}
      title={t`绑定邮箱`}
      description={t`验证码会发送到新的邮箱，3 分钟内有效。`}
    >
      <form noValidate onSubmit={submit} className="mt-4 grid gap-4">
        <FieldFrame id="bind-email" label={t`邮箱`}>
          <div className="flex gap-2">
            <Input
              id="bind-email"
              type="email"
              autoComplete="email"
              value={email}
              className="min-w-0 flex-1"
              onChange={(event) => {
                setEmail(event.currentTarget.value);
                setProblem(undefined);
              }}
            />
            <SendCodeButton email={email} pass={pass} renew={renew} onProblem={setProblem} />
          </div>
        </FieldFrame>
        <FieldFrame id="bind-code" label={t`验证码`}>
          <Input
            id="bind-code"
            autoComplete="one-time-code"
            autoCapitalize="characters"
            spellCheck={false}
            value={code}
            className="font-mono"
            onChange={(event) => {
              setCode(event.currentTarget.value);
              setProblem(undefined);
            }}
          />
        </FieldFrame>
        {widget}
        <Problem>{problem}</Problem>
        <Button
          type="submit"
          variant="primary"
          loading={binding.isPending}
          className="justify-self-end"
        >{t`绑定`}</Button>
      </form>
    </Dialog>
  );
}
