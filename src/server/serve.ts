/** One serving process, from open database to closed listener. */
import type { Server } from "bun";
import { createApp } from "./app";
import { createClientFiles } from "./http/client-files";
import type { Env } from "./env";
import { startJobs } from "./jobs";
import { CannotStart } from "./lib/cannot-start";
import type { Logger } from "./lib/log";
import { checkOpenFiles } from "./lib/open-files";
import { lockDataFolder } from "./wiring/data-folder";
import { createReadiness } from "./wiring/readiness";
import { createRelay } from "./relay/entry/handle";
import { combineObservers } from "./relay/call/observers";
import { createControlPlane } from "./wiring/control-plane";
import { demoBaseUrl, startDemo } from "./features/demo/service";
import { createChangeStream } from "./features/changes/stream";
import { createLogTail } from "./features/log/tail";
import { CallCounts } from "./features/metrics/calls";
import { watchLoop } from "./features/metrics/loop-lag";
import { createMetrics } from "./features/metrics/page";
import { isSetUp, setupLink, setUpUnattended } from "./features/setup/service";
import { watchOwnDrain } from "./features/instance/service";
import { countConnections, startInstance } from "./features/wallet/instances";
import { checkCanary } from "./wiring/secret-source";
import { openServices } from "./wiring/services";
import { VERSION } from "./version";

export interface Serving {
  url: string;
  /** Where the first set-up is done; undefined afterwards. */
  setupLink: string | undefined;
  /**
   * Drains: /readyz answers 503 for WEIR_DRAIN_SECONDS (`lameDuck`), then no new calls, running ones finish (within
   * WEIR_SHUTDOWN_SECONDS), then everything closes.
   */
  stop(options?: { lameDuck?: boolean }): Promise<void>;
}

/** Time for closing everything after the running calls' time is up, in all. */
const CLOSE_MS = 3_500;

/** Starts the server and installs its signal handlers. */
export async function serve(env: Env, log: Logger): Promise<Serving> {
  const serving = await startServer(env, log);
  let stopping = 0;
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      // A second signal means "now"; but one sent to a whole process group arrives more than once.
      if (stopping && Date.now() - stopping > 500) process.exit(1);
      if (stopping) return;
      stopping = Date.now();
      log.info({ signal }, "draining");
      // Ends the process even when something hangs.
      setTimeout(
        () => process.exit(1),
        (env.WEIR_DRAIN_SECONDS + env.WEIR_SHUTDOWN_SECONDS) * 1000 + CLOSE_MS + 500,
      ).unref();
      // SIGINT comes from a terminal: no balancer has to notice first.
      void serving.stop({ lameDuck: signal === "SIGTERM" }).then(
        () => process.exit(0),
        (err: unknown) => {
          log.error({ err }, "the shutdown failed");
          process.exit(1);
        },
      );
    });
  }
  return serving;
}

