/** Runs one command of the checks and tests, within a time limit and without leaving a process behind. */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";

export const ROOT = resolve(import.meta.dir, "..");

export interface Outcome {
  /** Exit code; -1 when the time was up or the process was killed. */
  code: number;
  /** What it printed; empty when `show` sent it to the terminal. */
  output: string;
  timedOut: boolean;
  ms: number;
}

export interface RunOptions {
  timeoutMs: number;
  /** Print straight to the terminal instead of returning the output. */
  show?: boolean;
  env?: Record<string, string | undefined>;
  /** Default: the project. */
  cwd?: string;
}

/**
 * The keeper process of the shared test Postgres server: it ends itself and its server when the last test run is gone.
 */
const ENDS_ITSELF = "tests/kit/postgres-server.ts";

/** An environment variable by which descendants are found in whatever session they are. */
const MARK = "TEST_RUN_ID";
const running = new Set<() => void>();

export async function runCommand(command: string[], options: RunOptions): Promise<Outcome> {
  const started = performance.now();
  const id = randomUUID();
  const [file = "", ...args] = command;
  const child = spawn(file, args, {
    cwd: options.cwd ?? ROOT,
    detached: true, // a process group, so that all descendants can be ended
    stdio: options.show ? ["ignore", "inherit", "inherit"] : ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...options.env, [MARK]: id },
  });
  const chunks: Buffer[] = [];
  child.stdout?.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.stderr?.on("data", (chunk: Buffer) => chunks.push(chunk));
  const endFamily = (): void => killFamily(child.pid, id);
  running.add(endFamily);

  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    endFamily();
  }, options.timeoutMs);
  const code = await new Promise<number>((done) => {
    child.on("error", (error) => {
      chunks.push(Buffer.from(String(error)));
      done(127);
    });
    child.on("exit", (exit, signal) => {
      endFamily(); // processes that it left running also hold its pipes open
      if (signal) chunks.push(Buffer.from(`\n(ended by ${signal})\n`));
      if (options.show) done(exit ?? -1);
      else child.on("close", () => done(exit ?? -1));
    });
  });
  clearTimeout(timer);
  running.delete(endFamily);
  return {
    code: timedOut ? -1 : code,
    output: Buffer.concat(chunks).toString(),
    timedOut,
    ms: performance.now() - started,
  };
}

/** Ends every command still running, for signal handlers. */
export function endAllCommands(): void {
  for (const end of running) end();
}

function killFamily(leader: number | undefined, id: string): void {
  const kill = (pid: number): void => {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // gone already
    }
  };
  if (leader) kill(-leader);
  // Descendants in other sessions (browsers, database servers) still carry the mark. Without /proc the process group
  // has to do.
  for (const pid of process.platform === "linux" ? readdirSync("/proc").filter((name) => /^\d+$/.test(name)) : []) {
    try {
      const isOurs = readFileSync(`/proc/${pid}/environ`, "latin1").includes(`${MARK}=${id}`);
      if (isOurs && !readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(ENDS_ITSELF)) kill(Number(pid));
    } catch {
      // gone, or not ours to read
    }
  }
}
