/**
 * weir: boot in reading order, shut down in reverse.
 *
 *   weir                 serve
 *   weir audit           check that all balances add up; exit code 1 names every row that breaks a rule
 *   weir doctor          what is wrong with configuration and surroundings, and what to do; --json
 *   weir backup FILE     a checked copy of the SQLite database, while it is in use
 *   weir restore FILE    puts such a copy in the place of the database; refuses while that is in use
 *   weir secret rotate   a new master secret; everything that it protects is rewritten
 *   weir import SOURCE   moves in from another gateway, or from `weir export`; --dry-run says what would happen
 *   weir export FILE     this installation in a portable form
 *   weir config export | diff FILE | apply FILE   channels, models, prices and settings as one reviewed file
 *   weir move TARGET     from SQLite to Postgres
 *   weir rescue NAME     lets an operator who is locked out in again
 *   weir prices sign KEY FILE   this installation's prices as a signed file, for price feeds
 *   weir licenses        the software of others inside, and its licences
 *   weir --health        ask the server on this machine whether it is ready (for containers)
 *   weir --version, weir --help
 */
import "./lib/reexec";
import { adviceOnDamage } from "./db/damage";
import { type Env, readEnv } from "./env";
import { CannotStart } from "./lib/cannot-start";
import { createLogger, type Logger } from "./lib/log";
import { VERSION } from "./version";

const COMMANDS: ReadonlySet<string> = new Set([
  "serve",
  "audit",
  "--health",
  "secret",
  "backup",
  "restore",
  "rescue",
  "prices",
  "import",
  "export",
  "config",
  "move",
]);

const HELP = `weir ${VERSION}: a self-hosted LLM API gateway with a management console

Usage
  weir              serve the console, /api and /v1
  weir audit        check that every user's books balance; prints each row that breaks them
  weir doctor       check settings, disk, port, database, Redis, clocks, passwords, backups; --json; exit 1 when
                    something is wrong
  weir backup FILE  write a checked copy of the SQLite database; servers may run
  weir restore FILE put such a copy in its place; the database that was there is kept; stop every server first
  weir secret rotate   new master secret (WEIR_NEW_SECRET, or a made one); stop every server first
  weir import SOURCE   move in from new-api, one-api, one-hub, LiteLLM or \`weir export\`; \`weir import\` says how
  weir export FILE  this installation as JSON lines, with secrets in clear
  weir config export | diff FILE | apply FILE   channels, models, prices and settings as one reviewed file
  weir move TARGET  from SQLite to Postgres, copied while a server runs; \`weir move\` says how
  weir rescue NAME  for operators who are locked out: new password, ban, role, second factors; \`weir rescue\` says how
  weir prices sign KEY FILE   write this installation's prices as a signed file; KEY is made where there is none
  weir licenses     the software of others inside, and its licences
  weir --health     exit 0 when the server on this machine is ready
  weir --version
  weir --help

Settings come from the environment (PORT, WEIR_DATA_DIR, DATABASE_URL, REDIS_URL, WEIR_ROOT_USERNAME,
WEIR_ROOT_PASSWORD, WEIR_...): see docs/generated/env.md.
`;

async function main(args: string[]): Promise<number | undefined> {
  const [command] = args;
  if (command === "--version" || command === "-v") return say(`weir ${VERSION}`);
  if (command === "--help" || command === "-h" || command === "help") return say(HELP);
  if (command === "licenses") return (await import("./commands/licenses")).licensesCommand();
  // Before the environment is read: it says what is wrong with that, too.
  if (command === "doctor") return (await import("./commands/doctor")).doctorCommand(process.env, args.slice(1));
  if (command !== undefined && !COMMANDS.has(command)) {
    console.error(`Unknown command: ${command}\n\n${HELP}`);
    return 2;
  }

  const warnings: string[] = [];
  const env = readEnv(process.env, (message) => warnings.push(message));
  const log = createLogger({
    level: env.WEIR_LOG_LEVEL,
    format: env.WEIR_LOG_FORMAT,
    // What it prints is a file or a comparison, for other programs.
    ...(command === "config" && { destination: process.stderr }),
  });
  for (const message of warnings) log.warn(message);

  if (command === "--health") return (await import("./commands/health")).health(env);
  try {
    return await run(args, env, log);
  } catch (error) {
    throw adviceOnDamage(error, env.databaseUrl) ?? error;
  }
}

/** What needs the database. */
async function run(args: string[], env: Env, log: Logger): Promise<number | undefined> {
  const [command] = args;
  if (command === "secret") {
    if (args[1] !== "rotate") {
      console.error(`Unknown command: ${args.join(" ")}\n\n${HELP}`);
      return 2;
    }
    return (await import("./commands/rotate-secret")).rotateSecret(env, log, env.WEIR_NEW_SECRET);
  }
  if (command === "backup" || command === "restore") {
    const { backupCommand, restoreCommand } = await import("./commands/backup");
    const [, file, ...more] = args;
    if (!file || more.length > 0) {
      console.error(`weir ${command} takes one file\n\n${HELP}`);
      return 2;
    }
    return command === "backup" ? backupCommand(env, file) : restoreCommand(env, file);
  }
  if (command === "prices") {
    const [, verb, key, file, ...more] = args;
    if (verb !== "sign" || !key || !file || more.length > 0) {
      console.error(`weir prices sign takes a key and a file\n\n${HELP}`);
      return 2;
    }
    return (await import("./commands/prices")).signPricesCommand(env, key, file);
  }
  if (command === "rescue") return (await import("./commands/rescue")).rescueCommand(env, log, args.slice(1));
  if (command === "import") return (await import("./commands/import")).importCommand(env, log, args.slice(1));
  if (command === "export") return (await import("./commands/export")).exportCommand(env, log, args.slice(1));
  if (command === "config") return (await import("./commands/config")).configCommand(env, log, args.slice(1));
  if (command === "move") return (await import("./commands/move")).moveCommand(env, args.slice(1));
  if (command === "audit") return (await import("./commands/audit")).auditCommand(env);
  if (env.WEIR_WORKERS > 1 && !env.WEIR_WORKER) return (await import("./commands/workers")).superviseWorkers(env, log);
  if (env.WEIR_WORKER) (await import("./commands/workers")).endWithSupervisor(log);
  await (await import("./serve")).serve(env, log);
  return undefined;
}

function say(text: string): number {
  console.log(text.trimEnd());
  return 0;
}

try {
  const code = await main(process.argv.slice(2));
  if (code !== undefined) process.exit(code);
} catch (error) {
  // What an operator can fix is printed in one line; anything else with its stack.
  const [command] = process.argv.slice(2);
  const what = ["backup", "restore", "rescue", "import", "export", "config", "move"].includes(command ?? "")
    ? `weir ${command}`
    : "weir cannot start";
  console.error(error instanceof CannotStart ? `${what}: ${error.message}` : error);
  process.exit(1);
}
