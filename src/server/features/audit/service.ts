/** Reading the audit log: newest first, in pages, by the read connections. */
import { and, desc, eq, gte, lte } from "drizzle-orm";
import type * as z from "zod";
import { AUDIT_TOTAL_MAX, type auditListInput, type AuditView } from "../../../shared/audit";
import type { Page } from "../../../shared/envelope";
import type { Ctx } from "../../contracts/context";
import { count, withoutNul } from "../../db/sql";

export async function listActs(
  ctx: Ctx,
  { page, page_size, ...filter }: z.output<typeof auditListInput>,
): Promise<Page<AuditView>> {
  const { audit_log } = ctx.db.t;
  const text = (value: string) => withoutNul(value.trim());
  const where = and(
    text(filter.actor) ? eq(audit_log.actor_name, text(filter.actor)) : undefined,
    text(filter.action) ? eq(audit_log.action, text(filter.action)) : undefined,
    text(filter.target_type) ? eq(audit_log.target_type, text(filter.target_type)) : undefined,
    text(filter.target_id) ? eq(audit_log.target_id, text(filter.target_id)) : undefined,
    filter.start ? gte(audit_log.created_at, filter.start) : undefined,
    filter.end ? lte(audit_log.created_at, filter.end) : undefined,
  );
  const bounded = ctx.db.read
    .select({ id: audit_log.id })
    .from(audit_log)
    .where(where)
    .limit(AUDIT_TOTAL_MAX)
    .as("bounded");
  const [[all], items] = await Promise.all([
    ctx.db.read.select({ n: count() }).from(bounded),
    ctx.db.read
      .select()
      .from(audit_log)
      .where(where)
      .orderBy(desc(audit_log.created_at), desc(audit_log.id))
      .limit(page_size)
      .offset((page - 1) * page_size),
  ]);
  return { items, page, page_size, total: all?.n ?? 0 };
}
