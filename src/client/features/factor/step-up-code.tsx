import { useLingui } from "@lingui/react/macro";
import { faultOf } from "../../lib/errors";
import { trpc } from "../../lib/trpc";
import type { StepUpMethodProps } from "../auth/step-up-method";
import { CodeForm } from "./code-form";

/** Step-up by a one-time or recovery code. */
export default function StepUpCode({ onVerified }: StepUpMethodProps) {
  const { t } = useLingui();
  const verify = trpc.factor.stepUp.useMutation({ meta: { quiet: true }, onSuccess: onVerified });
  return (
    <CodeForm
      action={t`验证`}
      hint={t`身份验证器应用中的 6 位验证码，或一个恢复代码`}
      pending={verify.isPending}
      problem={verify.error ? faultOf(verify.error).message : undefined}
      onCode={(code) => verify.mutate({ code })}
    />
  );
}
