/** `weir config export | diff | apply`: channels, models, prices, groups and settings as one reviewed file. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { ActorCtx, Services } from "../contracts/context";
import type { Env } from "../env";
import { applyConfig, exportConfig, isEmpty, planConfig, planText } from "../features/config/config";
import { parseConfig, printConfig } from "../features/config/format";
import { secretReader } from "../features/config/secret-refs";
import { CannotStart } from "../lib/cannot-start";
import type { Logger } from "../lib/log";
import { openServices } from "../wiring/services";

const HELP = `weir config export [FILE] [--json]
weir config diff FILE [--prune] [--json]
weir config apply FILE [--prune] [--dry-run]
  Channels, models, prices, groups and settings as one YAML or JSON file; secrets are named in it, never written.
  export    writes it, to the standard output without FILE
  diff      prints what apply would change; exit code 2 when there is a difference
  apply     changes it, all after a check of the whole file; servers may run
  --prune   channels that are not in the file are deleted, settings that are not in it get their default
  --dry-run as diff`;

const OPTIONS = {
  prune: { type: "boolean", default: false },
  json: { type: "boolean", default: false },
  "dry-run": { type: "boolean", default: false },
} as const;

function read(args: readonly string[]) {
  try {
    const parsed = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    const [verb, file, ...more] = parsed.positionals;
    if (more.length > 0) return "one file";
    if (verb === "export") return { verb, file, ...parsed.values } as const;
    if ((verb === "diff" || verb === "apply") && file !== undefined) return { verb, file, ...parsed.values } as const;
    return verb === undefined ? "export, diff or apply" : `${verb} needs a file`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const actor = (services: Services): ActorCtx => ({
  ...services,
  actor: { kind: "system" },
  request_id: "weir config",
  ip: "",
  lang: "en",
});

/**
 * Exit code 0 when done or without a difference, 2 when `diff` or a dry run found one, 1 for bad arguments. Throws
 * CannotStart for a file that cannot be applied; nothing was changed then.
 */
export async function configCommand(env: Env, log: Logger, args: readonly string[]): Promise<number> {
  const asked = read(args);
  if (typeof asked === "string") {
    console.error(`weir config: ${asked}\n\n${HELP}`);
    return 1;
  }
  if (!env.DATABASE_URL && !existsSync(env.databaseUrl))
    throw new CannotStart(`there is no database at ${env.databaseUrl}. Set WEIR_DATA_DIR or DATABASE_URL.`);
  const content = asked.verb === "export" ? undefined : textOf(asked.file);
  const { services, close } = await openServices(env, log, Date.now, { commandLimits: true });
  try {
    const ctx = actor(services);
    if (asked.verb === "export") {
      const file = await exportConfig(ctx, (what) => console.error(`Not part of it: ${what}.`));
      const text = asked.json ? `${JSON.stringify(file, undefined, 2)}\n` : printConfig(file);
      if (asked.file === undefined) console.log(text.trimEnd());
      else writeNew(asked.file, text);
      return 0;
    }
    const { file: name, prune } = asked;
    const input = { name, prune, read: secretReader(process.env) };
    const plan = await planConfig(ctx, parseConfig(content ?? "", name), input);
    const { options, channels, kept, unnamed } = plan;
    const facts = {
      options: options.map((one) => ({ key: one.key, differences: one.differences })),
      channels: channels.map(({ act, id, name: channel, differences }) => ({ act, id, name: channel, differences })),
      kept,
      unnamed,
    };
    console.log(asked.json ? JSON.stringify(facts, undefined, 2) : planText(plan, prune));
    if (asked.verb === "diff" || asked["dry-run"]) return isEmpty(plan) ? 0 : 2;
    await applyConfig(ctx, plan);
    if (!isEmpty(plan))
      console.log(env.DATABASE_URL ? "Applied." : "Applied. A server that runs reads it within a minute.");
    return 0;
  } finally {
    await close();
  }
}

function textOf(path: string): string {
  if (!existsSync(path)) throw new CannotStart(`there is no file ${path}.`);
  return readFileSync(path, "utf8");
}

function writeNew(path: string, text: string): void {
  if (existsSync(path)) throw new CannotStart(`${path} exists.`);
  writeFileSync(path, text, { flag: "wx", mode: 0o600 });
}
