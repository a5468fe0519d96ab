import { useLingui } from "@lingui/react/macro";
import { Fingerprint } from "lucide-react";
import type { SignedInUser } from "../../../shared/user";
import { faultOf } from "../../lib/errors";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { Problem } from "../auth/problem";
import { useSignedIn } from "../auth/use-signed-in";
import { CodeForm } from "./code-form";
import { closeSecondStep, useSecondStep } from "./second-step";
import { passkeysWork, usePasskey } from "./use-passkey";

/** Shows the second step of a sign-in, wherever it began; mounted once in the app. */
export function SecondStepHost() {
  const { t } = useLingui();
  const needed = useSecondStep();
  if (!needed) return null;
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && closeSecondStep()}
      title={t`两步验证`}
      description={t`请输入身份验证器应用中的 6 位验证码，或一个恢复代码。`}
    >
      <div className="mt-4">
        <SecondStep passkey={needed.passkey} />
      </div>
    </Dialog>
  );
}

function SecondStep({ passkey }: { passkey: boolean }) {
  const { t } = useLingui();
  const signedIn = useSignedIn();
  const done = (user: SignedInUser) => {
    closeSecondStep();
    signedIn(user);
  };
  const byCode = trpc.factor.secondStep.useMutation({ meta: { quiet: true }, onSuccess: done });
  const byPasskey = usePasskey("second-step", (user) => user && done(user));
  return (
    <div className="grid gap-3">
      <CodeForm
        action={t`登录`}
        pending={byCode.isPending}
        problem={byCode.error ? faultOf(byCode.error).message : undefined}
        onCode={(code) => byCode.mutate({ code })}
      />
      {passkey && passkeysWork() ? (
        <Button loading={byPasskey.pending} onClick={byPasskey.start}>
          <Fingerprint aria-hidden />
          {t`改用通行密钥`}
        </Button>
      ) : null}
      <Problem>{byPasskey.problem}</Problem>
    </div>
  );
}
