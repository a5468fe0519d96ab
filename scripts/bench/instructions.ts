/**
 * Instructions of the processor that a call costs Weir on SQLite, counted by Valgrind: `bun run bench instructions
 * [--against FOLDER] [--quick]`. What else runs on the machine makes it slower and does not change the count, and no
 * performance counters of the processor are needed. Wants valgrind and cc, on Linux x64.
 *
 * A round starts the server of this folder, and that of FOLDER (another checkout, with its packages), under Callgrind,
 * one after the other, the order changing, each on a fresh database. Nothing is counted while the server starts and
 * gets warm. What its timers do is counted without calls and taken off by time.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { startProcess, type WeirProcess } from "../../tests/kit/weir-process";
import { CHANNELS, callIn, mappingOf, modelOf } from "./calls";
import { Connection, postBytes } from "./http-client";
import { median } from "./measure";
import { startUpstream } from "./targets";

/** Callers and channels of the calls that are counted, 1 KB each, not streamed. */
const SCENARIOS = {
  untouched: { caller: "openai-chat", channel: "openai-chat" },
  translated: { caller: "openai-chat", channel: "anthropic" },
} as const;
type ScenarioName = keyof typeof SCENARIOS;
const scenarioNames = Object.keys(SCENARIOS) as ScenarioName[]; // its own keys

const MAIN = "src/server/main.ts";
/**
 * Few: under Valgrind a call takes tens of milliseconds, and more at a time meet the time limits of the ledger, whose
 * journal then does another work than that of an ordinary call.
 */
const CONNECTIONS = 8;
const WARM_CALLS = 400;
const COUNTED_CALLS = 200;
/** Long, because timers are few and the counting of calls is slow. */
const IDLE_MS = 10_000;
/** Under Valgrind a start takes some 20 seconds of processor time, and a busy machine gives little of it. */
const START_LIMIT_MS = 15 * 60_000;
const ROOT = { username: "root", password: "bench-instructions-1" };

/** Thousands of instructions a call. */
interface Count {
  all: number;
  /** Of these on the thread that runs JavaScript. */
  main: number;
}

