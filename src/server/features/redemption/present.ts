/** What administrators see of a code: all of it, the code in clear. Nobody else sees any of it. */
import type { RedemptionView } from "../../../shared/redemption";
import type { Ctx } from "../../contracts/context";
import type { RedemptionRow } from "../../db/schema";

export function presentRedemption(ctx: Pick<Ctx, "secrets">, row: RedemptionRow): RedemptionView {
  const { key_hash: _hash, key_cipher, deleted_at: _deleted, ...rest } = row;
  return { ...rest, key: ctx.secrets.decrypt("redemption-key", key_cipher) };
}
