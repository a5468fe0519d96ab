/**
 * The sweep of stored objects: what has expired, what is with a deleted channel, and stored responses beyond one user's
 * limit, those that expire first.
 */
import { and, asc, eq, gt, inArray, lte, ne, notInArray, sql } from "drizzle-orm";
import { type Services, seconds } from "../../contracts/context";
import { total } from "../../db/sql";

const MB = 1 << 20;
/** Rows of a user that are looked at, or deleted, at a time. */
const BATCH = 500;
/** Bytes of a row beside its data: an answer that its vendor keeps has none. */
const ROW_BYTES = 256;

/** One round. Safe beside a concurrent one. */
export async function sweepStored(services: Pick<Services, "db" | "options" | "now">): Promise<void> {
  const { db, options } = services;
  const { stored_objects: t, channels } = db.t;
  await db.bulk.delete(t).where(and(ne(t.expires_at, 0), lte(t.expires_at, seconds(services))));
  await db.bulk
    .delete(t)
    .where(and(ne(t.channel_id, 0), notInArray(t.channel_id, db.bulk.select({ id: channels.id }).from(channels))));

  const most = options.get("StoredResponseMaxMB") * MB;
  const size = total(sql`${t.bytes} + ${ROW_BYTES}`);
  const heavy = await db.read
    .select({ user_id: t.user_id, size })
    .from(t)
    .where(eq(t.kind, "response"))
    .groupBy(t.user_id)
    .having(gt(size, most));
  for (const user of heavy) {
    for (let over = user.size - most; over > 0;) {
      const rows = await db.q
        .select({ id: t.object_id, bytes: t.bytes })
        .from(t)
        .where(and(eq(t.kind, "response"), eq(t.user_id, user.user_id)))
        .orderBy(asc(t.expires_at), asc(t.created_at), asc(t.object_id))
        .limit(BATCH);
      const gone: string[] = [];
      for (const { id, bytes } of rows) {
        if (over <= 0) break;
        gone.push(id);
        over -= bytes + ROW_BYTES;
      }
      if (gone.length === 0) break;
      await db.bulk
        .delete(t)
        .where(and(eq(t.kind, "response"), eq(t.user_id, user.user_id), inArray(t.object_id, gone)));
    }
  }
}
