/** The log in partitions: its migration, its edges, what a reading touches, what retention removes. Postgres alone. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { SQL } from "bun";
import { drizzle } from "drizzle-orm/bun-sql";
import { emptyPostgres, ENGINES } from "../../../../tests/kit/databases";
import { type Harness, HOOK_MS, openHarness, type Person } from "../../../../tests/kit/harness";
import { statementsOf } from "../../../../tests/kit/statements";
import { until } from "../../../../tests/kit/until";
import { addUser, calls, expectBalanced } from "../../../../tests/money/world";
import { FOLDED, LOG_TYPE } from "../../../shared/log";
import type { LogFilter } from "../../../shared/log-list";
import { ROLE } from "../../../shared/roles";
import { openDb } from "../../db/client";
import type { Connections } from "../../db/connection-types";
import { postgresMigrations } from "../../db/migrate";
import type { NewLogRow } from "../../db/schema";
import { requestIdTime } from "../../http/request-id";
import { createPostgresLedger } from "../wallet/ledger.pg";
import { cleanLogs, removeExpired } from "./clean";
import { dropPartitions, keepPartitions } from "./partitions";
import { pageLogs } from "./service";
import { logStat } from "./stat";

const at = (text: string): number => Date.parse(`${text}Z`) / 1000;
// Every partition is a table with its indexes, which takes its time on a busy machine.
setDefaultTimeout(HOOK_MS);
const PAGE = { p: 1, page_size: 100 };

let h: Harness;
let sql: Connections;
/** Makes partitions as a timer would at that time. */
const keepAt = (text: string): Promise<void> => keepPartitions({ ...h.services, now: () => at(text) * 1000 });
/** The same, killed on its way. */
async function killedAt(text: string, where: "before the proof" | "before the first table"): Promise<void> {
  let transactions = 0;
  const dying: Connections = {
    ...sql,
    within: () => dying,
    unsafe: ((statement: string, values?: unknown[]) => {
      if (where === "before the proof" && statement.includes("VALIDATE")) throw new Error("killed");
      return sql.unsafe(statement, values);
    }) as typeof sql.unsafe,
    begin: ((work: Parameters<typeof sql.begin>[0]) => {
      if (++transactions > 1) throw new Error("killed");
      return sql.begin(work);
    }) as typeof sql.begin,
  };
  const db = { ...h.services.db, driver: { postgres: dying } };
  await expect(keepPartitions({ ...h.services, db, now: () => at(text) * 1000 })).rejects.toThrow("killed");
}
const tables = async (): Promise<string[]> =>
  (
    await sql.unsafe<{ name: string }>(
      "SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'logs'::regclass ORDER BY 1",
    )
  ).map(({ name }) => name);
const tableOf = async (request_id: string): Promise<string | undefined> =>
  (
    await sql.unsafe<{ name: string }>("SELECT tableoid::regclass::text AS name FROM logs WHERE request_id = $1", [
      request_id,
    ])
  )[0]?.name;

let made = 0;
/** A row of `time`; its id is of that time too unless `id` says otherwise. */
const rowAt = (time: string, fields: Partial<NewLogRow> = {}): NewLogRow => ({
  request_id: `${requestIdTime(at(time))}${String(++made).padStart(9, "0")}`,
  created_at: at(time),
  type: LOG_TYPE.consume,
  user_id: 1,
  quota: 1,
  folded: FOLDED.done,
  ...fields,
});
const insert = (...rows: NewLogRow[]) => h.services.db.q.insert(h.services.db.t.logs).values(rows);

async function open(): Promise<void> {
  h = await openHarness("postgres");
  sql = h.services.db.driver.postgres ?? expect.unreachable("not Postgres");
}

