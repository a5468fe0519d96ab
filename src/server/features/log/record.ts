/** Rows that are not charges: failed calls and events. Charges are written by the ledger. */
import { FOLDED, LOG_TYPE } from "../../../shared/log";
import { textColumns } from "../../../shared/log-text";
import { type Services, seconds } from "../../contracts/context";
import type { NewEvent } from "../../contracts/events";
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

/** The row of an event; statistics do not count it. */
export function eventRow(services: Pick<Services, "now">, event: NewEvent): NewLogRow {
  const { actor, channel, quota, other } = event;
  const owner = event.user ?? (actor?.kind === "user" ? actor : { id: 0, username: "" });
  return {
    request_id: event.request_id ?? newRequestId(),
    created_at: seconds(services),
    type: LOG_TYPE[event.type],
    user_id: owner.id,
    username: owner.username,
    channel: channel?.id ?? 0,
    channel_name: channel?.name ?? "",
    quota: quota ?? 0,
    ...textColumns({ code: event.event, params: { ...(quota !== undefined && { quota }), ...event.params } }),
    other: other ? JSON.stringify(other) : "",
    ip: event.ip ?? "",
    folded: FOLDED.never,
  };
}
