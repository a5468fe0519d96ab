/** Weir in its own process: for tests that send it signals, and for bench. */
import { join } from "node:path";

export interface WeirProcess {
  readonly url: string;
  readonly pid: number;
  /** False as soon as it has ended, by itself or by a signal. */
  readonly isRunning: boolean;
  /** Milliseconds from spawn to the line with its address. */
  readonly startMs: number;
  /** Its output so far, both streams. */
  output(): string;
  kill(signal: NodeJS.Signals): void;
  /** The exit code (128 + signal number, or null, when a signal ended it). */
  exited: Promise<number>;
  /** SIGTERM, and SIGKILL after ten seconds. */
  stop(): Promise<void>;
}

/**
 * The variables that every test process may inherit; WEIR_ and database variables of the developer's shell are not
 * included.
 */
const INHERITED = ["PATH", "HOME", "TMPDIR", "LANG", "LD_LIBRARY_PATH"];

const MAIN = join(import.meta.dir, "../../src/server/main.ts");
/** A start takes a second; much longer where a dozen processes share a core. */
const START_LIMIT_MS = 60_000;
/** The command of a server from source, with files of this folder loaded before it. */
const serverWith = (...preloads: string[]): readonly string[] => [
  process.execPath,
  ...preloads.flatMap((file) => ["--preload", join(import.meta.dir, file)]),
  MAIN,
];
const PLAIN = serverWith("quick-hashes.ts");
/** The command of a server whose jobs run twenty times as often. */
export const HURRIED = serverWith("quick-hashes.ts", "hurry.ts");

/**
 * Starts `command` (default: src/server/main.ts under this Bun) and waits until it logs its address. Throws with its
 * output when it ends before that or takes longer than START_LIMIT_MS.
 */
export async function startProcess(
  command: readonly string[] = PLAIN,
  env: Record<string, string>,
): Promise<WeirProcess> {
  const inherited = Object.fromEntries(
    INHERITED.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
  );
  const started = performance.now();
  const child = Bun.spawn([...command], {
    // The address is read from the log's first line.
    env: {
      ...inherited,
      ...env,
      WEIR_LOG_LEVEL: env.WEIR_LOG_LEVEL === "debug" ? "debug" : "info",
      WEIR_LOG_FORMAT: "json",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  let listening: ((url: string) => void) | undefined;
  const read = async (stream: ReadableStream<Uint8Array>): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      output = (output + decoder.decode(chunk, { stream: true })).slice(-200_000);
      const url = listening && /"url":"(http:[^"]+)"/.exec(output)?.[1];
      if (url) listening?.(url);
    }
  };
  void read(child.stdout);
  void read(child.stderr);

  const url = await new Promise<string>((resolve, reject) => {
    const give = (reason: string) => reject(new Error(`Weir did not start (${reason}):\n${output}`));
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      give(`no answer within ${START_LIMIT_MS / 1000} s`);
    }, START_LIMIT_MS);
    listening = (found) => {
      listening = undefined;
      clearTimeout(timer);
      resolve(found);
    };
    void child.exited.then((code) => {
      clearTimeout(timer);
      give(`exit code ${code}`);
    });
  });
  const startMs = performance.now() - started;

  return {
    url,
    pid: child.pid,
    get isRunning() {
      return child.exitCode === null && child.signalCode === null;
    },
    startMs,
    output: () => output,
    kill: (signal) => child.kill(signal),
    exited: child.exited,
    stop: async () => {
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), 10_000);
      await child.exited;
      clearTimeout(timer);
    },
  };
}
