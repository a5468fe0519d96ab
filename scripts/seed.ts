/**
 * `npm run seed [list | <scenario>] [--force]`: fills the database of the environment (WEIR_DATA_DIR or DATABASE_URL).
 *
 * Refuses a database that is set up, unless --force, which adds to it. Everything goes through the services and the
 * ledger of the server, so `weir audit` passes afterwards. Stop the server before seeding SQLite.
 */
import { parseArgs } from "node:util";
import { readEnv } from "../src/server/env";
import { isSetUp } from "../src/server/features/setup/service";
import { audit } from "../src/server/features/wallet/audit";
import { createLogger } from "../src/server/lib/log";
import { openServices } from "../src/server/wiring/services";
import { scenarios } from "./seed/scenarios";

const { values: flags, positionals } = parseArgs({
  options: { force: { type: "boolean", default: false } },
  allowPositionals: true,
});
const name = positionals[0] ?? "list";
const scenario = Object.hasOwn(scenarios, name) ? scenarios[name] : undefined;

if (!scenario) {
  for (const [key, { help }] of Object.entries(scenarios)) console.log(`${key.padEnd(12)}${help}`);
  process.exit(name === "list" ? 0 : 2);
}

const env = readEnv(process.env);
const { services, close } = await openServices(env, createLogger({ level: "warn", format: "auto" }));
let code = 0;
try {
  if ((await isSetUp(services)) && !flags.force) {
    console.error(
      `The ${services.db.engine} database is not empty. --force adds to it; another WEIR_DATA_DIR leaves it alone.`,
    );
    code = 1;
  } else {
    await scenario.run(services, (line) => console.log(line));
    await services.ledger.flush();
    const findings = await Array.fromAsync(audit(services.db));
    console.log(
      findings.length === 0
        ? "The books balance."
        : `The books do not balance: ${JSON.stringify(findings.slice(0, 5))}`,
    );
    if (findings.length > 0) code = 1;
  }
} finally {
  await close();
}
process.exit(code);
