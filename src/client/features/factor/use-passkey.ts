import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import type { PasskeyUse } from "../../../shared/factor";
import { faultOf } from "../../lib/errors";
import { trpc } from "../../lib/trpc";

/** Whether this browser can use passkeys here: they need https, or localhost. */
export const passkeysWork = (): boolean => typeof window.PublicKeyCredential === "function";

/** What a browser throws when the person has closed its window, or waited too long. */
export const wasCancelled = (error: unknown): boolean =>
  error instanceof Error && (error.name === "NotAllowedError" || error.name === "AbortError");

type Answer = Awaited<ReturnType<ReturnType<typeof trpc.factor.finishPasskey.useMutation>["mutateAsync"]>>;

/** Asks for a passkey. Closing the browser's window is no fault; whatever else goes wrong is `problem`. */
export function usePasskey(use: PasskeyUse, onAnswer: (answer: Answer) => void) {
  const { t } = useLingui();
  const [pending, setPending] = useState(false);
  const [problem, setProblem] = useState<string>();
  const begin = trpc.factor.beginPasskey.useMutation({ meta: { quiet: true } });
  const finish = trpc.factor.finishPasskey.useMutation({ meta: { quiet: true } });

  const start = async () => {
    if (pending) return;
    setPending(true);
    setProblem(undefined);
    try {
      const optionsJSON = await begin.mutateAsync({ use });
      const { startAuthentication } = await import("@simplewebauthn/browser");
      const response = await startAuthentication({ optionsJSON });
      onAnswer(await finish.mutateAsync({ use, response: { ...response, clientExtensionResults: {} } }));
    } catch (error) {
      if (!wasCancelled(error))
        setProblem(isBrowserError(error) ? t`此浏览器无法在当前地址使用通行密钥` : faultOf(error).message);
    } finally {
      setPending(false);
    }
  };
  return { start: () => void start(), pending, problem };
}

/** An error of the browser, not of the server: the address does not fit, or there is no such device. */
export const isBrowserError = (error: unknown): boolean =>
  error instanceof Error &&
  ["SecurityError", "InvalidStateError", "NotSupportedError", "WebAuthnError"].includes(error.name);
