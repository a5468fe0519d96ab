/** Marks a channel whose upstream reported impossible counts: the console shows it (shared/usage-doubt.ts). */
import { eq } from "drizzle-orm";
import { jsonObject } from "../../../shared/channel";
import type { ChannelDoubt, UsageDoubt } from "../../../shared/usage-doubt";
import { type Services, seconds } from "../../contracts/context";
import { run } from "../../db/transaction";
import { forUpdate, withoutNul } from "../../db/sql";

/** A channel is marked at most this often: one that always reports wrong counts would write with every call. */
const PAUSE_MS = 60_000;

/**
 * Called by the relay for every call with a doubt. Returns at once and never throws; the mark is written in the
 * background. A count of zero marks the row alone: many resellers count nothing, and it is estimated.
 */
export function doubtWatch(
  services: Services,
): (
  channel: { id: number },
  doubts: readonly UsageDoubt[],
  of: { request_id: string; request: { model: string } },
) => void {
  const marked = new Map<number, number>();
  return ({ id }, doubts, { request_id, request: { model } }) => {
    const worst = doubts.find(({ rule }) => rule !== "zero");
    const now = services.now();
    if (!worst || (marked.get(id) ?? -PAUSE_MS) > now - PAUSE_MS) return;
    marked.set(id, now);
    const usage_doubt: ChannelDoubt = { ...worst, model: withoutNul(model), request_id, time: seconds(services) };
    services.log.warn({ channel: id, request_id, ...worst }, "an upstream's count of tokens was not believed");
    services.background.track("usage-doubt", mark(services, id, usage_doubt));
  };
}

function mark({ db }: Services, id: number, usage_doubt: ChannelDoubt): Promise<void> {
  const { channels } = db.t;
  return db.tx(function* (q) {
    const [row] = yield* run(
      forUpdate(db, q.select({ other_info: channels.other_info }).from(channels).where(eq(channels.id, id))),
    );
    if (!row) return;
    const other_info = JSON.stringify({ ...jsonObject(row.other_info), usage_doubt });
    yield* run(q.update(channels).set({ other_info }).where(eq(channels.id, id)).returning({ id: channels.id }));
  });
}
