/** The SQLite database as `weir doctor` sees it: read only, beside a server. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { LAST_BACKUP } from "../db/backup";
import { lookAt } from "../db/look";
import type { Env } from "../env";
import { databaseChecks } from "./doctor-database";
import { checked, type Found } from "./found";

const DAY = 86_400;
/** A copy that is older protects little. */
const MOST_BACKUP_DAYS = 7;

export function sqliteChecks({ databaseUrl, dataDir, WEIR_SECRET }: Env): Promise<Found[]> {
  return checked("database", async () => {
    if (!existsSync(databaseUrl))
      return [{ check: "database", state: "ok", found: `${databaseUrl} is made at the first start` }];
    const look = lookAt(databaseUrl);
    try {
      const file = join(dataDir, "secret");
      const secret = WEIR_SECRET || (existsSync(file) ? readFileSync(file, "utf8").trim() : "");
      const ask = async (statement: string) => look.ask(statement);
      const [row] = await ask("SELECT sqlite_version() AS version");
      return [
        { check: "database", state: "ok", found: `SQLite ${String(row?.version)}, ${databaseUrl}` },
        ...(await databaseChecks(ask, secret)),
        ...(await checked("backup", async () => [
          backupFound(Number((await ask(`SELECT value FROM meta WHERE name = '${LAST_BACKUP}'`))[0]?.value ?? 0)),
        ])),
      ];
    } finally {
      look.close();
    }
  });
}

/** `at`: epoch seconds of the last `weir backup`, 0 for none. */
function backupFound(at: number): Found {
  const check = "backup";
  const days = Math.floor((Date.now() / 1000 - at) / DAY);
  if (at > 0 && days < MOST_BACKUP_DAYS)
    return { check, state: "ok", found: `the last \`weir backup\` is ${days} ${days === 1 ? "day" : "days"} old` };
  return {
    check,
    state: "note",
    found: at > 0 ? `the last \`weir backup\` is ${days} days old` : "`weir backup` was never run",
    advice: "Run `weir backup FILE` every day and keep the secret apart, unless the disk is saved in another way.",
  };
}
