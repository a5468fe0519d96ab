/**
 * Notices: to a user whose balance is low, to root when channels were disabled automatically. Nothing here delays a
 * call: a charge leaves a number in a set, the rest happens a second later. The table `notices` keeps the time of the
 * last notice, so that all instances together send it once in its interval. A failed delivery is logged and not
 * repeated before the next interval: a receiver that answers badly has often got the notice.
 */
import { and, eq, gte, inArray, isNull, sql } from "drizzle-orm";
import { isStoredText, logText, type StoredText } from "../../../shared/log-text";
import { LOW_QUOTA_EVERY_SECONDS, type Notice } from "../../../shared/notice";
import { ROLE, USER_STATUS } from "../../../shared/roles";
import { type Services, seconds } from "../../contracts/context";
import { isOver } from "../../db/sql";
import type { Db } from "../../db/types";
import { createCollector } from "../../lib/collector";
import { quotaText } from "../wallet/quota-text";
import { deliver, isReachable, type Post, type Recipient, recipientColumns, recipientOf } from "./deliver";
import type { Notices } from "../../contracts/notices";

const LOOK_AFTER_MS = 1_000;
/** Users whose balance waits to be checked; beyond this number their next charge adds them again. */
const MAX_WAITING = 10_000;
/** Users of one statement. */
const BATCH = 500;
/** Deliveries at the same time. */
const PARALLEL = 8;
const CHANNELS_AFTER_MS = 15_000;
export const CHANNELS_EVERY_SECONDS = 600;
const MAX_CHANNELS = 100;

export function createNotices(post: Post & Pick<Services, "events">): Notices {
  const low = createCollector<number, true>(post.background, {
    name: "low-quota warnings",
    pauseMs: LOOK_AFTER_MS,
    max: MAX_WAITING,
    work: async (users) => void (await warnLowQuota(post, [...users.keys()])),
  });
  const channels = createCollector<number, StoredText>(post.background, {
    name: "notices of disabled channels",
    pauseMs: CHANNELS_AFTER_MS,
    max: MAX_CHANNELS,
    work: async (disabled) => {
      if (await notifyDisabledChannels(post, disabled)) return;
      for (const [id, reason] of disabled) channels.add(id, reason); // root got a notice a moment ago
    },
  });
  post.events.subscribe(({ name, own, channel, params }) => {
    if (!own || (name !== "channel_auto_disabled" && name !== "channel_key_auto_disabled")) return;
    if (isStoredText(params.reason)) channels.add(channel, params.reason);
  });
  return { charged: (user_id) => low.add(user_id, true) };
}

/**
 * Warns those of `ids` whose balance, holds of running calls included, is below their threshold. Returns how many were
 * warned.
 */
export async function warnLowQuota(post: Post, ids: readonly number[]): Promise<number> {
  const { users, holds } = post.db.t;
  // One query of the holds for all of them.
  const held = post.db.read
    .select({ user_id: holds.user_id, amount: sql<number>`sum(${holds.amount})`.as("amount") })
    .from(holds)
    .groupBy(holds.user_id)
    .as("held");
  let warned = 0;
  for (let from = 0; from < ids.length; from += BATCH) {
    const rows = await post.db.read
      .select({
        ...recipientColumns(post.db.t),
        quota: users.quota,
        held: sql<number>`coalesce(${held.amount}, 0)`.mapWith(Number),
      })
      .from(users)
      .leftJoin(held, eq(held.user_id, users.id))
      .where(
        and(
          inArray(users.id, ids.slice(from, from + BATCH)),
          eq(users.status, USER_STATUS.active),
          isNull(users.deleted_at),
        ),
      );
    const low = rows.flatMap((row) => {
      const recipient = recipientOf(row);
      const threshold = recipient.setting.quota_warning_threshold || post.options.get("QuotaRemindThreshold");
      const balance = row.quota + row.held;
      return balance < threshold && isReachable(post, recipient) ? [{ recipient, balance, threshold }] : [];
    });
    for (let next = 0; next < low.length; next += PARALLEL) {
      const sent = await Promise.all(
        low.slice(next, next + PARALLEL).map(async ({ recipient, balance, threshold }) => {
          if (!(await claim(post, `low-quota:${recipient.user_id}`, LOW_QUOTA_EVERY_SECONDS))) return false;
          const values = {
            balance: quotaText(post, balance),
            threshold: quotaText(post, threshold),
            link: linkTo(post, "/topup"),
          };
          return send(post, recipient, { type: "quota_exceed", values });
        }),
      );
      warned += sent.filter(Boolean).length;
    }
  }
  return warned;
}

/**
 * Notifies every root account that has a receiver. False when the last notice is less than CHANNELS_EVERY_SECONDS old:
 * try later.
 */
export async function notifyDisabledChannels(post: Post, disabled: ReadonlyMap<number, StoredText>): Promise<boolean> {
  const { users, channels } = post.db.t;
  const rows = await post.db.q
    .select(recipientColumns(post.db.t))
    .from(users)
    .where(and(gte(users.role, ROLE.root), eq(users.status, USER_STATUS.active), isNull(users.deleted_at)));
  const roots = rows.map(recipientOf).filter((recipient) => isReachable(post, recipient));
  if (roots.length === 0) return true; // no receiver: it is in the log
  if (!(await claim(post, "channels-disabled", CHANNELS_EVERY_SECONDS))) return false;
  const named = await post.db.q
    .select({ id: channels.id, name: channels.name })
    .from(channels)
    .where(inArray(channels.id, [...disabled.keys()]));
  await Promise.all(
    roots.map((root) => {
      const lines = named.map(({ id, name }) => {
        const reason = disabled.get(id);
        return `#${id} ${name}: ${(reason && logText(reason, root.setting.language)) ?? ""}`;
      });
      return send(post, root, {
        type: "channel_update",
        values: { channels: lines.join("\n"), link: linkTo(post, "/channel") },
      });
    }),
  );
  return true;
}

/** Takes the right to send `name`, once in `every` seconds among all instances. */
async function claim(post: Pick<Services, "now"> & { db: Db }, name: string, every: number): Promise<boolean> {
  const { notices } = post.db.t;
  const now = seconds(post);
  const taken = await post.db.q
    .insert(notices)
    .values({ name, sent_at: now })
    .onConflictDoUpdate({
      target: notices.name,
      set: { sent_at: now },
      setWhere: isOver(notices.sent_at, now, every),
    })
    .returning({ name: notices.name });
  return taken.length > 0;
}

/** Delivers, or logs why not. A process that stops does not wait for a slow receiver. */
async function send(post: Post, recipient: Recipient, notice: Notice): Promise<boolean> {
  const { signal } = post.background;
  const stopped = Promise.withResolvers<never>();
  const stop = () => stopped.reject(new Error("The process stops"));
  signal.addEventListener("abort", stop);
  try {
    await Promise.race([deliver(post, recipient, notice), stopped.promise]);
    return true;
  } catch (err) {
    const { user_id, setting } = recipient;
    post.log.warn({ err, user_id, notice: notice.type, by: setting.notify_type }, "a notice could not be delivered");
    return false;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

const linkTo = ({ options }: Pick<Services, "options">, path: string): string => {
  const address = options.get("ServerAddress");
  return address === "" ? "" : `${address.replace(/\/+$/, "")}${path}`;
};
