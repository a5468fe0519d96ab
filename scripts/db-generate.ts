/** Writes the next migration of both engines from src/server/db/schema.ts: `npm run db:generate <name>`. */
import { join } from "node:path";
import { ROOT } from "./run-command";

const name = process.argv[2] ?? "change";
for (const engine of ["sqlite", "postgres"]) {
  const kit = join(ROOT, "node_modules/.bin/drizzle-kit");
  const run = Bun.spawnSync([process.execPath, "--bun", kit, "generate", "--name", name], {
    cwd: ROOT,
    env: { ...process.env, WEIR_DRIZZLE_ENGINE: engine },
    stdio: ["inherit", "inherit", "inherit"],
  });
  if (run.exitCode !== 0) process.exit(run.exitCode);
}
