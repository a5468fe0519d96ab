/** The database is cut from one of three nodes, then from all. */
import type { Testbed } from "../../kit/trial/testbed";
import { type Experiment, fatesOf, type Lab, latency, load, OTHERS, seconds, timeUntil } from "./lab";

const CUT_S = 10;
const AFTER_S = 20;

const isReady = async (bed: Testbed, index: number): Promise<boolean> =>
  (await fetch(`${bed.nodes.node(index).url}/readyz`).catch(() => undefined))?.status === 200;

/** A balancer that asks /readyz of each node four times a second. */
function balance(bed: Testbed): { ready(): readonly number[]; stop(): void } {
  const all = bed.nodes.all.map((_, index) => index);
  let ready = all;
  const timer = setInterval(() => {
    void Promise.all(all.map((index) => isReady(bed, index))).then((answers) => {
      ready = all.filter((index) => answers[index]);
    });
  }, 250);
  return { ready: () => (ready.length > 0 ? ready : all), stop: () => clearInterval(timer) };
}

/** The most connections and transactions of a second, until stopped. */
function watch({ server }: Lab, database: string): () => { connections: number; commits: number[] } {
  const seen: { connections: number; commits: number }[] = [];
  const timer = setInterval(() => {
    void server.admin`SELECT numbackends::int AS connections, (xact_commit + xact_rollback)::float8 AS commits
      FROM pg_stat_database WHERE datname = ${database}`.then(
      ([row]) => void seen.push(row),
      () => {},
    );
  }, 1000);
  return () => {
    clearInterval(timer);
    return {
      connections: Math.max(...seen.map(({ connections }) => connections)),
      commits: seen.slice(1).map(({ commits }, i) => commits - (seen[i]?.commits ?? 0)),
    };
  };
}

export const experiment: Experiment = {
  what: "one node of three loses its database, then all do",
  run: async (lab) => {
    const bed = await lab.start({ count: 3, others: OTHERS });
    const database = new URL(bed.nodes.weir.databaseUrl).pathname.slice(1);
    for (const cut of [[1], [0, 1, 2]]) {
      const balancer = balance(bed);
      const begun = performance.now();
      const calls = load(bed, {
        rate: lab.rate,
        seconds: 10 + CUT_S + AFTER_S,
        nodes: balancer.ready,
        tokens: "49 users",
        streams: 8,
      });
      const usual = watch(lab, database);
      await Bun.sleep(10_000);
      const before = usual();
      const cutAt = performance.now();
      for (const index of cut) bed.nodes.node(index).cutDatabase();
      const drained = await timeUntil(CUT_S * 1000, async () => {
        const answers = await Promise.all(cut.map((index) => isReady(bed, index)));
        return !answers.includes(true);
      });
      await Bun.sleep(Math.max(0, CUT_S * 1000 - (performance.now() - cutAt)));
      const mendedAt = performance.now();
      const herd = watch(lab, database);
      for (const index of cut) bed.nodes.node(index).mendDatabase();
      const back = await timeUntil(AFTER_S * 1000, async () =>
        (await Promise.all(cut.map((index) => isReady(bed, index)))).every(Boolean),
      );
      await Bun.sleep(Math.max(0, 8000 - (performance.now() - mendedAt)));
      const after = herd();
      const samples = await calls;
      balancer.stop();
      const who = cut.length === 1 ? "one node" : "all nodes";
      const late = samples.filter(({ beganAt }) => beganAt > mendedAt + (back ?? 0) + 500);
      lab.say(`  ${who} for ${CUT_S} s: 503 at /readyz after ${seconds(drained)}, ready again after ${seconds(back)}`);
      lab.say(`    calls: ${fatesOf(samples)}; begun after it was ready again: ${fatesOf(late)}`);
      lab.say(
        `    p99 before ${latency(samples, 0.99, ({ beganAt }) => beganAt < cutAt && beganAt > begun + 2000).toFixed(0)} ms, after ${latency(late, 0.99).toFixed(0)} ms; connections at most ${before.connections} before, ${after.connections} after; transactions/s at most ${Math.max(...before.commits).toFixed(0)} before, each second after: ${after.commits.map((n) => n.toFixed(0)).join(", ")}`,
      );
      lab.expect(drained !== undefined, `${who}: says 503 while the database is away`);
      lab.expect(back !== undefined, `${who}: comes back`);
      lab.expect(
        late.every(({ fate }) => fate === "delivered whole"),
        `${who}: calls after it was ready again: ${fatesOf(late)}`,
      );
      if (cut.length === 1) {
        const others = samples.filter(({ node }) => !cut.includes(node));
        lab.expect(
          others.every(({ fate }) => fate === "delivered whole"),
          `calls at the other nodes: ${fatesOf(others)}`,
        );
      }
      await lab.compare(bed);
    }
  },
};
