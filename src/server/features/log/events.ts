/**
 * Events: rows of the log that are announced. The instance where one happened calls its listeners after the commit;
 * the others read the row when the bus names it.
 */
import { and, eq, gte, inArray } from "drizzle-orm";
import { EVENTS, isEventName } from "../../../shared/events";
import { readParams } from "../../../shared/log-text";
import type { Services } from "../../contracts/context";
import type { Events, GatewayEvent } from "../../contracts/events";
import type { LogRow } from "../../db/schema";
import { AfterCommit, run } from "../../db/transaction";
import { LOG_TYPE } from "../../../shared/log";
import { eventRow } from "./record";

/** Request ids of the latest events, so that none is heard twice. */
const REMEMBERED = 1_000;
/** After messages may have been missed, rows of this time are read again. */
const REREAD_SECONDS = 120;
const REREAD_ROWS = 200;

type Needs = Pick<Services, "db" | "cluster" | "background" | "now" | "log">;
type Announced = Omit<GatewayEvent, "subject" | "level" | "own">;

export function createEvents(services: Needs): Events {
  const { db, cluster, background, now, log } = services;
  const listeners = new Set<(event: GatewayEvent) => void>();
  const heard = new Set<string>();

  function dispatch(event: Announced, own: boolean): void {
    if (heard.has(event.request_id)) return;
    heard.add(event.request_id);
    if (heard.size > REMEMBERED) heard.delete(heard.values().next().value ?? "");
    const { subject, level } = EVENTS[event.name];
    for (const listener of listeners) {
      try {
        listener({ ...event, subject, level, own });
      } catch (err) {
        log.error({ err, event: event.name }, "a listener of events failed");
      }
    }
  }

  function* announce(event: Announced): ReturnType<Events["announce"]> {
    yield new AfterCommit(async () => {
      dispatch(event, true);
      // Not in the event's own transaction: events of different kinds would wait for each other.
      background.track(
        "announcing an event",
        db.tx((q) => cluster.bus.announce(q, "events", event.request_id)),
      );
    });
  }

  cluster.bus.subscribe("events", async (request_id) => {
    if (listeners.size === 0 || heard.has(request_id)) return;
    for (const row of await eventRows(services, request_id)) dispatch(row, false);
  });

  return {
    *record(q, event) {
      const row = eventRow(services, event);
      const { logs } = db.t;
      const inserted = yield* run(
        q.insert(logs).values(row).onConflictDoNothing({ target: logs.request_id }).returning({ id: logs.id }),
      );
      if (inserted.length === 0) return;
      yield* announce({
        name: event.event,
        params: event.params ?? {},
        request_id: row.request_id,
        at: row.created_at ?? Math.floor(now() / 1000),
        channel: row.channel ?? 0,
        user_id: row.user_id,
      });
    },
    announce,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** One event, or with "*" those of the last minutes. */
async function eventRows({ db, now }: Needs, request_id: string): Promise<Announced[]> {
  const { logs } = db.t;
  const types = [LOG_TYPE.topup, LOG_TYPE.admin, LOG_TYPE.system, LOG_TYPE.refund];
  const rows = await db.q
    .select()
    .from(logs)
    .where(
      request_id === "*"
        ? and(inArray(logs.type, types), gte(logs.created_at, Math.floor(now() / 1000) - REREAD_SECONDS))
        : eq(logs.request_id, request_id),
    )
    .limit(REREAD_ROWS);
  return rows.flatMap(announcedOf);
}

function announcedOf({ code, params, request_id, created_at, channel, user_id }: LogRow): Announced[] {
  if (!isEventName(code)) return [];
  return [{ name: code, params: readParams(params), request_id, at: created_at, channel, user_id }];
}
