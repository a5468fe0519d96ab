/**
 * A Weir for tests, on its own database and port: in this process, or as a child process for tests that kill it.
 * Everything an operator does goes through the public routes; only what has no route in a test (a user of any role, the
 * ledger) goes through a second database connection.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTRPCClient, httpLink } from "@trpc/client";
import { eq, sql } from "drizzle-orm";
import type { Db } from "../../src/server/db/types";
import { openDb } from "../../src/server/db/client";
import type { LogRow } from "../../src/server/db/schema";
import { readEnv } from "../../src/server/env";
import { audit, type Finding } from "../../src/server/features/wallet/audit";
import { createLedger } from "../../src/server/features/wallet/open-ledger";
import { createLogger } from "../../src/server/lib/log";
import type { AppRouter } from "../../src/server/router";
import { type Serving, startServer } from "../../src/server/serve";
import { ROLE } from "../../src/shared/roles";
import { type Engine, freshPostgres } from "./databases";
import { startProcess, type WeirProcess } from "./weir-process";

export const ROOT = { username: "root", password: "correct-horse-9" } as const;

export interface WeirOptions {
  engine?: Engine;
  /** In addition to PORT 0, a fresh data folder, no rate limits, no drain, no log output. */
  env?: Record<string, string>;
  /** Runs as a child process: `true` runs src/server/main.ts with this Bun; or a command line (HURRIED, a binary). */
  child?: true | readonly string[];
  /** false: an empty database, no root account. */
  root?: boolean;
  /** Postgres: the URL for the server, through something that a test can cut. */
  through?: (url: string) => string | Promise<string>;
}

/** One response of /api. `body` is the parsed JSON, {} if it is not JSON. */
export interface ApiAnswer {
  status: number;
  headers: Headers;
  body: { success?: boolean; message?: string; code?: string; data?: unknown; [key: string]: unknown };
}

export interface Session {
  id: number;
  username: string;
  role: number;
  /** `session=…` */
  cookie: string;
  /** Cookie and user-id header, as a browser sends them. */
  headers: Record<string, string>;
  api(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiAnswer>;
  /** The `data` of a call that must succeed; throws with the response otherwise. */
  ok<T = unknown>(method: string, path: string, body?: unknown): Promise<T>;
  trpc: ReturnType<typeof createTRPCClient<AppRouter>>;
}

export interface NewToken {
  name?: string;
  /** Units; absent = unlimited. */
  quota?: number;
  /** Any field of POST /api/token/. */
  [field: string]: unknown;
}

export interface NewChannel {
  /** Default 1 (OpenAI). */
  type?: number;
  base_url: string;
  models: readonly string[];
  [field: string]: unknown;
}

export interface Weir {
  readonly url: string;
  readonly engine: Engine;
  readonly dataDir: string;
  /** Postgres: the URL of its database, past `through`; "" on SQLite. */
  readonly databaseUrl: string;
  /** Throws when started with `root: false`. */
  readonly root: Session;
  /** A second connection to its database. */
  readonly db: Db;
  /** Closes that connection for good: for tests that need exclusive access to the database. */
  closeDb(): Promise<void>;
  readonly process: WeirProcess | undefined;
  /** The link for the first run from the output. Throws when there is none. */
  setupLink(): Promise<string>;
  /** /api without cookie. */
  anonymous(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiAnswer>;
  signIn(username: string, password: string): Promise<Session>;
  /** A user of any role and balance, signed in. */
  newUser(user?: { role?: number; quota?: number; group?: string }): Promise<Session>;
  /** Returns the key, with `sk-`. Owner: root, or `owner`. */
  newToken(token?: NewToken, owner?: Session): Promise<{ id: number; key: string }>;
  /** Returns the channel's id. */
  newChannel(channel: NewChannel): Promise<number>;
  setOption(key: string, value: unknown): Promise<void>;
  /** Units per million tokens follow from the ratio: 1 = 2 USD = 1 unit a token. */
  priceModels(ratios: Record<string, number>, completion?: Record<string, number>): Promise<void>;
  /** POST /v1/chat/completions (or another path) with a key. */
  call(key: string, body: unknown, init?: RequestInit & { path?: string }): Promise<Response>;
  balance(userId: number): Promise<{ quota: number; used_quota: number; request_count: number }>;
  /** Every row of the log, oldest first. */
  logs(): Promise<LogRow[]>;
  /** The first matching log row, waiting for it up to `timeoutMs`. */
  waitForLog(fits: (row: LogRow) => boolean, timeoutMs?: number): Promise<LogRow>;
  holds(): Promise<number>;
  /** Audit findings; [] is right. */
  audit(): Promise<Finding[]>;
  /** Child only: restarts on the same database after it ended. */
  restart(): Promise<void>;
  /**
   * Child only: one more process on the same database, with `env` over the same environment, and another command where
   * one is given.
   */
  another(env: Record<string, string>, command?: readonly string[]): Promise<WeirProcess>;
  /**
   * Makes every instance, hold and lease look old, so that the next sweep takes them without half a minute of silence.
   */
  ageHolds(): Promise<void>;
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Where its data is and how to remove it. */
async function newStore(engine: Engine): Promise<{ dataDir: string; url: string; remove(): Promise<void> }> {
  const dataDir = mkdtempSync(join(tmpdir(), "weir-"));
  const removeFolder = () => rmSync(dataDir, { recursive: true, force: true });
  if (engine === "sqlite") return { dataDir, url: "", remove: async () => removeFolder() };
  const postgres = await freshPostgres(2);
  return {
    dataDir,
    url: postgres.url,
    remove: async () => {
      await postgres.close();
      removeFolder();
    },
  };
}

async function answerOf(response: Response): Promise<ApiAnswer> {
  const text = await response.text();
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = {};
  }
  return { status: response.status, headers: response.headers, body: (body ?? {}) as ApiAnswer["body"] };
}

export async function startWeir(options: WeirOptions = {}): Promise<Weir> {
  const { engine = "sqlite", child, root: withRoot = true, through = (url) => url } = options;
  const store = await newStore(engine);
  const environment: Record<string, string> = {
    PORT: "0",
    WEIR_HOST: "127.0.0.1",
    WEIR_DATA_DIR: store.dataDir,
    WEIR_LOG_LEVEL: "silent",
    WEIR_API_RATE_LIMIT: "0",
    WEIR_CRITICAL_RATE_LIMIT: "0",
    // No balancer has to notice the end of a child process.
    WEIR_DRAIN_SECONDS: "0",
    ...(store.url ? { DATABASE_URL: await through(store.url), WEIR_PG_POOL: "10" } : {}),
    ...(withRoot ? { WEIR_ROOT_USERNAME: ROOT.username, WEIR_ROOT_PASSWORD: ROOT.password } : {}),
    ...options.env,
  };

  let serving: Serving | undefined;
  let running: WeirProcess | undefined;
  const start = async (): Promise<string> => {
    if (child) {
      running = await startProcess(child === true ? undefined : child, environment);
      return running.url;
    }
    const env = readEnv(environment);
    serving = await startServer(env, createLogger({ level: env.WEIR_LOG_LEVEL, format: env.WEIR_LOG_FORMAT }));
    return serving.url;
  };
  let url = await start();
  const db = await openDb({ url: store.url || join(store.dataDir, "weir.db"), pool: 2 });

  const send = async (
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string>,
  ): Promise<ApiAnswer> =>
    answerOf(
      await fetch(url + path, {
        method,
        headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
        body: body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body),
        redirect: "manual",
      }),
    );

