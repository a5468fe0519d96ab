/**
 * `npm run clients -- [--only TEXT] [--upstream oc,or,an,ge] [--scenario NAME] [--jobs N] [--list]`: clients as people
 * run them, at strict fake vendors and through Weir (docs/clients.md). Installs what is missing into .clients/
 * (`--install cli` and `--install all` do only that). Prints every cell, and ends with 1 when one fails. The cells are
 * kept in tests/.artifacts (`--fresh` forgets them first); once all of them are there, the page is written.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { clients } from "../tests/clients/all";
import { type Bench, startBench, UPSTREAM_KEYS, type Upstream } from "../tests/clients/bench";
import type { Client } from "../tests/clients/client";
import { installNpm, installPip, type NpmClient, VERSIONS } from "../tests/clients/install";
import { stopPython } from "../tests/clients/pythons";
import { type Cell, cellName, clientsPage } from "../tests/clients/report";
import { judgeRun } from "../tests/clients/verdict";
import { FATES, type Fate } from "../tests/clients/vendors/server";
import { endAllCommands, ROOT } from "./run-command";

const KEPT = join(ROOT, "tests/.artifacts/clients.json");
const PAGE = join(ROOT, "docs/clients.md");
const secondsSince = (began: number): string => ((Date.now() - began) / 1000).toFixed(0);

interface Job {
  client: Client;
  fate: Fate;
}

/** A client's baseline in a scenario, and then its upstreams. */
async function certify(bench: Bench, { client, fate }: Job, upstreams: readonly Upstream[]): Promise<Cell[]> {
  const about = { client: client.name, version: client.version, fate };
  const own = await bench.run(client, fate, undefined);
  const cells: Cell[] = [{ ...about, at: "direct", seconds: own.seconds, ...judgeRun(client, fate, own, undefined) }];
  for (const at of upstreams) {
    const run = await bench.run(client, fate, at);
    cells.push({ ...about, at, seconds: run.seconds, ...judgeRun(client, fate, run, own) });
  }
  for (const cell of cells)
    console.log(
      `${cell.verdict.padEnd(10)} ${cell.seconds.toFixed(1).padStart(5)} s  ${cellName(cell)}${cell.cause && `: ${cell.cause}`}`,
    );
  return cells;
}

/** The cells of earlier runs, of the same versions, with these over them. */
function keep(cells: readonly Cell[]): Cell[] {
  const before = existsSync(KEPT) ? (JSON.parse(readFileSync(KEPT, "utf8")) as Cell[]) : [];
  const known = new Map([...before, ...cells].map((cell) => [cellName(cell), cell]));
  const all = clients.flatMap((client) =>
    client.fates.flatMap((fate) =>
      (["direct", ...UPSTREAM_KEYS] as const).flatMap((at) => {
        const cell = known.get(cellName({ client: client.name, fate, at }));
        return cell?.version === client.version ? [cell] : [];
      }),
    ),
  );
  mkdirSync(join(ROOT, "tests/.artifacts"), { recursive: true });
  writeFileSync(KEPT, JSON.stringify(all));
  return all;
}

/** Says what could not be installed, and why. */
async function install(isWanted: (from: Client["from"]) => boolean): Promise<string[]> {
  const found = [
    isWanted("npm") ? await installNpm(Object.keys(VERSIONS.npm) as NpmClient[]) : undefined,
    isWanted("pip") ? await installPip() : undefined,
  ];
  const whyNot = found.filter((why) => why !== undefined);
  for (const why of whyNot) console.log(`NOT INSTALLED: ${why}`);
  return whyNot;
}

async function main(): Promise<number> {
  const began = Date.now();
  const { values } = parseArgs({
    options: {
      only: { type: "string" },
      upstream: { type: "string" },
      scenario: { type: "string" },
      jobs: { type: "string", default: "2" },
      install: { type: "string" },
      fresh: { type: "boolean" },
      list: { type: "boolean" },
    },
  });
  const { only, upstream, scenario } = values;
  const chosen = clients.filter(({ name }) => only === undefined || name.toLowerCase().includes(only.toLowerCase()));
  const upstreams = UPSTREAM_KEYS.filter((key) => upstream === undefined || upstream.split(",").includes(key));
  const fates = FATES.filter((fate) => scenario === undefined || scenario.split(",").includes(fate));
  const workers = Number(values.jobs);
  if (values.list || chosen.length === 0 || upstreams.length === 0 || fates.length === 0 || !(workers > 0)) {
    console.log(`clients:\n${clients.map(({ name, version }) => `  ${name} ${version}`).join("\n")}`);
    console.log(`upstreams: ${UPSTREAM_KEYS.join(", ")}\nscenarios: ${FATES.join(", ")}`);
    return values.list ? 0 : 2;
  }
  const isWanted = (from: Client["from"]): boolean =>
    values.install === undefined
      ? chosen.some((client) => client.from === from)
      : values.install === "all" || from === "npm";
  const whyNot = await install(isWanted);
  if (values.install !== undefined) return whyNot.length > 0 ? 1 : 0;
  if (values.fresh) rmSync(KEPT, { force: true });
  const absent = chosen.filter((client) => client.missing() !== undefined);
  for (const client of absent) console.log(`SKIPPED: ${client.name}: ${client.missing()}`);
  const jobs = chosen
    .filter((client) => !absent.includes(client))
    .flatMap((client) => client.fates.filter((fate) => fates.includes(fate)).map((fate) => ({ client, fate })));
  const bench = await startBench(jobs.length * (upstreams.length + 1));
  const cells: Cell[] = [];
  const waiting = jobs.values();
  const work = async (): Promise<void> => {
    for (const job of waiting) cells.push(...(await certify(bench, job, upstreams)));
  };
  await Promise.all(Array.from({ length: workers }, work));
  stopPython();
  await bench.stop();

  const all = keep(cells);
  const failed = cells.filter(({ verdict, at }) => verdict === "FAIL" && at !== "direct");
  if (failed.length > 0)
    console.log(`\nfailing:\n${failed.map((cell) => `  ${cellName(cell)}: ${cell.cause}`).join("\n")}`);
  const judged = cells.filter(({ verdict, at }) => verdict !== "not judged" && at !== "direct");
  console.log(`\n${judged.length - failed.length} of ${judged.length} judged cells are ok, ${secondsSince(began)} s`);
  const wanted = clients.reduce((sum, client) => sum + client.fates.length, 0) * (UPSTREAM_KEYS.length + 1);
  if (all.length === wanted) {
    writeFileSync(PAGE, clientsPage(clients, all, new Date().toISOString().slice(0, 10)));
    console.log("docs/clients.md is written");
  } else console.log(`docs/clients.md is written once all ${wanted} cells are known (${all.length} are)`);
  return failed.length > 0 ? 1 : 0;
}

for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => {
    endAllCommands();
    process.exit(130);
  });
process.exit(await main());