/** Sets up a server of `folder` on `dataDir`, without Valgrind, and returns a key for calls. */
async function prepare(folder: string, dataDir: string, upstream: string): Promise<string> {
  const server = await startProcess([process.execPath, join(folder, MAIN)], {
    ...environment(dataDir),
    WEIR_ROOT_USERNAME: ROOT.username,
    WEIR_ROOT_PASSWORD: ROOT.password,
  });
  try {
    const signedIn = await fetch(`${server.url}/api/user/login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(ROOT),
    });
    const cookie = signedIn.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    const { data: root } = (await signedIn.json()) as { data?: { id: number } };
    const ask = async (method: string, path: string, body: unknown): Promise<unknown> => {
      const response = await fetch(server.url + path, {
        method,
        headers: { "content-type": "application/json", cookie, "new-api-user": String(root?.id) },
        body: JSON.stringify(body),
      });
      const answer = (await response.json()) as { success: boolean; data: unknown };
      if (!answer.success) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
      return answer.data;
    };
    const models: string[] = [];
    for (const { channel } of Object.values(SCENARIOS)) {
      const mapping = mappingOf(channel);
      models.push(...Object.keys(mapping));
      await ask("POST", "/api/channel/", {
        type: CHANNELS[channel],
        name: channel,
        key: "good-key",
        group: "default",
        base_url: upstream,
        models: Object.keys(mapping).join(","),
        model_mapping: JSON.stringify(mapping),
      });
    }
    // Cheap, so that the balance lasts.
    const prices = JSON.stringify(Object.fromEntries(models.map((model) => [model, 0.05])));
    for (const key of ["ModelRatio", "CompletionRatio"]) await ask("PUT", "/api/option/", { key, value: prices });
    const token = (await ask("POST", "/api/token/", { name: "bench", unlimited_quota: true })) as { key: string };
    return `sk-${token.key}`;
  } finally {
    await server.stop();
  }
}

const environment = (dataDir: string): Record<string, string> => ({
  PORT: "0",
  WEIR_HOST: "127.0.0.1",
  WEIR_DATA_DIR: dataDir,
  WEIR_DRAIN_SECONDS: "0",
  // Without it the process replaces itself, which Valgrind does not follow.
  BUN_CONFIG_MAX_HTTP_REQUESTS: "65535",
});

/** The handler of instructions that Valgrind does not know, compiled into `dir`. */
async function compileShim(dir: string): Promise<string> {
  const library = join(dir, "pcmpestri.so");
  await run([
    "cc",
    "-O1",
    "-shared",
    "-fPIC",
    "-mgeneral-regs-only",
    join(import.meta.dir, "valgrind-pcmpestri.c"),
    "-o",
    library,
    "-ldl",
  ]);
  return library;
}

async function run(command: readonly string[]): Promise<void> {
  const child = Bun.spawn([...command], { stdout: "pipe", stderr: "pipe" });
  const output = Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")}:\n${(await output).join("")}`);
}

interface Counted {
  /** Instructions of all threads. */
  all: number;
  main: number;
  ms: number;
}

/** A server under Callgrind, whose counting is switched and read from outside. */
class CountedServer {
  #dumps = 0;

  private constructor(
    readonly server: WeirProcess,
    private readonly dir: string,
  ) {}

  /** `dir`: for Callgrind's files. */
  static async start(folder: string, dataDir: string, shim: string, dir: string): Promise<CountedServer> {
    const valgrind = ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--separate-threads=yes"];
    const server = await startProcess(
      [...valgrind, `--callgrind-out-file=${join(dir, "out")}`, process.execPath, join(folder, MAIN)],
      // Valgrind has no room for the address space that JavaScriptCore reserves for its cages.
      { ...environment(dataDir), LD_PRELOAD: shim, GIGACAGE_ENABLED: "0" },
      START_LIMIT_MS,
    );
    return new CountedServer(server, dir);
  }

  readonly #control = (order: string): Promise<void> => run(["callgrind_control", order, String(this.server.pid)]);

  countFromNow = (): Promise<void> => this.#control("--instr=on");

  /** Instructions and milliseconds while `work` runs. */
  async during(work: () => Promise<unknown>): Promise<Counted> {
    await this.#control("--zero");
    const started = performance.now();
    await work();
    const ms = performance.now() - started;
    await this.#control("--dump");
    // One file a thread: out.1-01 is the first dump's of the first thread.
    const name = `out.${++this.#dumps}-`;
    const totals = readdirSync(this.dir)
      .filter((file) => file.startsWith(name))
      .map((file) => ({
        file,
        total: Number(/^totals: (\d+)/m.exec(readFileSync(join(this.dir, file), "utf8"))?.[1] ?? 0),
      }));
    return {
      all: totals.reduce((sum, { total }) => sum + total, 0),
      main: totals.find(({ file }) => file === `${name}01`)?.total ?? 0,
      ms,
    };
  }
}

/** Sends `count` calls, CONNECTIONS at a time. Throws when one fails. */
async function send(url: string, key: string, body: string, count: number): Promise<void> {
  const { target, bytes } = postBytes(url, key, body);
  let left = count;
  let failed = 0;
  const calls = Array.from({ length: CONNECTIONS }, async () => {
    let answered: () => void = () => {};
    const connection = new Connection(target, (_, { status }) => {
      if (status !== 200) failed++;
      answered();
    });
    await connection.open();
    while (left-- > 0 && failed === 0) {
      await new Promise<void>((resolve) => {
        answered = resolve;
        connection.send(bytes);
      });
    }
    connection.close();
  });
  await Promise.all(calls);
  if (failed > 0) throw new Error(`${failed} calls failed`);
}

/** One server's counts, from an empty data folder to its end. */
async function countServer(
  folder: string,
  upstream: string,
  shim: string,
  say: (text: string) => void,
): Promise<Record<ScenarioName, Count>> {
  const dir = mkdtempSync(join(tmpdir(), "weir-instructions-"));
  try {
    const dataDir = join(dir, "data");
    const key = await prepare(folder, dataDir, upstream);
    const counted = await CountedServer.start(folder, dataDir, shim, dir);
    const { server } = counted;
    try {
      say(`${basename(folder)}: listens after ${Math.round(server.startMs / 1000)} s`);
      const requests = scenarioNames.map((name) => {
        const { caller, channel } = SCENARIOS[name];
        const { path, body } = callIn(caller, modelOf(channel, "plain"), false, 1024);
        return { name, url: server.url + path, body };
      });
      for (const { url, body } of requests) await send(url, key, body, WARM_CALLS);
      say(`${basename(folder)}: warm`);
      await counted.countFromNow();
      const idle = await counted.during(() => Bun.sleep(IDLE_MS));
      const counts: Partial<Record<ScenarioName, Count>> = {};
      for (const { name, url, body } of requests) {
        const { all, main, ms } = await counted.during(() => send(url, key, body, COUNTED_CALLS));
        const perCall = (total: number, still: number): number =>
          (total - (still * ms) / idle.ms) / COUNTED_CALLS / 1000;
        counts[name] = { all: perCall(all, idle.all), main: perCall(main, idle.main) };
        say(`${basename(folder)}: ${name} ${JSON.stringify(counts[name])}, ${Math.round(ms / 1000)} s`);
      }
      return counts as Record<ScenarioName, Count>; // every name was counted
    } finally {
      await server.stop();
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/**
 * A table of the medians over the rounds, in Markdown. `against`: the folder of another checkout. Throws where a tool
 * or the other checkout's packages are missing.
 */
export async function benchInstructions(
  rounds: number,
  against: string | undefined,
  say: (text: string) => void,
): Promise<string> {
  for (const tool of ["valgrind", "callgrind_control", "cc"])
    if (!Bun.which(tool)) throw new Error(`bench instructions needs ${tool}`);
  const folders = [join(import.meta.dir, "../.."), ...(against === undefined ? [] : [resolve(against)])];
  for (const folder of folders)
    if (!existsSync(join(folder, "node_modules"))) throw new Error(`no packages in ${folder}`);
  const dir = mkdtempSync(join(tmpdir(), "weir-shim-"));
  const upstream = await startUpstream();
  try {
    const shim = await compileShim(dir);
    const results = new Map<string, Record<ScenarioName, Count>[]>(folders.map((folder) => [folder, []]));
    for (let round = 0; round < rounds; round++)
      for (const folder of round % 2 === 0 ? folders : folders.toReversed())
        results.get(folder)?.push(await countServer(folder, upstream.url, shim, say));
    return table(results);
  } finally {
    await upstream.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

function table(results: ReadonlyMap<string, readonly Record<ScenarioName, Count>[]>): string {
  const [ours, others] = [...results.values()];
  const lines = [
    "| 1 KB plain call | thread | thousand instructions | rounds |  against |",
    "| --- | --- | ---: | ---: | ---: |",
  ];
  for (const name of scenarioNames) {
    for (const thread of ["all", "main"] as const) {
      const countsOf = (rounds: typeof ours): number[] => (rounds ?? []).map((round) => round[name][thread]);
      const mine = median(countsOf(ours));
      const theirs = median(countsOf(others));
      const spread = countsOf(ours).map((count) => count.toFixed(1));
      const ratio = others ? `${theirs.toFixed(1)} (${((mine / theirs - 1) * 100).toFixed(1)} %)` : "";
      lines.push(`| ${name} | ${thread} | ${mine.toFixed(1)} | ${spread.join(", ")} | ${ratio} |`);
    }
  }
  return lines.join("\n");
}