  const sessionOf = (user: { id: number; username: string; role: number }, cookie: string): Session => {
    const headers = { cookie, "new-api-user": String(user.id) };
    const api: Session["api"] = (method, path, body, extra) => send(method, path, body, { ...headers, ...extra });
    return {
      ...user,
      cookie,
      headers,
      api,
      ok: async <T>(method: string, path: string, body?: unknown) => {
        const answer = await api(method, path, body);
        if (!answer.body.success) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
        return answer.body.data as T;
      },
      trpc: createTRPCClient<AppRouter>({ links: [httpLink({ url: `${url}/trpc`, headers })] }),
    };
  };

  const signIn = async (username: string, password: string): Promise<Session> => {
    const answer = await send("POST", "/api/user/login", { username, password }, {});
    const cookie = answer.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    if (!answer.body.success || !cookie) throw new Error(`sign-in: ${answer.status} ${JSON.stringify(answer.body)}`);
    return sessionOf(answer.body.data as { id: number; username: string; role: number }, cookie);
  };

  let root = withRoot ? await signIn(ROOT.username, ROOT.password) : undefined;
  const asRoot = (): Session => {
    if (!root) throw new Error("this Weir was started without a root account");
    return root;
  };
  let people = 0;
  let closed: Promise<void> | undefined;
  const closeDb = (): Promise<void> => (closed ??= db.close());

