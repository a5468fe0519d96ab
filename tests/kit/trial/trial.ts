/** A trial: rounds of calls and faults on a testbed, each compared with the book. One file each in tests/trials/. */
import type { Engine } from "../databases";
import { type Random, randomOf } from "./random";
import { startTestbed, type Tally, type Testbed } from "./testbed";

export interface Trial {
  /** One line: what is done to Weir. */
  readonly what: string;
  /** Nodes on Postgres; SQLite is always one. */
  readonly nodes: number;
  /** Counters in a real Redis (Postgres). */
  readonly redis?: boolean;
  /**
   * One round. It may leave everything broken: the testbed mends and restarts afterwards. The schedule follows from
   * `random` and `share` alone. `share`: of the calls and faults of a whole round.
   */
  round(bed: Testbed, random: Random, share: number): Promise<void>;
}

export interface TrialResult {
  rounds: number;
  tally: Tally;
  /** Every promise that did not hold, one line each. */
  broken: string[];
  /** What the nodes printed. */
  output: string;
}

/**
 * Rounds until `ms` are over, at least one, each with a `share` of its calls and faults; stops at the first round that
 * breaks a promise. `restMs`: how long the ledger has after a round to agree with the book.
 */
export async function runTrial(
  name: string,
  trial: Trial,
  {
    engine,
    seed,
    ms,
    restMs,
    share = 1,
  }: { engine: Engine; seed: number; ms: number; restMs?: number; share?: number },
): Promise<TrialResult> {
  const end = Date.now() + ms;
  const bed = await startTestbed({ engine, count: trial.nodes, ...(trial.redis && { redis: true }) });
  const outputs = (): string => bed.nodes.all.map((node) => `=== ${node.name}\n${node.output()}`).join("\n");
  let rounds = 0;
  let broken: string[] = [];
  try {
    do {
      rounds++;
      await trial.round(bed, randomOf(seed, name, rounds), share);
      broken = (await bed.settle(restMs)).map((line) => `${name} on ${engine}, seed ${seed}, round ${rounds}: ${line}`);
    } while (broken.length === 0 && Date.now() < end);
    return { rounds, tally: bed.tally, broken, output: outputs() };
  } catch (error) {
    broken = [`${name} on ${engine}, seed ${seed}, round ${rounds}: the trial itself failed: ${String(error)}`];
    return { rounds, tally: bed.tally, broken, output: outputs() };
  } finally {
    await bed.stop();
  }
}
