/**
 * Gaps between the frames of many paced streams, as a separate process: `bun scripts/bench/steady.ts '<JSON>'` keeps
 * `count` streams running until its input ends, then prints a GapResult. Each line of its input starts a new
 * measurement.
 */
import { requestBody } from "./scenarios";
import { percentile } from "./load";

export interface GapSpec {
  url: string;
  key: string;
  model: string;
  count: number;
}

export interface GapResult {
  gaps: number;
  /** Milliseconds between two frames at the caller. */
  p50: number;
  p99: number;
  failed: number;
}

const spec = JSON.parse(process.argv[2] ?? "{}") as GapSpec;
const body = requestBody(1024, spec.model, true);
const leaving = new AbortController();
let gaps: number[] = [];
let failed = 0;

async function oneStream(): Promise<void> {
  while (!leaving.signal.aborted) {
    try {
      const response = await fetch(spec.url, {
        method: "POST",
        body,
        signal: leaving.signal,
        headers: { authorization: `Bearer ${spec.key}`, "content-type": "application/json" },
      });
      if (response.status !== 200 || !response.body) throw new Error(`status ${response.status}`);
      let before = 0;
      for await (const _ of response.body) {
        const now = performance.now();
        if (before > 0) gaps.push(now - before);
        before = now;
      }
    } catch {
      if (leaving.signal.aborted) return;
      failed++;
      await Bun.sleep(100);
    }
  }
}

const result = (): GapResult => {
  const sorted = gaps.toSorted((a, b) => a - b);
  return { gaps: sorted.length, p50: percentile(sorted, 0.5), p99: percentile(sorted, 0.99), failed };
};

// Spread over one pace, so that frames do not all come at once.
const streams = Array.from({ length: spec.count }, async (_, i) => {
  await Bun.sleep((i * 1000) / spec.count);
  return oneStream();
});
for await (const _ of Bun.stdin.stream()) {
  console.log(JSON.stringify(result()));
  gaps = [];
  failed = 0;
}
leaving.abort();
await Promise.all(streams);
process.exit(0);
