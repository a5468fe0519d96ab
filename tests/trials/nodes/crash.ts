/**
 * The database server crashes under load, again and again: one of its processes is killed, so it ends all others,
 * throws away what lies in shared memory and recovers from its write-ahead log. What was committed without a disk
 * (holds, limits) may be lost then, what was charged not.
 */
import { readdirSync, readFileSync } from "node:fs";
import { eq, like, sql } from "drizzle-orm";
import { LOG_TYPE } from "../../../src/shared/log";
import type { Testbed } from "../../kit/trial/testbed";
import { type Experiment, fatesOf, type Lab, load, OTHERS, timeUntil } from "./lab";

const CRASHES = 8;
/** Between crashes: the server has recovered and calls are usual again. */
const BETWEEN_MS = 4_000;
const MOST_AWAY_MS = 20_000;

/** A process of the server that serves a connection of this database. */
function backendOf({ pid }: Lab["server"], database: string): number | undefined {
  return readdirSync("/proc")
    .map(Number)
    .filter((one) => {
      try {
        const stat = readFileSync(`/proc/${one}/stat`, "utf8");
        const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
        return parent === pid && readFileSync(`/proc/${one}/cmdline`, "utf8").includes(` ${database} `);
      } catch {
        return false; // it has just ended
      }
    })[0];
}

/** Units in the budget of the first token's day, and those that the log charged it. */
async function budgetAndLog({ nodes: { weir } }: Testbed): Promise<{ budget: number; charged: number }> {
  const { budget_spend, logs, tokens } = weir.db.t;
  const [token] = await weir.db.q.select({ id: tokens.id }).from(tokens).orderBy(tokens.id).limit(1);
  const id = token?.id ?? 0;
  const [spent] = await weir.db.q
    .select({ units: sql`coalesce(sum(${budget_spend.amount}), 0)`.mapWith(Number) })
    .from(budget_spend)
    .where(like(budget_spend.name, `token:${id}:%`));
  const [row] = await weir.db.q
    .select({
      units: sql`coalesce(sum(${logs.quota}) filter (where ${logs.type} = ${LOG_TYPE.consume}), 0)`.mapWith(Number),
    })
    .from(logs)
    .where(eq(logs.token_id, id));
  return { budget: spent?.units ?? 0, charged: row?.units ?? 0 };
}

export const experiment: Experiment = {
  what: "the database server crashes under load, three nodes go on",
  run: async (lab) => {
    const bed = await lab.start({ count: 3, others: OTHERS });
    const database = new URL(bed.nodes.weir.databaseUrl).pathname.slice(1);
    let over = false;
    const rate = lab.rate / 2;
    const begin = async (tokens: "49 users" | "one budget") => {
      const samples = [];
      while (!over)
        samples.push(...(await load(bed, { rate, seconds: 2, nodes: () => [0, 1, 2], tokens, streams: 4 })));
      return samples;
    };
    const calls = Promise.all([begin("49 users"), begin("one budget")]);
    const away: number[] = [];
    for (let crash = 0; crash < CRASHES; crash++) {
      await Bun.sleep(BETWEEN_MS);
      const victim = backendOf(lab.server, database);
      lab.expect(victim !== undefined, "no process of the server serves this database");
      if (victim === undefined) break;
      process.kill(victim, "SIGKILL");
      const ms = await timeUntil(
        MOST_AWAY_MS,
        async () => {
          const ready = await fetch(`${bed.nodes.node(0).url}/readyz`).catch(() => undefined);
          return (
            ready?.status === 200 &&
            (await bed.nodes.weir.db.q
              .select()
              .from(bed.nodes.weir.db.t.holds)
              .limit(1)
              .then(
                () => true,
                () => false,
              ))
          );
        },
        50,
      );
      lab.expect(ms !== undefined, `the database is back ${MOST_AWAY_MS / 1000} s after a crash`);
      away.push(ms ?? Number.NaN);
    }
    await Bun.sleep(BETWEEN_MS);
    over = true;
    const samples = (await calls).flat();
    const whole = samples.filter(({ fate }) => fate === "delivered whole").length;
    lab.say(`  ${CRASHES} crashes, the database was away for ${away.map((ms) => (ms / 1000).toFixed(1)).join(", ")} s`);
    lab.say(`  ${fatesOf(samples)}`);
    lab.expect(whole > samples.length / 2, "most calls are delivered whole");
    await lab.compare(bed);
    const { budget, charged } = await budgetAndLog(bed);
    lab.say(`  the budget of a day counts ${budget} units, the log ${charged}`);
    lab.expect(budget >= charged, "a budget is lower than what the log says");
  },
};
