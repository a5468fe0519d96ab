/**
 * What callers have stored with an upstream or here, in the table stored_objects, behind contracts/stored-objects.ts.
 */
import { promisify } from "node:util";
import { zstdCompress, zstdDecompress } from "node:zlib";
import { and, asc, desc, eq, gt, inArray, lt, or } from "drizzle-orm";
import { type Services, seconds } from "../../contracts/context";
import { total } from "../../db/sql";
import type { StoredObjectStore, Stored, StoredKind } from "../../contracts/stored-objects";

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);
const MB = 1 << 20;
const DAY = 86_400;

/** JSON, compressed, as base64 text: both engines keep it unchanged. */
export async function pack(value: unknown): Promise<string> {
  return value === undefined ? "" : (await compress(Buffer.from(JSON.stringify(value)))).toString("base64");
}

export async function unpack(data: string): Promise<unknown> {
  if (data === "") return undefined;
  const value: unknown = JSON.parse((await decompress(Buffer.from(data, "base64"))).toString("utf8"));
  return value;
}

type Needs = Pick<Services, "db" | "options" | "now">;

export function createStoredObjects(services: Needs): StoredObjectStore {
  const { db, options } = services;
  const { stored_objects: t } = db.t;
  const owned = (kind: StoredKind, user_id: number) => and(eq(t.kind, kind), eq(t.user_id, user_id));
  const alive = () => or(eq(t.expires_at, 0), gt(t.expires_at, seconds(services)));
  const read = async (row: typeof t.$inferSelect, kind: StoredKind): Promise<Stored> => ({
    ...row,
    kind,
    value: await unpack(row.data),
  });

  return {
    get lifetime() {
      return options.get("StoredResponseDays") * DAY;
    },
    get fileLimit() {
      return options.get("StoredFileMaxMB") * MB;
    },
    async find(kind, object_id, user_id) {
      const [row] = await db.q
        .select()
        .from(t)
        .where(and(owned(kind, user_id), eq(t.object_id, object_id), alive()));
      return row && read(row, kind);
    },
    async put({ value, bytes, created_at, ...entry }) {
      const data = await pack(value);
      const size = bytes ?? data.length;
      const { kind, user_id } = entry;
      await db.q
        .insert(t)
        .values({ ...entry, data, bytes: size, created_at: created_at ?? seconds(services) })
        .onConflictDoUpdate({
          target: [t.kind, t.object_id],
          set: {
            data,
            bytes: size,
            status: entry.status,
            channel_id: entry.channel_id,
            channel_key_id: entry.channel_key_id,
            expires_at: entry.expires_at,
          },
          setWhere: owned(kind, user_id),
        });
    },
    async prolong(kind, object_ids, user_id, expires_at) {
      await db.q
        .update(t)
        .set({ expires_at })
        .where(and(owned(kind, user_id), inArray(t.object_id, [...object_ids]), lt(t.expires_at, expires_at)));
    },
    async remove(kind, object_id, user_id) {
      await db.q.delete(t).where(and(owned(kind, user_id), eq(t.object_id, object_id)));
    },
    async list(kind, user_id, { after, order, limit }) {
      const [from] =
        after === undefined
          ? []
          : await db.q
              .select()
              .from(t)
              .where(and(owned(kind, user_id), eq(t.object_id, after)));
      if (after !== undefined && !from) return [];
      const afterCursor = order === "asc" ? gt : lt;
      const turn = order === "asc" ? asc : desc;
      const later =
        from &&
        or(
          afterCursor(t.created_at, from.created_at),
          and(eq(t.created_at, from.created_at), afterCursor(t.object_id, from.object_id)),
        );
      const rows = await db.read
        .select()
        .from(t)
        .where(and(owned(kind, user_id), alive(), later))
        .orderBy(turn(t.created_at), turn(t.object_id))
        .limit(limit);
      return Promise.all(rows.map((row) => read(row, kind)));
    },
    async size(kind, user_id) {
      const [sum] = await db.q
        .select({ bytes: total(t.bytes) })
        .from(t)
        .where(and(owned(kind, user_id), alive()));
      return sum?.bytes ?? 0;
    },
  };
}
