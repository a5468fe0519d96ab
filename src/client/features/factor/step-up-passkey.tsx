import { useLingui } from "@lingui/react/macro";
import { Fingerprint } from "lucide-react";
import { Button } from "../../ui/button";
import { Problem } from "../auth/problem";
import type { StepUpMethodProps } from "../auth/step-up-method";
import { passkeysWork, usePasskey } from "./use-passkey";

/** Step-up by a passkey. */
export default function StepUpPasskey({ onVerified }: StepUpMethodProps) {
  const { t } = useLingui();
  const passkey = usePasskey("step-up", onVerified);
  if (!passkeysWork()) return null;
  return (
    <div className="grid gap-2 pt-4">
      <Button loading={passkey.pending} onClick={passkey.start}>
        <Fingerprint aria-hidden />
        {t`使用通行密钥验证`}
      </Button>
      <Problem>{passkey.problem}</Problem>
    </div>
  );
}
