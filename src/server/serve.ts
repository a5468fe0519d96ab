/** One serving process, from open database to closed listener. */
import type { Server } from "bun";
import { createApp } from "./app";
import { createClientFiles } from "./client-files";
import type { Env } from "./env";
import { startJobs } from "./jobs";
import { CannotStart } from "./lib/cannot-start";
import type { Logger } from "./lib/log";
import { createReadiness } from "./readiness";
import { createRelay } from "./relay/handle";
import { both } from "./relay/watch";
import { relaySeams } from "./relay-seams";
import { demoBaseUrl, startDemo } from "./features/demo/service";
import { createLogTail } from "./features/log/tail";
import { CallCounts } from "./features/metrics/calls";
import { watchLoop } from "./features/metrics/loop-lag";
import { createMetrics } from "./features/metrics/page";
import { isSetUp, setupCode, setUpUnattended } from "./features/setup/service";
import { startInstance } from "./features/wallet/instances";
import { checkCanary } from "./secret-source";
import { openServices } from "./services";
import { VERSION } from "./version";

export interface Serving {
  url: string;
  /** Drains: /readyz says so for WEIR_DRAIN_SECONDS (`lameDuck`), then no new calls, running ones finish (within WEIR_SHUTDOWN_SECONDS), then everything closes. */
  stop(options?: { lameDuck?: boolean }): Promise<void>;
}

/** Starts to serve and installs the signal handlers of a server process. */
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
      // Somebody at a terminal does not wait for balancers.
      void serving.stop({ lameDuck: signal === "SIGTERM" }).then(() => process.exit(0), (err: unknown) => {
        log.error({ err }, "the shutdown failed");
        process.exit(1);
      });
    });
  }
  return serving;
}

export async function startServer(env: Env, log: Logger, now: () => number = Date.now): Promise<Serving> {
  const { services, close } = await openServices(env, log, now);
  if (await setUpUnattended(services)) log.info({ username: env.WEIR_ROOT_USERNAME }, "set up unattended");
  const instance = await startInstance(services.db, services.cluster.instanceId, VERSION, (err) => log.error({ err }, "no heartbeat"));
  // A rotation of the secret does not see an instance before it is registered.
  await checkCanary(services.db, services.secrets);
  const readiness = createReadiness(services);
  const counts = new CallCounts();
  // Loaded when wanted: it costs memory.
  const tracing = env.WEIR_OTLP_ENDPOINT ? (await import("./features/tracing/tracing")).startTracing(env, services.cluster.instanceId) : undefined;
  const relay = createRelay(relaySeams(services), { watch: tracing ? both(counts, tracing.watch) : counts, log, routing: services.routing });
  const jobs = startJobs(services, relay, instance);
  const lag = watchLoop();
  const metrics = createMetrics({ services, counts, stats: relay.stats, lag });
  const tail = createLogTail(services);
  const app = createApp({ services, relay, tail: tail.door, files: createClientFiles(), ready: readiness.check, metrics });
  const server: Server<unknown> = await listen(app, env);
  await startDemo(services, demoBaseUrl(env.WEIR_HOST, server.port ?? env.PORT));
  const url = `http://${env.WEIR_HOST === "0.0.0.0" || env.WEIR_HOST === "::" ? "localhost" : env.WEIR_HOST}:${server.port}`;
  log.info({ version: VERSION, url, database: services.db.engine, instance: services.cluster.instanceId }, `console ${url}`);
  if (!(await isSetUp(services))) announceSetup(url, setupCode(services));

  return {
    url,
    stop: async ({ lameDuck = false } = {}) => {
      readiness.drain();
      if (lameDuck) await Bun.sleep(env.WEIR_DRAIN_SECONDS * 1000);
      // stop() closes the listener and lets running answers finish; true cuts what is left.
      const grace = env.WEIR_SHUTDOWN_SECONDS * 1000;
      // They would last longer than any call.
      tail.close();
      const sessions = relay.stop(grace);
      await Promise.race([server.stop(), Bun.sleep(grace)]);
      await sessions;
      await server.stop(true);
      lag.stop();
      await tracing?.stop();
      await jobs.stop();
      await services.ledger.flush();
      await instance.stop();
      await close();
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

/** Said once, to whoever reads the terminal; never logged. */
function announceSetup(url: string, code: string): void {
  console.log(
    `\n  控制台 ${url}：首次访问将引导你创建管理员账户；从其他机器访问时需要初始化码 ${code}` +
      `\n  Console ${url}: open it to create the administrator; from another machine the set-up code is ${code}\n`,
  );
}
