/**
 * `weir import SOURCE`: moves another gateway's users, balances, keys, channels, prices and usage in. The dry run reads
 * only, and may look at a source and a Weir that are in use; the run needs both stopped.
 */
import { existsSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import * as z from "zod";
import type { Lang } from "../../shared/text";
import type { Env } from "../env";
import { openSource } from "../db/foreign/open";
import { openDecisions } from "../features/import/plan";
import { doneText, planText } from "../features/import/report";
import { runImport } from "../features/import/run";
import { survey } from "../features/import/survey";
import { audit } from "../features/wallet/audit";
import { livingInstances, SILENT_SECONDS } from "../features/wallet/instances";
import { CannotStart } from "../lib/cannot-start";
import type { Logger } from "../lib/log";
import { openServices } from "../wiring/services";

export const IMPORT_HELP = `weir import SOURCE [options]
  SOURCE               a SQLite file, a config.yaml of LiteLLM, postgres://…, mysql://…, user:pass@tcp(host:port)/name, or env:NAME for a
                       variable that holds one (so that a password is in no list of processes)
  --dry-run            only reads, and prints what would happen; exit code 2 while a decision is open
  --decisions FILE     JSON {"<decision>": "<choice>"}; the dry run prints one to begin with
  --from SYSTEM        new-api, one-api, one-hub or litellm, where it is not recognised
  --name NAME          the source's name, where it is not to be made of its first user
  --log-source SOURCE  where the log is, when it has a database of its own
  --logs none|all|90d  log rows that are kept; roll-ups are always made (none)
  --records none|all|90d  paid orders, used codes, finished drawings and tasks that are kept as records; no balance
                       changes by them (none)
  --live               enabled channels arrive enabled; else disabled, to be tested first
  --merge              users who were imported before and have spent here since get the difference as a credit
  --json               the plan as JSON
  The report is in Chinese where the terminal is (LC_ALL, LANG).`;

const OPTIONS = {
  "dry-run": { type: "boolean", default: false },
  decisions: { type: "string" },
  from: { type: "string" },
  name: { type: "string" },
  "log-source": { type: "string" },
  logs: { type: "string", default: "none" },
  records: { type: "string", default: "none" },
  live: { type: "boolean", default: false },
  merge: { type: "boolean", default: false },
  json: { type: "boolean", default: false },
} as const;

function read(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const DAY = 86_400;

/** Ctrl C, and what ends a service or a container. */
const STOPS = ["SIGINT", "SIGTERM"] as const;

/** Options of how much of the past is kept. */
const KEPT = ["logs", "records"] as const;

/** Days of rows to keep: none, all, 90d. */
function daysOf(text: string): number | undefined {
  if (text === "none") return 0;
  if (text === "all") return Infinity;
  const days = /^(\d{1,5})d$/.exec(text);
  return days ? Number(days[1]) : undefined;
}

function answersIn(file: string | undefined): Record<string, string> {
  if (file === undefined) return {};
  if (!existsSync(file)) throw new CannotStart(`there is no file ${file}.`);
  try {
    return z.record(z.string(), z.string()).parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    throw new CannotStart(`${file} must be a JSON object of texts: {"<decision>": "<choice>"}.`);
  }
}

/**
 * Exit code 0 when done, 1 when it was interrupted or the books do not balance afterwards, 2 for bad arguments and open
 * decisions.
 */
export async function importCommand(env: Env, log: Logger, args: readonly string[]): Promise<number> {
  const parsed = read(args);
  const problem =
    typeof parsed === "string"
      ? parsed
      : parsed.positionals.length !== 1
        ? "one source"
        : KEPT.flatMap((name) =>
            daysOf(parsed.values[name]) === undefined
              ? [`--${name} takes none, all or a number of days such as 90d`]
              : [],
          )[0];
  if (typeof parsed === "string" || problem !== undefined) {
    console.error(`weir import: ${problem}\n\n${IMPORT_HELP}`);
    return 2;
  }
  const { values, positionals } = parsed;
  const source = await openSource(positionals[0] ?? "", process.env);
  const logs = values["log-source"] ? await openSource(values["log-source"], process.env) : undefined;
  const days = daysOf(values.records) ?? 0;
  const { services, close } = await openServices(env, log, Date.now, { commandLimits: true });
  let stopped = false;
  const stop = (): void => void (stopped = true);
  try {
    const found = await survey(services, source, {
      answers: answersIn(values.decisions),
      merge: values.merge,
      name: values.name,
      from: values.from,
      env: process.env,
      logs,
      since: days === 0 ? undefined : Math.floor(services.now() / 1000) - days * DAY,
    });
    const open = openDecisions(found.plan);
    if (values["dry-run"] || open.length > 0) {
      console.log(values.json ? JSON.stringify(found.plan, undefined, 2) : planText(found.plan, terminalLang()));
      if (!values["dry-run"]) console.error("\nNothing was written: decisions are open.");
      return open.length > 0 ? 2 : 0;
    }
    // A second one ends the process at once, which is safe as well.
    for (const signal of STOPS) process.once(signal, stop);
    // Caches of a server that lives would not hear of what is written.
    if ((await livingInstances(services.db)) > 0)
      throw new CannotStart(
        `stop every Weir first (one that was killed counts for ${SILENT_SECONDS} seconds); nothing was changed.`,
      );
    const done = await runImport(services, found, logs, {
      live: values.live,
      merge: values.merge,
      logDays: daysOf(values.logs) ?? 0,
      progress: showProgress(),
      stopped: () => stopped,
    });
    console.log(doneText(done, terminalLang()));
    let findings = 0;
    for await (const { row, expected, found: there } of audit(services.db)) {
      findings++;
      console.log(`${row}: expected ${expected}, found ${there}`);
    }
    console.log(findings === 0 ? "The books balance." : `${findings} rows do not balance.`);
    return findings === 0 && done.finished ? 0 : 1;
  } finally {
    for (const signal of STOPS) process.off(signal, stop);
    await close();
    await source.close();
    await logs?.close();
  }
}

/** The language of the terminal's texts. */
const terminalLang = (): Lang =>
  /^zh/i.test(process.env.LC_ALL || process.env.LC_MESSAGES || process.env.LANG || "") ? "zh" : "en";

/** A line a few seconds apart. */
function showProgress(): (done: number, of: string) => void {
  let last = performance.now();
  return (done, of) => {
    if (performance.now() - last < 3000) return;
    last = performance.now();
    console.error(`… ${done} ${of}`);
  };
}
