/** The history of one thing, from the audit log. */
import { and, desc, eq, inArray, lt } from "drizzle-orm";
import type { AuditView } from "../../../shared/audit";
import { fail } from "../../../shared/errors";
import { HISTORY_PAGE, type History } from "../../../shared/history";
import type { Ctx } from "../../contracts/context";

/** Rows that are read for one page at most, where a filter leaves most of them out. */
const READ_ROWS = 1_000;

/** What a row shows, and whether its values before can be put back; undefined: it does not belong here. */
type Look = (row: AuditView) => { before: string; after: string; restorable: boolean } | undefined;

/** Newest first: the changes of some things of a kind, as `look` shows them. */
export async function historyOf(
  ctx: Ctx,
  target_type: string,
  target_ids: readonly string[],
  cursor: number | null | undefined,
  look: Look,
): Promise<History> {
  const { audit_log: t } = ctx.db.t;
  const rows = await ctx.db.read
    .select()
    .from(t)
    .where(
      and(eq(t.target_type, target_type), inArray(t.target_id, [...target_ids]), cursor ? lt(t.id, cursor) : undefined),
    )
    .orderBy(desc(t.id))
    .limit(READ_ROWS);
  const found = rows.flatMap((row) => {
    const { id, created_at, actor_name, action, target_id } = row;
    const shown = look(row);
    return shown ? [{ id, created_at, actor_name, action, target_id, ...shown }] : [];
  });
  const items = found.slice(0, HISTORY_PAGE);
  const last = found.length > HISTORY_PAGE ? items.at(-1)?.id : rows.length === READ_ROWS ? rows.at(-1)?.id : undefined;
  return { items, ...(last !== undefined && { next: last }) };
}

/** One change of a thing. Throws history_not_found. */
export async function historyEntry(ctx: Ctx, target_type: string, target_id: string, id: number): Promise<AuditView> {
  const { audit_log: t } = ctx.db.t;
  const [row] = await ctx.db.q
    .select()
    .from(t)
    .where(and(eq(t.id, id), eq(t.target_type, target_type), eq(t.target_id, target_id)));
  return row ?? fail("history_not_found");
}
