/** The dry run: reads everything once, decides what can be decided, and asks the rest. */
import { and, eq } from "drizzle-orm";
import { channelIssues, splitList } from "../../../shared/channel";
import { channelType } from "../../../shared/channel-types";
import type { Services } from "../../contracts/context";
import { sha256 } from "../../lib/secrets";
import { comparePrices, tablesAfter } from "./prices";
import { type Decision, eachOf, optionsReport, type Plan, TableCount, unreadColumns, unreadTables } from "./plan";
import type { SourceChannel, SourceUser } from "./records";
import { chosen, codesReport, historyReports, logReport } from "./survey-history";
import type { Source } from "../../db/foreign/source";
import { shadowRun } from "./shadow";
import { SYSTEMS } from "./systems";
import { textOf } from "./values";
import type { Environment, SourceOptions, System, SystemTables } from "./system";
import { CannotStart } from "../../lib/cannot-start";

export interface SurveyInput {
  /** Answers of the decisions file: id -> choice. */
  answers: Readonly<Record<string, string>>;
  /** Users who were imported before and have spent here since may be changed. */
  merge: boolean;
  /** A name for the source in place of the found one. */
  name?: string | undefined;
  /** For secrets of the source. */
  env?: Environment;
  /** Where the log is, when it has a database of its own. */
  logs?: Source | undefined;
  /** The system, where it is not to be recognised. */
  from?: string | undefined;
  /** Orders, used codes and jobs since this time (epoch seconds) are taken as records; absent: none. */
  since?: number | undefined;
}

/** What was found, and what the run needs of it. */
export interface Survey {
  plan: Plan;
  /** What is read from: as it was given, or as the system joined it. */
  source: Source;
  system: System;
  tables: SystemTables;
  options: SourceOptions;
  /** Source id of a user -> the account here that it is joined with. */
  joined: ReadonlyMap<string, number>;
  /** Source id -> the name that it gets here, where that is another one. */
  renamed: ReadonlyMap<string, string>;
  /** Source ids of users who are not taken. */
  leftUsers: ReadonlySet<string>;
  /** Source ids of users whose mail is left out. */
  withoutMail: ReadonlySet<string>;
  /** Source ids of channels that are not taken. */
  leftChannels: ReadonlySet<string>;
  /** As it was asked: what came before is no record here. */
  since: number | undefined;
}

type Needs = Pick<Services, "db" | "secrets" | "options">;

class Questions {
  readonly list: Decision[] = [];
  constructor(readonly answers: SurveyInput["answers"]) {}
  /** The answer, or the recommended choice while there is none. */
  ask(id: string, question: string, choices: readonly string[], recommended: string): string {
    const given = this.answers[id];
    const answer = given !== undefined && choices.includes(given) ? given : undefined;
    if (!this.list.some((one) => one.id === id))
      this.list.push({ id, question, choices, recommended, ...(answer !== undefined && { answer }) });
    return answer ?? recommended;
  }
}

/** Throws CannotStart for a source of no known system. */
export async function survey(services: Needs, given: Source, input: SurveyInput): Promise<Survey> {
  let source = given;
  let catalogue = await source.catalogue();
  const found = SYSTEMS.map((system) => ({ system, by: system.recognise(catalogue) })).find(({ system, by }) =>
    input.from ? system.name === input.from : by !== undefined,
  );
  if (!found)
    throw new CannotStart(
      "the source is of none of the systems that Weir can import: " + SYSTEMS.map(({ name }) => name).join(", ") + ".",
    );
  const { system } = found;
  if (system.prepare) {
    source = await system.prepare(source, catalogue, input.env ?? {});
    catalogue = await source.catalogue();
  }
  const options = await system.options(source, catalogue, services.options.text);
  const units = options.values.get("QuotaPerUnit") ?? services.options.text("QuotaPerUnit");
  const tables = chosen(
    system.tables(catalogue, { issuer: options.issuer, units, ...input.answers }),
    catalogue,
    input.since,
  );
  const questions = new Questions(input.answers);
  const notes: string[] = [];
  const users = await surveyUsers(services, source, system, tables, questions, input);
  const channels = await surveyChannels(source, tables, questions);
  const reports = [users.count.report, await tokensReport(source, tables, users.leftUsers), channels.count.report];
  if (tables.codes && catalogue.has(tables.codes.table))
    reports.push(await codesReport(source, tables.codes, users.ids, input.since));
  reports.push(...(await historyReports(source, tables, questions, users.ids, input.since)));
  for (const report of reports) {
    const use = Object.values(tables).find((one) => one.table === report.table);
    if (use) report.columns = await unreadColumns(source, catalogue, use);
  }
  const logs = input.logs ?? source;
  const inLogs = input.logs ? await logs.catalogue() : catalogue;
  const log = await logReport(logs, inLogs, tables);
  if (log) reports.push(log);
  const unread = input.logs ? ((await logReport(source, catalogue, tables))?.rows ?? 0) : 0;
  if (unread > 0)
    notes.push(
      `The table ${tables.logs?.table} beside the users has ${unread} rows that are not read: --log-source has the log.`,
    );
  const after = tablesAfter(services.options, options);
  const prices = comparePrices(channels.models, options, after);
  const shadow = tables.logs
    ? await shadowRun(logs, inLogs, tables.logs, after)
    : await shadowRun(given, await given.catalogue(), system.calls?.(Number(units)), after);
  if (options.stated.length === 0 && channels.models.length > 0)
    notes.push(
      "The source states no prices of its own: what its built-in prices were is not known, so only the prices here are shown.",
    );
  if (options.issuer !== "" && users.oidc > 0)
    notes.push(
      `${users.oidc} accounts of OpenID Connect are bound to the issuer ${options.issuer}: compare it with the provider's discovery document.`,
    );
  if (users.logins > 0)
    notes.push(
      `${users.logins} GitHub accounts are known by their login name alone, which is no proof: their users bind GitHub again.`,
    );
  const plan: Plan = {
    system: system.name,
    recognised: found.by ?? `named as ${system.name}`,
    engine: source.engine,
    source: users.source,
    tables: reports,
    other: await unreadTables(source, catalogue, system, tables),
    channels: channels.reports,
    prices,
    shadow,
    unpriced: prices.filter((one) => one.now === undefined).map((one) => one.model),
    balances: users.balances,
    options: optionsReport(options),
    decisions: questions.list,
    notes,
  };
  return {
    plan,
    source,
    system,
    tables,
    options,
    joined: users.joined,
    renamed: users.renamed,
    leftUsers: users.leftUsers,
    withoutMail: users.withoutMail,
    leftChannels: channels.left,
    since: input.since,
  };
}

