/** GET /metrics: what the process has counted, as Prometheus reads it. No label holds a text of a user's. */
import { ne, sql } from "drizzle-orm";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { compileNetworks, inNetworks } from "../../lib/addresses";
import { sameText } from "../../lib/secrets";
import type { RelayStats } from "../../contracts/relay-stats";
import type { Services } from "../../contracts/context";
import type { Env } from "../../env";
import { VERSION } from "../../version";
import { BUCKETS, type CallCounts, type Distribution } from "./calls";
import type { LoopLag } from "./loop-lag";

export interface MetricsParts {
  services: Pick<Services, "db" | "ledger" | "settles" | "env">;
  counts: CallCounts;
  stats: Readonly<RelayStats>;
  lag: LoopLag;
}

/** Who asks: the socket's own address, whatever headers say. */
export interface Scraper {
  peer: string;
  headers: Headers;
}

/** A scrape waits no longer for the database. */
const DATABASE_MS = 2_000;

/**
 * A histogram whose observations were counted elsewhere: the library's own would cost a call more than a microsecond
 * each.
 */
class Counted extends Histogram<"operation"> {
  constructor(
    readonly metric: string,
    readonly about: string,
    readonly read: () => Iterable<[operation: string, Distribution]>,
  ) {
    super({ name: metric, help: about, labelNames: ["operation"], buckets: [...BUCKETS], registers: [] });
  }

