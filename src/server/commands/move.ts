/**
 * `weir move TARGET`: this installation from SQLite to Postgres, every row with its id. While a server runs it copies
 * ahead; once the server is stopped it takes what has changed since, proves that both are equal, and is done.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { SQL } from "bun";
import { openDb } from "../db/client";
import { lockFile } from "../db/lock";
import { copyRows, differingTables, isVacant, moveSequences } from "../db/move";
import type { Db } from "../db/types";
import type { Env } from "../env";
import { audit } from "../features/wallet/audit";
import { livingInstances } from "../features/wallet/instances";
import { CannotStart } from "../lib/cannot-start";

const HELP = `weir move TARGET
  Moves this installation from SQLite to Postgres: every row, with its id. Users, keys and passwords stay the same.
  TARGET   postgres://user:password@host/database, or env:NAME for a variable that holds it; the database is empty
  While the server runs, it copies ahead and changes nothing here. Stop the server and run it again: what has changed
  since is taken over, and both are compared, row counts, sums and \`weir audit\`. It can be interrupted at any time.`;

/** In `meta` of the target, once it is complete: from then on it has a life of its own. */
const MOVED_AT = "moved_at";

const metaOf = async ({ q, t: { meta } }: Db, name: string): Promise<string | undefined> =>
  (await q.select({ value: meta.value }).from(meta).where(eq(meta.name, name)))[0]?.value;

/** Exit code 0 when a pass or the move is done, 1 when both differ afterwards, 2 for bad arguments. */
export async function moveCommand(env: Env, args: readonly string[]): Promise<number> {
  const [given = "", ...more] = args;
  const url = given.startsWith("env:") ? (process.env[given.slice(4)] ?? "") : given;
  if (more.length > 0 || !/^postgres(ql)?:\/\//.test(url)) {
    console.error(`weir move takes the address of a Postgres database\n\n${HELP}`);
    return 2;
  }
  if (env.DATABASE_URL) throw new CannotStart("DATABASE_URL is set: this installation is on Postgres already.");
  if (!existsSync(env.databaseUrl))
    throw new CannotStart(`there is no database at ${env.databaseUrl}. Set WEIR_DATA_DIR.`);
  // A server has it while it serves; held here, none can start meanwhile.
  const lock = lockFile(join(env.dataDir, "weir.lock"));
  try {
    return await withBoth(env.databaseUrl, url, (source, target) => move(source, target, url, lock !== undefined, env));
  } finally {
    lock?.release();
  }
}

async function withBoth(from: string, to: string, work: (source: Db, target: Db) => Promise<number>): Promise<number> {
  const source = await openDb({ url: from, commandLimits: true });
  try {
    let target: Db;
    try {
      target = await openDb({ url: to, pool: 2, commandLimits: true });
    } catch (error) {
      throw new CannotStart(`the Postgres database cannot be opened: ${String(error)}`);
    }
    try {
      return await work(source, target);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function move(source: Db, target: Db, url: string, stopped: boolean, env: Env): Promise<number> {
  const here = source.driver.sqlite;
  if (!here) throw new CannotStart("only SQLite can be moved.");
  const there = new SQL(url, { max: 1, bigint: false });
  try {
    const id = await metaOf(source, "database_id");
    if ((await metaOf(target, MOVED_AT)) !== undefined)
      throw new CannotStart("the move to this database is complete: it may have changed since. Nothing was changed.");
    if ((await livingInstances(target)) > 0)
      throw new CannotStart("a Weir runs on this database. Nothing was changed.");
    const began = await metaOf(target, "database_id");
    if (began !== undefined ? began !== id : !(await isVacant(there)))
      throw new CannotStart("this database is not empty: it has the data of another Weir. Nothing was changed.");
    // Begun before the first row: what a killed run leaves is known as its own.
    if (id !== undefined)
      await target.q.insert(target.t.meta).values({ name: "database_id", value: id }).onConflictDoNothing();
    // One moment of the source; without a server nothing can change it until the end.
    here.exec(stopped ? "BEGIN IMMEDIATE" : "BEGIN");
    try {
      const both = { source: here, target: there, progress: showProgress() };
      const changed = await copyRows(both);
      console.log(`${changed} rows were written or removed there.`);
      if (!stopped) {
        console.log("A server runs here. Stop it and run this again: only what has changed since is left to do.");
        return 0;
      }
      await moveSequences(both);
      const differ = await differingTables(both);
      for (const line of differ) console.log(line);
      const [books, booksThere] = [await findings(source), await findings(target)];
      for (const line of booksThere) console.log(line);
      if (differ.length > 0 || JSON.stringify(books) !== JSON.stringify(booksThere)) {
        console.log("The two differ: go on with this one, and report what is listed above.");
        return 1;
      }
      const now = String(Math.floor(Date.now() / 1000));
      await target.q.insert(target.t.meta).values({ name: MOVED_AT, value: now });
      console.log(
        books.length === 0
          ? "Every table has the same rows and sums on both. The books of both balance."
          : `Every table has the same rows and sums on both. ${books.length} rows do not balance on either, as before.`,
      );
      console.log(nextSteps(env));
      return 0;
    } finally {
      here.exec("COMMIT");
    }
  } finally {
    await there.close();
  }
}

/** Rows that do not balance, as lines. */
async function findings(db: Db): Promise<string[]> {
  const lines: string[] = [];
  for await (const { row, expected, found } of audit(db)) lines.push(`${row}: expected ${expected}, found ${found}`);
  return lines.sort();
}

function nextSteps(env: Env): string {
  const secret = env.WEIR_SECRET ? "the same WEIR_SECRET" : `WEIR_SECRET (the text of ${join(env.dataDir, "secret")})`;
  return `Now start Weir with DATABASE_URL, ${secret} and the same data folder. Keep ${env.databaseUrl} as a copy; do not serve from it any more.`;
}

/** A line a few seconds apart. */
function showProgress(): (table: string, rows: number) => void {
  let last = performance.now();
  return (table, rows) => {
    if (performance.now() - last < 3000) return;
    last = performance.now();
    console.error(`… ${table}: ${rows}`);
  };
}
