/** The key rows of channels that have several, as they are read. */
import { asc } from "drizzle-orm";
import { CHANNEL_STATUS } from "../../../shared/channel";
import { keyHint, type MultiKeyMode } from "../../../shared/channel-keys";
import type { Services } from "../../contracts/context";
import type { ChannelKeyRow } from "../../db/schema";
import type { Secrets } from "../../lib/secrets";
import { drainOf } from "../../../shared/drain";
import type { PoolChannel } from "../../contracts/channel";

export type KeyRow = Pick<
  ChannelKeyRow,
  "id" | "channel_id" | "position" | "key_cipher" | "status" | "draining_since" | "drain_deadline"
>;

/** Channel -> its keys in their order. */
export async function keysIn(db: Services["db"]): Promise<Map<number, KeyRow[]>> {
  const { id, channel_id, position, key_cipher, status, draining_since, drain_deadline } = db.t.channel_keys;
  const rows: KeyRow[] = await db.read
    .select({ id, channel_id, position, key_cipher, status, draining_since, drain_deadline })
    .from(db.t.channel_keys)
    .orderBy(asc(channel_id), asc(position), asc(id));
  const keys = new Map<number, KeyRow[]>();
  for (const row of rows) {
    const list = keys.get(row.channel_id);
    if (list) list.push(row);
    else keys.set(row.channel_id, [row]);
  }
  return keys;
}

/**
 * The channel once with each of its enabled keys, those that drain apart; an unreadable key is left out and reported.
 */
export function readKeys(
  channel: PoolChannel,
  mode: MultiKeyMode,
  rows: readonly KeyRow[],
  secrets: Secrets,
  report: (problem: string) => void,
): PoolChannel {
  const readable = rows.flatMap((row, index) => {
    if (row.status !== CHANNEL_STATUS.enabled) return [];
    try {
      const key = secrets.decrypt("channel-key", row.key_cipher);
      const drain = drainOf(row) ?? channel.drain;
      const key_row = { id: row.id, position: index + 1, hint: keyHint(key) };
      return [{ row, keyed: { ...channel, key, key_row, ...(drain && { drain }) } }];
    } catch {
      report(`key ${index + 1} cannot be read with this secret`);
      return [];
    }
  });
  const draining_keys = readable.flatMap(({ row, keyed }) => (row.draining_since > 0 ? [keyed] : []));
  const keys = readable.flatMap(({ row, keyed }) => (row.draining_since > 0 ? [] : [keyed]));
  return {
    ...channel,
    key: keys[0]?.key ?? "",
    keys,
    ...(draining_keys.length > 0 && { draining_keys }),
    multi_key_mode: mode,
  };
}
