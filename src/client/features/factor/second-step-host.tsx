import { useLingui } from "@lingui/react/macro";
import { lazy, WhileLoading } from "../../lib/lazy";
import { Dialog } from "../../ui/dialog";
import { Skeleton } from "../../ui/skeleton";
import { closeSecondStep, useSecondStep } from "./second-step";

const SecondStepForm = lazy(() => import("./second-step-form"));

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
        <WhileLoading show={<Skeleton className="h-16" />}>
          <SecondStepForm passkey={needed.passkey} />
        </WhileLoading>
      </div>
    </Dialog>
  );
}
