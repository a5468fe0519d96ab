/** A rolling change of three nodes to another build and back, under load, all on one database. */
import type { Testbed } from "../../kit/trial/testbed";
import { type Lab, fatesOf, latency, load, OTHERS } from "./lab";

const NODES = [0, 1, 2] as const;

/** `to`: the other build and its name. The first node of each direction is killed. Returns the nodes at rest. */
export async function rollingChange(lab: Lab, to: { name: string; command: readonly string[] }): Promise<Testbed> {
  const bed = await lab.start({ count: NODES.length, others: OTHERS });
  const { db } = bed.nodes.weir;
  let nodes: readonly number[] = NODES;
  const seconds = lab.minutes * 60;
  const calls = load(bed, { rate: lab.rate, seconds, nodes: () => nodes, tokens: "49 users", streams: 4 });
  const moves = [to, undefined].flatMap((build) => NODES.map((index) => ({ index, build })));
  const killed = new Set<number>();
  for (const [n, { index, build }] of moves.entries()) {
    await Bun.sleep((seconds * 1000) / (moves.length + 1));
    const node = bed.nodes.node(index);
    const kills = n % NODES.length === 0;
    nodes = NODES.filter((one) => one !== index);
    if (kills) {
      killed.add(index);
      await node.kill();
    } else {
      // What runs there ends first, as behind a balancer.
      await Bun.sleep(1500);
      await node.stop();
    }
    await node.restart(build?.command);
    nodes = NODES;
    const rows = await db.q.select().from(db.t.instances);
    const alive = new Set(bed.nodes.all.map((one) => one.instance()));
    const versions = rows.filter(({ id }) => alive.has(id)).map((row) => row.version);
    lab.say(
      `  ${kills ? "killed" : "stopped"} ${node.name}, ${build?.name ?? "this release"} came; they run: ${versions.toSorted().join(", ")}`,
    );
  }
  const samples = await calls;
  const others = samples.filter(({ node }) => !killed.has(node));
  lab.say(`  ${fatesOf(samples)}; p99 of plain calls ${latency(samples, 0.99).toFixed(0)} ms`);
  lab.expect(
    others.every(({ fate }) => fate === "delivered whole"),
    `calls at nodes that were not killed: ${fatesOf(others)}`,
  );
  await lab.compare(bed);
  return bed;
}
