/**
 * Real Weir processes on one store, each reaching it in a way of its own that can fail: a TCP proxy (Postgres), a disk
 * that is full (SQLite). Kills, suspensions and restarts of any of them.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Engine } from "../databases";
import { askIn } from "../fake-vendors";
import { type PostgresProxy, startPostgresProxy } from "../postgres-proxy";
import { required } from "../required";
import { startWeir, type Weir } from "../weir";
import { HURRIED, type WeirProcess } from "../weir-process";
import { type Redis, startRedis } from "./redis";

const KIT = join(import.meta.dir, "..");
const MAIN = join(KIT, "../../src/server/main.ts");

/**
 * A server with the full disk of tests/kit/full-disk.ts, the report of tests/kit/heap-report.ts and the clock of
 * tests/kit/shifted-clock.ts; `hurried`: its jobs run twenty times as often.
 */
const commandOf = (hurried: boolean): readonly string[] => [
  process.execPath,
  ...["full-disk.ts", "heap-report.ts", "shifted-clock.ts"].flatMap((file) => ["--preload", join(KIT, file)]),
  ...(hurried ? HURRIED.slice(1) : [MAIN]),
];

export interface NodesOptions {
  engine: Engine;
  /** Postgres: how many; SQLite is always one process. Default 1. */
  count?: number;
  /** Postgres: counters in a real Redis, where one is installed. */
  redis?: boolean;
  /** Jobs and heartbeats run twenty times as often. Default true. */
  hurried?: boolean;
  env?: Record<string, string>;
}

export interface Asked {
  status: number;
  body: { success?: boolean; code?: string; data?: unknown };
}

export interface Called {
  status: number;
  body: string;
  ms: number;
}

export interface Node {
  readonly name: string;
  readonly url: string;
  readonly process: WeirProcess;
  /** False from the moment that it ended, or was told to end. */
  readonly isRunning: boolean;
  /** It ended, and nothing here has ended it. */
  readonly crashed: boolean;
  /** How often it was started. */
  readonly lives: number;
  /** Postgres: the database as this node reaches it, and what is on the way. */
  readonly databaseUrl: string;
  readonly proxy: PostgresProxy | undefined;
  readonly dataDir: string;
  /** SIGKILL, and its end. */
  kill(): Promise<void>;
  /** SIGTERM, and its end. */
  stop(): Promise<void>;
  suspend(): void;
  resume(): void;
  /**
   * A new process on the same store, after it ended; `command`: of another release. Throws when it does not start, as
   * when the database is away.
   */
  restart(command?: readonly string[]): Promise<void>;
  /** No connection to the database (Postgres), no space on the disk (SQLite). */
  cutDatabase(): void;
  /** The connections stay open and nothing comes back (Postgres); on SQLite a full disk. */
  silenceDatabase(): void;
  /** SQLite: its disk can be read and not written. */
  makeReadOnly(): void;
  mendDatabase(): void;
  /** Sets its wall clock so many seconds before or after the machine's. */
  setClock(seconds: number): void;
  /** /api at this node, as root. */
  ask(method: string, path: string, body?: object): Promise<Asked>;
  /** Its data; throws unless it succeeds. */
  api<T = unknown>(method: string, path: string, body?: object): Promise<T>;
  /** A plain chat call at this node. */
  call(key: string, model: string): Promise<Called>;
  /** The value of a metric, NaN when the page has none of this name. */
  metric(name: string): Promise<number>;
  /** The id by which its running process is known to the others. */
  instance(): string;
  /** What all of its processes have printed. */
  output(): string;
}

export interface Nodes {
  readonly engine: Engine;
  /** The first node's console, and a connection to the database past every fault. */
  readonly weir: Weir;
  readonly all: readonly Node[];
  /** Throws when there is no such node. */
  node(index: number): Node;
  readonly redis: Redis | undefined;
  /** Mends everything and stops all nodes. */
  stop(): Promise<void>;
}

