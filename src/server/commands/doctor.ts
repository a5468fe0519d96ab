/**
 * `weir doctor`: looks at configuration and surroundings and says what is wrong and what to do. It changes nothing: it
 * makes no folder, migrates no database and may run beside servers.
 */
import { parseArgs } from "node:util";
import { BadEnvironment, type Env, readEnv } from "../env";
import { VERSION } from "../version";
import { machineChecks } from "./doctor-machine";
import { postgresChecks } from "./doctor-postgres";
import { redisChecks } from "./doctor-redis";
import { sqliteChecks } from "./doctor-sqlite";
import type { Found } from "./found";

const HELP = `weir doctor [--json]
  Checks settings, data folder, disk, port, database, Redis, clocks, passwords and backups with the environment of the
  server, beside it or before it starts. Changes nothing. Exit code 1 when something is wrong, 0 otherwise.
  --json   {version, healthy, checks: [{check, state: "ok" | "note" | "wrong", found, advice}]}`;

/** Exit code 0, 1 when something is wrong, 2 for bad arguments. */
export async function doctorCommand(
  source: Record<string, string | undefined>,
  args: readonly string[],
): Promise<number> {
  let json: boolean;
  try {
    ({ json = false } = parseArgs({ args: [...args], options: { json: { type: "boolean" } } }).values);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${HELP}`);
    return 2;
  }
  const checks = await examine(source);
  const healthy = !checks.some(({ state }) => state === "wrong");
  if (json) console.log(JSON.stringify({ version: VERSION, healthy, checks }, undefined, 2));
  else console.log(textOf(checks));
  return healthy ? 0 : 1;
}

/** Everything that was found, in the order in which a server needs it. */
async function examine(source: Record<string, string | undefined>): Promise<Found[]> {
  const unknown: string[] = [];
  let env: Env;
  try {
    env = readEnv(source, (warning) => unknown.push(warning));
  } catch (error) {
    if (!(error instanceof BadEnvironment)) throw error;
    // Without settings nothing else can be looked at.
    const advice = "Correct them: docs/generated/env.md says what each takes.";
    return error.message.split("\n").map((found) => ({ check: "settings", state: "wrong", found, advice }));
  }
  const settings: Found[] = unknown.map((found) => ({
    check: "settings",
    state: "note",
    found,
    advice: "It does nothing: correct its name or remove it.",
  }));
  if (settings.length === 0) settings.push({ check: "settings", state: "ok", found: "the environment can be read" });
  return [
    ...settings,
    ...(await machineChecks(env)),
    ...(await (env.DATABASE_URL ? postgresChecks(env) : sqliteChecks(env))),
    ...(env.REDIS_URL ? await redisChecks(env.REDIS_URL) : []),
  ];
}

/** A line a check; what to do stands below what is not right. */
function textOf(checks: readonly Found[]): string {
  const width = Math.max(...checks.map(({ check }) => check.length));
  const lines = checks.flatMap(({ check, state, found, advice }) => {
    const line = `${state.padEnd(5)}  ${check.padEnd(width)}  ${found}`;
    return advice === undefined ? [line] : [line, `${" ".repeat(9 + width)}-> ${advice}`];
  });
  const wrong = checks.filter(({ state }) => state === "wrong").length;
  const end = wrong === 0 ? "Nothing is wrong." : `${wrong} ${wrong === 1 ? "thing is" : "things are"} wrong.`;
  return [...lines, end].join("\n");
}
