import { useLingui } from "@lingui/react/macro";
import { Fingerprint } from "lucide-react";
import type { SignedInUser } from "../../../shared/user";
import { faultOf } from "../../lib/errors";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Problem } from "../auth/problem";
import { useSignedIn } from "../auth/use-signed-in";
import { CodeForm } from "./code-form";
import { closeSecondStep } from "./second-step";
import { passkeysWork, usePasskey } from "./use-passkey";

/** The second step of a sign-in: by code, or by passkey where the account has one. */
export default function SecondStepForm({ passkey }: { passkey: boolean }) {
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
