/**
 * The store of incidents: one open row of a rule and subject (a unique index holds it among all instances), and in the
 * same transaction the messages that are to be sent, so that a process that is killed loses none.
 */
import { and, desc, eq, gt, inArray, lt, lte, ne, or, sql } from "drizzle-orm";
import type { Severity } from "../../../shared/alert-rules";
import { type Services, seconds } from "../../contracts/context";
import type { Q } from "../../db/types";
import type { Tables } from "../../db/schema";
import { run, type Steps } from "../../db/transaction";
import { startsWith, withoutNul } from "../../db/sql";
import { cut, TEXT_LIMITS } from "../../../shared/text-limits";

export type Incident = Tables["incidents"]["$inferSelect"];
export type Delivery = Tables["alert_deliveries"]["$inferSelect"];
type Needs = Pick<Services, "db" | "now">;
type Telling = Needs & Pick<Services, "changes">;

/** What a rule found. */
export interface Finding {
  rule: string;
  subject: string;
  severity: Severity;
  code: string;
  params: Readonly<Record<string, unknown>>;
  /** Names of the targets that are told. */
  targets: readonly string[];
  /** Events that it stands for; 1 unless it says so. */
  count?: number;
}

/** Rows of one statement: SQLite takes 32,766 values in one. */
const CHUNK = 2000;

function chunks<T>(all: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(all.length / CHUNK) }, (_, i) => all.slice(i * CHUNK, (i + 1) * CHUNK));
}

const jsonOf = (params: Finding["params"]): string =>
  withoutNul(
    JSON.stringify(params, (_, value: unknown) =>
      typeof value === "string" ? cut(value.replaceAll("\0", ""), TEXT_LIMITS.log_content) : value,
    ),
  );

const nameOf = ({ rule, subject }: { rule: string; subject: string }): string => `${rule}\n${subject}`;

/** Every open incident, the oldest first. */
export function openIncidents({ db }: Needs): Promise<Incident[]> {
  const { incidents } = db.t;
  return db.read.select().from(incidents).where(eq(incidents.closed_at, 0)).orderBy(incidents.id);
}

/** Opens what is not open yet, with its messages; what is open is seen again. Returns how many were opened. */
export async function openFindings(services: Telling, findings: readonly Finding[]): Promise<number> {
  let opened = 0;
  for (const chunk of chunks(findings))
    opened += await services.db.tx((q) => openSteps(services, q, chunk), { long: true });
  if (findings.length > 0) services.changes.tell("incident");
  return opened;
}

function* openSteps(services: Needs, q: Q, findings: readonly Finding[]): Steps<number> {
  const { incidents } = services.db.t;
  const now = seconds(services);
  const mutes = yield* mutedUntil(services, q, findings, now);
  const rows = findings.map((finding) => ({
    rule: finding.rule,
    subject: withoutNul(finding.subject),
    severity: finding.severity,
    code: finding.code,
    params: jsonOf(finding.params),
    opened_at: now,
    last_at: now,
    count: finding.count ?? 1,
    muted_until: mutes.get(nameOf(finding)) ?? 0,
  }));
  const inserted = yield* run(
    q
      .insert(incidents)
      .values(rows)
      .onConflictDoNothing()
      .returning({ id: incidents.id, rule: incidents.rule, subject: incidents.subject }),
  );
  const ids = new Map(inserted.map((row) => [nameOf(row), row.id]));
  for (const finding of findings) {
    if (ids.has(nameOf(finding))) continue;
    const again = { last_at: now, params: jsonOf(finding.params) };
    const counted = finding.count === undefined ? {} : { count: sql`${incidents.count} + ${finding.count}` };
    const which = and(
      eq(incidents.rule, finding.rule),
      eq(incidents.subject, finding.subject),
      eq(incidents.closed_at, 0),
    );
    yield* run(
      q
        .update(incidents)
        .set({ ...again, ...counted })
        .where(which),
    );
  }
  const messages = findings.flatMap((finding) => {
    const id = ids.get(nameOf(finding));
    const told = id !== undefined && (mutes.get(nameOf(finding)) ?? 0) <= now;
    return told ? finding.targets.map((target) => ({ incident_id: id, kind: "begin", target })) : [];
  });
  yield* addMessages(services, q, messages, now);
  return ids.size;
}

