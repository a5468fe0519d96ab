import { useLingui } from "@lingui/react/macro";
import { useCallback } from "react";
import { isSecondFactorNeeded, type SignInAnswer } from "../../../shared/sign-in-answer";
import { storeUser } from "../../lib/session";
import { toastSuccess } from "../../lib/toast";
import { askSecondStep } from "../factor/second-step";

/**
 * Handles the response of every way to sign in: the user is stored and the page navigates on; where a second factor is
 * required, it is asked for first.
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
