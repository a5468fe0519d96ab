/** Reading accounts for administrators. */
import { and, asc, desc, eq, inArray, isNotNull, isNull, lt, or, type SQL } from "drizzle-orm";
import type { Page } from "../../../shared/envelope";
import { fail } from "../../../shared/errors";
import { mayActOn } from "../../../shared/roles";
import { MOST_FOUND } from "../../../shared/search";
import type { CreditView, ManagedUser, UserFilter } from "../../../shared/user-manage";
import type { Ctx, UserCtx } from "../../contracts/context";
import type { UserRow } from "../../db/schema";
import { anyContains, count, withoutNul } from "../../db/sql";
import { presentManaged } from "./present";

/**
 * The keyword is an id (whole) or part of username, e-mail or display name; `%` and `_` are plain characters (D-13).
 */
function conditions({ db }: Pick<Ctx, "db">, filter: Partial<UserFilter>): SQL | undefined {
  const { users } = db.t;
  const keyword = withoutNul(filter.keyword?.trim() ?? "");
  const group = withoutNul(filter.group?.trim() ?? "");
  const { state = "" } = filter;
  return and(
    keyword
      ? or(
          /^\d{1,15}$/.test(keyword) ? eq(users.id, Number(keyword)) : undefined,
          anyContains([users.username, users.email, users.display_name], keyword),
        )
      : undefined,
    group ? eq(users.group, group) : undefined,
    filter.role === undefined ? undefined : eq(users.role, filter.role),
    state === "deleted" ? isNotNull(users.deleted_at) : state === "" ? undefined : isNull(users.deleted_at),
    state === "1" || state === "2" || state === "3" ? eq(users.status, Number(state)) : undefined,
  );
}

/** Deleted accounts are listed too (D-14); ids break ties, so that every account is on one page (D-15). */
export async function pageUsers(
  ctx: Ctx,
  { page, page_size, ...filter }: Partial<UserFilter> & { page: number; page_size: number },
): Promise<Page<ManagedUser>> {
  const { users } = ctx.db.t;
  const where = conditions(ctx, filter);
  const { sort = "id" } = filter;
  const direction = filter.desc ? desc : asc;
  const order = sort === "id" ? [direction(users.id)] : [direction(users[sort]), asc(users.id)];
  const [[all], chosen] = await Promise.all([
    ctx.db.read.select({ n: count() }).from(users).where(where),
    // Only ids are sorted: whole rows of 100,000 accounts would take three times as long.
    ctx.db.read
      .select({ id: users.id })
      .from(users)
      .where(where)
      .orderBy(...order)
      .limit(page_size)
      .offset((page - 1) * page_size),
  ]);
  const ids = chosen.map((row) => row.id);
  const rows =
    ids.length === 0
      ? []
      : await ctx.db.read
          .select()
          .from(users)
          .where(inArray(users.id, ids))
          .orderBy(...order);
  return { items: await withBindings(ctx, rows), page, page_size, total: all?.n ?? 0 };
}

/** The few accounts that fit a keyword, the oldest first. */
export async function findUsers(ctx: Pick<Ctx, "db">, keyword: string): Promise<ManagedUser[]> {
  const { users } = ctx.db.t;
  const rows = await ctx.db.read
    .select()
    .from(users)
    .where(conditions(ctx, { keyword }))
    .orderBy(asc(users.id))
    .limit(MOST_FOUND);
  return withBindings(ctx, rows);
}

/** The accounts with their bound identities. */
export async function withBindings(ctx: Pick<Ctx, "db">, rows: readonly UserRow[]): Promise<ManagedUser[]> {
  const { identities } = ctx.db.t;
  if (rows.length === 0) return [];
  const bound = await ctx.db.q
    .select({ user_id: identities.user_id, provider: identities.provider, subject: identities.subject })
    .from(identities)
    .where(
      inArray(
        identities.user_id,
        rows.map((row) => row.id),
      ),
    );
  return rows.map((row) =>
    presentManaged(
      row,
      bound.filter((identity) => identity.user_id === row.id),
    ),
  );
}

/** An account that the caller may read; the refusal otherwise. */
export async function readableUser(ctx: UserCtx, id: number): Promise<UserRow> {
  const { users } = ctx.db.t;
  const [row] = await ctx.db.q.select().from(users).where(eq(users.id, id));
  if (!row) fail("user_not_found");
  const refusal = mayActOn(ctx.actor, row, "read");
  if (refusal) fail(refusal);
  return row;
}

export async function getUser(ctx: UserCtx, id: number): Promise<ManagedUser> {
  const [user] = await withBindings(ctx, [await readableUser(ctx, id)]);
  return user ?? fail("user_not_found");
}

const LEDGER_PAGE = 20;

/** Credits of an account, newest first; `before` is the id to go on from. */
export async function listCredits(
  ctx: UserCtx,
  id: number,
  before?: number,
): Promise<{ items: CreditView[]; next?: number }> {
  const { credits } = ctx.db.t;
  await readableUser(ctx, id);
  const rows = await ctx.db.read
    .select({
      id: credits.id,
      amount: credits.amount,
      kind: credits.kind,
      note: credits.note,
      actor_id: credits.actor_id,
      created_at: credits.created_at,
    })
    .from(credits)
    .where(and(eq(credits.user_id, id), before ? lt(credits.id, before) : undefined))
    .orderBy(desc(credits.id))
    .limit(LEDGER_PAGE + 1);
  const items = rows.slice(0, LEDGER_PAGE);
  const last = items.at(-1);
  return { items, ...(rows.length > LEDGER_PAGE && last ? { next: last.id } : {}) };
}