/** Mutes outlive their incident: one that begins again in the meantime is not told either. */
function* mutedUntil(
  { db }: Needs,
  q: Q,
  findings: readonly Finding[],
  now: number,
): Steps<ReadonlyMap<string, number>> {
  const { incidents } = db.t;
  const rules = [...new Set(findings.map(({ rule }) => rule))];
  const rows = yield* run(
    q
      .select({ rule: incidents.rule, subject: incidents.subject, muted_until: incidents.muted_until })
      .from(incidents)
      .where(and(gt(incidents.muted_until, now), inArray(incidents.rule, rules))),
  );
  return new Map(rows.map((row) => [nameOf(row), row.muted_until]));
}

function* addMessages(
  { db }: Needs,
  q: Q,
  messages: readonly { incident_id: number; kind: string; target: string }[],
  now: number,
): Steps<void> {
  for (const chunk of chunks(messages))
    yield* run(
      q
        .insert(db.t.alert_deliveries)
        .values(chunk.map((message) => ({ ...message, next_at: now, created_at: now })))
        .onConflictDoNothing(),
    );
}

/** Keeps open incidents whose figure is between begin and end. */
export async function touchIncidents(services: Needs, ids: readonly number[]): Promise<void> {
  const { incidents } = services.db.t;
  for (const chunk of chunks(ids))
    await services.db.bulk
      .update(incidents)
      .set({ last_at: seconds(services) })
      .where(and(inArray(incidents.id, chunk), eq(incidents.closed_at, 0)));
}

/**
 * Ends incidents. `tell`: the targets that were told of the begin are told of the end. One whose begin was not sent yet
 * is sent with its end, in one message.
 */
export async function closeIncidents(services: Telling, ids: readonly number[], tell: boolean): Promise<void> {
  const { incidents, alert_deliveries } = services.db.t;
  const now = seconds(services);
  for (const chunk of chunks(ids))
    await services.db.tx(
      function* (q) {
        const closed = yield* run(
          q
            .update(incidents)
            .set({ closed_at: now })
            .where(and(inArray(incidents.id, chunk), eq(incidents.closed_at, 0)))
            .returning({ id: incidents.id, muted_until: incidents.muted_until }),
        );
        const told = closed.filter(({ muted_until }) => muted_until <= now).map(({ id }) => id);
        if (!tell || told.length === 0) return;
        const begun = yield* run(
          q
            .select({ incident_id: alert_deliveries.incident_id, target: alert_deliveries.target })
            .from(alert_deliveries)
            .where(
              and(
                inArray(alert_deliveries.incident_id, told),
                eq(alert_deliveries.kind, "begin"),
                // Not where the begin was given up: nothing is known there that could end.
                or(ne(alert_deliveries.next_at, 0), ne(alert_deliveries.sent_at, 0)),
              ),
            ),
        );
        yield* addMessages(
          services,
          q,
          begun.map((row) => ({ ...row, kind: "end" })),
          now,
        );
      },
      { long: true },
    );
  if (ids.length > 0) services.changes.tell("incident");
}

/** Marks incidents as seen by a user; of no ids: all that are not seen. Returns how many were marked. */
export async function markSeen({ db }: Needs, user_id: number, ids: readonly number[]): Promise<number> {
  const { incidents } = db.t;
  const which =
    ids.length === 0 ? eq(incidents.seen_by, 0) : and(inArray(incidents.id, [...ids]), eq(incidents.seen_by, 0));
  const seen = await db.q.update(incidents).set({ seen_by: user_id }).where(which).returning({ id: incidents.id });
  return seen.length;
}

/** Mutes an incident until a time (epoch seconds), 0 = no longer: what was to be sent of it is not. */
export function muteIncident(services: Needs, id: number, until: number): Promise<Incident | undefined> {
  const { incidents, alert_deliveries } = services.db.t;
  return services.db.tx(function* (q) {
    const [row] = yield* run(q.update(incidents).set({ muted_until: until }).where(eq(incidents.id, id)).returning());
    if (row && until > seconds(services))
      yield* run(
        q
          .update(alert_deliveries)
          .set({ next_at: 0, error: "muted" })
          .where(and(eq(alert_deliveries.incident_id, id), ne(alert_deliveries.next_at, 0))),
      );
    return row;
  });
}