async function surveyUsers(
  { db }: Needs,
  source: Source,
  system: System,
  tables: SystemTables,
  questions: Questions,
  input: SurveyInput,
) {
  const { users } = db.t;
  const here = await db.q
    .select({ id: users.id, username: users.username, email: users.email, role: users.role })
    .from(users);
  const nameHere = new Map(here.map((one) => [one.username.toLowerCase(), one]));
  const mailHere = new Map(here.filter((one) => one.email !== "").map((one) => [one.email, one.id]));
  const count = new TableCount(tables.users.table, "users");
  const all: Pick<SourceUser, "id" | "username" | "email" | "quota" | "role" | "deleted_at" | "aff_code">[] = [];
  const balances = { users: 0, old: 0, now: 0, debts: 0, left: 0 };
  const [oidcBound, logins] = [{ n: 0 }, { n: 0, digits: 0 }];
  for await (const { row, record } of eachOf(source, tables.users)) {
    if (!count.count(record)) continue;
    const { id, username, email, quota, role, deleted_at, aff_code } = record;
    all.push({ id, username, email, quota, role, deleted_at, aff_code });
    if (record.identities.some((one) => one.provider === "oidc")) oidcBound.n++;
    const login = String(row.github_id ?? "");
    if (login !== "" && login !== "0" && !record.identities.some((one) => one.provider === "github")) {
      if (/^\d{1,15}$/.test(login)) logins.digits++;
      else logins.n++;
    }
    if (record.password_hash === "") count.change("without a password: must be reset");
  }
  if (logins.digits > 0)
    questions.ask(
      "github-ids",
      `${logins.digits} users have a GitHub entry of digits alone. Numeric ids of GitHub bind the account; login names must not. Which are they?`,
      ["numeric", "logins"],
      "logins",
    );
  const name = input.name ?? `${system.name}:${await identityOf(source, tables, all[0])}`;
  const imported = await db.q
    .select({ id: db.t.imported_rows.source_id })
    .from(db.t.imported_rows)
    .where(and(eq(db.t.imported_rows.source, name), eq(db.t.imported_rows.kind, "user")));
  const known = new Set(imported.map(({ id }) => id));
  const names = new Set<string>();
  const mails = new Map<string, string[]>();
  const [joined, renamed, leftUsers, withoutMail] = [
    new Map<string, number>(),
    new Map<string, string>(),
    new Set<string>(),
    new Set<string>(),
  ];
  for (const user of all) {
    const lower = user.username.toLowerCase();
    const mine = known.has(user.id);
    const taken = mine ? undefined : nameHere.get(lower);
    const rename = (): void => {
      const free = `${user.username || "user"}-${user.deleted_at === null ? "" : "deleted-"}${user.id}`;
      renamed.set(user.id, free);
      count.change("renamed");
    };
    if (!mine && (taken || names.has(lower) || user.username === "")) {
      if (user.deleted_at !== null || user.username === "") rename();
      else {
        const choices = taken ? ["join", "rename", "leave"] : ["rename", "leave"];
        const who = taken
          ? `the account ${taken.username} (id ${taken.id}) here`
          : "another user of the source, but for case";
        const best = taken && taken.role === user.role && user.role === 100 ? "join" : "rename";
        const answer = questions.ask(
          `name:${lower}${taken ? "" : `:${user.id}`}`,
          `User ${user.id} is named ${user.username}, as ${who}. ${taken ? "join: one account with both balances; " : ""}rename: ${user.username}-${user.id}; leave: not taken.`,
          choices,
          best,
        );
        if (answer === "join" && taken) joined.set(user.id, taken.id);
        else if (answer === "leave") {
          leftUsers.add(user.id);
          count.drop("left by decision");
          balances.left += user.quota;
          continue;
        } else rename();
      }
    }
    names.add((renamed.get(user.id) ?? user.username).toLowerCase());
    balances.users++;
    balances.old += user.quota;
    balances.now += Math.max(0, user.quota);
    if (user.quota < 0) {
      balances.debts -= user.quota;
      count.change("a debt becomes 0");
    }
    if (user.email === "") continue;
    if (
      user.deleted_at !== null ||
      (!mine && mailHere.has(user.email) && mailHere.get(user.email) !== joined.get(user.id))
    ) {
      withoutMail.add(user.id);
      if (user.deleted_at === null) count.change("mail belongs to an account here");
      continue;
    }
    const owners = mails.get(user.email);
    if (owners) owners.push(user.id);
    else mails.set(user.email, [user.id]);
  }
  for (const [mail, owners] of mails) {
    if (owners.length < 2) continue;
    const answer = questions.ask(
      `mail:${mail}`,
      `Users ${owners.join(", ")} have the mail ${mail}; here one account has it.`,
      ["first", "last", "none"],
      "last",
    );
    const keeper = answer === "first" ? owners[0] : answer === "last" ? owners.at(-1) : undefined;
    for (const id of owners) if (id !== keeper) withoutMail.add(id);
    for (const id of owners) if (id !== keeper) count.change("mail left to another user");
  }
  if (balances.debts > 0)
    questions.ask(
      "debts",
      "Some balances are below zero, which none is here. zero: they begin at 0, the debts are listed.",
      ["zero"],
      "zero",
    );
  return {
    source: name,
    count,
    balances,
    joined,
    renamed,
    leftUsers,
    withoutMail,
    ids: new Set(all.map(({ id }) => id).filter((id) => !leftUsers.has(id))),
    oidc: oidcBound.n,
    logins: logins.n,
  };
}

