/** Users with their balances, bindings and tokens: those of one user are written in one transaction. */
import { and, eq, inArray, isNull, sql } from "drizzle-orm";
import { LOG_TYPE } from "../../../shared/log";
import { CannotStart } from "../../lib/cannot-start";
import { sha256 } from "../../lib/secrets";
import { run } from "../../db/transaction";
import type { Source } from "../../db/foreign/source";
import { eachOf } from "./plan";
import { isLeft, type SourceToken, type SourceUser } from "./records";
import type { Survey } from "./survey";
import type { Needs, Target } from "./target";
import { UserRows, uniques, type Written } from "./user-rows";

/** Of one transaction: with credits, bindings and roll-ups at most 5,000 rows are written. */
const USERS = 100;
const TOKENS = 800;

export interface UsersInput {
  services: Needs;
  source: Source;
  survey: Survey;
  target: Target;
  merge: boolean;
  progress(done: number, of: string): void;
}

type Pair = { user: SourceUser; tokens: SourceToken[] };

export async function writeUsers(input: UsersInput): Promise<Written> {
  const { services, source, survey, target } = input;
  const written: Written = { users: 0, tokens: 0, changed: 0, unchanged: 0 };
  const used = await usedHere(services, target);
  if (!input.merge) await refuseSpent(input, used);
  const seen = await uniques(services);
  const tokensSeen = new Set<string>();
  const flush = async (users: readonly SourceUser[]): Promise<void> => {
    if (users.length === 0) return;
    const tokens = await tokensOf(source, survey, users);
    for (const pairs of portions(users, tokens)) {
      const rows = new UserRows({
        services,
        survey,
        target,
        spent: used,
        seen,
        written,
        balances: await balancesOf(input, pairs),
      });
      for (const { user, tokens: own } of pairs) {
        const account = rows.addUser(user);
        for (const token of own) {
          tokensSeen.add(token.id);
          rows.addToken(account, token);
        }
      }
      await services.db.tx((q) => rows.steps(q), { durable: true, long: true });
      input.progress(written.users + written.changed + written.unchanged, "users");
    }
  };
  let chunk: SourceUser[] = [];
  for await (const { record } of eachOf(source, survey.tables.users)) {
    if (isLeft(record) || survey.leftUsers.has(record.id)) continue;
    if (chunk.push(record) < USERS) continue;
    await flush(chunk);
    chunk = [];
  }
  await flush(chunk);
  await revoke(input, tokensSeen);
  await writeInviters(input);
  return written;
}

/** Hash of a token that is gone there: it is looked at once. */
const GONE = "gone";

/** A key that was deleted there since an earlier run opens nothing here. */
async function revoke({ services, target }: UsersInput, seen: ReadonlySet<string>): Promise<void> {
  const { tokens } = services.db.t;
  const gone = [...target.all("token")].filter(([id, { hash }]) => !seen.has(id) && hash !== GONE);
  for (let i = 0; i < gone.length; i += TOKENS) {
    const part = gone.slice(i, i + TOKENS);
    const ids = part.map(([, taken]) => taken.target);
    await services.db.tx(
      function* (q) {
        for (let n = 0; n < ids.length; n += 500)
          yield* run(
            q
              .update(tokens)
              .set({ deleted_at: Math.floor(services.now() / 1000) })
              .where(and(inArray(tokens.id, ids.slice(n, n + 500)), isNull(tokens.deleted_at))),
          );
        yield* target.noteSteps(q, "token", new Map(part.map(([id, taken]) => [id, { ...taken, hash: GONE }])));
      },
      { durable: true, long: true },
    );
  }
}

