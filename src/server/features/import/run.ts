/** The run: writes what the survey found, in transactions that leave the books balanced whenever it is interrupted. */
import { eq } from "drizzle-orm";
import { ROLE } from "../../../shared/roles";
import { AppError, errorText } from "../../../shared/errors";
import { CannotStart } from "../../lib/cannot-start";
import { markLogComplete } from "../log/clean";
import { openDecisions } from "./plan";
import type { Done } from "./done";
import { keepReport } from "./reports";
import type { Source } from "../../db/foreign/source";
import type { Survey } from "./survey";
import { type Needs, openTarget, tidy } from "./target";
import { writeChannels } from "./write-channels";
import { writeCodes } from "./write-codes";
import { writeHistory } from "./write-history";
import { writeLogs } from "./write-logs";
import { writeUsers } from "./write-users";

export interface RunInput {
  /** Channels keep their status. */
  live: boolean;
  merge: boolean;
  /** Days of log rows that are kept; 0 = only the roll-ups, Infinity = all. */
  logDays: number;
  progress(done: number, of: string): void;
  stopped(): boolean;
}

const DAY = 86_400;

/** `logs`: where the log is when it has a database of its own. Throws CannotStart while a decision is open. */
export async function runImport(
  services: Needs,
  survey: Survey,
  logs: Source | undefined,
  input: RunInput,
): Promise<Done> {
  const { source } = survey;
  const open = openDecisions(survey.plan);
  if (open.length > 0)
    throw new CannotStart(`${open.length} decisions are open: ${open.map(({ id }) => id).join(", ")}.`);
  const { db } = services;
  const { tables } = survey;
  const watched = [tables.users, tables.tokens].map(({ table, key }) => ({ table, key }));
  const before = await source.state(watched);
  const largest = async (use: { table: string; key: string } | undefined): Promise<number> =>
    use && (await source.catalogue()).has(use.table) ? source.largest(use.table, use.key) : 0;
  const target = await openTarget(services, survey.plan.source, survey.system.name, {
    user: await largest(tables.users),
    token: await largest(tables.tokens),
    channel: await largest(tables.channels),
    code: await largest(tables.codes),
  });
  // Roll-ups that come from elsewhere have no rows to be compared with.
  await markLogComplete(services, Math.floor(services.now() / 1000));
  const options = await writeOptions(services, survey);
  const users = await writeUsers({ services, source, survey, target, merge: input.merge, progress: input.progress });
  const common = { services, source, survey, target };
  const channels = await writeChannels({ ...common, live: input.live });
  const codes = await writeCodes(common);
  const { progress, stopped } = input;
  const history = await writeHistory({ ...common, progress, stopped });
  const since = input.logDays === 0 ? Infinity : Math.floor(services.now() / 1000) - input.logDays * DAY;
  const written = await writeLogs({
    ...common,
    source: logs ?? source,
    since,
    progress,
    stopped,
  });
  await tidy(services);
  await setUpDone(services);
  const finished = !input.stopped();
  if (finished)
    await db.q
      .update(db.t.imports)
      .set({ finished_at: Math.floor(services.now() / 1000) })
      .where(eq(db.t.imports.source, target.source))
      .returning({ source: db.t.imports.source });
  const moved = before !== (await source.state(watched));
  const records = { ...history, codes: codes.used };
  const done: Done = { users, channels, codes: codes.codes, records, logs: written, options, moved, finished };
  await keepReport(services, survey.plan, done);
  return done;
}

async function writeOptions({ options }: Needs, survey: Survey): Promise<Record<string, string>> {
  const failed: Record<string, string> = {};
  for (const [key, value] of survey.options.values) {
    if (options.text(key as Parameters<typeof options.text>[0]) === value) continue;
    try {
      await options.set(key, value);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      failed[key] = errorText(error.code, error.values, "en");
    }
  }
  return failed;
}

/** With a super administrator the first-run page has nothing to ask. */
async function setUpDone({ db }: Needs): Promise<void> {
  const { users, meta } = db.t;
  const [root] = await db.q.select({ id: users.id }).from(users).where(eq(users.role, ROLE.root)).limit(1);
  if (root)
    await db.q
      .insert(meta)
      .values({ name: "setup_done", value: "1" })
      .onConflictDoNothing()
      .returning({ name: meta.name });
}
