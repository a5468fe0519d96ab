/** What its owner sees of a token. No other user sees any of it. */
import { tokenMjMode } from "../../../shared/midjourney";
import { pick } from "../../../shared/pick";
import { TOKEN_FIELDS, tokenStatus, type TokenView, type TokenWithKey } from "../../../shared/token";
import { type Ctx, seconds } from "../../contracts/context";
import type { TokenRow } from "../../db/schema";

/** For the console: the hint instead of the key. */
export function presentToken(ctx: Pick<Ctx, "now">, row: TokenRow): TokenView {
  return { ...pick(row, TOKEN_FIELDS), mj_mode: tokenMjMode(row.mj_mode), status: tokenStatus(row, seconds(ctx)) };
}

/** For REST: with the key in clear, without sk-, as existing front-ends read it (C-119). */
export function presentWithKey(ctx: Pick<Ctx, "now" | "secrets">, row: TokenRow): TokenWithKey {
  return { ...presentToken(ctx, row), key: ctx.secrets.decrypt("relay-key", row.key_cipher) };
}
