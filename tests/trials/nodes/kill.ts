/** One of three nodes is killed under load. */
import { eq } from "drizzle-orm";
import { type Experiment, fatesOf, latency, load, OTHERS, seconds, timeUntil } from "./lab";

const BEFORE_S = 20;
const AFTER_S = 45;
const MOST_SWEPT_MS = 60_000;

export const experiment: Experiment = {
  what: "SIGKILL of one of three nodes under load",
  run: async (lab) => {
    const bed = await lab.start({ count: 3, others: OTHERS });
    const { db } = bed.nodes.weir;
    const { holds } = db.t;
    let nodes = [0, 1, 2];
    const calls = load(bed, {
      rate: lab.rate,
      seconds: BEFORE_S + AFTER_S,
      nodes: () => nodes,
      tokens: "49 users",
      streams: 4,
    });
    await Bun.sleep(BEFORE_S * 1000);
    const victim = bed.nodes.node(1);
    const instance = victim.instance();
    const killedAt = performance.now();
    await victim.kill();
    nodes = [0, 2];
    const left = (await db.q.select().from(holds).where(eq(holds.instance_id, instance))).length;
    const swept = await timeUntil(
      MOST_SWEPT_MS,
      async () => (await db.q.select().from(holds).where(eq(holds.instance_id, instance))).length === 0,
      100,
    );
    const samples = await calls;
    const others = samples.filter(({ node }) => node !== 1);
    lab.expect(left > 0, "the killed node held nothing: the load is too low");
    lab.expect(swept !== undefined, "the holds of the killed node are swept within 60 s");
    lab.expect(
      others.every(({ fate }) => fate === "delivered whole"),
      `calls at the other nodes: ${fatesOf(others)}`,
    );
    lab.say(`  on the killed node: ${fatesOf(samples.filter(({ node }) => node === 1))}`);
    lab.say(`  on the others: ${fatesOf(others)}`);
    lab.say(`  ${left} holds of the killed node, swept ${seconds(swept)} after the kill`);
    const at = (from: number, to: number) =>
      latency(others, 0.99, ({ beganAt }) => beganAt >= killedAt + from * 1000 && beganAt < killedAt + to * 1000);
    lab.say(
      `  p99 of the others: ${at(-BEFORE_S, 0).toFixed(0)} ms before, ${at(0, 15).toFixed(0)} ms in the 15 s after, ${at(15, 45).toFixed(0)} ms later`,
    );
    await lab.compare(bed);
  },
};
