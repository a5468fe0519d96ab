/** A Weir in its own process, as an operator starts it. */
import { type ChildProcess, spawn } from "node:child_process";

export interface ServerProcess {
  url: string;
  pid: number;
  /** Milliseconds from the start of the process to its first answer on /healthz. */
  startedInMs: number;
  output(): string;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number>;
}

export interface StartOptions {
  cwd: string;
  /** The whole environment; nothing of the test's own is inherited. */
  env: Record<string, string>;
  /** Default: 60 s. */
  withinMs?: number;
}

/** Starts the command on a free port of loopback and waits until it answers. Throws with its output otherwise. */
export async function startServerProcess(
  [file = "", ...args]: string[],
  options: StartOptions,
): Promise<ServerProcess> {
  const started = performance.now();
  const child = spawn(file, args, {
    cwd: options.cwd,
    env: { PORT: "0", WEIR_HOST: "127.0.0.1", WEIR_LOG_FORMAT: "json", ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = collect(child);
  const exited = new Promise<number>((done) => child.on("exit", (code, signal) => done(code ?? (signal ? 128 : -1))));
  let gone = false;
  void exited.then(() => (gone = true));
  const stop = async (): Promise<number> => {
    child.kill("SIGTERM");
    const late = setTimeout(() => child.kill("SIGKILL"), 20_000);
    const code = await exited;
    clearTimeout(late);
    return code;
  };

  const end = started + (options.withinMs ?? 60_000);
  while (performance.now() < end && !gone) {
    const url = /"url":"(http:\/\/[^"]+)"/.exec(output())?.[1];
    const answer = url ? await fetch(`${url}/healthz`).catch(() => undefined) : undefined;
    if (url && answer?.ok) {
      return { url, pid: child.pid ?? -1, startedInMs: performance.now() - started, output, stop };
    }
    await Bun.sleep(5);
  }
  await stop();
  throw new Error(`the server did not answer:\n${output()}`);
}

/** Runs a command to its end. */
export async function runToEnd(
  [file = "", ...args]: string[],
  options: StartOptions,
): Promise<{ code: number; output: string }> {
  const child = spawn(file, args, { cwd: options.cwd, env: options.env, stdio: ["ignore", "pipe", "pipe"] });
  const output = collect(child);
  const late = setTimeout(() => child.kill("SIGKILL"), options.withinMs ?? 60_000);
  const code = await new Promise<number>((done) => child.on("close", (exit) => done(exit ?? -1)));
  clearTimeout(late);
  return { code, output: output() };
}

function collect(child: ChildProcess): () => string {
  const chunks: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString();
}
