/** Routes of second factors. The REST answers have the form that existing front-ends read. */
import {
  factorCodeInput,
  passkeyAnswerInput,
  passkeyBeginInput,
  passkeyIdInput,
  passkeyRegisterInput,
  passkeyRenameInput,
} from "../../../shared/factor";
import { publicProcedure, router, userProcedure } from "../../http/trpc";
import { beginRegistration, finishRegistration, removePasskey, renamePasskey } from "./passkeys";
import { beginPasskey, codeSecondStep, codeStepUp, factorStatus, finishPasskey } from "./service";
import { beginTotp, disableTotp, enableTotp, renewRecoveryCodes } from "./totp";

export const factorRouter = router({
  status: userProcedure
    .meta({ rest: "GET /api/user/2fa/status", summary: "One's own second factors" })
    .query(({ ctx }) => factorStatus(ctx)),
  setup: userProcedure
    .meta({ rest: "POST /api/user/2fa/setup", summary: "Begin with one-time codes: a secret for the app" })
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
    .meta({ critical: true })
    .input(factorCodeInput)
    .mutation(({ ctx, input }) => codeStepUp(ctx, input.code)),

  beginPasskey: publicProcedure
    .meta({ critical: "proof" })
    .input(passkeyBeginInput)
    .mutation(({ ctx, input }) => beginPasskey(ctx, input.use)),
  finishPasskey: publicProcedure
    .meta({ critical: "proof" })
    .input(passkeyAnswerInput)
    .mutation(({ ctx, input }) => finishPasskey(ctx, input)),
  beginRegistration: userProcedure.mutation(({ ctx }) => beginRegistration(ctx)),
  finishRegistration: userProcedure
    .input(passkeyRegisterInput)
    .mutation(({ ctx, input }) => finishRegistration(ctx, input)),
  renamePasskey: userProcedure
    .input(passkeyRenameInput)
    .mutation(({ ctx, input }) => renamePasskey(ctx, input.id, input.name)),
  removePasskey: userProcedure.input(passkeyIdInput).mutation(({ ctx, input }) => removePasskey(ctx, input.id)),
});