/** The same for a later copy of one source, and another for another installation: most begin with user 1, "root". */
async function identityOf(
  source: Source,
  { tokens, channels }: SystemTables,
  user: Pick<SourceUser, "id" | "username" | "aff_code"> | undefined,
): Promise<string> {
  const [token] = await source.rows(tokens.table, tokens.key, undefined, 1);
  // Only where there are no users: a list of models.
  const [channel] = user ? [] : await source.rows(channels.table, channels.key, undefined, 1);
  const facts = [
    user?.id,
    user?.username,
    user?.aff_code,
    token && textOf(token, tokens.key),
    token && textOf(token, "created_time"),
    channel && textOf(channel, channels.key),
  ];
  return sha256(JSON.stringify(facts)).slice(0, 12);
}

/** What keeps a channel from being called; [] when nothing does. */
export const channelProblems = (channel: SourceChannel): string[] =>
  channelIssues(
    { ...channel, key: channel.keys[0]?.key ?? "", has_key: channel.keys.some(({ key }) => key !== "") },
    "en",
  ).map((issue) => `${issue.field} (${issue.code})`);

async function surveyChannels(source: Source, tables: SystemTables, questions: Questions) {
  const count = new TableCount(tables.channels.table, "channels");
  const reports: Plan["channels"] = [];
  const left = new Set<string>();
  const models = new Set<string>();
  for await (const { record } of eachOf(source, tables.channels)) {
    if (!count.count(record)) continue;
    if (record.type === undefined) {
      const answer = questions.ask(
        `type:${record.was}`,
        `Channels of ${record.was} have no type here. disabled: kept as "Custom", disabled, never called; leave: not taken.`,
        ["disabled", "leave"],
        "disabled",
      );
      if (answer === "leave") {
        left.add(record.id);
        count.drop("left by decision");
        continue;
      }
      count.change("of an unknown type: kept disabled");
    } else if (record.status === 1) for (const model of splitList(record.models)) models.add(model);
    const name = record.type === undefined ? undefined : channelType(record.type)?.name;
    const becomes = name === undefined ? "Custom (disabled)" : typeof name === "string" ? name : name.en;
    reports.push({
      id: record.id,
      name: record.name,
      was: record.was,
      becomes,
      notes: [...record.notes, ...channelProblems(record).map((one) => `cannot be called as it is: ${one}`)],
    });
  }
  return { count, reports, left, models: [...models].sort() };
}

async function tokensReport(source: Source, { tokens }: SystemTables, leftUsers: ReadonlySet<string>) {
  const count = new TableCount(tokens.table, "tokens");
  const keys = new Set<string>();
  for await (const { record } of eachOf(source, tokens)) {
    if (!count.count(record)) continue;
    const key = sha256(record.key || record.sha256);
    if (leftUsers.has(record.user)) count.drop("of a user who is not taken");
    else if (keys.has(key)) count.drop("the same key twice");
    keys.add(key);
  }
  return count.report;
}
