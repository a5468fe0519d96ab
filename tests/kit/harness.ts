/**
 * The services of one process on a fresh database, with real options, pool, token cache and ledger; users with a role;
 * and REST calls through the real shim, without a port.
 */
import { eq } from "drizzle-orm";
import { localBus, localCounter, localLease } from "../../src/server/cluster/local";
import type { Ctx, Services, UserCtx } from "../../src/server/contracts/context";
import { readEnv } from "../../src/server/env";
import { createChannelPool } from "../../src/server/features/channel/pool";
import { withVirtualModels } from "../../src/server/features/virtual/virtual-models";
import { createRefusals } from "../../src/server/features/log/refusals";
import { createChanges } from "../../src/server/features/changes/tell";
import { createEvents } from "../../src/server/features/log/events";
import { createNotices } from "../../src/server/features/notice/notices";
import { openOptionStore } from "../../src/server/features/option/store";
import { createControlPlane } from "../../src/server/wiring/control-plane";
import { createRelay } from "../../src/server/relay/entry/handle";
import { previewOf } from "../../src/server/relay/entry/dry-run";
import { createRouting, type Routing } from "../../src/server/relay/routing/router";
import { createTokenCache } from "../../src/server/features/token/authenticate";
import { createLedger, notifyCharges } from "../../src/server/features/wallet/open-ledger";
import { requestFacts } from "../../src/server/http/own-page";
import { answerRest, restRoutes } from "../../src/server/http/rest";
import { createBackground } from "../../src/server/lib/background";
import { run } from "../../src/server/db/transaction";
import { createLogger } from "../../src/server/lib/log";
import type { Mail } from "../../src/server/lib/mail";
import { createSecrets, randomText } from "../../src/server/lib/secrets";
import { appRouter, createCaller } from "../../src/server/router";
import { ROLE } from "../../src/shared/roles";
import type { Lang } from "../../src/shared/text";
import { type Engine, freshDatabase } from "./databases";

/**
 * For beforeAll: the first test that needs Postgres waits until the server has started, which takes seconds on a busy
 * machine.
 */
export const HOOK_MS = 30_000;

