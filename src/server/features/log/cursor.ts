/** Cursors of the log's list, which is ordered by time and id. */
import { and, gt, gte, lt, lte, or, type SQL } from "drizzle-orm";
import type { UserCtx } from "../../contracts/context";

/** Rows on the older (`behind`) or the newer side of a cursor. */
export function afterCursor(ctx: Pick<UserCtx, "db">, place: string, side: "behind" | "before"): SQL | undefined {
  const { logs } = ctx.db.t;
  const [time = 0, id = 0] = place.split(".").map(Number);
  // The first half lets the index start at the right place; the second decides among rows of the same second.
  return side === "behind"
    ? and(lte(logs.created_at, time), or(lt(logs.created_at, time), lt(logs.id, id)))
    : and(gte(logs.created_at, time), or(gt(logs.created_at, time), gt(logs.id, id)));
}
