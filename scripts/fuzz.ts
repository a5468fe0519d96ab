/**
 * `bun run scripts/fuzz.ts [cases] [--seed N] [--from N]`: odd bodies of callers and odd answers and frames of vendors
 * through the whole relay, in memory (tests/kit/fuzz.ts). 20,000 cases unless named. Prints the statuses, the longest
 * time of the thread that a case took, and each case that did not hold; a case is repeated by `1 --from <its number>`
 * with the same seed. Ends with 1 where something did not hold, or a case took 150 ms of the thread.
 *
 * The same over HTTP, beside kills: the trial `abuse` of `npm run trials`.
 */
import { parseArgs } from "node:util";
import { fuzzRelay } from "../tests/kit/fuzz";
import { randomOf } from "../tests/kit/trial/random";

const MOST_MS = 150;
const PART = 10_000;
const MOST_LINES = 50;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: "string" }, from: { type: "string", default: "0" } },
});
const cases = Number(positionals[0] ?? 20_000);
const seed = Number(values.seed ?? Math.floor(Date.now() / 1000));
const first = Number(values.from);
if (!(cases > 0) || !Number.isInteger(seed) || !(first >= 0)) {
  console.error("usage: bun scripts/fuzz.ts [cases] [--seed N] [--from N]");
  process.exit(2);
}
console.log(`seed ${seed}, ${cases} cases from ${first}`);

const statuses = new Map<number, number>();
const broken: string[] = [];
let [longest_ms, longest_case] = [0, -1];
for (let from = first; from < first + cases; from += PART) {
  const part = await fuzzRelay((n) => randomOf(seed, "fuzz", n), from, Math.min(PART, first + cases - from));
  for (const [status, count] of part.statuses) statuses.set(status, (statuses.get(status) ?? 0) + count);
  broken.push(...part.broken);
  if (part.longest_ms > longest_ms) [longest_ms, longest_case] = [part.longest_ms, part.longest_case];
  Bun.gc(true);
}
const counts = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${count} x ${status}`);
console.log(counts.join(", "));
console.log(`longest time of the thread: ${longest_ms.toFixed(0)} ms, case ${longest_case}`);
console.log(`memory at the end: ${(process.memoryUsage().rss / 2 ** 20).toFixed(0)} MB`);
for (const line of broken.slice(0, MOST_LINES)) console.log(`DID NOT HOLD: ${line}`);
if (longest_ms >= MOST_MS) console.log(`DID NOT HOLD: case ${longest_case} took ${longest_ms.toFixed(0)} ms`);
const held = broken.length === 0 && longest_ms < MOST_MS;
console.log(held ? "Everything held." : `${broken.length} did not hold (seed ${seed}).`);
process.exit(held ? 0 : 1);