const KEEP_SECONDS = 90 * 86_400;

/** Drops incidents that ended 90 days ago, and messages of that age. */
export async function forgetIncidents(services: Needs): Promise<void> {
  const { incidents, alert_deliveries } = services.db.t;
  const before = seconds(services) - KEEP_SECONDS;
  await services.db.bulk
    .delete(alert_deliveries)
    .where(and(lt(alert_deliveries.created_at, before), eq(alert_deliveries.next_at, 0)));
  await services.db.bulk.delete(incidents).where(and(lt(incidents.last_at, before), ne(incidents.closed_at, 0)));
}

/** Drops the incidents about a user and their tokens, whose names are in the texts. */
export function* eraseIncidentSteps({ db }: Pick<Services, "db">, q: Q, user_id: number): Steps<void> {
  const { incidents, tokens } = db.t;
  const own = yield* run(q.select({ id: tokens.id }).from(tokens).where(eq(tokens.user_id, user_id)));
  for (const about of [`user:${user_id}`, ...own.map(({ id }) => `token:${id}`)]) {
    const its = or(eq(incidents.subject, about), startsWith(incidents.subject, `${about}:`));
    yield* run(q.delete(incidents).where(its).returning({ id: incidents.id }));
  }
}

/** A message that is due, with its incident. */
export interface DueMessage {
  delivery: Delivery;
  incident: Incident;
}

/** Most messages of one round. */
const MOST_DUE = 20_000;

/** Targets that have something to be sent now. */
export async function dueTargets(services: Needs): Promise<string[]> {
  const { alert_deliveries } = services.db.t;
  const rows = await services.db.q
    .selectDistinct({ target: alert_deliveries.target })
    .from(alert_deliveries)
    .where(and(sql`${alert_deliveries.next_at} <> 0`, lte(alert_deliveries.next_at, seconds(services))));
  return rows.map(({ target }) => target);
}

/** What is due for a target, the oldest incident first. */
export function dueMessages(services: Needs, target: string): Promise<DueMessage[]> {
  const { alert_deliveries, incidents } = services.db.t;
  return services.db.q
    .select({ delivery: alert_deliveries, incident: incidents })
    .from(alert_deliveries)
    .innerJoin(incidents, eq(incidents.id, alert_deliveries.incident_id))
    .where(
      and(
        sql`${alert_deliveries.next_at} <> 0`,
        lte(alert_deliveries.next_at, seconds(services)),
        eq(alert_deliveries.target, target),
      ),
    )
    .orderBy(alert_deliveries.incident_id, alert_deliveries.id)
    .limit(MOST_DUE);
}

/**
 * Takes messages for sending: until `until` no other instance takes them. Returns the ids that were taken; what is not
 * settled by then is sent again.
 */
export async function takeMessages(services: Needs, ids: readonly number[], until: number): Promise<Set<number>> {
  const { alert_deliveries } = services.db.t;
  const taken = new Set<number>();
  for (const chunk of chunks(ids)) {
    const rows = await services.db.bulk
      .update(alert_deliveries)
      .set({ next_at: until, attempts: sql`${alert_deliveries.attempts} + 1` })
      .where(
        and(
          inArray(alert_deliveries.id, chunk),
          ne(alert_deliveries.next_at, 0),
          lte(alert_deliveries.next_at, seconds(services)),
        ),
      )
      .returning({ id: alert_deliveries.id });
    for (const { id } of rows) taken.add(id);
  }
  return taken;
}

/** Writes what became of messages. */
export async function settleMessages(
  services: Needs,
  ids: readonly number[],
  outcome: { next_at: number; sent_at?: number; error: string },
): Promise<void> {
  const { alert_deliveries } = services.db.t;
  const values = { ...outcome, error: cut(withoutNul(outcome.error), 500) };
  for (const chunk of chunks(ids))
    await services.db.bulk.update(alert_deliveries).set(values).where(inArray(alert_deliveries.id, chunk));
}

/** What was sent of an incident, for its details. */
export function deliveriesOf({ db }: Needs, incident_id: number): Promise<Delivery[]> {
  const { alert_deliveries } = db.t;
  return db.q
    .select()
    .from(alert_deliveries)
    .where(eq(alert_deliveries.incident_id, incident_id))
    .orderBy(desc(alert_deliveries.id))
    .limit(200);
}
