/** What may leave the server of an order. */
import type { OrderAdminView, OrderView } from "../../../shared/order";
import type { OrderRow } from "../../db/schema";

export const presentOrder = (row: OrderRow): OrderView => ({
  id: row.id,
  trade_no: row.trade_no,
  user_id: row.user_id,
  amount: row.amount,
  quota: row.quota,
  money: row.money,
  currency: row.currency,
  provider: row.provider,
  payment_method: row.payment_method,
  status: row.status,
  create_time: row.create_time,
  complete_time: row.complete_time,
});

export const presentForAdmin = (row: OrderRow, username: string): OrderAdminView => ({
  ...presentOrder(row),
  username,
  provider_ref: row.provider_ref,
  completed_by: row.completed_by,
  note: row.note,
});
