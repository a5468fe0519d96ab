/** Metrics whose values are kept elsewhere and read at each scrape. */
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { BUCKETS, type Distribution } from "./calls";

/** A registry with metrics that read their values when the page is written. */
export class Meters {
  readonly registry = new Registry();

  counter<L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    read: (add: (labels: Record<L, string>, value: number) => void) => void,
  ): void {
    const metric: Counter<L> = new Counter<L>({
      name,
      help,
      labelNames: [...labelNames],
      registers: [this.registry],
      collect() {
        metric.reset();
        read((labels, value) => metric.inc(labels, value));
      },
    });
  }

  gauge(name: string, help: string, read: () => number): void {
    const metric: Gauge = new Gauge({ name, help, registers: [this.registry], collect: () => metric.set(read()) });
  }

  histogram(name: string, help: string, read: () => Iterable<[operation: string, Distribution]>): void {
    this.registry.registerMetric(new CountedHistogram(name, help, read));
  }
}

/**
 * A histogram whose observations were counted elsewhere: the library's own would cost a call more than a microsecond
 * each.
 */
class CountedHistogram extends Histogram<"operation"> {
  constructor(
    readonly metric: string,
    readonly about: string,
    readonly read: () => Iterable<[operation: string, Distribution]>,
  ) {
    super({ name: metric, help: about, labelNames: ["operation"], buckets: [...BUCKETS], registers: [] });
  }

  /** Called by the registry when it writes the text (prom-client 15.1, lib/registry.js; not part of its types). */
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
