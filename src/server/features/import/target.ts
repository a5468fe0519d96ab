/**
 * The database here while it is imported into: which source row became which row, which ids are free, and the opening
 * roll-ups, by which the books balance after every transaction.
 */
import { and, asc, eq, isNull, max, sql } from "drizzle-orm";
import type { Services } from "../../contracts/context";
import type { Q } from "../../db/types";
import { run, type Steps } from "../../db/transaction";
import { addToHours, type Hour, NOTHING } from "../log/fold";

export type Needs = Pick<Services, "db" | "secrets" | "options" | "now">;

/** Model of what was used before the roll-ups begin. */
const BEFORE = "(imported)";

export type Kind = "user" | "token" | "channel" | "code";

/** A row that was taken: its id here, a hash of it as it was, and of what was counted. */
export interface Taken {
  target: number;
  hash: string;
  /** Units credited, used, and calls, as of the last run. */
  credited: number;
  used: number;
  calls: number;
  /** A user who is an account that was here before. */
  joined?: boolean;
}

/** `imported_rows.row_hash`: the hash and the counts, so that a later run adds the difference. */
const packed = ({ hash, credited, used, calls, joined }: Omit<Taken, "target">): string =>
  [hash, credited, used, calls, ...(joined ? ["joined"] : [])].join(" ");

function unpacked(target_id: string, row_hash: string): Taken {
  const [hash = "", credited, used, calls, joined] = row_hash.split(" ");
  return {
    target: Number(target_id),
    hash,
    credited: Number(credited ?? 0),
    used: Number(used ?? 0),
    calls: Number(calls ?? 0),
    joined: joined === "joined",
  };
}

export interface Target {
  readonly source: string;
  /** Hour of the opening roll-ups, epoch seconds. */
  readonly opening: number;
  /** Epoch seconds of the first run. */
  readonly started_at: number;
  /** JSON: how far the log is read. */
  cursor: { logs?: string | number };
  taken(kind: Kind, id: string): Taken | undefined;
  /** Every row of the kind that was taken, by its id in the source. */
  all(kind: Kind): ReadonlyMap<string, Taken>;
  /** The id here; 0 for a row that was not taken. */
  idOf(kind: Kind, id: string): number;
  /** An id for a new row: the source's where it is free, else one above all. */
  newId(kind: Kind, id: string): number;
  /** Within the transaction that writes the rows. */
  noteSteps(q: Q, kind: Kind, rows: ReadonlyMap<string, Taken>): Steps<void>;
}

const HOUR = 3600;

/** Begins or continues the import of a source. `largest`: the source's largest ids. */
export async function openTarget(
  services: Needs,
  source: string,
  system: string,
  largest: Readonly<Record<Kind, number>>,
): Promise<Target> {
  const { db } = services;
  const { imports, imported_rows, users, tokens, channels, redemptions } = db.t;
  const now = Math.floor(services.now() / 1000);
  await db.q
    .insert(imports)
    .values({ source, system, started_at: now })
    .onConflictDoNothing()
    .returning({ source: imports.source });
  const [state] = await db.q.select().from(imports).where(eq(imports.source, source));
  const started_at = state?.started_at ?? now;
  const known: Record<Kind, Map<string, Taken>> = {
    user: new Map(),
    token: new Map(),
    channel: new Map(),
    code: new Map(),
  };
  for (const row of await db.q.select().from(imported_rows).where(eq(imported_rows.source, source))) {
    if (row.kind in known) known[row.kind as Kind].set(row.source_id, unpacked(row.target_id, row.row_hash));
  }
  const used: Record<Kind, Set<number>> = { user: new Set(), token: new Set(), channel: new Set(), code: new Set() };
  const next: Record<Kind, number> = { user: 0, token: 0, channel: 0, code: 0 };
  for (const [kind, table] of [
    ["user", users],
    ["token", tokens],
    ["channel", channels],
    ["code", redemptions],
  ] as const) {
    for (const { id } of await db.q.select({ id: table.id }).from(table)) used[kind].add(id);
    const [row] = await db.q.select({ id: max(table.id) }).from(table);
    next[kind] = Math.max(row?.id ?? 0, largest[kind]) + 1;
  }
  // A transaction that is tried again gets the same ids.
  const given = new Map<string, number>();
  return {
    source,
    started_at,
    opening: started_at - (started_at % HOUR),
    cursor: state?.cursor ? (JSON.parse(state.cursor) as Target["cursor"]) : {},
    taken: (kind, id) => known[kind].get(id),
    all: (kind) => known[kind],
    idOf: (kind, id) => known[kind].get(id)?.target ?? 0,
    newId: (kind, id) => {
      const before = given.get(`${kind} ${id}`);
      if (before !== undefined) return before;
      const same = Number(id);
      const free = Number.isSafeInteger(same) && same > 0 && !used[kind].has(same) ? same : next[kind]++;
      used[kind].add(free);
      given.set(`${kind} ${id}`, free);
      return free;
    },
    *noteSteps(q, kind, rows) {
      const values = [...rows].map(([source_id, one]) => ({
        source,
        kind,
        source_id,
        target_id: String(one.target),
        row_hash: packed(one),
      }));
      for (let i = 0; i < values.length; i += 500) {
        yield* run(
          q
            .insert(imported_rows)
            .values(values.slice(i, i + 500))
            .onConflictDoUpdate({
              target: [imported_rows.source, imported_rows.kind, imported_rows.source_id],
              set: { target_id: sql`excluded.target_id`, row_hash: sql`excluded.row_hash` },
            }),
        );
      }
      for (const [id, one] of rows) known[kind].set(id, one);
    },
  };
}