test("the log of an installation becomes the first partition as it is, also when a reader has it open", async () => {
  const { url, close } = await emptyPostgres();
  const old = new SQL(url, { max: 2 });
  const { dialect, session } = drizzle({ client: old }) as unknown as {
    dialect: { migrate(list: unknown, session: unknown, config: object): Promise<void> };
    session: unknown;
  };
  const before = postgresMigrations.filter(({ tag }) => tag < "0007");
  await dialect.migrate(before, session, {});
  await old.unsafe(
    "INSERT INTO logs (request_id, created_at, type, user_id) SELECT 'imp-1-' || n, n, 2, 1 FROM generate_series(1, 50) AS n",
  );
  await old.unsafe("DELETE FROM logs WHERE id = 50");
  const indexes = async (table: string): Promise<number> =>
    (await old.unsafe("SELECT 1 FROM pg_indexes WHERE tablename = $1", [table])).length;
  const count = await indexes("logs");
  // As a node of the release before goes on doing, with statements that were prepared before.
  const settle = (id: string): Promise<unknown[]> =>
    old.unsafe(
      "INSERT INTO logs (request_id, created_at, type, user_id) VALUES ($1, 1, 2, 1) ON CONFLICT (request_id) DO NOTHING RETURNING id",
      [id],
    );
  const read = (id: string): Promise<unknown[]> => old.unsafe("SELECT * FROM logs WHERE request_id = $1", [id]);
  const reader = await old.reserve();
  expect(await settle("imp-1-1")).toHaveLength(0);
  const [row] = await read("imp-1-1");
  await reader.unsafe("BEGIN");
  await reader.unsafe("SELECT 1 FROM logs LIMIT 1");
  const opening = openDb({ url, pool: 2 });
  // It waits for the lock, and gives way to others again.
  const waiting = async () =>
    (await old.unsafe("SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'logs'::regclass")).length > 0;
  await until("the migration waits", waiting);
  await until("it gives way", async () => !(await waiting()));
  await reader.unsafe("COMMIT");
  reader.release();
  const db = await opening;
  expect(await read("imp-1-1")).toEqual([row]);
  expect(await settle("imp-1-1")).toHaveLength(0);
  expect(await settle("imp-2-1")).toHaveLength(1);
  expect(await indexes("logs_before")).toBe(count);
  expect(await db.q.$count(db.t.logs)).toBe(50);
  const added = await db.q
    .insert(db.t.logs)
    .values(rowAt("2026-11-23T10:00:00"))
    .onConflictDoNothing({ target: db.t.logs.request_id })
    .returning({ id: db.t.logs.id });
  expect(added[0]?.id).toBeGreaterThan(51);
  await db.close();
  await old.close();
  await close();
});

