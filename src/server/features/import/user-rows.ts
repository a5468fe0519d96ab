/**
 * The rows of some users: accounts, credits, bindings, tokens and opening roll-ups. Made before the transaction that
 * writes them, so that one which is tried again writes the same.
 */
import { eq, sql } from "drizzle-orm";
import { keyHint, TOKEN_LIMITS } from "../../../shared/token";
import type { Q } from "../../db/types";
import { run, type Steps } from "../../db/transaction";
import { randomText, sha256 } from "../../lib/secrets";
import { NO_PASSWORD } from "../auth/password";
import { periodsAt } from "../limit/periods";
import { importedHash } from "../token/imported-key";
import { BUDGET_KEPT_SECONDS } from "../wallet/refund";
import type { Hour } from "../log/fold";
import type { SourceSpend, SourceToken, SourceUser } from "./records";
import type { Survey } from "./survey";
import { addHours, type Needs, openingHour, type Taken, type Target } from "./target";

/** Rows of one statement. */
const ROWS = 100;

/** Counts of one run, for the report. */
export interface Written {
  users: number;
  tokens: number;
  changed: number;
  unchanged: number;
}

/** Values that may stand once, of all rows. */
export interface Uniques {
  aff: Set<string>;
  access: Set<string>;
  keys: Set<string>;
  subjects: Set<string>;
}

/** What may stand once. */
export async function uniques({ db }: Needs): Promise<Uniques> {
  const { users, tokens, identities } = db.t;
  const [people, keys, bound] = [
    await db.q.select({ aff: users.aff_code, access: users.access_token_hash }).from(users),
    await db.q.select({ hash: tokens.key_hash, imported: tokens.imported_hash }).from(tokens),
    await db.q.select({ provider: identities.provider, subject: identities.subject }).from(identities),
  ];
  const texts = (list: readonly (string | null)[]): Set<string> => new Set(list.filter((one) => one !== null));
  return {
    aff: texts(people.map((one) => one.aff)),
    access: texts(people.map((one) => one.access)),
    keys: texts(keys.flatMap((one) => [one.hash, one.imported])),
    subjects: new Set(bound.map((one) => `${one.provider} ${one.subject}`)),
  };
}

/** The first to have it keeps it. */
const once = (seen: Set<string>, text: string): boolean => text !== "" && !seen.has(text) && seen.add(text).size > 0;

type Tables = Needs["db"]["t"];

/** What the rows are made from. */
export interface RowsInput {
  services: Needs;
  survey: Survey;
  target: Target;
  /** Ids here -> balances, of accounts that exist. */
  balances: Map<number, number>;
  /** Accounts that have charges of their own here. */
  spent: ReadonlySet<number>;
  seen: Uniques;
  written: Written;
}

export class UserRows {
  private readonly hours: Hour[] = [];
  private readonly notedUsers = new Map<string, Taken>();
  private readonly notedTokens = new Map<string, Taken>();
  private readonly newUsers: Tables["users"]["$inferInsert"][] = [];
  private readonly newCredits: Tables["credits"]["$inferInsert"][] = [];
  private readonly newIdentities: Tables["identities"]["$inferInsert"][] = [];
  private readonly newTokens: Tables["tokens"]["$inferInsert"][] = [];
  private readonly changes: { id: number; quota: number; used: number; calls: number; facts: object }[] = [];
  private readonly tokenChanges: { id: number; remain: number; used: number; facts: object }[] = [];
  private readonly newSpends: Tables["budget_spend"]["$inferInsert"][] = [];
  private readonly now: number;

  constructor(private readonly input: RowsInput) {
    this.now = Math.floor(input.services.now() / 1000);
  }

