import { useLingui } from "@lingui/react/macro";
import { useCallback } from "react";
import { storeUser, type StoredUser } from "../../lib/session";
import { toastSuccess } from "../../lib/toast";

/** What happens when the server has signed somebody in: he is remembered, and the page leads on by itself. */
export function useSignedIn(): (answer: StoredUser) => void {
  const { t } = useLingui();
  return useCallback((answer) => {
    toastSuccess(t`登录成功！`);
    storeUser(answer);
  }, [t]);
}