describe("partitions on Postgres", () => {
  beforeEach(open, HOOK_MS);
  afterEach(() => h.close());

  test("partitions are made a week ahead, of months, or of days where rows are kept for days", async () => {
    await keepAt("2026-11-21T12:00:00");
    expect(await tables()).toEqual(["logs_before", "logs_later"]);
    await keepAt("2026-12-28T00:00:00");
    await keepAt("2026-12-28T01:00:00");
    expect(await tables()).toEqual(["logs_20261201", "logs_20270101", "logs_before", "logs_later"]);
    await h.services.options.set("LogRetentionDays", "30");
    await keepAt("2027-01-27T00:00:00");
    expect(await tables()).toEqual([
      "logs_20261201",
      "logs_20270101",
      "logs_20270201",
      "logs_20270202",
      "logs_before",
      "logs_later",
    ]);
  });

  test("what was killed in the middle is completed by the next run, whatever was done already", async () => {
    const again = () =>
      sql.unsafe(
        "ALTER TABLE logs_before DROP CONSTRAINT logs_before_end; DROP TABLE IF EXISTS logs_20261201, logs_later",
      );
    for (const where of ["before the proof", "before the first table"] as const) {
      await killedAt("2026-11-21T12:00:00", where);
      expect(await tables()).toEqual(["logs_before"]);
      await keepAt("2026-11-29T00:00:00");
      expect(await tables()).toEqual(["logs_20261201", "logs_before", "logs_later"]);
      await again();
    }
    // Killed, and no process ran until the border was near: it is moved.
    await killedAt("2026-11-21T12:00:00", "before the first table");
    await keepAt("2026-11-30T12:00:00");
    await insert(rowAt("2026-12-05T00:00:00"));
    expect(await tables()).toEqual(["logs_before", "logs_later"]);
  });

  test("what was killed in the middle refuses no row at its border, whatever runs then", async () => {
    await h.services.options.set("LogRetentionDays", "30");
    const now = Date.now() / 1000;
    const today = new Date(now * 1000).toISOString().slice(0, 19);
    // The border is the last midnight.
    await killedAt(new Date((now - 8 * 86_400) * 1000).toISOString().slice(0, 19), "before the first table");
    const row = rowAt(today);
    await insert(row);
    await keepAt(today);
    expect(await tableOf(row.request_id)).toBe("logs_before");
    expect(await tables()).toEqual(["logs_before", "logs_later"]);
  });

  test("the old table is read once for the proof, and not for the partitions after it", async () => {
    await insert(...Array.from({ length: 50 }, () => rowAt("2026-11-20T00:00:00")));
    const own = await openDb({ url: h.url, pool: 1 });
    const scans = async () => {
      const one = own.driver.postgres?.within("long") ?? expect.unreachable("not Postgres");
      await one.unsafe("SELECT pg_stat_force_next_flush()");
      const [row] = await one.unsafe<{ n: string }>("SELECT pg_stat_get_numscans('logs_before'::regclass) AS n");
      return Number(row?.n);
    };
    const keep = (text: string) => keepPartitions({ ...h.services, db: own, now: () => at(text) * 1000 });
    const before = await scans();
    await keep("2026-11-21T12:00:00");
    expect(await scans()).toBe(before + 1);
    await keep("2027-01-27T00:00:00");
    expect(await scans()).toBe(before + 1);
    expect(await tables()).toHaveLength(5);
    await own.close();
  });

  test("rows of a time without a partition are kept, and move into it when it is made", async () => {
    await keepAt("2026-11-21T12:00:00");
    const rows = ["2026-12-31T23:59:59", "2027-01-01T00:00:00", "2027-03-01T00:00:00"].map((time) => rowAt(time));
    await insert(...rows);
    expect(await Promise.all(rows.map((row) => tableOf(row.request_id)))).toEqual(Array(3).fill("logs_later"));
    const ids = await sql.unsafe("SELECT id, request_id FROM logs ORDER BY 1");
    await keepAt("2027-01-10T00:00:00");
    expect(await Promise.all(rows.map((row) => tableOf(row.request_id)))).toEqual([
      "logs_20261201",
      "logs_20270101",
      "logs_later",
    ]);
    expect(await sql.unsafe("SELECT id, request_id FROM logs ORDER BY 1")).toEqual(ids);
  });

  test("a call is charged once on both sides of every edge, alone and in batches, by two instances, also when its partition is made meanwhile", async () => {
    const { db } = h.services;
    const clock = () => at("2026-12-31T23:59:59") * 1000;
    const [one, other] = ["a", "b"].map((name) => createPostgresLedger(db, sql, name, clock));
    if (!one || !other) throw new Error("no ledger");
    await keepAt("2026-11-21T12:00:00");
    const user = await addUser(db, one, 10_000);
    const edges = ["2026-12-01", "2027-01-01", "2027-02-01"];
    const ids = edges.flatMap((edge) => [
      `${requestIdTime(at(`${edge}T00:00:00`) - 1)}999999999zzzzzzzz`,
      `${requestIdTime(at(`${edge}T00:00:00`))}000000000aaaaaaaa`,
    ]);
    const twice = () =>
      Promise.all([one, other].flatMap((ledger) => ids.map((id) => calls(ledger, user, 0).settle(id, 10))));
    const settled = (await twice()).filter((answer) => answer.settled).length;
    expect(settled).toBe(ids.length);
    await Promise.all([keepAt("2026-12-28T00:00:00"), twice()]);
    for (const id of ids) expect(await calls(other, user, 0).settle(id, 10)).toMatchObject({ settled: false });
    expect((await twice()).some((answer) => answer.settled)).toBe(false);
    expect(await expectBalanced(db, user)).toMatchObject({ quota: 10_000 - 60, calls: 6 });
    expect(await Promise.all(ids.map(tableOf))).toEqual([
      "logs_before",
      "logs_20261201",
      "logs_20261201",
      "logs_20270101",
      "logs_20270101",
      "logs_later",
    ]);
  });

  test("retention drops whole days, keeps a day whose rows are not all counted, and empties the old table", async () => {
    await h.services.options.set("LogRetentionDays", "3");
    await keepAt("2026-11-21T12:00:00");
    await keepAt("2026-12-10T12:00:00");
    await insert(
      rowAt("2026-11-20T00:00:00"),
      rowAt("2026-12-03T00:00:00"),
      rowAt("2026-12-04T12:00:00", { folded: FOLDED.not_yet }),
      rowAt("2026-12-04T12:00:00"),
      // The refund of an old call.
      rowAt("2026-12-05T12:00:00"),
      rowAt("2026-12-09T12:00:00", {
        request_id: `${requestIdTime(at("2026-12-05T12:00:00"))}x/refund`,
        type: LOG_TYPE.refund,
      }),
      rowAt("2026-12-07T12:00:00"),
    );
    await removeExpired({ ...h.services, now: () => at("2026-12-10T12:00:00") * 1000 });
    const left = await sql.unsafe<{ request_id: string }>("SELECT request_id FROM logs ORDER BY request_id");
    expect(left.map(({ request_id }) => request_id.slice(0, 8))).toEqual(["20261204", "20261205", "20261207"]);
    expect(left[1]?.request_id).toEndWith("/refund");
    const names = await tables();
    expect(names.filter((name) => name < "logs_20261208")).toEqual(["logs_20261204", "logs_20261205", "logs_20261207"]);
    expect(names).toContain("logs_before");
    expect(await h.services.db.q.$count(h.services.db.t.logs)).toBe(3);
  });

  test("a cleanup by hand answers how many rows went, those of dropped partitions included", async () => {
    await keepAt("2026-11-21T12:00:00");
    await keepAt("2027-01-10T12:00:00");
    await insert(
      ...Array.from({ length: 20 }, () => rowAt("2026-12-20T00:00:00")),
      ...Array.from({ length: 3 }, () => rowAt("2027-01-02T00:00:00")),
      rowAt("2027-01-04T00:00:00"),
    );
    expect(
      await cleanLogs(
        { ...h.services, now: () => at("2027-01-10T12:00:00") * 1000 },
        at("2027-01-03T00:00:00"),
        "root",
      ),
    ).toBe(23);
    expect(await tables()).toEqual(["logs_20270101", "logs_before", "logs_later"]);
  });
});

