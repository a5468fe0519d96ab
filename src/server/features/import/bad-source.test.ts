/** Sources and disks that fail half-way: the same command, run again, makes it right. */
import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { type Harness, HOOK_MS, openHarness } from "../../../../tests/kit/harness";
import {
  keyOfToken,
  newApiHistory,
  newApiTables,
  type SourceTables,
  writeFile,
} from "../../../../tests/kit/import-sources";
import { openSource } from "../../db/foreign/open";
import type { Source } from "../../db/foreign/source";
import type { Steps } from "../../db/transaction";
import type { Q, TxOptions } from "../../db/types";
import { audit } from "../wallet/audit";
import { runImport, type RunInput } from "./run";
import { survey } from "./survey";

const folder = mkdtempSync(join(tmpdir(), "weir-bad-source-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
function written(tables: SourceTables): string {
  const path = join(folder, `${++files}.db`);
  writeFile(path, tables);
  return path;
}

async function go(house: Harness, source: Source, more: Partial<RunInput> = {}) {
  const ask = { answers: {}, merge: false, since: -Infinity };
  const { plan } = await survey(house.services, source, ask);
  const answers = Object.fromEntries(plan.decisions.map((one) => [one.id, one.recommended]));
  const found = await survey(house.services, source, { ...ask, answers });
  return runImport(house.services, found, undefined, {
    live: false,
    merge: false,
    logDays: Infinity,
    progress: () => {},
    stopped: () => false,
    ...more,
  });
}

async function findings(house: Harness): Promise<unknown[]> {
  const all: unknown[] = [];
  for await (const one of audit(house.services.db)) all.push(one);
  return all;
}

/** new-api with so many rows of the log more. */
function withLog(rows: number): SourceTables {
  const tables = newApiHistory();
  const [call] = tables.logs?.rows ?? [];
  for (let id = 100; id < 100 + rows; id++) tables.logs?.rows.push({ ...call, id, quota: 0, content: "x".repeat(400) });
  return tables;
}

test(
  "a disk that is full ends the run with books that balance; with room again the same command makes it whole",
  async () => {
    const house = await openHarness("sqlite");
    try {
      const source = await openSource(written(withLog(5000)), {});
      const { sqlite } = house.services.db.driver;
      const pages = (room: number): void => {
        const { page_count } = sqlite?.query<{ page_count: number }, []>("PRAGMA page_count").get() ?? {
          page_count: 0,
        };
        sqlite?.exec(`PRAGMA max_page_count = ${page_count + room}`);
      };
      const full = (_: number, of: string): void => void (of === "log rows" && pages(50));
      await expect(go(house, source, { progress: full })).rejects.toThrow(/full/);
      expect(await findings(house)).toEqual([]);
      const { q, t } = house.services.db;
      const kept = await q.$count(t.logs);
      expect(kept).toBeGreaterThan(0);
      expect(kept).toBeLessThan(5000);
      pages(100_000);
      expect(await go(house, source)).toMatchObject({ finished: true, users: { users: 0, unchanged: 8 } });
      expect(await findings(house)).toEqual([]);
      expect(await q.$count(t.logs)).toBe(5010);
      await source.close();
    } finally {
      await house.close();
    }
  },
  HOOK_MS * 2,
);

test(
  "a source that is written to while it is read is told, and the run after its final stop takes the rest",
  async () => {
    const house = await openHarness("sqlite");
    try {
      const path = written(withLog(5000));
      const writer = new Database(path);
      writer.exec("PRAGMA journal_mode=WAL");
      const source = await openSource(path, {});
      let calls = 0;
      const write = (): void => {
        calls++;
        writer.exec(`update users set quota = quota - 5, used_quota = used_quota + 5, request_count = request_count + 1 where id = 3;
          update tokens set used_quota = used_quota + 5 where id = 4;
          insert into users select ${1000 + calls}, 'late-${calls}', password, display_name, '', role, status, "group", 10, 0, 0, null,
            null, inviter_id, github_id, wechat_id, deleted_at, 0, 0, 0, oidc_id, '', telegram_id, discord_id, '' from users where id = 3;
          insert into logs select ${100_000 + calls}, 3, created_at, 2, content, username, token_name, model_name, 5, prompt_tokens,
            completion_tokens, 1, use_time, is_stream, 4, "group", ip, other from logs where id = 1`);
      };
      const during = await go(house, source, { progress: write });
      expect(calls).toBeGreaterThan(1);
      expect(during).toMatchObject({ moved: true, finished: true });
      expect(await findings(house)).toEqual([]);
      writer.close();
      expect(await go(house, source)).toMatchObject({ moved: false, finished: true });
      expect(await findings(house)).toEqual([]);
      const { q, t } = house.services.db;
      const [bob] = await q.select().from(t.users).where(eq(t.users.id, 3));
      expect(bob).toMatchObject({ quota: 3000 - 5 * calls, used_quota: 5 * calls, request_count: calls });
      expect(await q.$count(t.users)).toBe(8 + calls);
      expect(await q.$count(t.logs)).toBe(5010 + calls);
      await source.close();
    } finally {
      await house.close();
    }
  },
  HOOK_MS * 2,
);

test(
  "a run that is stopped in the middle of the log ends after its transaction, and the next goes on with the row after it",
  async () => {
    const house = await openHarness("sqlite");
    try {
      const source = await openSource(written(withLog(5000)), {});
      const told: [number, string][] = [];
      let stopped = false;
      const first = await go(house, source, {
        progress: (...one) => {
          told.push(one);
          // As a signal does: it is heard when the event loop turns.
          if (one[1] === "log rows") setImmediate(() => (stopped = true));
        },
        stopped: () => stopped,
      });
      expect(told.at(-1)).toEqual([1200, "log rows"]);
      expect(first).toMatchObject({ finished: false, logs: { read: 1200 } });
      expect(await findings(house)).toEqual([]);
      expect(await go(house, source)).toMatchObject({ finished: true, users: { users: 0 }, logs: { read: 3811 } });
      expect(await findings(house)).toEqual([]);
      expect(await house.services.db.q.$count(house.services.db.t.logs)).toBe(5010);
      await source.close();
    } finally {
      await house.close();
    }
  },
  HOOK_MS,
);

/** A source without these columns of its tables; a name without a point is a whole table. */
function without(tables: SourceTables, names: readonly string[]): SourceTables {
  const left = Object.entries(tables).flatMap(([table, { columns, rows }]) => {
    if (names.includes(table)) return [];
    const gone = (column: string): boolean => names.includes(`${table}.${column}`);
    const kept = Object.entries(columns).filter(([column]) => !gone(column));
    const cut = rows.map((row) => Object.fromEntries(Object.entries(row).filter(([column]) => !gone(column))));
    return [[table, { columns: Object.fromEntries(kept), rows: cut }] as const];
  });
  return Object.fromEntries(left);
}

test.each([
  [
    "of the first releases: no groups of tokens, no invitations, no codes, no setups",
    "new-api before 0.8.5",
    newApiTables,
    [
      "setups",
      "redemptions",
      "users.aff_count",
      "users.aff_quota",
      "users.aff_history",
      "users.oidc_id",
      "users.setting",
      "tokens.group",
      "tokens.allow_ips",
      "channels.channel_info",
      "channels.header_override",
      "channels.tag",
      "logs.ip",
      "logs.other",
      "logs.is_stream",
    ],
  ],
  [
    "without a log, options or deletion marks",
    "new-api 0.8.5 or later",
    newApiHistory,
    [
      "logs",
      "options",
      "users.deleted_at",
      "tokens.deleted_at",
      "tasks.private_data",
      "top_ups.payment_method",
      "midjourneys.buttons",
    ],
  ],
] as const)(
  "a fork %s is imported with what it has, and its own columns and tables are named",
  async (_, recognised, tables, gone) => {
    const house = await openHarness("sqlite");
    try {
      const fork = without(tables(), gone);
      if (fork.users) {
        fork.users.columns.vip_until = "bigint";
        for (const row of fork.users.rows) row.vip_until = 9;
      }
      const source = await openSource(written(fork), {});
      const { plan } = await survey(house.services, source, { answers: {}, merge: false });
      expect(plan).toMatchObject({ system: "new-api", recognised });
      expect(plan.tables.find(({ table }) => table === "users")?.columns).toContainEqual({
        column: "vip_until",
        rows: 8,
        why: "not known to Weir",
      });
      expect(plan.other.map(({ table }) => table)).toContain("fork_table");
      expect(await go(house, source)).toMatchObject({ finished: true, users: { users: 8 }, channels: 4 });
      expect(await findings(house)).toEqual([]);
      const caller = house.services.tokens.authenticate(`sk-${keyOfToken(1)}`, "127.0.0.1", "en");
      await expect(caller).resolves.toMatchObject({ token_id: 1 });
      await source.close();
    } finally {
      await house.close();
    }
  },
  HOOK_MS,
);

test(
  "a SQLite source is only read: not a byte of it changes, nothing stands beside it, and what its schema wants to run does not",
  async () => {
    const house = await openHarness("sqlite");
    const own = mkdtempSync(join(folder, "own-"));
    try {
      const path = join(own, "one-api.db");
      writeFile(path, newApiHistory());
      const planted = new Database(path);
      // A file of unknown origin must run nothing here: no trigger, and no view of tables that tell paths.
      planted.exec(`create table ran (id integer);
        create trigger spy after update on users begin insert into ran values (1); end;
        create view places as select seq, file from pragma_database_list`);
      planted.close();
      const digest = (): string => Bun.SHA256.hash(readFileSync(path), "hex");
      const before = digest();
      const source = await openSource(path, {});
      await expect(source.rows("places", "seq", undefined, 1)).rejects.toThrow(/unsafe use of virtual table/);
      expect(await go(house, source)).toMatchObject({ finished: true, moved: false });
      await source.close();
      expect(digest()).toBe(before);
      expect(readdirSync(own)).toEqual(["one-api.db"]);
    } finally {
      await house.close();
    }
  },
  HOOK_MS,
);

test(
  "no transaction of the run writes more than 5,000 rows, however many tokens a user has and however the log is spread",
  async () => {
    const house = await openHarness("sqlite");
    try {
      const tables = newApiTables();
      const [[person], [token], [call]] = [
        tables.users?.rows ?? [],
        tables.tokens?.rows ?? [],
        tables.logs?.rows ?? [],
      ];
      const bound = (id: number) => ({
        github_id: String(id),
        telegram_id: `t${id}`,
        linux_do_id: `l${id}`,
        wechat_id: `w${id}`,
      });
      for (let id = 1000; id < 1300; id++)
        tables.users?.rows.push({
          ...person,
          ...bound(id),
          id,
          role: 1,
          username: `u${id}`,
          aff_code: `u${id}`,
          used_quota: 5,
        });
      for (let id = 1000; id < 4000; id++)
        tables.tokens?.rows.push({ ...token, id, user_id: 1000, key: String(id).padStart(48, "k"), used_quota: 5 });
      // Each in an hour, of a token and on a channel of its own.
      for (let id = 1000; id < 4000; id++)
        tables.logs?.rows.push({
          ...call,
          id,
          user_id: 1000,
          token_id: id,
          channel_id: 1 + (id % 4),
          created_at: 1_700_000_000 + id * 3600,
        });
      const source = await openSource(written(tables), {});
      const { db } = house.services;
      const changes = (): number =>
        db.driver.sqlite?.query<{ n: number }, []>("SELECT total_changes() AS n").get()?.n ?? 0;
      let most = 0;
      const original = db.tx.bind(db);
      db.tx = async <T>(steps: (q: Q) => Steps<T>, options?: TxOptions): Promise<T> => {
        const before = changes();
        const result = await original(steps, options);
        most = Math.max(most, changes() - before);
        return result;
      };
      expect(await go(house, source)).toMatchObject({ finished: true, users: { users: 308, tokens: 3003 } });
      expect(most).toBeGreaterThan(2000);
      expect(most).toBeLessThanOrEqual(5000);
      expect(await findings(house)).toEqual([]);
      await source.close();
    } finally {
      await house.close();
    }
  },
  HOOK_MS * 2,
);
