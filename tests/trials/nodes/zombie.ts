/** A node that holds leases is stopped (SIGSTOP) for a minute under load, OTHERS, then goes on. */
import { eq } from "drizzle-orm";
import { type Experiment, fatesOf, load, OTHERS, seconds, timeUntil } from "./lab";

const BEFORE_S = 20;
const STOPPED_S = 60;
const AFTER_S = 20;
/** Of calls that stand still with it. */
const CALL_LIMIT_MS = 150_000;

export const experiment: Experiment = {
  what: "the node that holds the leases is stopped for 60 s under load, and goes on",
  run: async (lab) => {
    const bed = await lab.start({ count: 3, others: OTHERS });
    const { db } = bed.nodes.weir;
    const { leases, holds } = db.t;
    const holderOf = async (name: string): Promise<string | undefined> =>
      (await db.q.select().from(leases).where(eq(leases.name, name)))[0]?.holder;
    const all = bed.nodes.all.map((_, index) => index);
    let nodes = all;
    const calls = load(bed, {
      rate: lab.rate,
      seconds: BEFORE_S + STOPPED_S + AFTER_S,
      nodes: () => nodes,
      tokens: "49 users",
      streams: 4,
      limitMs: CALL_LIMIT_MS,
    });
    await Bun.sleep(BEFORE_S * 1000);
    const holder = await holderOf("fold");
    const index = bed.nodes.all.findIndex((node) => node.instance() === holder);
    const zombie = bed.nodes.node(Math.max(0, index));
    zombie.suspend();
    const stoppedAt = performance.now();
    nodes = all.filter((one) => one !== index);
    const stale = (await db.q.select().from(holds).where(eq(holds.instance_id, zombie.instance()))).length;
    const taken = await timeUntil(30_000, async () => (await holderOf("fold")) !== holder, 100);
    const swept = await timeUntil(
      60_000,
      async () => (await db.q.select().from(holds).where(eq(holds.instance_id, zombie.instance()))).length === 0,
      100,
    );
    await Bun.sleep(Math.max(0, STOPPED_S * 1000 - (performance.now() - stoppedAt)));
    zombie.resume();
    const ready = await timeUntil(
      10_000,
      async () => (await fetch(`${zombie.url}/readyz`).catch(() => undefined))?.status === 200,
    );
    nodes = all;
    const samples = await calls;
    const others = samples.filter(({ node }) => node !== index);
    const with_it = samples.filter(({ node }) => node === index);
    lab.expect(stale > 0, "the stopped node held nothing: the load is too low");
    lab.expect(taken !== undefined, "its leases are taken over");
    lab.expect(swept !== undefined, "its holds are swept");
    lab.expect((await holderOf("fold")) !== holder, "it has not taken its lease back while another holds it");
    lab.expect(
      others.every(({ fate }) => fate === "delivered whole"),
      `calls at the other nodes: ${fatesOf(others)}`,
    );
    lab.say(`  on the stopped node: ${fatesOf(with_it)}`);
    lab.say(`  on the others: ${fatesOf(others)}`);
    lab.say(`  leases taken over after ${seconds(taken)}; ${stale} holds, swept ${seconds(swept)} after that`);
    lab.say(`  ready ${seconds(ready)} after it went on`);
    await lab.compare(bed);
  },
};