export async function startServer(env: Env, log: Logger, now: () => number = Date.now): Promise<Serving> {
  const scarce = checkOpenFiles();
  if (scarce) log.warn(scarce);
  const folder = lockDataFolder(env);
  const { services, routing, close } = await openServices(env, log, now);
  if (await setUpUnattended(services)) log.info({ username: env.WEIR_ROOT_USERNAME }, "set up unattended");
  const { db, cluster, events, background } = services;
  const instance = await startInstance(db, cluster.instanceId, VERSION, {
    failed: (err) => log.error({ err }, "no heartbeat"),
    clock: (ahead) => {
      if (ahead === 0) log.info("this process's clock agrees with the database's again: its timers go on");
      else log.error({ ahead_seconds: ahead }, "this process's clock is not the database's: its timers are stopped");
    },
    back: (seconds) => {
      const params = { instance: cluster.instanceId, seconds };
      background.track(
        "a node's event",
        db.tx((q) => events.record(q, { type: "system", event: "node_back", params })),
      );
    },
  });
  const connections = await countConnections(db, env.WEIR_PG_POOL);
  if (connections && connections.instances * connections.each > connections.usable)
    log.warn(
      connections,
      "the instances may open more connections than Postgres has for them: lower WEIR_PG_POOL or raise max_connections",
    );
  // A rotation of the secret does not see an instance before it is registered.
  await checkCanary(services.db, services.secrets);
  const readiness = createReadiness({ ...services, instance });
  const counts = new CallCounts();
  // Loaded only when configured: it costs memory.
  const tracing = env.WEIR_OTLP_ENDPOINT
    ? (await import("./features/tracing/tracing")).startTracing(env, services.cluster.instanceId)
    : undefined;
  const relay = createRelay(createControlPlane(services), {
    observer: tracing ? combineObservers(counts, tracing.observer) : counts,
    log,
    routing,
  });
  watchOwnDrain(services, (drain) => {
    relay.drain(drain);
    readiness.pause(drain !== undefined);
  });
  const jobs = startJobs(services, relay, instance);
  const lag = watchLoop();
  const metrics = createMetrics({ services, counts, stats: relay.stats, lag });
  const tail = createLogTail(services);
  const changes = createChangeStream(services);
  const app = createApp({
    services,
    relay,
    tail: tail.route,
    changes: changes.route,
    files: createClientFiles(),
    ready: readiness.check,
    metrics,
  });
  const server: Server<unknown> = await listen(app, env);
  await startDemo(services, demoBaseUrl(env.WEIR_HOST, server.port ?? env.PORT));
  const name = env.WEIR_HOST === "0.0.0.0" || env.WEIR_HOST === "::" ? "localhost" : env.WEIR_HOST;
  const url = `http://${name.includes(":") ? `[${name}]` : name}:${server.port}`;
  log.info(
    { version: VERSION, url, database: services.db.engine, instance: services.cluster.instanceId },
    `console ${url}`,
  );
  const link = (await isSetUp(services)) ? undefined : setupLink(services, url);
  if (link) announceSetup(link);

  return {
    url,
    setupLink: link,
    stop: async ({ lameDuck = false } = {}) => {
      readiness.drain();
      if (lameDuck) await Bun.sleep(env.WEIR_DRAIN_SECONDS * 1000);
      // stop() closes the listener and lets running responses finish; true cuts them.
      const grace = env.WEIR_SHUTDOWN_SECONDS * 1000;
      // What listens would last longer than any call.
      tail.close();
      changes.close();
      const sessions = relay.stop(grace);
      await Promise.race([server.stop(), Bun.sleep(grace)]);
      const end = performance.now() + CLOSE_MS;
      /** Waits for a step, but not into the time of the steps after it. */
      const step = async (name: string, reserve: number, work: () => Promise<unknown> | undefined) => {
        const late = Promise.withResolvers<string>();
        const timer = setTimeout(late.resolve, Math.max(0, end - reserve - performance.now()), "it took too long");
        const left = await Promise.race([
          Promise.try(work).then(
            () => undefined,
            (err: unknown) => ({ err }),
          ),
          late.promise,
        ]);
        clearTimeout(timer);
        if (left !== undefined)
          log.error({ step: name, left, charges: services.ledger.queued() }, "a step of the shutdown was left undone");
      };
      await step("calls", 3_200, () => Promise.all([sessions, server.stop(true)]));
      lag.stop();
      await step("tracing", 2_900, () => tracing?.stop());
      // A job may still charge.
      await step("charges and jobs", 1_000, () =>
        Promise.all([jobs.stop(), services.ledger.flush()]).then(() => services.ledger.flush()),
      );
      await step("instance", 700, () => instance.stop());
      await step("database", 0, close);
      folder?.release();
      log.info("stopped");
    },
  };
}

async function listen(app: ReturnType<typeof createApp>, env: Env): Promise<Server<unknown>> {
  try {
    app.listen({ port: env.PORT, hostname: env.WEIR_HOST });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") {
      throw new CannotStart(`port ${env.PORT} is in use. Set PORT to another one.`);
    }
    if (error instanceof Error && "code" in error) {
      throw new CannotStart(`it cannot listen on ${env.WEIR_HOST}, port ${env.PORT}: ${error.message}`);
    }
    throw error;
  }
  if (!app.server) throw new Error("the server did not start");
  return app.server as Server<unknown>;
}

/** Printed once, to the terminal; never logged. */
function announceSetup(link: string): void {
  console.log(
    `\n  打开此链接创建管理员账户（链接中带有初始化码，请勿转发）：\n  Open this link to create the administrator (it carries the set-up code, keep it to yourself):\n\n    ${link}\n`,
  );
}
