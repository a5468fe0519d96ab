/** What administrators see of a code, the clear code included. No other user sees any of it. */
import { pick } from "../../../shared/pick";
import { REDEMPTION_FIELDS, type RedemptionView } from "../../../shared/redemption";
import type { Ctx } from "../../contracts/context";
import type { RedemptionRow } from "../../db/schema";

export function presentRedemption(ctx: Pick<Ctx, "secrets">, row: RedemptionRow): RedemptionView {
  return { ...pick(row, REDEMPTION_FIELDS), key: ctx.secrets.decrypt("redemption-key", row.key_cipher) };
}
