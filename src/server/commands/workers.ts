/**
 * WEIR_WORKERS=n: n processes on one port (the kernel distributes the connections). They are ordinary instances that
 * agree through Postgres; this process only restarts them and passes signals on. They end with it, also when it is
 * killed: their standard input is a pipe that it never writes to, and whose end they hear.
 */
import { fstatSync } from "node:fs";
import type { Env } from "../env";
import type { Logger } from "../lib/log";

/** A worker that ends sooner than this after its start is restarted with a growing pause. */
const HEALTHY_MS = 10_000;
const MAX_PAUSE_MS = 30_000;

/** Never resolves: exits when the workers have ended. */
export async function superviseWorkers(env: Env, log: Logger): Promise<never> {
  const command = Bun.isStandaloneExecutable
    ? [process.execPath]
    : [process.execPath, ...process.execArgv, process.argv[1] ?? ""];
  const children = new Set<Bun.Subprocess>();
  let stopping = false;

  const keep = async (index: number): Promise<void> => {
    for (let pause = 500; !stopping;) {
      const started = performance.now();
      const child = Bun.spawn([...command, "serve"], {
        env: { ...process.env, WEIR_WORKER: String(index) },
        stdio: ["pipe", "inherit", "inherit"],
      });
      children.add(child);
      const code = await child.exited;
      children.delete(child);
      if (stopping) return;
      pause = performance.now() - started > HEALTHY_MS ? 500 : Math.min(pause * 2, MAX_PAUSE_MS);
      log.error({ worker: index, code, pause_ms: pause }, "a worker ended and is started again");
      await Bun.sleep(pause);
    }
  };

  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      stopping = true;
      for (const child of children) child.kill(signal);
    });
  }
  log.info({ workers: env.WEIR_WORKERS, port: env.PORT }, "starting workers");
  await Promise.all(Array.from({ length: env.WEIR_WORKERS }, (_, i) => keep(i + 1)));
  process.exit(0);
}

/** In a worker: drains as after SIGTERM when its supervisor has gone. */
export function endWithSupervisor(log: Logger): void {
  // A supervisor of an earlier release gives it /dev/null, which has ended from the start.
  const input = fstatSync(0);
  if (!input.isFIFO() && !input.isSocket()) return;
  process.stdin.once("close", () => {
    log.error("the process that started this worker has ended: so does this one");
    process.kill(process.pid, "SIGTERM");
  });
  process.stdin.resume();
}