  /** A user's own rows; an unchanged one has none. Returns the account here. */
  addUser(user: SourceUser): { id: number; username: string } {
    const { survey, target, balances, spent, seen, written } = this.input;
    const { secrets } = this.input.services;
    const { now } = this;
    const before = this.notedUsers.get(user.id) ?? target.taken("user", user.id);
    const joins = survey.joined.get(user.id);
    const id = before?.target ?? joins ?? target.newId("user", user.id);
    const username = survey.renamed.get(user.id) ?? user.username;
    const facts = {
      password_hash: user.password_hash || NO_PASSWORD,
      display_name: user.display_name,
      email: survey.withoutMail.has(user.id) ? "" : user.email,
      role: user.role,
      status: user.status,
      group: user.group,
      ...user.limits,
      deleted_at: user.deleted_at,
      ...(user.deleted_at !== null && { access_token_hash: null }),
    };
    const quota = Math.max(0, user.quota);
    const state: Taken = {
      target: id,
      hash: sha256(JSON.stringify(user)),
      credited: quota + user.used_quota,
      used: user.used_quota,
      calls: user.request_count,
      joined: before ? before.joined : joins !== undefined,
    };
    const same = before?.hash === state.hash;
    if (!same) {
      const more = {
        credited: state.credited - (before?.credited ?? 0),
        used: state.used - (before?.used ?? 0),
        calls: state.calls - (before?.calls ?? 0),
      };
      // A balance never falls below zero: what was spent here already cannot be taken back.
      const balance = balances.get(id) ?? 0;
      const debt = before || joins !== undefined ? Math.max(0, -(balance + more.credited - more.used)) : 0;
      more.credited += debt;
      balances.set(id, balance + more.credited - more.used);
      const key = `import:${target.source}:user:${user.id}${before ? `:${state.hash.slice(0, 16)}` : ""}`;
      // What was transferred from earnings there explains their history here.
      const transferred = before ? 0 : Math.max(0, user.aff_history_quota - user.aff_quota);
      const apart = transferred <= more.credited && joins === undefined ? transferred : 0;
      for (const [amount, kind, suffix] of [
        [more.credited - apart, "adjust", ""],
        [apart, "transfer", ":transfer"],
      ] as const)
        if (amount !== 0)
          this.newCredits.push({
            user_id: id,
            amount,
            kind,
            idempotency_key: key + suffix,
            note: `import from ${survey.system.name}`,
            created_at: now,
          });
      if (more.used !== 0 || more.calls !== 0)
        this.hours.push(
          openingHour(target, { user_id: id, username, token_id: 0, channel: 0, quota: more.used, count: more.calls }),
        );
      this.notedUsers.set(user.id, state);
      this.addSpend(`user:${id}`, user.spend);
      if (before || joins !== undefined) {
        // An account that was here before the import keeps its own facts.
        const mayChange = before && !before.joined && !spent.has(id);
        this.changes.push({
          id,
          quota: more.credited - more.used,
          used: more.used,
          calls: more.calls,
          facts: mayChange ? facts : {},
        });
        written.changed++;
      } else {
        const access = user.access_token === "" ? "" : secrets.hash("access-token", user.access_token);
        this.newUsers.push({
          id,
          username,
          ...facts,
          quota,
          used_quota: user.used_quota,
          request_count: user.request_count,
          access_token_hash: once(seen.access, access) ? access : null,
          aff_code: once(seen.aff, user.aff_code) ? user.aff_code : null,
          aff_count: user.aff_count,
          aff_quota: user.aff_quota,
          aff_history_quota: user.aff_quota + apart,
          setting: sealedSetting(secrets, user.setting),
          created_at: user.created_at || now,
          last_login_at: user.last_login_at,
        });
        written.users++;
      }
      if (!before)
        for (const one of user.identities)
          if (user.deleted_at === null && once(seen.subjects, `${one.provider} ${one.subject}`))
            this.newIdentities.push({ user_id: id, ...one, created_at: now });
    } else written.unchanged++;
    return { id, username };
  }

  /** A token of an account here. */
  addToken({ id, username }: { id: number; username: string }, token: SourceToken): void {
    const { target, spent, seen, written } = this.input;
    const { secrets } = this.input.services;
    const earlier = target.taken("token", token.id);
    const hash = sha256(JSON.stringify(token));
    if (earlier?.hash === hash) return;
    const imported_hash = token.key ? null : importedHash(secrets, token.sha256);
    // No key has this hash: the first call with the real one replaces it.
    const key_hash = secrets.hash("relay-key", token.key || randomText(48));
    if (!earlier && !once(seen.keys, imported_hash ?? key_hash)) return;
    const token_id = earlier?.target ?? target.newId("token", token.id);
    const {
      user: _user,
      id: _id,
      key: _key,
      sha256: _digest,
      hint,
      name,
      used_quota,
      remain_quota,
      spend,
      ...plain
    } = token;
    const more = used_quota - (earlier?.used ?? 0);
    // Its part of the owner's use moves from the row without a token.
    if (more !== 0)
      for (const [of, sign] of [
        [token_id, 1],
        [0, -1],
      ] as const)
        this.hours.push(
          openingHour(target, { user_id: id, username, token_id: of, channel: 0, quota: sign * more, count: 0 }),
        );
    this.notedTokens.set(token.id, { target: token_id, hash, credited: remain_quota, used: used_quota, calls: 0 });
    this.addSpend(`token:${token_id}`, spend);
    const cut = [...(name || "token")].slice(0, TOKEN_LIMITS.name).join("");
    if (earlier)
      this.tokenChanges.push({
        id: token_id,
        remain: remain_quota - earlier.credited,
        used: more,
        facts: spent.has(id) ? {} : { ...plain, name: cut },
      });
    else {
      this.newTokens.push({
        id: token_id,
        user_id: id,
        ...plain,
        name: cut,
        remain_quota: Math.min(remain_quota, TOKEN_LIMITS.quota),
        used_quota,
        key_hash,
        key_cipher: token.key ? secrets.encrypt("relay-key", token.key) : "",
        key_hint: token.key ? keyHint(token.key) : hint,
        imported_hash,
      });
      written.tokens++;
    }
  }

