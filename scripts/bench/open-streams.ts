/**
 * Holds many streams open, as a separate process: `bun scripts/bench/open-streams.ts '<JSON>'` prints `open N` when
 * each of them has its first content (or after 30 s, with the number that has), and exits when its input ends.
 */
import { Connection, postBytes } from "./http-client";

export interface StreamsSpec {
  url: string;
  key: string;
  body: string;
  count: number;
}

/** So that no listen queue overflows. */
const AT_ONCE = 100;

const spec = JSON.parse(process.argv[2] ?? "{}") as StreamsSpec;
const { target, bytes } = postBytes(spec.url, spec.key, spec.body);
let open = 0;
let ended = 0;
const connections: Connection[] = [];
for (let made = 0; made < spec.count; made += AT_ONCE) {
  const batch = Array.from(
    { length: Math.min(AT_ONCE, spec.count - made) },
    () =>
      new Connection(
        target,
        () => ended++,
        () => open++,
      ),
  );
  await Promise.all(batch.map((connection) => connection.open()));
  for (const connection of batch) connection.send(bytes);
  connections.push(...batch);
}
for (const deadline = Date.now() + 30_000; open < spec.count && Date.now() < deadline;) await Bun.sleep(20);
console.log(`open ${open - ended}`);
for await (const _ of Bun.stdin.stream()) {
  // Nothing is sent; the end of the input is the signal.
}
for (const connection of connections) connection.close();
process.exit(0);
