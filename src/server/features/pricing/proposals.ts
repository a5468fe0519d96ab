/** The proposals of price feeds, as a person reads them: with their effect on yesterday's charges. */
import { desc, eq, ne } from "drizzle-orm";
import type { Proposal, ProposalStatus } from "../../../shared/price-feeds";
import { applyChanges } from "../../../shared/price-import";
import { type DayUse, priceEffect } from "../../../shared/price-use";
import type { Ctx } from "../../contracts/context";
import { stored, tablesNow } from "./feed";
import { recentUse } from "./use";

/** Of those that are open, and of those that are decided. */
const MOST = 20;

/** Newest first, the open ones before the others. */
export async function proposals(ctx: Ctx): Promise<Proposal[]> {
  const { price_proposals: t } = ctx.db.t;
  const [open, decided, use] = await Promise.all([
    ctx.db.read.select().from(t).where(eq(t.status, "open")).orderBy(desc(t.id)).limit(MOST),
    ctx.db.read.select().from(t).where(ne(t.status, "open")).orderBy(desc(t.id)).limit(MOST),
    recentUse(ctx),
  ]);
  const tables = tablesNow(ctx);
  const byModel = Map.groupBy(use.day, ({ model }) => model);
  const effectOf = (change: Parameters<typeof applyChanges>[1][number], day: readonly DayUse[]): number =>
    day.length === 0 ? 0 : Math.round(priceEffect(day, tables, { ...tables, ...applyChanges(tables, [change]) }));
  return [...open, ...decided].map(({ id, source, created_at, status, decided_at, changes }) => ({
    id,
    source,
    created_at,
    status: status as ProposalStatus,
    decided_at,
    changes: stored(changes).map((change) => ({
      ...change,
      effect: status === "open" ? effectOf(change, byModel.get(change.name) ?? []) : 0,
    })),
  }));
}