export interface Person {
  ctx: UserCtx;
  /** Typed calls, as the console makes them. */
  call: ReturnType<typeof createCaller>;
  /** One REST call through the shim; the status is the HTTP status. */
  rest(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<RestAnswer>;
}

export interface RestAnswer {
  status: number;
  // Tests inspect responses of every shape.
  body: { success: boolean; message: string; data: any } & Record<string, any>;
  text: string;
}

export interface Harness {
  /** Of the database. */
  url: string;
  services: Services;
  /** The pool that the relay routes by. */
  routing: Routing;
  /** Logged lines. */
  logged: string[];
  /** Sent mails, in order. */
  mails: Mail[];
  /** Advances the clock. */
  advance(seconds: number): void;
  person(options?: { role?: number; group?: string; lang?: Lang }): Promise<Person>;
  guest: Pick<Person, "rest">;
  close(): Promise<void>;
}

const routes = restRoutes(appRouter);

function matchRoute(method: string, pathname: string) {
  const path = pathname.replace(/\/$/, "");
  // As in Elysia: a literal segment wins over a parameter.
  const fits = routes.flatMap((route) => {
    if (route.method !== method) return [];
    const names = [...route.path.matchAll(/\{(\w+)\}/g)].map((m) => m[1] ?? "");
    const found = new RegExp(`^${route.path.replace(/\/$/, "").replace(/\{\w+\}/g, "([^/]+)")}$`).exec(path);
    return found ? [{ route, params: Object.fromEntries(names.map((name, i) => [name, found[i + 1] ?? ""])) }] : [];
  });
  return fits.sort((a, b) => Object.keys(a.params).length - Object.keys(b.params).length)[0];
}

async function rest(
  ctx: Ctx,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<RestAnswer> {
  const request = new Request(`http://localhost${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const found = matchRoute(method, new URL(request.url).pathname);
  if (!found) throw new Error(`No route for ${method} ${path}`);
  const idempotency_key = request.headers.get("idempotency-key") ?? undefined;
  const response = await answerRest(found.route, request, found.params, { ...ctx, idempotency_key }, createCaller);
  const text = await response.text();
  return { status: response.status, body: JSON.parse(text), text };
}

export async function openHarness(engine: Engine, env: Record<string, string> = {}): Promise<Harness> {
  const { db, url, close } = await freshDatabase(engine);
  const logged: string[] = [];
  const mails: Mail[] = [];
  const log = createLogger({
    level: "debug",
    format: "json",
    destination: { write: (line) => void logged.push(line) },
  });
  let offset = 0;
  const now = () => Date.now() + offset;
  const secrets = createSecrets("a secret for tests only");
  const cluster = { instanceId: "test", bus: localBus(), lease: localLease(), counter: localCounter(now) };
  const options = await openOptionStore({ db, bus: cluster.bus, secrets, log, now });
  const post = {
    env: readEnv({ WEIR_CRITICAL_RATE_LIMIT: "0", ...env }),
    log,
    db,
    secrets,
    options,
    background: createBackground(log),
    sendMail: async (mail: Mail) => void mails.push(mail),
    now,
  };
  const events = createEvents({ ...post, cluster });
  const changes = createChanges({ ...post, cluster, events });
  const notices = createNotices({ ...post, events });
  const ledger = notifyCharges(createLedger(db, cluster.instanceId, now), notices.charged);
  // Nothing may outlive its test: failed work is not retried.
  const settles = { path: "", size: () => 0, full: () => false, later: async () => {}, close: async () => {} };
  const base = { ...post, cluster, events, changes, notices, ledger, settles, refusals: createRefusals(post) };
  const pool = withVirtualModels(await createChannelPool(base), base);
  const tokens = createTokenCache(base);
  const routing = createRouting(pool, now);
  cluster.bus.subscribe("pauses", (id) => routing.cooldown.works(id));
  const services: Services = { ...base, pool, routing: previewOf(routing), tokens };

  const taskService = createRelay(createControlPlane(services), { log, routing }).tasks;

  const context = (actor: Ctx["actor"], lang: Lang): Ctx => ({
    ...services,
    actor,
    // Every call has its own, as in the server.
    get request_id() {
      return randomText(20);
    },
    ip: "198.51.100.7",
    request: requestFacts({ method: "POST", headers: new Headers({ host: "localhost" }) }, undefined),
    lang,
    user_agent: "",
    session_cookie: undefined,
    browser_cookie: undefined,
    device_cookie: undefined,
    turnstile_cookie: undefined,
    secure: false,
    setCookie: () => {},
    taskService,
  });

  return {
    url,
    services,
    routing,
    logged,
    mails,
    advance: (seconds) => {
      offset += seconds * 1000;
    },
    person: async ({ role = ROLE.user, group = "default", lang = "zh" } = {}) => {
      const username = randomText(10);
      const [row] = await db.q
        .insert(db.t.users)
        .values({ username, password_hash: "-", role, group, created_at: 1 })
        .returning();
      if (!row) throw new Error("The user was not created");
      const ctx = context(
        {
          kind: "user",
          id: row.id,
          username,
          role,
          group,
          via: "session",
          session_id: 0,
          verified_at: Number.MAX_SAFE_INTEGER,
        },
        lang,
      ) as UserCtx;
      return { ctx, call: createCaller(ctx), rest: (...asked) => rest(ctx, ...asked) };
    },
    guest: { rest: (...asked) => rest(context({ kind: "guest" }, "zh"), ...asked) },
    close: async () => {
      await services.background.stop();
      pool.close();
      tokens.close();
      await ledger.flush();
      await close();
    },
  };
}

/** Sets columns of a user and notifies the caches, like the services do. */
export async function changeUser(
  { db, cluster }: Services,
  id: number,
  set: { status?: number; group?: string; deleted_at?: number | null },
): Promise<void> {
  await db.tx(function* (q) {
    yield* run(q.update(db.t.users).set(set).where(eq(db.t.users.id, id)).returning());
    yield* cluster.bus.announce(q, "users", String(id));
  });
}
