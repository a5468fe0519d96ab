import { useLingui } from "@lingui/react/macro";
import { useCallback } from "react";
import { isSecondFactorNeeded, type SignInAnswer } from "../../../shared/factor";
import { storeUser } from "../../lib/session";
import { toastSuccess } from "../../lib/toast";
import { askSecondStep } from "../factor/second-step";

/**
 * What happens with the answer of any way to sign in: he is remembered, and the page leads on by itself; where a second
 * factor is owed, it is asked for first.
 */
export function useSignedIn(): (answer: SignInAnswer) => void {
  const { t } = useLingui();
  return useCallback(
    (answer) => {
      if (isSecondFactorNeeded(answer)) return askSecondStep(answer);
      toastSuccess(t`登录成功！`);
      storeUser(answer);
    },
    [t],
  );
}
