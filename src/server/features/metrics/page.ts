/** GET /metrics: the process's counts in the format of Prometheus. No label holds a user's text. */
import { ne, sql } from "drizzle-orm";
import { Gauge, type Registry } from "prom-client";
import { type EventName, EVENTS } from "../../../shared/events";
import type { Services } from "../../contracts/context";
import type { RelayStats } from "../../contracts/relay-stats";
import type { Db } from "../../db/types";
import type { Env } from "../../env";
import { compileNetworks, inNetworks } from "../../lib/addresses";
import { sameText } from "../../lib/secrets";
import { VERSION } from "../../version";
import { addAffinityMetrics, addCallMetrics } from "./call-metrics";
import type { CallCounts } from "./calls";
import type { LoopLag } from "./loop-lag";
import { Meters } from "./meters";

export interface MetricsParts {
  services: Pick<Services, "db" | "ledger" | "settles" | "env" | "events">;
  counts: CallCounts;
  stats: Readonly<RelayStats>;
  lag: LoopLag;
}

/** Who asks for the page. `peer`: the socket's own address, whatever headers say. */
export interface Scraper {
  peer: string;
  headers: Headers;
}

/** A scrape waits no longer for the database. */
const DATABASE_MS = 2_000;

/** Whether the page may be read: with the token, or from a listed address. With neither set it is closed. */
export function createScrapeGuard({
  WEIR_METRICS_TOKEN: token,
  WEIR_METRICS_ADDRESSES: addresses,
}: Pick<Env, "WEIR_METRICS_TOKEN" | "WEIR_METRICS_ADDRESSES">): (scraper: Scraper) => boolean {
  const listed = compileNetworks(addresses.join("\n"));
  return ({ peer, headers }) =>
    inNetworks(listed, peer) || (token !== "" && sameText(headers.get("authorization") ?? "", `Bearer ${token}`));
}

/** Answers GET /metrics. */
export function createMetrics({ services, counts, stats, lag }: MetricsParts): (scraper: Scraper) => Promise<Response> {
  const mayScrape = createScrapeGuard(services.env);
  const meters = new Meters();
  const { registry } = meters;
  addCallMetrics(meters, counts);
  addLoadMetrics(meters, services, stats, lag);
  addAffinityMetrics(meters, stats);
  addSettleMetrics(meters, stats);
  addEventMetrics(meters, services);
  addProcessMetrics(meters);
  const database = new DatabaseMetrics(registry, services.db);
  return async (scraper) => {
    if (!mayScrape(scraper)) return new Response("Forbidden\n", { status: 403 });
    await database.read();
    return new Response(await registry.metrics(), {
      headers: { "content-type": registry.contentType, "cache-control": "no-store" },
    });
  };
}

function addLoadMetrics(
  meters: Meters,
  services: Pick<Services, "ledger" | "settles">,
  stats: Readonly<RelayStats>,
  lag: LoopLag,
): void {
  meters.gauge("weir_open_calls", "Calls that have not left a log row yet.", () => stats.open_calls);
  meters.gauge("weir_open_streams", "Streams and realtime sessions that are open.", () => stats.open_streams);
  meters.gauge("weir_realtime_sessions", "Realtime sessions that are open.", () => stats.open_sessions);
  meters.gauge("weir_ledger_queue", "Verbs of the ledger that wait for their commit.", () => services.ledger.queued());
  meters.gauge(
    "weir_waiting_settles",
    "Ends of calls that the ledger could not take yet; they wait in the journal.",
    () => services.settles.size(),
  );
  meters.gauge("weir_event_loop_lag_seconds", "Longest delay of the event loop in the last 15 seconds.", () =>
    lag.read(),
  );
}

function addEventMetrics(meters: Meters, { events }: Pick<Services, "events">): void {
  const counts = new Map<EventName, number>();
  events.subscribe(({ name, own }) => {
    if (own) counts.set(name, (counts.get(name) ?? 0) + 1);
  });
  meters.counter(
    "weir_events_total",
    "Events of channels, money, jobs and nodes that happened in this process, by name.",
    ["event", "subject", "level"],
    (add) => {
      for (const [event, count] of counts) {
        const { subject, level } = EVENTS[event];
        add({ event, subject, level }, count);
      }
    },
  );
}

function addSettleMetrics(meters: Meters, stats: Readonly<RelayStats>): void {
  meters.counter(
    "weir_late_settles_total",
    "Charges that failed or had no answer for seconds, and went into the journal.",
    [],
    (add) => add({}, stats.late_settles),
  );
  meters.counter("weir_missing_holds_total", "Charges whose hold was gone.", [], (add) => add({}, stats.missing_holds));
}

function addProcessMetrics(meters: Meters): void {
  meters.gauge("process_resident_memory_bytes", "Memory of the process.", () => process.memoryUsage.rss());
  meters.counter("process_cpu_seconds_total", "Processor time, user and system.", [], (add) => {
    const { user, system } = process.cpuUsage();
    add({}, (user + system) / 1e6);
  });
  new Gauge({
    name: "weir_info",
    help: "The version that runs.",
    labelNames: ["version"],
    registers: [meters.registry],
  }).set({ version: VERSION }, 1);
}

/** The database's figures of all instances. */
class DatabaseMetrics {
  readonly #db: Db;
  readonly #holds: Gauge;
  readonly #heldUnits: Gauge;
  readonly #up: Gauge;
  readonly #openTasks: Gauge<"platform">;

  constructor(registry: Registry, db: Db) {
    const registers = [registry];
    this.#db = db;
    this.#holds = new Gauge({ name: "weir_holds", help: "Holds of all instances.", registers });
    this.#heldUnits = new Gauge({ name: "weir_held_units", help: "Units of quota in holds.", registers });
    this.#up = new Gauge({ name: "weir_database_up", help: "Whether the database answered this scrape.", registers });
    this.#openTasks = new Gauge({
      name: "weir_open_tasks",
      help: "Jobs of all instances that are not finished, by platform.",
      labelNames: ["platform"],
      registers,
    });
  }

  /** Reads for at most DATABASE_MS; the last values stay when the database does not answer. Never rejects. */
  async read(): Promise<void> {
    const answered = await Promise.race([
      this.#readAll().then(
        () => true,
        () => false,
      ),
      Bun.sleep(DATABASE_MS).then(() => false),
    ]);
    this.#up.set(answered ? 1 : 0);
  }

  async #readAll(): Promise<void> {
    const { q, t } = this.#db;
    const [row] = await q
      .select({
        count: sql<number>`count(*)`.mapWith(Number),
        sum: sql<number>`coalesce(sum(${t.holds.amount}), 0)`.mapWith(Number),
      })
      .from(t.holds);
    this.#holds.set(row?.count ?? 0);
    this.#heldUnits.set(row?.sum ?? 0);
    const { tasks } = t;
    const open = await q
      .select({ platform: tasks.platform, count: sql<number>`count(*)`.mapWith(Number) })
      .from(tasks)
      .where(ne(tasks.next_poll_at_ms, 0))
      .groupBy(tasks.platform);
    this.#openTasks.reset();
    for (const { platform, count } of open) this.#openTasks.set({ platform }, count);
  }
}
