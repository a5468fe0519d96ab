/** What the owner of a withdrawal sees of it. */
import { WITHDRAWAL_STATES, type WithdrawalView } from "../../../shared/invite";
import type { WithdrawalRow } from "../../db/schema";

export const presentWithdrawal = (row: WithdrawalRow): WithdrawalView => ({
  id: row.id,
  amount: row.amount,
  account: row.account,
  status: WITHDRAWAL_STATES.find((state) => state === row.status) ?? "pending",
  note: row.note,
  created_at: row.created_at,
  settled_at: row.settled_at,
});
