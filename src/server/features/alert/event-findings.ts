/**
 * Incidents of events. Events are read from the log, where none is missed: how far they were read is in `meta`, so that
 * a restart goes on there.
 */
import { and, asc, eq, gt, gte, inArray, sql } from "drizzle-orm";
import { type EventRule, severityOf } from "../../../shared/alert-rules";
import { CHANNEL_STATUS } from "../../../shared/channel";
import { EVENTS, isEventName } from "../../../shared/events";
import { LOG_TYPE } from "../../../shared/log";
import { readParams } from "../../../shared/log-text";
import { type Services, seconds } from "../../contracts/context";
import { inPartitions } from "../log/partitions";
import type { Finding, Incident } from "./incidents";
import { targetsFor } from "./target-list";

type Needs = Pick<Services, "db" | "options" | "now">;

const PLACE = "alerts.events";
/** The types of an event's row (features/log/record.ts). */
const EVENT_TYPES = [LOG_TYPE.topup, LOG_TYPE.admin, LOG_TYPE.system];
const MOST_EVENTS = 20_000;
/** At the first start, and where the place is lost. */
const BACK_SECONDS = 600;

interface EventRow {
  id: number;
  code: string;
  params: string;
  channel: number;
  channel_name: string;
  user_id: number;
}

/** Events of these names since the last reading. */
export async function newEvents(services: Needs, names: readonly string[]): Promise<EventRow[]> {
  const { logs, meta } = services.db.t;
  const { q, read } = services.db;
  const [place] = await q.select({ value: meta.value }).from(meta).where(eq(meta.name, PLACE));
  const after = Number(place?.value ?? -1);
  const since = seconds(services) - (after < 0 ? BACK_SECONDS : 86_400);
  const rows =
    names.length === 0
      ? []
      : await read
          .select({
            id: logs.id,
            code: logs.code,
            params: logs.params,
            channel: logs.channel,
            channel_name: logs.channel_name,
            user_id: logs.user_id,
          })
          .from(logs)
          .where(
            and(
              after < 0 ? undefined : gt(logs.id, after),
              // For the partial index on type and time.
              sql`${logs.type} <> 2`,
              inArray(logs.type, EVENT_TYPES),
              gte(logs.created_at, since),
              await inPartitions(services.db, since, 0),
              inArray(logs.code, [...names]),
            ),
          )
          .orderBy(asc(logs.id))
          .limit(MOST_EVENTS);
  return rows;
}

/** Where the next reading begins; called when the findings are kept. */
export async function eventsRead(services: Needs, last: number | undefined): Promise<void> {
  if (last === undefined) return;
  const { meta } = services.db.t;
  const value = String(last);
  await services.db.q
    .insert(meta)
    .values({ name: PLACE, value })
    .onConflictDoUpdate({ target: meta.name, set: { value } });
}

function subjectOf(row: EventRow, params: Readonly<Record<string, unknown>>): string {
  if (row.channel !== 0) return `channel:${row.channel}`;
  if (isEventName(row.code) && EVENTS[row.code].subject === "node") return `node:${String(params.instance ?? "")}`;
  return row.user_id === 0 ? "" : `user:${row.user_id}`;
}

/** What the events are to a rule: one finding a subject, with the last event's text and how many there were. */
export function eventFindings(services: Needs, rule: EventRule, rows: readonly EventRow[]): Finding[] {
  const found = new Map<string, Finding>();
  for (const row of rows) {
    if (!rule.events.some((name) => name === row.code)) continue;
    const params = readParams(row.params);
    const subject = subjectOf(row, params);
    const count = (found.get(subject)?.count ?? 0) + 1;
    found.set(subject, {
      rule: rule.name,
      subject,
      severity: severityOf(rule),
      code: "event",
      params: { name: row.channel_name, text: { code: row.code, params } },
      targets: targetsFor(services, rule),
      count,
    });
  }
  return [...found.values()];
}

/** Of open incidents about channels: those whose channel serves again with all its keys, or is gone. */
export async function channelsBack({ db }: Needs, open: readonly Incident[]): Promise<number[]> {
  const about = open.flatMap(({ id, subject }) => {
    const channel = /^channel:(\d+)$/.exec(subject)?.[1];
    return channel === undefined ? [] : [{ id, channel: Number(channel) }];
  });
  const { channels, channel_keys } = db.t;
  const back: number[] = [];
  for (let from = 0; from < about.length; from += 500) {
    const some = about.slice(from, from + 500);
    const ids = [...new Set(some.map(({ channel }) => channel))];
    const off = new Set<number>();
    const disabled = and(inArray(channels.id, ids), eq(channels.status, CHANNEL_STATUS.auto_disabled));
    for (const { id } of await db.read.select({ id: channels.id }).from(channels).where(disabled)) off.add(id);
    const keys = and(inArray(channel_keys.channel_id, ids), eq(channel_keys.status, CHANNEL_STATUS.auto_disabled));
    for (const { id } of await db.read.select({ id: channel_keys.channel_id }).from(channel_keys).where(keys))
      off.add(id);
    back.push(...some.filter(({ channel }) => !off.has(channel)).map(({ id }) => id));
  }
  return back;
}