  /**
   * What the registry asks a histogram for when it writes text (prom-client 15.1, lib/registry.js; its types leave it
   * out).
   */
  async getForPromString(): Promise<unknown> {
    const values: { metricName: string; labels: Record<string, string | number>; value: number }[] = [];
    for (const [operation, { counts, sum }] of this.read()) {
      let total = 0;
      counts.forEach((count, i) => {
        total += count;
        values.push({
          metricName: `${this.metric}_bucket`,
          labels: { operation, le: BUCKETS[i] ?? "+Inf" },
          value: total,
        });
      });
      values.push({ metricName: `${this.metric}_sum`, labels: { operation }, value: sum });
      values.push({ metricName: `${this.metric}_count`, labels: { operation }, value: total });
    }
    return { name: this.metric, help: this.about, type: "histogram", values, aggregator: "sum" };
  }
}

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
  const registry = new Registry();
  const registers = [registry];

  const counter = <L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    read: (add: (labels: Record<L, string>, value: number) => void) => void,
  ): void => {
    const metric = new Counter<L>({
      name,
      help,
      labelNames: [...labelNames],
      registers,
      collect() {
        this.reset();
        read((labels, value) => this.inc(labels, value));
      },
    });
    void metric;
  };
  const gauge = (name: string, help: string, read: () => number): void => {
    const metric = new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
    void metric;
  };

  const perSeries = ["group", "model", "channel_type"] as const;
  counter(
    "weir_calls_total",
    "Calls that ended, by how; a response of a realtime session is a call.",
    [...perSeries, "end_reason"],
    (add) => {
      for (const { ends, group, model, channel_type } of counts.series.values()) {
        for (const [end_reason, value] of ends) add({ group, model, channel_type, end_reason }, value);
      }
    },
  );
  counter("weir_refused_total", "Calls refused before a channel was asked, by error code.", ["code"], (add) => {
    for (const [code, value] of counts.refusals) add({ code }, value);
  });
  counter("weir_tokens_total", "Tokens used. input holds cached_input.", [...perSeries, "kind"], (add) => {
    for (const { group, model, channel_type, input, cached, output } of counts.series.values()) {
      add({ group, model, channel_type, kind: "input" }, input);
      add({ group, model, channel_type, kind: "cached_input" }, cached);
      add({ group, model, channel_type, kind: "output" }, output);
    }
  });
  counter(
    "weir_charged_units_total",
    "Units of quota charged (option QuotaPerUnit: units of one dollar).",
    perSeries,
    (add) => {
      for (const { group, model, channel_type, units } of counts.series.values())
        add({ group, model, channel_type }, units);
    },
  );
  counter(
    "weir_attempts_total",
    "Attempts at channels, by class of failure; ok: answered.",
    ["channel_type", "outcome"],
    (add) => {
      for (const [channel_type, outcomes] of counts.attempts)
        for (const [outcome, value] of outcomes) add({ channel_type, outcome }, value);
    },
  );
  registry.registerMetric(
    new Counted("weir_call_duration_seconds", "From arrival to the end of the answer.", function* () {
      for (const [operation, { duration }] of counts.times) yield [operation, duration];
    }),
  );
  registry.registerMetric(
    new Counted("weir_first_content_seconds", "From arrival to the first content.", function* () {
      for (const [operation, { first_content }] of counts.times) yield [operation, first_content];
    }),
  );

  gauge("weir_open_calls", "Calls that have not left a log row yet.", () => stats.open_calls);
  gauge("weir_open_streams", "Streams and realtime sessions that are open.", () => stats.open_streams);
  gauge("weir_realtime_sessions", "Realtime sessions that are open.", () => stats.open_sessions);
  gauge("weir_ledger_queue", "Verbs of the ledger that wait for their commit.", () => services.ledger.queued());
  gauge("weir_waiting_settles", "Ends of calls that the ledger could not take yet; they wait in the journal.", () =>
    services.settles.size(),
  );
  gauge("weir_event_loop_lag_seconds", "Longest delay of the event loop in the last 15 seconds.", () => lag.read());
  gauge("weir_cache_share", "Share of input tokens that were read from the upstreams' caches, since start.", () => {
    let input = 0;
    let cached = 0;
    for (const series of counts.series.values()) {
      input += series.input;
      cached += series.cached;
    }
    return input === 0 ? 0 : cached / input;
  });
  gauge(
    "weir_sticky_share",
    "Share of the calls with a choice that returned to their conversation's channel, since start.",
    () => (stats.sticky_calls === 0 ? 0 : stats.sticky_hits / stats.sticky_calls),
  );
  counter(
    "weir_sticky_calls_total",
    "Calls that had a choice of channels, by whether their own was taken.",
    ["hit"],
    (add) => {
      add({ hit: "true" }, stats.sticky_hits);
      add({ hit: "false" }, stats.sticky_calls - stats.sticky_hits);
    },
  );
  counter(
    "weir_late_settles_total",
    "Charges that failed or had no answer for seconds, and went into the journal.",
    [],
    (add) => add({}, stats.late_settles),
  );
  counter("weir_missing_holds_total", "Charges whose hold was gone.", [], (add) => add({}, stats.missing_holds));
  gauge("process_resident_memory_bytes", "Memory of the process.", () => process.memoryUsage.rss());
  counter("process_cpu_seconds_total", "Processor time, user and system.", [], (add) => {
    const { user, system } = process.cpuUsage();
    add({}, (user + system) / 1e6);
  });
  new Gauge({ name: "weir_info", help: "The version that runs.", labelNames: ["version"], registers }).set(
    { version: VERSION },
    1,
  );

  const holds = new Gauge({ name: "weir_holds", help: "Holds of all instances.", registers });
  const held = new Gauge({ name: "weir_held_units", help: "Units of quota in holds.", registers });
  const up = new Gauge({ name: "weir_database_up", help: "Whether the database answered this scrape.", registers });
  const jobs = new Gauge({
    name: "weir_open_tasks",
    help: "Jobs of all instances that are not finished, by platform.",
    labelNames: ["platform"],
    registers,
  });
  const readHolds = async (): Promise<void> => {
    const { db } = services;
    const [row] = await db.q
      .select({
        count: sql<number>`count(*)`.mapWith(Number),
        sum: sql<number>`coalesce(sum(${db.t.holds.amount}), 0)`.mapWith(Number),
      })
      .from(db.t.holds);
    holds.set(row?.count ?? 0);
    held.set(row?.sum ?? 0);
    const { tasks } = db.t;
    const open = await db.q
      .select({ platform: tasks.platform, count: sql<number>`count(*)`.mapWith(Number) })
      .from(tasks)
      .where(ne(tasks.next_poll_at_ms, 0))
      .groupBy(tasks.platform);
    jobs.reset();
    for (const { platform, count } of open) jobs.set({ platform }, count);
  };

  return async (scraper) => {
    if (!mayScrape(scraper)) return new Response("Forbidden\n", { status: 403 });
    const answered = await Promise.race([
      readHolds().then(
        () => true,
        () => false,
      ),
      Bun.sleep(DATABASE_MS).then(() => false),
    ]);
    up.set(answered ? 1 : 0);
    return new Response(await registry.metrics(), {
      headers: { "content-type": registry.contentType, "cache-control": "no-store" },
    });
  };
}