describe("readings by time on Postgres", () => {
  let admin: Person;
  const days = (from: string, to: string) => ({
    start_timestamp: at(`${from}T00:00:00`),
    end_timestamp: at(`${to}T00:00:00`),
  });

  beforeAll(async () => {
    await open();
    admin = await h.person({ role: ROLE.root });
    await keepAt("2026-11-21T12:00:00");
    await keepAt("2028-11-01T12:00:00");
    h.advance(at("2028-11-15T00:00:00") - Date.now() / 1000);
    await sql.unsafe(
      `INSERT INTO logs (request_id, created_at, type, user_id, quota, folded, model_name)
       SELECT to_char(to_timestamp(at) AT TIME ZONE 'UTC', 'YYYYMMDDHH24MISS') || lpad(n::text, 9, '0'), at, 2, 1, 1, 1, 'm'
       FROM (SELECT n, ${at("2026-11-15T00:00:00")} + n * 15000 AS at FROM generate_series(1, 4000) AS n) AS rows`,
    );
    await insert(
      rowAt("2028-06-10T12:00:00", {
        request_id: `${requestIdTime(at("2027-02-10T12:00:00"))}x/refund`,
        type: LOG_TYPE.refund,
        model_name: "late",
      }),
      rowAt("2028-06-10T12:00:00", { request_id: "imp-1-1", model_name: "imported" }),
    );
    await sql.unsafe("ANALYZE logs");
  }, HOOK_MS);
  afterAll(() => h.close());

  const touched = async (ask: () => Promise<unknown>): Promise<string[]> => {
    const found = new Set<string>();
    for (const statement of await statementsOf(h, ask)) {
      if (!statement.sql.includes("logs")) continue;
      const plan = await sql.unsafe<{ "QUERY PLAN": string }>(`EXPLAIN ${statement.sql}`, statement.params);
      for (const line of plan) {
        const name = /on (logs_(?:\d{8}|before|later))\b/.exec(line["QUERY PLAN"])?.[1];
        if (name) found.add(name);
      }
    }
    return [...found].sort();
  };

  test("there are 24 partitions of months", async () => {
    expect((await tables()).filter((name) => /\d/.test(name))).toHaveLength(24);
  });

  const within: [string, LogFilter][] = [
    ["without a filter", {}],
    ["of a model", { model_name: "m" }],
    ["of a channel", { channel: 1 }],
    ["of a text", { keyword: "m" }],
    ["of a type", { type: LOG_TYPE.refund }],
  ];
  test.each(within)(
    "a page %s of some days, and its totals, read the partitions of these days and the old table",
    async (_, filter) => {
      const range = { ...filter, ...days("2028-04-10", "2028-04-20") };
      expect(await touched(() => pageLogs(admin.ctx, "all", { ...range, ...PAGE }))).toEqual([
        "logs_20280401",
        "logs_before",
      ]);
      expect(
        await touched(() => pageLogs(admin.ctx, "all", { ...range, ...days("2028-04-30", "2028-05-02"), ...PAGE })),
      ).toEqual(["logs_20280401", "logs_20280501", "logs_before"]);
      const totals = await touched(() => logStat(admin.ctx, "all", { ...range, type: 0 }));
      // The pace of the last minute is of now.
      expect(totals.filter((name) => name > "logs_20270101" && name < "logs_20281001")).toEqual(["logs_20280401"]);
    },
  );

  test("what chooses partitions sorts out no rows within them, which a look for the next name would pass one by one", async () => {
    const range = { model_name: "m", ...days("2028-04-10", "2028-04-20") };
    const statements = await statementsOf(h, () => pageLogs(admin.ctx, "all", { ...range, ...PAGE }));
    const edges = statements.flatMap(({ params }) => params).filter((value) => /^20\d{6}/.test(String(value)));
    expect([...new Set(edges)].sort()).toEqual(["20261201", "20280401", "20280501"]);
  });

  test("a look by request id reads one partition", async () => {
    const [row] = await sql.unsafe<{ request_id: string }>(
      "SELECT request_id FROM logs WHERE request_id LIKE '202802%' LIMIT 1",
    );
    expect(await touched(() => pageLogs(admin.ctx, "all", { request_id: row?.request_id, ...PAGE }))).toEqual([
      "logs_20280201",
    ]);
  });

  test("a reading by time finds what the table has, in every range: rows of a second before and at the edge, late ones, imported ones", async () => {
    for (const [from, to] of [
      ["2026-11-10", "2026-12-02"],
      ["2027-01-31", "2027-02-01"],
      ["2028-06-10", "2028-06-11"],
      ["2028-10-20", "2028-12-20"],
    ] as const) {
      const range = days(from, to);
      const expected = await sql.unsafe<{ n: number }>(
        "SELECT count(*)::int AS n FROM logs WHERE created_at >= $1 AND created_at <= $2",
        [range.start_timestamp, range.end_timestamp],
      );
      expect(await pageLogs(admin.ctx, "all", { ...range, ...PAGE })).toMatchObject({ total: expected[0]?.n });
    }
    for (const model_name of ["late", "imported"])
      expect(
        await pageLogs(admin.ctx, "all", { model_name, ...days("2028-06-10", "2028-06-11"), ...PAGE }),
      ).toMatchObject({ total: 1 });
    // Any number is a time.
    for (const end_timestamp of [1e15, -5, 9e12])
      expect(
        (await pageLogs(admin.ctx, "all", { end_timestamp, start_timestamp: -1e15, ...PAGE })).total,
      ).toBeGreaterThanOrEqual(0);
  });
});

test("on SQLite there is nothing to do", async () => {
  const plain = await openHarness(ENGINES[0]);
  await keepPartitions(plain.services);
  expect(await dropPartitions(plain.services, 1)).toBe(0);
  await plain.close();
});