  const weir: Weir = {
    get url() {
      return url;
    },
    engine,
    dataDir: store.dataDir,
    databaseUrl: store.url,
    db,
    get process() {
      return running;
    },
    get root() {
      return asRoot();
    },
    setupLink: async () => {
      // A process prints it shortly after it listens.
      for (const deadline = Date.now() + 5000; Date.now() < deadline; await Bun.sleep(20)) {
        const link = serving?.setupLink ?? /^ +(https?:\S+\/setup#code=\S+)$/m.exec(running?.output() ?? "")?.[1];
        if (link !== undefined) return link;
        if (serving) break;
      }
      throw new Error("no link for the set-up was printed");
    },
    anonymous: (method, path, body, headers = {}) => send(method, path, body, headers),
    signIn,
    newUser: async ({ role = ROLE.user, quota = 0, group = "default" } = {}) => {
      const username = `user${++people}`;
      // Cheap on purpose: tests do not check the cost of the hash.
      const password_hash = await Bun.password.hash(ROOT.password, { algorithm: "bcrypt", cost: 4 });
      const created_at = Math.floor(Date.now() / 1000);
      const [row] = await db.q
        .insert(db.t.users)
        .values({ username, password_hash, display_name: username, role, group, created_at })
        .returning();
      if (!row) throw new Error("the user was not inserted");
      if (quota !== 0) {
        const ledger = createLedger(db, "tests", Date.now);
        await ledger.credit({ user_id: row.id, amount: quota, kind: "adjust", idempotency_key: `test:${row.id}` });
        await ledger.flush();
      }
      return signIn(username, ROOT.password);
    },
    newToken: async ({ quota, ...fields } = {}, owner = asRoot()) => {
      const data = await owner.ok<{ id: number; key: string }>("POST", "/api/token/", {
        name: "test",
        ...(quota === undefined ? { unlimited_quota: true } : { remain_quota: quota }),
        ...fields,
      });
      return { id: data.id, key: `sk-${data.key}` };
    },
    newChannel: async ({ models, ...fields }) => {
      const before = await db.q.select({ id: sql<number>`coalesce(max(id), 0)`.mapWith(Number) }).from(db.t.channels);
      await asRoot().ok("POST", "/api/channel/", {
        type: 1,
        name: "fake",
        key: "good-key",
        group: "default",
        models: models.join(","),
        ...fields,
      });
      const rows = await db.q.select({ id: db.t.channels.id }).from(db.t.channels);
      const id = rows.map((row) => row.id).find((found) => found > (before[0]?.id ?? 0));
      if (id === undefined) throw new Error("the channel was not created");
      return id;
    },
    setOption: async (key, value) => {
      await asRoot().ok("PUT", "/api/option/", {
        key,
        value: typeof value === "object" ? JSON.stringify(value) : value,
      });
    },
    priceModels: async (ratios, completion) => {
      await weir.setOption("ModelRatio", ratios);
      await weir.setOption(
        "CompletionRatio",
        completion ?? Object.fromEntries(Object.keys(ratios).map((name) => [name, 1])),
      );
    },
    call: (key, body, { path = "/v1/chat/completions", headers, ...init } = {}) =>
      fetch(url + path, {
        method: "POST",
        ...init,
        headers: {
          "content-type": "application/json",
          authorization: `Bearer ${key}`,
          ...Object.fromEntries(new Headers(headers)),
        },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    balance: async (userId) => {
      const { users } = db.t;
      const [row] = await db.q
        .select({ quota: users.quota, used_quota: users.used_quota, request_count: users.request_count })
        .from(users)
        .where(eq(users.id, userId));
      if (!row) throw new Error(`no user ${userId}`);
      return row;
    },
    logs: () => db.q.select().from(db.t.logs).orderBy(db.t.logs.id),
    waitForLog: async (fits, timeoutMs = 5000) => {
      for (const deadline = Date.now() + timeoutMs; ; await Bun.sleep(20)) {
        const rows = await weir.logs();
        const row = rows.find(fits);
        if (row) return row;
        if (Date.now() > deadline) {
          const seen = rows.map((r) => `${r.id} type ${r.type} ${r.model_name} ${r.end_reason} ${r.quota}`);
          throw new Error(`no such log row within ${timeoutMs} ms; there are:\n${seen.join("\n") || "(none)"}`);
        }
      }
    },
    holds: async () => (await db.q.select({ id: db.t.holds.request_id }).from(db.t.holds)).length,
    audit: () => Array.fromAsync(audit(db)),
    restart: async () => {
      if (!child) throw new Error("only a child process can be restarted");
      url = await start();
      if (withRoot) root = await signIn(ROOT.username, ROOT.password);
    },
    another: (env, command) => {
      if (!child) throw new Error("only child processes can share a database");
      return startProcess(command ?? (child === true ? undefined : child), { ...environment, ...env });
    },
    ageHolds: async () => {
      await db.q.update(db.t.instances).set({ heartbeat_at: 0 });
      await db.q.update(db.t.holds).set({ created_at: 0 });
      await db.q.update(db.t.leases).set({ expires_at: 0 });
    },
    closeDb,
    stop: async () => {
      await serving?.stop();
      await running?.stop();
      await closeDb();
      await store.remove();
    },
    [Symbol.asyncDispose]: () => weir.stop(),
  };
  return weir;
}
