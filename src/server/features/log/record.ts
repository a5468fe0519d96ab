/** Rows that are not charges: failed calls, notable events. Charges are written by the ledger. */
import type { EventName } from "../../../shared/events";
import { FOLDED, LOG_TYPE } from "../../../shared/log";
import { textColumns } from "../../../shared/log-text";
import type { TextParams } from "../../../shared/text";
import { type Actor, type Services, seconds } from "../../contracts/context";
import type { NewLogRow } from "../../db/schema";
import { withoutNul } from "../../db/sql";
import { newRequestId } from "../../http/request-id";
import type { CallLog } from "../../contracts/ledger";

/** The row of a call that was not charged. A lost row is logged, never thrown into the relay. */
export async function recordFailure({ db, log }: Pick<Services, "db" | "log">, row: CallLog): Promise<void> {
  try {
    await db.q
      .insert(db.t.logs)
      .values({
        ...row,
        model_name: withoutNul(row.model_name ?? ""),
        content: withoutNul(row.content ?? ""),
        type: LOG_TYPE.error,
        quota: 0,
      })
      .onConflictDoNothing();
  } catch (err) {
    log.error({ err, request_id: row.request_id }, "the record of a failed call could not be written");
  }
}

export interface NotableEvent {
  /** `admin`: an administrator did it; `system`: the gateway did it. */
  type: "admin" | "system";
  actor?: Actor;
  ip?: string;
  channel?: { id: number; name: string };
  event: EventName;
  /** The values of the event's text. */
  params?: TextParams;
  /** What is not in the text. */
  other?: Record<string, unknown>;
}

export interface AccountEvent {
  /** `topup`: paid or redeemed; `system`: a reward, a transfer; `admin`: an administrator changed it. */
  type: "topup" | "system" | "admin";
  /** The user of the row, who sees it in their log. */
  user: { id: number; username: string };
  /** Units that were added or moved; the event's text knows them as `quota`. */
  quota: number;
  ip?: string;
  event: EventName;
  params?: TextParams;
  other?: Record<string, unknown>;
}

/** The row of units that were added or moved without a call; inserted in the transaction that moves them. */
export function accountRow(
  services: Pick<Services, "now">,
  { user, quota, type, params, ...event }: AccountEvent,
): NewLogRow {
  const row = eventRow(services, { ...event, type: "system", params: { quota, ...params } });
  return { ...row, type: LOG_TYPE[type], quota, user_id: user.id, username: user.username };
}

/**
 * The row of a notable event; statistics do not count it. Inserted with the change that it records, in one transaction.
 */
export function eventRow(services: Pick<Services, "now">, notable: NotableEvent): NewLogRow {
  const { actor, channel, event, params = {}, other } = notable;
  return {
    request_id: newRequestId(),
    created_at: seconds(services),
    type: LOG_TYPE[notable.type],
    user_id: actor?.kind === "user" ? actor.id : 0,
    username: actor?.kind === "user" ? actor.username : "",
    channel: channel?.id ?? 0,
    channel_name: channel?.name ?? "",
    ...textColumns({ code: event, params }),
    other: other ? JSON.stringify(other) : "",
    ip: notable.ip ?? "",
    folded: FOLDED.never,
  };
}
