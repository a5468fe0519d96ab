import { existsSync } from "node:fs";
import { openDb } from "../db/client";
import type { Env } from "../env";
import { audit, AUDIT_RULES } from "../features/wallet/audit";
import { CannotStart } from "../lib/cannot-start";

/**
 * `weir audit`: 0 when every balance adds up; 1 and a line for each row that breaks a rule. May run beside a server.
 */
export async function auditCommand(env: Env): Promise<number> {
  // A mistyped folder must not create an empty database, whose balances would add up.
  if (!env.DATABASE_URL && !existsSync(env.databaseUrl)) {
    throw new CannotStart(`there is no database at ${env.databaseUrl}. Set WEIR_DATA_DIR or DATABASE_URL.`);
  }
  const db = await openDb({ url: env.databaseUrl, pool: 2, commandLimits: true });
  let findings = 0;
  for await (const { rule, row, expected, found } of audit(db)) {
    findings++;
    console.log(`${row}: expected ${expected}, found ${found} (${AUDIT_RULES[rule]})`);
  }
  await db.close();
  console.log(findings === 0 ? "The books balance." : `${findings} row${findings === 1 ? "" : "s"} do not balance.`);
  return findings === 0 ? 0 : 1;
}
