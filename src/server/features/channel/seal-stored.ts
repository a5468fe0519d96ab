/** Channels that releases up to 0.1.1, or another tool, stored with secrets in clear: encrypted where they stand. */
import { and, eq, like, ne, or } from "drizzle-orm";
import type { Services } from "../../contracts/context";
import { run } from "../../db/transaction";
import { VERSION } from "../../version";
import { isOtherReleaseLive } from "../wallet/instances";
import { announceChange } from "./announce";
import { sealStored } from "./sealed";

/**
 * Encrypts the secrets of all stored channels; returns how many rows changed. Does nothing while an instance of another
 * release lives: it could not read them.
 */
export async function sealChannels(services: Pick<Services, "db" | "secrets" | "cluster">): Promise<number> {
  const { db, secrets } = services;
  const { channels } = db.t;
  if (await isOtherReleaseLive(db, VERSION)) return 0;
  const rows = await db.q
    .select({ id: channels.id, setting: channels.setting, header_override: channels.header_override })
    .from(channels)
    .where(or(like(channels.setting, "%@%"), ne(channels.header_override, "")));
  let count = 0;
  for (const { id, ...row } of rows) {
    const next = sealStored(secrets, row);
    if (!next) continue;
    await db.tx(function* (q) {
      const same = and(
        eq(channels.id, id),
        eq(channels.setting, row.setting),
        eq(channels.header_override, row.header_override),
      );
      const hit = yield* run(q.update(channels).set(next).where(same).returning({ id: channels.id }));
      count += hit.length;
      yield* announceChange(services, q, id);
    });
  }
  return count;
}
