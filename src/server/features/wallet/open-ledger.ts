/** The ledger of the database's engine. */
import type { Db } from "../../db/types";
import type { Ledger } from "../../contracts/ledger";
import { createPostgresLedger } from "./ledger.pg";
import { createSqliteLedger } from "./ledger.sqlite";

/** `instanceId` owns the holds made here (its row: `instances.ts`); `now` gives epoch milliseconds. */
export function createLedger(db: Db, instanceId: string, now: () => number): Ledger {
  const { sqlite, postgres } = db.driver;
  return sqlite
    ? createSqliteLedger(db, sqlite, instanceId, now)
    : createPostgresLedger(db, postgres as NonNullable<typeof postgres>, instanceId, now);
}

/** The ledger; `heard` is called with the user of every committed charge. It must be quick and not throw. */
export const notifyCharges = (ledger: Ledger, heard: (user_id: number) => void): Ledger => ({
  ...ledger,
  settle: (settlement) =>
    ledger.settle(settlement).then((result) => {
      if (result.settled && settlement.quota > 0) heard(settlement.user_id);
      return result;
    }),
});