  /** What is spent of budgets in their running periods. */
  private addSpend(owner: string, spend: SourceSpend | undefined): void {
    const periods = periodsAt(this.now * 1000);
    for (const period of ["day", "month"] as const) {
      const amount = spend?.[period] ?? 0;
      const { name, ends } = periods[period];
      if (amount > 0) this.newSpends.push({ name: `${owner}:${name}`, amount, expires_at: ends + BUDGET_KEPT_SECONDS });
    }
  }

  /** Writes them all, within one transaction. */
  *steps(q: Q): Steps<void> {
    const { services, target } = this.input;
    const { db } = services;
    const { users, credits, identities, tokens } = db.t;
    const { newUsers, newCredits, newIdentities, newTokens, changes, tokenChanges, notedUsers, notedTokens, hours } =
      this;
    const { newSpends } = this;
    for (let i = 0; i < newUsers.length; i += ROWS) yield* run(q.insert(users).values(newUsers.slice(i, i + ROWS)));
    for (let i = 0; i < newCredits.length; i += ROWS)
      yield* run(q.insert(credits).values(newCredits.slice(i, i + ROWS)));
    for (let i = 0; i < newIdentities.length; i += ROWS)
      yield* run(
        q
          .insert(identities)
          .values(newIdentities.slice(i, i + ROWS))
          .onConflictDoNothing(),
      );
    for (let i = 0; i < newTokens.length; i += ROWS) yield* run(q.insert(tokens).values(newTokens.slice(i, i + ROWS)));
    for (const { id, quota, used, calls, facts } of changes) {
      const set = {
        quota: sql`${users.quota} + ${quota}`,
        used_quota: sql`${users.used_quota} + ${used}`,
        request_count: sql`${users.request_count} + ${calls}`,
      };
      yield* run(
        q
          .update(users)
          .set({ ...facts, ...set })
          .where(eq(users.id, id)),
      );
    }
    for (const { id, remain, used, facts } of tokenChanges) {
      const set = {
        remain_quota: sql`${tokens.remain_quota} + ${remain}`,
        used_quota: sql`${tokens.used_quota} + ${used}`,
      };
      yield* run(
        q
          .update(tokens)
          .set({ ...facts, ...set })
          .where(eq(tokens.id, id)),
      );
    }
    // What was spent here meanwhile is never taken back.
    const { budget_spend } = db.t;
    for (let i = 0; i < newSpends.length; i += ROWS)
      yield* run(
        q
          .insert(budget_spend)
          .values(newSpends.slice(i, i + ROWS))
          .onConflictDoUpdate({
            target: budget_spend.name,
            set: { amount: sql`excluded.amount` },
            setWhere: sql`${budget_spend.amount} < excluded.amount`,
          }),
      );
    yield* addHours(db, q, hours);
    yield* target.noteSteps(q, "user", notedUsers);
    yield* target.noteSteps(q, "token", notedTokens);
  }
}

/** Secrets of a user's notices are clear there and ciphers here. */
function sealedSetting(secrets: Needs["secrets"], setting: string): string {
  if (setting === "") return "";
  const members = JSON.parse(setting) as Record<string, unknown>; // written by the reader of the system
  for (const name of ["webhook_secret", "gotify_token"]) {
    const value = members[name];
    delete members[name];
    if (typeof value === "string" && value !== "") members[`${name}_cipher`] = secrets.encrypt("user-secret", value);
  }
  return JSON.stringify(members);
}