/** What is added to the opening hour of one user, token and channel. */
export interface Opening {
  user_id: number;
  username: string;
  token_id: number;
  channel: number;
  quota: number;
  count: number;
}

export const openingHour = (target: Target, { user_id, username, token_id, channel, quota, count }: Opening): Hour => ({
  ...NOTHING,
  hour: target.opening,
  user_id,
  username,
  token_id,
  channel,
  model_name: BEFORE,
  group: "",
  quota,
  count,
});

/** Adds up first, because a statement has a bound of parameters. */
export function* addHours(db: Needs["db"], q: Q, hours: readonly Hour[]): Steps<void> {
  const sums = new Map<string, Hour>();
  for (const hour of hours) {
    const key = [hour.hour, hour.user_id, hour.token_id, hour.channel, hour.model_name, hour.group].join("\n");
    const sum = sums.get(key);
    if (!sum) sums.set(key, { ...hour });
    else for (const name of Object.keys(NOTHING) as (keyof typeof NOTHING)[]) sum[name] += hour[name];
  }
  const all = [...sums.values()];
  for (let i = 0; i < all.length; i += 500) yield* addToHours(db, q, all.slice(i, i + 500));
}

/** What a record says that its user was given. */
interface Given {
  user_id: number;
  amount: number;
  kind: "order" | "redeem";
  /** Of the credit: no other can be made for the same order or code. */
  idempotency_key: string;
  /** Key of the credit that takes as much from the opening balance. */
  opening: string;
  created_at: number;
}

/**
 * The credit of an order or a code whose units are in the opening balance already: it is moved out of that, and the
 * balance stays as it is.
 */
export function* inOpening({ db }: Pick<Needs, "db">, q: Q, { opening, ...given }: Given): Steps<void> {
  if (given.amount === 0) return;
  const { user_id, amount, created_at } = given;
  const note = "import: part of the opening balance";
  yield* run(
    q.insert(db.t.credits).values([
      { ...given, note },
      { user_id, amount: -amount, kind: "adjust", idempotency_key: opening, note, created_at },
    ]),
  );
}

/** The account that stands for what is no user's: the first super administrator, else the first user. */
export async function standIn({ db }: Pick<Needs, "db">): Promise<{ id: number; username: string } | undefined> {
  const { users } = db.t;
  const [first] = await db.q
    .select({ id: users.id, username: users.username })
    .from(users)
    .where(isNull(users.deleted_at))
    .orderBy(sql`case when ${users.role} = 100 then 0 else 1 end`, asc(users.id))
    .limit(1);
  return first;
}

/** Opening rows that came to nothing are removed; sequences of Postgres go on after the largest id. */
export async function tidy({ db }: Pick<Needs, "db">): Promise<void> {
  const { usage_hourly: t } = db.t;
  await db.bulk
    .delete(t)
    .where(and(eq(t.model_name, BEFORE), eq(t.quota, 0), eq(t.count, 0), eq(t.error_count, 0)))
    .returning({ hour: t.hour });
  if (db.engine !== "postgres") return;
  for (const name of ["users", "tokens", "channels", "redemptions", "channel_keys", "logs"]) {
    const table = sql.raw(`"${name}"`);
    await db.q
      .select({ n: sql`setval(pg_get_serial_sequence(${name}, 'id'), (SELECT coalesce(max(id), 1) FROM ${table}))` })
      .from(sql`(SELECT 1) AS one`);
  }
}
