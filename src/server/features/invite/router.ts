/** Routes of invitations: the signed-in user's own; administrators settle withdrawals. */
import {
  inviteListInput,
  settleInput,
  transferInput,
  withdrawalListInput,
  withdrawInput,
} from "../../../shared/invite";
import type { Text } from "../../../shared/text";
import { adminProcedure, router, userProcedure } from "../../http/trpc";
import { inviteCode } from "./code";
import {
  allWithdrawals,
  invitedUsers,
  ownDividends,
  ownWithdrawals,
  requestWithdrawal,
  settleWithdrawal,
  transferEarnings,
} from "./service";

/** Front-ends show this message as it is. */
const TRANSFERRED: Text = { zh: "划转成功", en: "Transferred" };

export const inviteRouter = router({
  /** Makes the code when there is none yet; a second call returns the same. */
  code: userProcedure
    .meta({ rest: "GET /api/user/aff", summary: "The own invitation code", changes: true })
    .query(({ ctx }) => inviteCode(ctx)),

  transfer: userProcedure
    .meta({
      once: true,
      rest: "POST /api/user/aff_transfer",
      answer: "top",
      summary: "Move invitation earnings to the balance",
    })
    .input(transferInput)
    .mutation(async ({ ctx, input }) => ({
      data: await transferEarnings(ctx, input.quota),
      message: TRANSFERRED[ctx.lang],
    })),

  invited: userProcedure.input(inviteListInput).query(({ ctx, input }) => invitedUsers(ctx, input)),
  dividends: userProcedure.input(inviteListInput).query(({ ctx, input }) => ownDividends(ctx, input)),
  withdrawals: userProcedure.input(inviteListInput).query(({ ctx, input }) => ownWithdrawals(ctx, input)),
  withdraw: userProcedure
    .meta({ once: true })
    .input(withdrawInput)
    .mutation(({ ctx, input }) => requestWithdrawal(ctx, input)),

  allWithdrawals: adminProcedure.input(withdrawalListInput).query(({ ctx, input }) => allWithdrawals(ctx, input)),
  settle: adminProcedure
    .meta({ once: true })
    .input(settleInput)
    .mutation(({ ctx, input }) => settleWithdrawal(ctx, input)),
});
