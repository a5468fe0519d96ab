/**
 * `npm run dev`: a server that restarts whenever its sources change, and a console that is rebuilt; reload the page to
 * see it.
 */
import { rmSync, watch } from "node:fs";
import { join } from "node:path";
import { buildClient } from "./build-client";

const ROOT = join(import.meta.dir, "..");
/** An editor saves in several steps. */
const SETTLED_MS = 150;

let building = false;
let again = false;

/** One build at a time; changes meanwhile are in the next one. An error is printed; the next change builds again. */
async function build(): Promise<void> {
  if (building) {
    again = true;
    return;
  }
  building = true;
  const started = performance.now();
  try {
    await buildClient({ prod: false });
    console.log(`console built in ${Math.round(performance.now() - started)} ms`);
  } catch (error) {
    console.error(error instanceof AggregateError ? error.errors : error);
  }
  building = false;
  if (!again) return;
  again = false;
  await build();
}

// `npm start` builds for production again afterwards.
rmSync(join(ROOT, "dist/client.stamp"), { force: true });
await build();
let timer: ReturnType<typeof setTimeout> | undefined;
for (const folder of ["src/client", "src/shared", "locales"]) {
  watch(join(ROOT, folder), { recursive: true }, () => {
    clearTimeout(timer);
    timer = setTimeout(() => void build(), SETTLED_MS);
  });
}

const server = Bun.spawn(
  [process.execPath, "--watch", "--no-clear-screen", "src/server/main.ts", ...process.argv.slice(2)],
  { cwd: ROOT, stdio: ["inherit", "inherit", "inherit"] },
);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => server.kill(signal));
process.exit(await server.exited);
