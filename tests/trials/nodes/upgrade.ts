/**
 * A rolling change from this release to the one before and back, under load: nodes of both on one database. It begins
 * with this release, because the one before serves on its schema and not the other way round.
 */
import { buildRelease } from "../../../scripts/build-release";
import releases from "../../../scripts/releases.json" with { type: "json" };
import { type Experiment, fatesOf, latency, load, OTHERS } from "./lab";

export const experiment: Experiment = {
  what: "a rolling change to the release before and back under load, both on one database",
  run: async (lab) => {
    const { version = "" } = releases.at(-1) ?? {};
    const old = [await buildRelease(version)];
    const bed = await lab.start({ count: 3, others: OTHERS });
    let nodes: readonly number[] = [0, 1, 2];
    const seconds = lab.minutes * 60;
    const calls = load(bed, { rate: lab.rate, seconds, nodes: () => nodes, tokens: "49 users", streams: 4 });
    const moves = [...nodes.map((index) => ({ index, to: old })), ...nodes.map((index) => ({ index, to: undefined }))];
    const killed = new Set<number>();
    // The first of each direction is killed, the others end as in an upgrade.
    for (const [n, { index, to }] of moves.entries()) {
      await Bun.sleep((seconds * 1000) / (moves.length + 1));
      const node = bed.nodes.node(index);
      if (n % 3 === 0) {
        killed.add(index);
        await node.kill();
        nodes = [0, 1, 2].filter((one) => one !== index);
      } else {
        nodes = [0, 1, 2].filter((one) => one !== index);
        // What runs there ends first, as behind a balancer.
        await Bun.sleep(1500);
        await node.stop();
      }
      await node.restart(to ?? undefined);
      nodes = [0, 1, 2];
      const { instances } = bed.nodes.weir.db.t;
      const rows = await bed.nodes.weir.db.q.select().from(instances);
      const alive = new Set(bed.nodes.all.map((one) => one.instance()));
      const versions = rows.filter(({ id }) => alive.has(id)).map((row) => row.version);
      lab.say(
        `  ${n % 3 === 0 ? "killed" : "stopped"} ${node.name}, ${to ? version : "this release"} came; they run: ${versions.toSorted().join(", ")}`,
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
  },
};
