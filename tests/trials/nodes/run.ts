/** `npm run trials -- nodes`: the experiments of this folder, one after the other (docs/trials.md). */
import { experiment as changes } from "./changes";
import { experiment as crash } from "./crash";
import { experiment as growth } from "./growth";
import { experiment as kill } from "./kill";
import { type Experiment, runExperiment } from "./lab";
import { experiment as migration } from "./migration";
import { experiment as outage } from "./outage";
import { experiment as upgrade } from "./upgrade";
import { experiment as zombie } from "./zombie";

const EXPERIMENTS: Readonly<Record<string, Experiment>> = {
  growth,
  kill,
  crash,
  zombie,
  outage,
  changes,
  upgrade,
  migration,
};

export const EXPERIMENT_NAMES = Object.keys(EXPERIMENTS);

/** `rate`: calls a second in all. `minutes`: of a rolling change. Returns what did not hold. */
export async function runExperiments(
  names: readonly string[],
  options: { rate: number; minutes: number },
): Promise<{ broken: string[]; output: string }> {
  const broken: string[] = [];
  let output = "";
  for (const name of names) {
    const experiment = EXPERIMENTS[name];
    if (!experiment) throw new Error(`no experiment ${name}; there are ${EXPERIMENT_NAMES.join(", ")}`);
    const began = performance.now();
    console.log(`\n${name}: ${experiment.what}; ${options.rate} calls/s`);
    const result = await runExperiment(experiment, { ...options, say: (line) => console.log(line) });
    console.log(`  ${((performance.now() - began) / 1000).toFixed(0)} s`);
    broken.push(...result.broken.map((line) => `${name}: ${line}`));
    output += `##### ${name}\n${result.output}\n`;
  }
  return { broken, output };
}