/** Starts `count` nodes on a fresh store. */
export async function startNodes(options: NodesOptions): Promise<Nodes> {
  const { engine, hurried = true } = options;
  const count = engine === "postgres" ? (options.count ?? 1) : 1;
  const redisServer = options.redis && engine === "postgres" ? required("redis-server") : undefined;
  const redis = redisServer ? await startRedis(redisServer) : undefined;
  const folder = mkdtempSync(join(tmpdir(), "weir-nodes-"));
  const signOf = (index: number): string => join(folder, `full-${index}`);
  const clockOf = (index: number): string => join(folder, `clock-${index}`);
  const proxies: PostgresProxy[] = [];
  const through = async (url: string): Promise<string> => {
    const proxy = await startPostgresProxy(url);
    proxies.push(proxy);
    return proxy.url;
  };

  let firstUrl = "";
  const weir = await startWeir({
    engine,
    child: commandOf(hurried),
    env: {
      FULL_DISK_FILE: signOf(0),
      CLOCK_FILE: clockOf(0),
      WEIR_DRAIN_SECONDS: "0",
      WEIR_SHUTDOWN_SECONDS: "2",
      WEIR_METRICS_TOKEN: "scrape",
      // Callers name an address of their own for each call: its log row keeps it.
      WEIR_TRUSTED_PROXIES: "127.0.0.1",
      ...(redis && { REDIS_URL: redis.url }),
      ...options.env,
    },
    through: async (url) => (firstUrl = await through(url)),
  });

  const nodeOf = async (index: number): Promise<Node> => {
    const sign = signOf(index);
    const databaseUrl = index === 0 ? firstUrl : await through(weir.databaseUrl);
    const dataDir = index === 0 ? weir.dataDir : mkdtempSync(join(folder, "data-"));
    const env = { FULL_DISK_FILE: sign, CLOCK_FILE: clockOf(index), WEIR_DATA_DIR: dataDir, DATABASE_URL: databaseUrl };
    let own = index === 0 ? undefined : await weir.another(env);
    const proxy = proxies[index];
    let lives = 1;
    let ending = false;
    const past: string[] = [];
    const current = (): WeirProcess => {
      const running = own ?? weir.process;
      if (!running) throw new Error("a node is a process of its own");
      return running;
    };
    const full = (): void => writeFileSync(sign, "");
    const ask = async (method: string, path: string, body?: object): Promise<Asked> => {
      const answer = await fetch(current().url + path, {
        method,
        headers: { "content-type": "application/json", ...weir.root.headers },
        ...(body && { body: JSON.stringify(body) }),
      });
      return { status: answer.status, body: (await answer.json()) as Asked["body"] };
    };
    return {
      name: `node ${index}`,
      get url() {
        return current().url;
      },
      get process() {
        return current();
      },
      get isRunning() {
        return !ending && current().isRunning;
      },
      get crashed() {
        return !ending && !current().isRunning;
      },
      get lives() {
        return lives;
      },
      databaseUrl,
      proxy,
      dataDir,
      kill: async () => {
        ending = true;
        current().kill("SIGKILL");
        await current().exited;
      },
      stop: async () => {
        ending = true;
        await current().stop();
      },
      suspend: () => current().kill("SIGSTOP"),
      resume: () => current().kill("SIGCONT"),
      restart: async (command) => {
        past.push(current().output());
        lives++;
        if (own || command) own = await weir.another(env, command);
        else await weir.restart();
        ending = false;
      },
      cutDatabase: () => (proxy ? proxy.cut() : full()),
      silenceDatabase: () => (proxy ? proxy.silence({ next: true }) : full()),
      makeReadOnly: () => writeFileSync(sign, "read-only"),
      setClock: (seconds) => writeFileSync(clockOf(index), String(seconds)),
      mendDatabase: () => (proxy ? proxy.mend() : rmSync(sign, { force: true })),
      ask,
      api: async <T>(method: string, path: string, body?: object) => {
        const answer = await ask(method, path, body);
        if (!answer.body.success) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
        return answer.body.data as T;
      },
      call: async (key, model) => {
        const began = performance.now();
        const answer = await askIn(current().url, "chat", key, model, { stream: false, prompt: "hi" });
        return { status: answer.status, body: await answer.text(), ms: performance.now() - began };
      },
      metric: async (name) => {
        const page = await fetch(`${current().url}/metrics`, { headers: { authorization: "Bearer scrape" } });
        return Number(new RegExp(`^${name} (.*)$`, "m").exec(await page.text())?.[1] ?? Number.NaN);
      },
      instance: () => /"instance":"([^"]+)"/.exec(current().output())?.[1] ?? "",
      output: () => [...past, current().output()].join("\n--- a new process\n"),
    };
  };
  const all: Node[] = [];
  for (let index = 0; index < count; index++) all.push(await nodeOf(index));

  return {
    engine,
    weir,
    all,
    node: (index) => {
      const node = all[index];
      if (!node) throw new Error(`there are ${all.length} nodes`);
      return node;
    },
    redis,
    stop: async () => {
      for (const node of all) {
        node.resume();
        node.mendDatabase();
      }
      await Promise.all(all.map((node) => node.stop()));
      await weir.stop();
      for (const proxy of proxies) await proxy.close();
      await redis?.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
