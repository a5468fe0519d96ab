/**
 * Idempotency keys: a request that comes again with its `Idempotency-Key` gets the first one's answer, and what it
 * books or creates is booked once. A procedure says `once: true` in its metadata.
 *
 * The key's row is claimed before the verb runs. The verb's first transaction marks it as booked in the same commit, so
 * there is no state in which something was booked and the row does not say so; the sealed answer follows. What ended
 * without booking anything leaves no row, and may be tried again with the same key.
 */
import type { TRPCError } from "@trpc/server";
import { and, eq, lt } from "drizzle-orm";
import { AppError, type ErrorCode, type ErrorValues, fail } from "../../shared/errors";
import { type Services, seconds, type UserCtx } from "../contracts/context";
import { run } from "../db/transaction";
import type { Db } from "../db/types";
import { toAppError } from "./fail";

/** Answers are kept for a day. */
const KEPT_SECONDS = 86_400;
/** A claim without an answer is its process's for so long; then that process is taken for dead. */
const CLAIM_SECONDS = 120;
/** A repeated request waits so long for the first one's answer. */
const WAIT_MS = 10_000;
const POLL_MS = 100;
/** As in the field's drafts and services: a UUID fits, a text does not. */
const KEY = /^[\x21-\x7e]{1,200}$/;

/** In `answer` of a request that has booked and has not answered yet. Sealed answers begin otherwise. */
const BOOKED = "booked";

type Answer = { data?: unknown } | { error: { code: ErrorCode; values: ErrorValues } };

/** What tRPC's middlewares return; they do not throw. */
type Outcome = { ok: true; data: unknown } | { ok: false; error: TRPCError };

interface Call {
  /** Of the procedure. */
  path: string;
  /** As it was sent. */
  input: unknown;
}

/**
 * Runs `next` once for the key of `ctx`, with a context whose first transaction books the key; without a key, as often
 * as it is asked. A repeated request gets the first one's answer: `{ again: it }`. Throws invalid_parameter,
 * idempotency_key_reused, idempotency_running and idempotency_answer_lost.
 */
export async function once<T extends Outcome>(
  ctx: UserCtx,
  { path, input }: Call,
  next: (ctx: UserCtx) => Promise<T>,
): Promise<T | { again: unknown }> {
  const key = ctx.idempotency_key;
  if (key === undefined) return next(ctx);
  if (!KEY.test(key)) fail("invalid_parameter", { detail: "Idempotency-Key" });
  const name = ctx.secrets.hash("answered-request", JSON.stringify([ctx.actor.id, path, key]));
  const input_hash = ctx.secrets.hash("answered-request", JSON.stringify(sorted(input ?? null)));
  const claim = await claimOrAnswer(ctx, name, input_hash);
  if ("answer" in claim) return { again: said(claim.answer) };

  const booking = bookingDb(ctx.db, name, claim.since);
  const outcome = await next({ ...ctx, db: booking.db });
  const answer = outcome.ok ? { data: outcome.data } : { error: errorOf(outcome.error) };
  await close(ctx, name, claim.since, outcome.ok || booking.booked(), answer);
  return outcome;
}

const errorOf = (thrown: unknown): { code: ErrorCode; values: ErrorValues } => {
  const { code, values } = toAppError(thrown);
  return { code, values };
};

function said(answer: Answer): unknown {
  if ("error" in answer) throw new AppError(answer.error.code, answer.error.values);
  return answer.data;
}

/** The same value with the members of its objects in one order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(
    members.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, member]) => [name, sorted(member)]),
  );
}

/** The row is ours since `since` (epoch seconds), or the answer of the request that had it. */
async function claimOrAnswer(
  ctx: UserCtx,
  name: string,
  input_hash: string,
): Promise<{ since: number } | { answer: Answer }> {
  const { answered_requests: t } = ctx.db.t;
  const until = performance.now() + WAIT_MS;
  for (;;) {
    const since = seconds(ctx);
    const claimed = await ctx.db.q
      .insert(t)
      .values({ name, input_hash, created_at: since })
      .onConflictDoNothing()
      .returning({ name: t.name });
    if (claimed.length > 0) return { since };
    const [row] = await ctx.db.q.select().from(t).where(eq(t.name, name));
    // Given back meanwhile: it failed without booking anything.
    if (!row) continue;
    if (row.input_hash !== input_hash) fail("idempotency_key_reused");
    const left = since - row.created_at > CLAIM_SECONDS;
    if (row.answer !== "" && row.answer !== BOOKED) {
      // Written by `close` alone.
      return { answer: JSON.parse(ctx.secrets.decrypt("answered-request", row.answer)) as Answer };
    }
    if (left && row.answer === BOOKED) fail("idempotency_answer_lost");
    if (left) {
      const taken = await ctx.db.q
        .update(t)
        .set({ created_at: since })
        .where(and(eq(t.name, name), eq(t.created_at, row.created_at), eq(t.answer, "")))
        .returning({ name: t.name });
      if (taken.length > 0) return { since };
    }
    if (performance.now() >= until) fail("idempotency_running", { retry_after: 1 });
    await Bun.sleep(POLL_MS);
  }
}

/**
 * A database whose first transaction marks the claim as booked, or fails where the claim is another run's. Work that
 * goes on after the answer may use it: the row is still this run's then, with its answer.
 */
function bookingDb(db: Db, name: string, since: number): { db: Db; booked(): boolean } {
  const { answered_requests: t } = db.t;
  let booked = false;
  const tx: Db["tx"] = async (steps, options) => {
    if (booked) return db.tx(steps, options);
    const result = await db.tx(function* (q) {
      const done = yield* steps(q);
      const marked = yield* run(
        q
          .update(t)
          .set({ answer: BOOKED })
          .where(and(eq(t.name, name), eq(t.created_at, since), eq(t.answer, "")))
          .returning({ name: t.name }),
      );
      if (marked.length > 0) return done;
      const [ours] = yield* run(
        q
          .select({ name: t.name })
          .from(t)
          .where(and(eq(t.name, name), eq(t.created_at, since))),
      );
      // Taken for dead, and another run has the claim.
      if (!ours) fail("idempotency_running", { retry_after: 1 });
      return done;
    }, options);
    booked = true;
    return result;
  };
  return { db: { ...db, tx }, booked: () => booked };
}

/** Stores the answer of a request that booked or succeeded; forgets one that did neither. */
async function close(
  { db, secrets, log }: UserCtx,
  name: string,
  since: number,
  keep: boolean,
  answer: Answer,
): Promise<void> {
  const { answered_requests: t } = db.t;
  const ours = and(eq(t.name, name), eq(t.created_at, since));
  try {
    if (keep) {
      const sealed = secrets.encrypt("answered-request", JSON.stringify(answer));
      await db.q.update(t).set({ answer: sealed }).where(ours).returning({ name: t.name });
      // A commit whose reply was lost may have booked: then the row says so, and stays.
    } else
      await db.q
        .delete(t)
        .where(and(ours, eq(t.answer, "")))
        .returning({ name: t.name });
  } catch (err) {
    // The request itself has been done; a repetition is told so.
    log.error({ err }, "the answer of a request with an idempotency key could not be stored");
  }
}

/** Drops answers that are older than a day. */
export async function forgetAnswers(services: Pick<Services, "db" | "now">): Promise<void> {
  const t = services.db.t.answered_requests;
  await services.db.bulk.delete(t).where(lt(t.created_at, seconds(services) - KEPT_SECONDS));
}