/** A user who was imported, changed there and spent here would have two truths: only `--merge` adds the difference. */
async function refuseSpent({ source, survey, target }: UsersInput, spent: ReadonlySet<number>): Promise<void> {
  if (spent.size === 0) return;
  const names: string[] = [];
  for await (const { record } of eachOf(source, survey.tables.users)) {
    if (isLeft(record)) continue;
    const before = target.taken("user", record.id);
    if (before && spent.has(before.target) && before.hash !== sha256(JSON.stringify(record)))
      names.push(record.username);
  }
  if (names.length > 0)
    throw new CannotStart(
      `${names.length} users have spent here since they were imported, and changed in the source: ${names.slice(0, 10).join(", ")}. Nothing was written; --merge adds the difference as a credit.`,
    );
}

async function tokensOf(
  source: Source,
  { tables }: Survey,
  users: readonly SourceUser[],
): Promise<Map<string, SourceToken[]>> {
  const ids = users.map(({ id }) => (/^\d+$/.test(id) ? Number(id) : id));
  const found = new Map<string, SourceToken[]>();
  for (const row of await source.rowsWhere(tables.tokens.table, tables.tokens.owner, ids, tables.tokens.key)) {
    const record = tables.tokens.read(row);
    if (isLeft(record)) continue;
    const list = found.get(record.user);
    if (list) list.push(record);
    else found.set(record.user, [record]);
  }
  return found;
}

/** A user with more tokens than a transaction takes comes again with the rest of them. */
function* portions(users: readonly SourceUser[], tokens: ReadonlyMap<string, SourceToken[]>): Generator<Pair[]> {
  let pairs: Pair[] = [];
  let rows = 0;
  for (const user of users) {
    const own = tokens.get(user.id) ?? [];
    for (let i = 0; i === 0 || i < own.length; i += TOKENS) {
      const part = own.slice(i, i + TOKENS);
      if (rows + part.length > TOKENS && pairs.length > 0) {
        yield pairs;
        pairs = [];
        rows = 0;
      }
      pairs.push({ user, tokens: part });
      rows += part.length;
    }
  }
  if (pairs.length > 0) yield pairs;
}

/** Users who have charges here since the import began. */
async function usedHere({ db }: Needs, target: Target): Promise<ReadonlySet<number>> {
  const { logs } = db.t;
  const rows = await db.q
    .selectDistinct({ id: logs.user_id })
    .from(logs)
    .where(
      and(
        eq(logs.type, LOG_TYPE.consume),
        sql`${logs.created_at} >= ${target.started_at}`,
        sql`${logs.request_id} not like 'imp-%'`,
      ),
    );
  return new Set(rows.map(({ id }) => id));
}

/** Balances of the accounts here that these users are, or are joined with. */
async function balancesOf(
  { services, survey, target }: UsersInput,
  pairs: readonly Pair[],
): Promise<Map<number, number>> {
  const { users } = services.db.t;
  const known = pairs
    .flatMap(({ user }) => [target.idOf("user", user.id), survey.joined.get(user.id) ?? 0])
    .filter((id) => id > 0);
  if (known.length === 0) return new Map();
  const rows = await services.db.q
    .select({ id: users.id, quota: users.quota })
    .from(users)
    .where(inArray(users.id, known));
  return new Map(rows.map(({ id, quota }) => [id, quota]));
}

/** After all users, because an inviter may come after the invited. */
async function writeInviters({ services, source, survey, target }: UsersInput): Promise<void> {
  const { users } = services.db.t;
  const invited = new Map<number, number[]>();
  for await (const { record } of eachOf(source, survey.tables.users)) {
    if (isLeft(record) || record.inviter === "") continue;
    const [id, inviter] = [target.idOf("user", record.id), target.idOf("user", record.inviter)];
    if (id === 0 || inviter === 0 || survey.joined.has(record.id)) continue;
    const list = invited.get(inviter);
    if (list) list.push(id);
    else invited.set(inviter, [id]);
  }
  for (const [inviter_id, ids] of invited) {
    for (let i = 0; i < ids.length; i += 1000)
      await services.db.q
        .update(users)
        .set({ inviter_id })
        .where(and(inArray(users.id, ids.slice(i, i + 1000)), eq(users.inviter_id, 0)))
        .returning({ id: users.id });
  }
}
