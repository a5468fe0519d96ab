/** Writes the next migration of both engines from src/server/db/schema.ts. Usage: bun run db:generate <name> */
export {};
const name = process.argv[2] ?? "change";
for (const engine of ["sqlite", "postgres"]) {
  const run = Bun.spawnSync(["bunx", "--bun", "drizzle-kit", "generate", "--name", name], {
    env: { ...process.env, WEIR_DRIZZLE_ENGINE: engine },
    stdio: ["inherit", "inherit", "inherit"],
  });
  if (run.exitCode !== 0) process.exit(run.exitCode);
}
