/**
 * Many steady streams, as a separate process: `bun scripts/bench/gaps.ts '<JSON GapsSpec>'` prints GapsResult, the
 * times between events. It counts from a second after all streams are open.
 */
import { Connection, postBytes } from "./http-client";
import { percentile } from "./load";

export interface GapsSpec {
  url: string;
  key: string;
  body: string;
  count: number;
  /** Milliseconds between two events as the upstream sends them. */
  eventMs: number;
  durationMs: number;
}

export interface GapsResult {
  open: number;
  gaps: number;
  /** Milliseconds beyond `eventMs`. */
  p50: number;
  p99: number;
  p999: number;
  max: number;
}

const AT_ONCE = 64;
/** Streams begin within this time. */
const RAMP_MS = 1000;
/** Its multiples are spread evenly over 0 to 1, however many there are. */
const GOLDEN = (Math.sqrt(5) - 1) / 2;

async function run(spec: GapsSpec): Promise<GapsResult> {
  const { target, bytes } = postBytes(spec.url, spec.key, spec.body);
  const late: number[] = [];
  let counting = false;
  let open = 0;
  let ended = 0;
  const connections: Connection[] = [];
  const make = (): Connection => {
    let last = 0;
    return new Connection(
      target,
      () => ended++,
      () => open++,
      () => {
        const now = performance.now();
        if (counting && last > 0) late.push(now - last - spec.eventMs);
        last = now;
      },
    );
  };
  for (let made = 0; made < spec.count; made += AT_ONCE) {
    const batch = Array.from({ length: Math.min(AT_ONCE, spec.count - made) }, make);
    await Promise.all(batch.map((connection) => connection.open()));
    connections.push(...batch);
  }
  // Started one by one, so that their events do not come at the same moment.
  for (const [index, connection] of connections.entries()) {
    setTimeout(() => connection.send(bytes), ((index * GOLDEN) % 1) * RAMP_MS);
  }
  for (const deadline = Date.now() + 20_000; open < spec.count && Date.now() < deadline;) await Bun.sleep(20);
  await Bun.sleep(1000);
  counting = true;
  await Bun.sleep(spec.durationMs);
  counting = false;
  const alive = open - ended;
  for (const connection of connections) connection.close();
  late.sort((a, b) => a - b);
  return {
    open: alive,
    gaps: late.length,
    p50: percentile(late, 0.5),
    p99: percentile(late, 0.99),
    p999: percentile(late, 0.999),
    max: late.at(-1) ?? 0,
  };
}

if (import.meta.main) {
  console.log(JSON.stringify(await run(JSON.parse(process.argv[2] ?? "{}") as GapsSpec)));
  process.exit(0);
}
