/**
 * Instructions of the processor that a call costs Weir on SQLite, counted by Valgrind: `bun run bench instructions
 * [--against FOLDER]`, another checkout with its packages (docs/decisions/0057-instructions-a-call.md). Wants valgrind
 * and cc, on Linux x64. The server's clock is slowed down as much as Valgrind slows its work, so timers weigh what they
 * do without it.
 *
 * A server is started twice, for fewer and for more calls of 1 KB; the difference is what a warm call costs.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { startProcess } from "../../tests/kit/weir-process";
import { CHANNELS, callIn, mappingOf, modelOf } from "./calls";
import { Connection, postBytes } from "./http-client";
import { startUpstream } from "./targets";

/** Callers and channels of the calls that are counted, 1 KB each, not streamed. */
const SCENARIOS = {
  untouched: { caller: "openai-chat", channel: "openai-chat" },
  translated: { caller: "openai-chat", channel: "anthropic" },
} as const;

const MAIN = "src/server/main.ts";
const CONNECTIONS = 32;
/** The compiler of JavaScript is done by the first. */
const CALLS = [12_000, 28_000] as const;
/** Most agree within 1 %; now and then the compiler leaves a function slow, and one is a tenth above the others. */
const ROUNDS = 3;
const ROOT = { username: "root", password: "bench-instructions-1" };

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

/** What is loaded before Bun, compiled into `dir`: instructions that Valgrind does not know, and a slower clock. */
async function compileShim(dir: string): Promise<string> {
  const library = join(dir, "beneath-bun.so");
  await run([
    "cc",
    "-O1",
    "-shared",
    "-fPIC",
    "-mgeneral-regs-only",
    join(import.meta.dir, "valgrind-pcmpestri.c"),
    join(import.meta.dir, "valgrind-clock.c"),
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

/** Instructions of a whole process that answers `count` calls of a scenario, from its start to its end. */
async function counted(folder: string, scenario: keyof typeof SCENARIOS, count: number, dir: string): Promise<number> {
  const upstream = await startUpstream();
  const data = mkdtempSync(join(dir, "data-"));
  try {
    const key = await prepare(folder, data, upstream.url);
    const out = join(data, "cachegrind");
    const valgrind = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--branch-sim=no", "--smc-check=all-non-file"];
    const server = await startProcess(
      [...valgrind, `--cachegrind-out-file=${out}`, process.execPath, join(folder, MAIN)],
      {
        ...environment(data),
        LD_PRELOAD: await compileShim(data),
        // Valgrind has no room for the address space that JavaScriptCore reserves for its cages.
        GIGACAGE_ENABLED: "0",
        // Compiling and collecting beside the calls would make another count each time.
        BUN_JSC_useConcurrentJIT: "0",
        BUN_JSC_useConcurrentGC: "0",
        BUN_JSC_numberOfGCMarkers: "1",
      },
    );
    const { caller, channel } = SCENARIOS[scenario];
    const { path, body } = callIn(caller, modelOf(channel, "plain"), false, 1024);
    await send(server.url + path, key, body, count);
    // Not stop(), which gives less time than the file takes to be written.
    server.kill("SIGTERM");
    await server.exited;
    return Number(/^summary: (\d+)/m.exec(readFileSync(out, "utf8"))?.[1]);
  } finally {
    await upstream.stop();
    rmSync(data, { recursive: true, force: true });
  }
}

/** A table in Markdown: thousands of instructions a call, of this folder and of `against`. */
export async function benchInstructions(against: string | undefined, say: (text: string) => void): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), "weir-instructions-"));
  const lines = ["| Folder | Call of 1 KB | Thousand instructions | Rounds |", "| --- | --- | ---: | --- |"];
  try {
    for (const folder of [resolve(import.meta.dir, "../.."), ...(against ? [resolve(against)] : [])])
      for (const scenario of ["untouched", "translated"] as const) {
        const [few, many] = CALLS;
        const rounds: number[] = [];
        for (let round = 0; round < ROUNDS; round++) {
          const warm = await counted(folder, scenario, few, dir);
          const more = (await counted(folder, scenario, many, dir)) - warm;
          rounds.push(Math.round(more / (many - few) / 1000));
        }
        const median = rounds.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)];
        lines.push(`| ${folder} | ${scenario} | ${median} | ${rounds.join(", ")} |`);
        say(lines.at(-1) ?? "");
      }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
  return `${lines.join("\n")}\n`;
}
