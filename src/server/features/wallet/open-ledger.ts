/** Picks the ledger of the database's engine. */
import type { Db } from "../../db/client";
import type { Ledger } from "./ledger";
import { createPostgresLedger } from "./ledger.pg";
import { createSqliteLedger } from "./ledger.sqlite";

/** `instanceId` owns the holds made here (its row: `instances.ts`); `now` gives epoch milliseconds. */
export function createLedger(db: Db, instanceId: string, now: () => number): Ledger {
  const { sqlite, postgres } = db.driver;
  return sqlite
    ? createSqliteLedger(db, sqlite, instanceId, now)
    : createPostgresLedger(db, postgres as NonNullable<typeof postgres>, instanceId, now);
}
