/** Routes of second factors. The REST answers have the form that existing front-ends read. */
import {
  factorCodeInput,
  passkeyAnswerInput,
  passkeyBeginInput,
  passkeyCreated,
  passkeyIdInput,
  passkeyRegisterInput,
  passkeyRenameInput,
  passkeyUsed,
  verifyInput,
} from "../../../shared/factor";
import { publicProcedure, router, userProcedure } from "../../http/trpc";
import { beginRegistration, finishRegistration, removePasskey, removePasskeys, renamePasskey } from "./passkeys";
import {
  beginPasskey,
  codeSecondStep,
  codeStepUp,
  factorStatus,
  finishPasskey,
  passkeyStatus,
  verifyStepUp,
} from "./service";
import { beginTotp, disableTotp, enableTotp, renewRecoveryCodes } from "./totp";

/** Options as the family's pages give them to the browser. */
const asked = <O>(publicKey: O) => ({ options: { publicKey } });

export const factorRouter = router({
  status: userProcedure
    .meta({ rest: "GET /api/user/2fa/status", summary: "One's own second factors" })
    .query(({ ctx }) => factorStatus(ctx)),
  setup: userProcedure
    .meta({
      silent: true,
      rest: "POST /api/user/2fa/setup",
      summary: "Begin with one-time codes: a secret for the app",
    })
    .mutation(({ ctx }) => beginTotp(ctx)),
  enable: userProcedure
    .meta({
      rest: "POST /api/user/2fa/enable",
      summary: "Switch one-time codes on; answers the recovery codes",
      critical: true,
    })
    .input(factorCodeInput)
    .mutation(({ ctx, input }) => enableTotp(ctx, input.code)),
  disable: userProcedure
    .meta({ rest: "POST /api/user/2fa/disable", summary: "Switch one-time codes off", critical: true })
    .input(factorCodeInput)
    .mutation(({ ctx, input }) => disableTotp(ctx, input.code)),
  recoveryCodes: userProcedure
    .meta({
      rest: "POST /api/user/2fa/backup_codes",
      summary: "New recovery codes in place of the old ones",
      critical: true,
    })
    .input(factorCodeInput)
    .mutation(({ ctx, input }) => renewRecoveryCodes(ctx, input.code)),

  secondStep: publicProcedure
    .meta({
      rest: "POST /api/user/login/2fa",
      summary: "The second step of a sign-in, by a one-time or a recovery code",
      critical: "proof",
    })
    .input(factorCodeInput)
    .mutation(({ ctx, input }) => codeSecondStep(ctx, input.code)),
  stepUp: userProcedure
    .meta({ silent: true, critical: true })
    .input(factorCodeInput)
    .mutation(({ ctx, input }) => codeStepUp(ctx, input.code)),

  beginPasskey: publicProcedure
    .meta({ silent: true, critical: "proof" })
    .input(passkeyBeginInput)
    .mutation(({ ctx, input }) => beginPasskey(ctx, input.use)),
  finishPasskey: publicProcedure
    .meta({ critical: "proof" })
    .input(passkeyAnswerInput)
    .mutation(({ ctx, input }) => finishPasskey(ctx, input)),
  // As programs of new-api (controller/passkey.go, read 2026-11) ask for the same.

  passkeyStatus: userProcedure
    .meta({ rest: "GET /api/user/passkey", summary: "Whether one has a passkey" })
    .query(({ ctx }) => passkeyStatus(ctx)),
  passkeyRegisterBegin: userProcedure
    .meta({ silent: true, rest: "POST /api/user/passkey/register/begin", summary: "The options for making a passkey" })
    .mutation(async ({ ctx }) => asked(await beginRegistration(ctx))),
  passkeyRegisterFinish: userProcedure
    .meta({ rest: "POST /api/user/passkey/register/finish", summary: "Keep the passkey that the browser made" })
    .input(passkeyCreated)
    .mutation(({ ctx, input }) => finishRegistration(ctx, { name: "", response: input })),
  passkeyDelete: userProcedure
    .meta({ rest: "DELETE /api/user/passkey", summary: "Remove one's passkeys" })
    .mutation(({ ctx }) => removePasskeys(ctx)),
  passkeyVerifyBegin: userProcedure
    .meta({
      silent: true,
      rest: "POST /api/user/passkey/verify/begin",
      summary: "The options for a step-up by passkey",
      critical: "proof",
    })
    .mutation(async ({ ctx }) => asked(await beginPasskey(ctx, "step-up"))),
  passkeyVerifyFinish: userProcedure
    .meta({
      silent: true,
      rest: "POST /api/user/passkey/verify/finish",
      summary: "Step-up by passkey",
      critical: "proof",
    })
    .input(passkeyUsed)
    .mutation(async ({ ctx, input }) => {
      await finishPasskey(ctx, { use: "step-up", response: input });
    }),
  passkeyLoginBegin: publicProcedure
    .meta({
      silent: true,
      rest: "POST /api/user/passkey/login/begin",
      summary: "The options for a sign-in by passkey",
      critical: "proof",
    })
    .mutation(async ({ ctx }) => asked(await beginPasskey(ctx, "sign-in"))),
  passkeyLoginFinish: publicProcedure
    .meta({ rest: "POST /api/user/passkey/login/finish", summary: "Sign in by passkey", critical: "proof" })
    .input(passkeyUsed)
    .mutation(({ ctx, input }) => finishPasskey(ctx, { use: "sign-in", response: input })),
  verify: userProcedure
    .meta({
      silent: true,
      rest: "POST /api/verify",
      summary: "Step-up by a one-time or recovery code, or by the passkey just used",
      critical: true,
    })
    .input(verifyInput)
    .mutation(({ ctx, input }) => verifyStepUp(ctx, input)),

  beginRegistration: userProcedure.meta({ silent: true }).mutation(({ ctx }) => beginRegistration(ctx)),
  finishRegistration: userProcedure
    .input(passkeyRegisterInput)
    .mutation(({ ctx, input }) => finishRegistration(ctx, input)),
  renamePasskey: userProcedure
    .input(passkeyRenameInput)
    .mutation(({ ctx, input }) => renamePasskey(ctx, input.id, input.name)),
  removePasskey: userProcedure.input(passkeyIdInput).mutation(({ ctx, input }) => removePasskey(ctx, input.id)),
});
