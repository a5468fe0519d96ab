/**
 * `bun scripts/soak.ts [minutes] [--streams N] [--engine sqlite|postgres] [--seed N]`: 200 streams at once for an hour,
 * unless named otherwise, in all dialects and some hung up on. After every minute of them the ledger is compared with
 * the book of the trials, and the heap is measured after a collection. Prints a line a minute; ends with 1 where a
 * promise did not hold, or the heap of the second half spans more than 3 MB (with ten minutes or more).
 */
import { parseArgs } from "node:util";
import { ENGINES } from "../tests/kit/databases";
import { type PlannedCall, randomCall } from "../tests/kit/trial/calls";
import type { Node } from "../tests/kit/trial/nodes";
import { randomOf } from "../tests/kit/trial/random";
import { startTestbed } from "../tests/kit/trial/testbed";

const MINUTE_MS = 60_000;
const MOST_GROWTH = 3 * 2 ** 20;
/** Before that the heap still takes the shape of its load. */
const LEAST_MINUTES = 10;
const REPORT_MS = 10_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    streams: { type: "string", default: "200" },
    engine: { type: "string", default: "sqlite" },
    seed: { type: "string" },
  },
});
const minutes = Number(positionals[0] ?? 60);
const streams = Number(values.streams);
const seed = Number(values.seed ?? Math.floor(Date.now() / 1000));
const engine = ENGINES.find((one) => one === values.engine);
if (!(minutes > 0) || !(streams > 0) || !engine || !Number.isInteger(seed)) {
  console.error("usage: bun scripts/soak.ts [minutes] [--streams N] [--engine sqlite|postgres] [--seed N]");
  process.exit(2);
}

interface Memory {
  heap_after_collection: number;
  objects: number;
  rss: number;
  /** Which report of its process it is. */
  nth: number;
}

/** The memory of a node after a collection. Throws when it does not answer. */
async function memoryOf(node: Node): Promise<Memory> {
  const last = (): Memory | undefined => {
    const line = node
      .output()
      .match(/^\{"heap_after_collection".*\}$/gm)
      ?.at(-1);
    return line === undefined ? undefined : (JSON.parse(line) as Memory);
  };
  const before = last()?.nth ?? 0;
  node.process.kill("SIGUSR2");
  for (const limit = Date.now() + REPORT_MS; Date.now() < limit; await Bun.sleep(20)) {
    const memory = last();
    if (memory && memory.nth > before) return memory;
  }
  throw new Error(`${node.name} does not say what memory it uses`);
}

const megabytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MB`;

console.log(`seed ${seed}, ${minutes} min of ${streams} streams at once on ${engine}`);
const bed = await startTestbed({ engine });
const heaps: number[] = [];
const broken: string[] = [];
try {
  const end = Date.now() + minutes * MINUTE_MS;
  for (let minute = 1; Date.now() < end && broken.length === 0; minute++) {
    const random = randomOf(seed, "soak", minute);
    const over = Math.min(end, Date.now() + MINUTE_MS);
    // A pace that two cores keep up with beside the callers, the upstream and Postgres: a minute like another.
    const stream = (): PlannedCall => ({ ...randomCall(random), stream: true, paceMs: random.pick([200, 400, 800]) });
    let calls = 0;
    const caller = async (): Promise<void> => {
      for (; Date.now() < over; calls++) await bed.run([stream()], 1);
    };
    await Promise.all(Array.from({ length: streams }, caller));
    broken.push(...(await bed.settle()));
    for (const node of bed.nodes.all) {
      const memory = await memoryOf(node);
      heaps.push(memory.heap_after_collection);
      console.log(
        `minute ${minute}: ${calls} streams, heap after collection ${megabytes(memory.heap_after_collection)}, ` +
          `${memory.objects} objects, resident ${megabytes(memory.rss)}`,
      );
    }
  }
} finally {
  await bed.stop();
}
const half = heaps.slice(Math.floor(heaps.length / 2));
const span = Math.max(...half) - Math.min(...half);
console.log(`heap after collection in the second half: within ${megabytes(span)}`);
if (minutes >= LEAST_MINUTES && span > MOST_GROWTH)
  broken.push(`the heap spans ${megabytes(span)} in the second half, more than ${megabytes(MOST_GROWTH)}`);
for (const line of broken) console.log(`DID NOT HOLD: ${line}`);
console.log(broken.length === 0 ? "Everything held." : `${broken.length} did not hold (seed ${seed}).`);
process.exit(broken.length === 0 ? 0 : 1);
