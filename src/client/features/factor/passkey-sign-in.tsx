import { useLingui } from "@lingui/react/macro";
import { Fingerprint } from "lucide-react";
import { Button } from "../../ui/button";
import { Problem } from "../auth/problem";
import { useSignedIn } from "../auth/use-signed-in";
import { passkeysWork, usePasskey } from "./use-passkey";

/** Signing in with nothing but a passkey; nothing where the browser has none. */
export function PasskeySignIn() {
  const { t } = useLingui();
  const signedIn = useSignedIn();
  const passkey = usePasskey("sign-in", (answer) => answer && signedIn(answer));
  if (!passkeysWork()) return null;
  return (
    <>
      <Button size="lg" loading={passkey.pending} onClick={passkey.start}>
        <Fingerprint aria-hidden />
        {t`使用通行密钥登录`}
      </Button>
      <Problem>{passkey.problem}</Problem>
    </>
  );
}
