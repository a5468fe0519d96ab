/** What a call costs Postgres with 1, 2, 4 and 8 instances at one rate; and waits for locks, deadlocks. */
import type { Testbed } from "../../kit/trial/testbed";
import {
  type Payers,
  deadlocks,
  type Experiment,
  fatesOf,
  type Lab,
  latency,
  load,
  OTHERS,
  longWaits,
  NOTED_WAIT_MS,
  setApart,
} from "./lab";

const COUNTS = [1, 2, 4, 8] as const;
/** Each count is measured so often, payers in turn; from the highest down, because a stop disturbs less. */
const ROUNDS = 2;
const SECONDS = 8;
const IDLE_SECONDS = 4;
/** Postgres counts a transaction of an idle connection at most so much later. */
const COUNTED_MS = 1200;
const PAYERS: readonly Payers[] = ["49 users", "one user", "one budget"];
/** Most by which the dearest count may cost more than the cheapest. */
const MOST_APART = 1.15;

interface Round {
  count: number;
  users: Payers;
  rate: number;
  us: number;
  commits: number;
  idle: number;
  p50: number;
  p99: number;
  waits: number[];
  calls: number;
  whole: number;
}

async function measure(lab: Lab, bed: Testbed, count: number, users: Round["users"], idle: number): Promise<Round> {
  const { server } = lab;
  const database = new URL(bed.nodes.weir.databaseUrl).pathname.slice(1);
  const waitsBefore = longWaits(server).length;
  await load(bed, { rate: lab.rate, seconds: 2, nodes: () => indexes(count), tokens: users });
  await Bun.sleep(COUNTED_MS);
  const before = await server.counters(database);
  const began = performance.now();
  const samples = await load(bed, { rate: lab.rate, seconds: SECONDS, nodes: () => indexes(count), tokens: users });
  const took = (performance.now() - began) / 1000;
  await Bun.sleep(COUNTED_MS);
  const after = await server.counters(database);
  const whole = samples.filter(({ fate }) => fate === "delivered whole").length;
  lab.expect(whole === samples.length, `${count} instances, ${users}: ${fatesOf(samples)}`);
  return {
    count,
    users,
    rate: samples.length / took,
    us: ((after.cpuMs - before.cpuMs) * 1000) / samples.length,
    commits: (after.commits - before.commits) / samples.length,
    idle,
    p50: latency(samples, 0.5),
    p99: latency(samples, 0.99),
    waits: longWaits(server).slice(waitsBefore),
    calls: samples.length,
    whole,
  };
}

const indexes = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

export const experiment: Experiment = {
  what: "1, 2, 4 and 8 instances at one rate: spread users, and one hot user",
  run: async (lab) => {
    const { apart, undo } = setApart(lab.server);
    if (apart) lab.say("  Postgres has a core of its own");
    try {
      await compareCounts(lab);
    } finally {
      undo();
    }
  },
};

async function compareCounts(lab: Lab): Promise<void> {
  const bed = await lab.start({ count: Math.max(...COUNTS), others: OTHERS });
  const database = new URL(bed.nodes.weir.databaseUrl).pathname.slice(1);
  const rounds: Round[] = [];
  // Connections are opened and plans made.
  await load(bed, { rate: lab.rate, seconds: SECONDS, nodes: () => indexes(Math.max(...COUNTS)), tokens: "49 users" });
  for (const count of COUNTS.toReversed()) {
    for (const node of bed.nodes.all.slice(count)) if (node.isRunning) await node.stop();
    await Bun.sleep(1000);
    const before = await lab.server.counters(database);
    await Bun.sleep(IDLE_SECONDS * 1000);
    const idle = ((await lab.server.counters(database)).cpuMs - before.cpuMs) / IDLE_SECONDS;
    for (let round = 0; round < ROUNDS; round++)
      for (const users of PAYERS) rounds.push(await measure(lab, bed, count, users, idle));
  }
  lab.say("  | users | instances | calls/s | Postgres us/call | mean | commits/call | p50 ms | p99 ms |");
  lab.say("  | --- | --- | --- | --- | --- | --- | --- | --- |");
  for (const users of PAYERS) {
    const costs: number[] = [];
    for (const count of COUNTS) {
      const its = rounds.filter((round) => round.users === users && round.count === count);
      const of = (value: (round: Round) => number): number => mean(its.map(value));
      // With what idle instances cost: four seconds of it read 5 to 68 ms a second, which is no figure to take off.
      const cost = of(({ us }) => us);
      costs.push(cost);
      const cells = [
        users,
        count,
        of(({ rate }) => rate).toFixed(0),
        its.map(({ us }) => us.toFixed(0)).join(", "),
        cost.toFixed(0),
        of(({ commits }) => commits).toFixed(2),
        of(({ p50 }) => p50).toFixed(1),
        of(({ p99 }) => p99).toFixed(0),
      ];
      lab.say(`  | ${cells.join(" | ")} |`);
    }
    const apart = Math.max(...costs) / Math.min(...costs);
    lab.expect(apart <= MOST_APART, `${users}: Postgres CPU a call differs by ${((apart - 1) * 100).toFixed(0)} %`);
    lab.say(`  ${users}: dearest count against cheapest: +${((apart - 1) * 100).toFixed(0)} %`);
  }
  const idles = COUNTS.map((count) => {
    const its = rounds.filter((round) => round.count === count);
    return `${count}: ${mean(its.map(({ idle }) => idle)).toFixed(0)}`;
  });
  lab.say(`  Postgres CPU of idle instances, ms a second, by count: ${idles.join(", ")}`);
  for (const users of PAYERS) {
    const its = rounds.filter((round) => round.users === users);
    const waits = its.flatMap((round) => round.waits).toSorted((x, y) => x - y);
    const calls = its.reduce((sum, round) => sum + round.calls, 0);
    lab.say(
      `  ${users}: waits for locks of more than ${NOTED_WAIT_MS} ms: ${waits.length} in ${calls} calls, half of them below ${(waits[Math.floor(waits.length / 2)] ?? 0).toFixed(0)} ms, longest ${(waits.at(-1) ?? 0).toFixed(0)} ms`,
    );
    lab.expect(waits.length < calls / 100, `${users}: p99 of waits for locks is above ${NOTED_WAIT_MS} ms`);
  }
  lab.say(`  deadlocks: ${await deadlocks(lab.server)}`);
  lab.expect((await deadlocks(lab.server)) === 0, "there were deadlocks");
  await lab.compare(bed);
}
