/** Routes of phones, for the console: a phone that scanned a code has no session, its code names the account. */
import * as z from "zod";
import { pushSubscribeInput } from "../../../shared/push";
import { publicProcedure, router, userProcedure } from "../../http/trpc";
import { vapidKeys } from "./keys";
import { beginPush, ownPhones, removePhone, subscribePhone } from "./service";

export const pushRouter = router({
  begin: userProcedure.meta({ silent: true }).mutation(({ ctx }) => beginPush(ctx)),
  /** The public key that a browser subscribes with. */
  key: publicProcedure.query(async ({ ctx }) => (await vapidKeys(ctx)).publicKey),
  subscribe: publicProcedure
    .meta({ critical: true })
    .input(pushSubscribeInput)
    .mutation(({ ctx, input }) => subscribePhone(ctx, input)),
  phones: userProcedure.query(({ ctx }) => ownPhones(ctx)),
  remove: userProcedure
    .input(z.object({ id: z.int().positive() }))
    .mutation(({ ctx, input }) => removePhone(ctx, input.id)),
});
