/**
 * The log of the source: roll-ups of all its rows, and the rows themselves by choice. What a row adds to an hour it
 * takes from the opening rows of its user, token and channel, so that every total stays what the source says.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { eq } from "drizzle-orm";
import { FOLDED, LOG_TYPE } from "../../../shared/log";
import type { Q } from "../../db/types";
import { run, type Steps } from "../../db/transaction";
import { type Hour, NOTHING } from "../log/fold";
import { keyOf } from "./plan";
import { isLeft, type SourceLog } from "./records";
import type { Source } from "../../db/foreign/source";
import type { Survey } from "./survey";
import { addHours, type Needs, openingHour, standIn, type Target } from "./target";

/** Rows of the source in one transaction: with its hours a row makes at most four here, and 5,000 are the bound. */
const BATCH = 1200;
/** Rows of one statement: a row has 28 columns. */
const ROWS = 200;

export interface LogsInput {
  services: Needs;
  source: Source;
  survey: Survey;
  target: Target;
  /** Rows are kept from this time on, epoch seconds; Infinity: only the roll-ups. */
  since: number;
  progress(done: number, of: string): void;
  /** True stops after the running transaction; the next run goes on there. */
  stopped(): boolean;
}

export interface LogsWritten {
  read: number;
  kept: number;
  left: Record<string, number>;
}

export async function writeLogs(input: LogsInput): Promise<LogsWritten> {
  const { services, source, survey, target } = input;
  const written: LogsWritten = { read: 0, kept: 0, left: {} };
  const use = survey.tables.logs;
  if (!use || !(await source.catalogue()).has(use.table)) return written;
  const owner = await standIn(services);
  const names = new Map<number, string>();
  const { users } = services.db.t;
  for (const { id, username } of await services.db.q.select({ id: users.id, username: users.username }).from(users))
    names.set(id, username);
  while (!input.stopped()) {
    const rows = await source.rows(use.table, use.key, target.cursor.logs, BATCH);
    const last = rows.at(-1);
    if (!last) break;
    const records = rows.map((row) => use.read(row));
    const cursor = { ...target.cursor, logs: keyOf(last, use.key) };
    await services.db.tx((q) => writeBatch(input, q, records, cursor, names, owner, written), { long: true });
    target.cursor = cursor;
    written.read += rows.length;
    input.progress(written.read, "log rows");
    if (rows.length < BATCH) break;
    // SQLite answers at once: without a turn of the event loop no signal would be heard.
    await nextTurn();
  }
  return written;
}

function* writeBatch(
  { services, target, since }: LogsInput,
  q: Q,
  records: readonly (SourceLog | { left: string })[],
  cursor: Target["cursor"],
  names: ReadonlyMap<number, string>,
  owner: { id: number; username: string } | undefined,
  written: LogsWritten,
): Steps<void> {
  const { imports, logs } = services.db.t;
  const leave = (why: string): void => void (written.left[why] = (written.left[why] ?? 0) + 1);
  const hours: Hour[] = [];
  const kept: (typeof logs.$inferInsert)[] = [];
  for (const record of records) {
    if (isLeft(record)) {
      leave(record.left);
      continue;
    }
    const user_id = target.idOf("user", record.user);
    if (user_id === 0) {
      leave("of users who are not taken");
      continue;
    }
    const token_id = target.idOf("token", record.token);
    const channel = target.idOf("channel", record.channel);
    const username = names.get(user_id) ?? record.username;
    const { type, model_name, group } = record;
    // A clock that was ahead there must not reach into hours that are counted here.
    const created_at = Math.min(record.created_at, target.opening);
    const net = type === LOG_TYPE.consume ? record.quota : type === LOG_TYPE.refund ? -record.quota : 0;
    const count = type === LOG_TYPE.consume ? 1 : 0;
    if (count > 0 || net !== 0 || type === LOG_TYPE.error) {
      hours.push({
        ...NOTHING,
        hour: created_at - (created_at % 3600),
        user_id,
        username,
        token_id,
        channel,
        model_name,
        group,
        count,
        error_count: type === LOG_TYPE.error ? 1 : 0,
        quota: net,
        prompt_tokens: count * record.prompt_tokens,
        completion_tokens: count * record.completion_tokens,
        use_time: count * record.use_time,
      });
      if (net !== 0 || count !== 0)
        hours.push(openingHour(target, { user_id, username, token_id, channel: 0, quota: -net, count: -count }));
      if (channel !== 0 && net !== 0 && owner)
        for (const [of, sign] of [
          [channel, -1],
          [0, 1],
        ] as const)
          hours.push(
            openingHour(target, {
              user_id: owner.id,
              username: owner.username,
              token_id: 0,
              channel: of,
              quota: sign * net,
              count: 0,
            }),
          );
    }
    if (record.created_at < since) continue;
    const { id, user: _user, token: _token, quota, cache_read: _read, cache_write: _write, ...plain } = record;
    kept.push({
      ...plain,
      request_id: `imp-${target.source}-${id}`,
      created_at,
      user_id,
      username,
      token_id,
      channel,
      quota,
      folded: FOLDED.done,
    });
  }
  for (let i = 0; i < kept.length; i += ROWS)
    yield* run(
      q
        .insert(logs)
        .values(kept.slice(i, i + ROWS))
        .onConflictDoNothing(),
    );
  written.kept += kept.length;
  yield* addHours(services.db, q, hours);
  yield* run(
    q
      .update(imports)
      .set({ cursor: JSON.stringify(cursor) })
      .where(eq(imports.source, target.source)),
  );
}
