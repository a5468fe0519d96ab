/**
 * `npm start`: brings what is missing (Bun, packages, the built console), then serves. Asks nothing. When nothing
 * changed since the last start, it only checks that and hands over. Arguments go to the server (`npm start -- --help`).
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { bootstrap, hashOf, isStamped, ROOT, runChild, runMain, Stop } from "./bootstrap.mjs";

const CONSOLE_SOURCES = [
  "src/client",
  "src/shared",
  "locales",
  "bun.lock",
  "lingui.config.ts",
  "scripts/build-client.ts",
  "scripts/plugins",
];

function ensureConsole(bun) {
  const stamp = join(ROOT, "dist/client.stamp");
  const hash = hashOf(CONSOLE_SOURCES);
  if (isStamped(stamp, hash) && existsSync(join(ROOT, "dist/client/index.html"))) return;
  console.log("Building the console …");
  const run = spawnSync(bun, ["scripts/build-client.ts"], { cwd: ROOT, encoding: "utf8" });
  if (run.status !== 0) {
    console.error(`${run.stdout ?? ""}${run.stderr ?? ""}`.trim());
    throw new Stop("The console could not be built; the reason stands above.");
  }
  mkdirSync(join(ROOT, "dist"), { recursive: true });
  writeFileSync(stamp, hash);
}

await runMain(async () => {
  const bun = await bootstrap();
  ensureConsole(bun);
  return runChild(bun, ["src/server/main.ts", ...process.argv.slice(2)]);
});
