/**
 * The ledger on SQLite: a queue with group commit. The verbs of all calls that arrive in one turn of the loop run in
 * one BEGIN IMMEDIATE; their promises resolve after COMMIT. One commit costs more than one verb, so a batch is where
 * the speed comes from (architecture, Money: Speed).
 *
 * A verb reads, decides, then moves: BEGIN IMMEDIATE holds the only write lock, so what was read stays true. What all
 * verbs moved is written once at the end (batch.sqlite.ts), with the hours and channels of the charges, so charges are
 * born folded here. A refused verb has moved nothing that would have to be undone. A verb that *throws* undoes its
 * whole batch, which is then run again one verb at a time, so only the faulty one fails.
 */
import type { Database } from "bun:sqlite";
import { FOLDED, LOG_TYPE } from "../../../shared/log";
import type { Db } from "../../db/types";
import { Batch } from "./batch.sqlite";
import { chargeable, checkUnits, LOG_COLUMN_LIST, LOG_COLUMNS, logValues } from "./call-log";
import { correctSteps } from "./correct";
import { creditSteps } from "./credit";
import type { HoldRequest, HoldResult, Ledger, Settlement, SettleResult } from "../../contracts/ledger";
import { askedAgain, granted } from "./hold-result";
import { refundSteps } from "./refund";
import { TOKEN_STATUS } from "../../../shared/token";

const MAX_BATCH = 64;
/**
 * After a batch of so many verbs the next one waits a turn of the loop longer, for those that are on their way: a batch
 * has a cost of its own, and work of one kind done together is a fifth cheaper than in small pieces between other work.
 */
const CROWD = 8;
/** A batch stops taking verbs after this long, so that streams are never kept waiting for money. */
const MAX_BATCH_MS = 2;
/** How long a verb waits for another process that holds the database (beyond SQLite's own busy timeout). */
const MAX_BUSY_MS = 30_000;
const BUSY_RETRY_MS = 100;

interface Job {
  run(): unknown;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

interface HoldState {
  readonly amount: number;
  readonly token_amount: number;
  readonly user_id: number;
  readonly token_id: number;
}

const isBusy = (error: unknown): boolean =>
  error instanceof Error && "code" in error && String(error.code).startsWith("SQLITE_BUSY");

/** `now`: epoch milliseconds. */
export function createSqliteLedger(db: Db, client: Database, instanceId: string, now: () => number): Ledger {
  const seconds = () => Math.floor(now() / 1000);
  const batch = new Batch(client, seconds);
  const verbs = prepareVerbs(client, batch, instanceId, seconds);
  const begin = client.prepare("BEGIN IMMEDIATE");
  const commit = client.prepare("COMMIT");
  const rollback = client.prepare("ROLLBACK");

  let queue: Job[] = [];
  let scheduled = false;
  let busySince = 0;
  let lastBatch = 0;

  /** A verb for the next batch; rejects at once when one of its amounts is none. */
  function enqueue<T>(run: () => T, ...amounts: number[]): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      amounts.forEach(checkUnits);
      // `resolve` gets exactly what `run` returned; the queue itself is untyped.
      queue.push({ run, resolve: resolve as (value: unknown) => void, reject });
      schedule();
    });
  }

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    const run = (): void => {
      scheduled = false;
      runBatch();
      if (queue.length > 0) schedule();
    };
    setImmediate(lastBatch < CROWD ? run : () => void setImmediate(run));
  }

  /** Takes verbs from the queue until 64 or 2 ms, commits, and answers. */
  function runBatch(): void {
    if (queue.length === 0) return;
    try {
      begin.run();
      busySince = 0;
    } catch (error) {
      waitForLock(error);
      return;
    }
    const started = performance.now();
    const results: unknown[] = [];
    try {
      const limit = Math.min(queue.length, MAX_BATCH);
      for (let i = 0; i < limit; i++) {
        results.push((queue[i] as Job).run()); // i < queue.length
        if (performance.now() - started > MAX_BATCH_MS) break;
      }
      batch.write();
      commit.run();
    } catch (error) {
      batch.clear();
      if (client.inTransaction) rollback.run();
      const failed = queue.splice(0, Math.min(results.length + 1, MAX_BATCH));
      if (failed.length === 1) failed[0]?.reject(error);
      else for (const job of failed) runAlone(job);
      return;
    }
    lastBatch = results.length;
    const done = queue.splice(0, results.length);
    for (let i = 0; i < done.length; i++) done[i]?.resolve(results[i]);
  }

  function runAlone(job: Job): void {
    try {
      begin.run();
      const result = job.run();
      batch.write();
      commit.run();
      job.resolve(result);
    } catch (error) {
      batch.clear();
      if (client.inTransaction) rollback.run();
      job.reject(error);
    }
  }

  /**
   * Another process has the write lock: everything stays queued for a while, because a lost settle is a free answer.
   */
  function waitForLock(error: unknown): void {
    const time = performance.now();
    busySince ||= time;
    if (isBusy(error) && time - busySince < MAX_BUSY_MS) {
      scheduled = true;
      setTimeout(() => {
        scheduled = false;
        schedule();
      }, BUSY_RETRY_MS);
      return;
    }
    busySince = 0;
    const failed = queue;
    queue = [];
    for (const job of failed) job.reject(error);
  }

  /** A charge of this call is there already: a sweep's is corrected. */
  const correct = async (settlement: Settlement): Promise<SettleResult> =>
    (await db.tx((q) => correctSteps(db, q, settlement))) ? { settled: true, hold_missing: true } : { settled: false };

  return {
    hold: (request) => enqueue(() => verbs.hold(request), request.amount, request.least ?? 0),
    extend: (request_id, amount, running) => enqueue(() => verbs.extend(request_id, amount, running), amount, running),
    settle: (settlement) =>
      enqueue(() => verbs.settle(settlement), settlement.quota).then((result) =>
        result.settled || settlement.held_only ? result : correct(settlement),
      ),
    release: (request_id) => enqueue(() => verbs.release(request_id)),
    // `durable` commits with synchronous=FULL: in WAL mode that syncs the log up to and including this commit, one
    // sequential sync. A checkpoint would also move pages and sync the database file, and a reader can block it.
    refund: (refund) => db.tx((q) => refundSteps(db, q, refund, seconds()), { durable: true }),
    credit: (credit) => db.tx((q) => creditSteps(db, q, credit, Math.floor(now() / 1000)), { durable: true }),
    queued: () => queue.length,
    flush: async () => {
      const deadline = performance.now() + MAX_BUSY_MS;
      while (queue.length > 0 && performance.now() < deadline) {
        runBatch();
        if (busySince) await Bun.sleep(BUSY_RETRY_MS);
      }
    },
  };
}

/** Units that a hold takes of what is `left`. */
function heldOf({ amount, least = amount }: HoldRequest, left: number): number {
  return Math.min(amount, Math.max(least, Math.floor(left / 4)));
}

/** The verbs as plain functions that run inside a transaction; what they move is written by the batch. */
function prepareVerbs(client: Database, batch: Batch, instanceId: string, seconds: () => number) {
  const readHold = client.prepare<HoldState, [string]>(
    "SELECT amount, token_amount, user_id, token_id FROM holds WHERE request_id = ?",
  );
  const insertHold = client.prepare(
    "INSERT INTO holds (request_id, user_id, token_id, amount, token_amount, created_at, instance_id, draft) " +
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (request_id) DO NOTHING",
  );
  const raiseHold = client.prepare(
    "UPDATE holds SET amount = amount + ?2, token_amount = token_amount + ?3, running = ?4 WHERE request_id = ?1",
  );
  const deleteHold = client.prepare("DELETE FROM holds WHERE request_id = ?");
  const takeHold = client.prepare<HoldState, [string]>(
    "DELETE FROM holds WHERE request_id = ? RETURNING amount, token_amount, user_id, token_id",
  );
  // Born folded: its sums are in the same commit, so the row is never written again.
  const insertLog = client.prepare(
    `INSERT INTO logs (${LOG_COLUMN_LIST}, "type", folded) ` +
      `VALUES (${LOG_COLUMNS.map(() => "?").join(", ")}, ${LOG_TYPE.consume}, ${FOLDED.done}) ` +
      "ON CONFLICT (request_id) DO NOTHING",
  );

  /**
   * What the holds of this process hold, as long as nothing was added: by request id. Nobody else changes an amount of
   * ours.
   */
  const own = new Map<string, HoldState>();

  return {
    hold(request: HoldRequest): HoldResult {
      const { user_id, token_id, request_id, draft } = request;
      const user = batch.user(user_id);
      if (!user?.usable) return { ok: false, reason: "user_unusable", balance: user?.quota ?? 0 };
      const token = token_id === 0 ? undefined : batch.token(token_id);
      const left = token && !token.unlimited_quota ? Math.min(user.quota, token.remain_quota) : user.quota;
      const amount = heldOf(request, left);
      if (user.quota <= 0 || user.quota < amount) {
        return { ok: false, reason: "user_quota", balance: user.quota, ...(left < user.quota && { left }) };
      }
      let tokenAmount = 0;
      if (token_id !== 0) {
        if (
          !token ||
          token.status !== TOKEN_STATUS.enabled ||
          token.deleted_at !== null ||
          token.user_id !== user_id ||
          (token.expired_time !== -1 && token.expired_time <= seconds())
        ) {
          return { ok: false, reason: "token_unusable", balance: token?.remain_quota ?? 0 };
        }
        if (!token.unlimited_quota) {
          if (token.remain_quota < amount) return { ok: false, reason: "token_quota", balance: token.remain_quota };
          tokenAmount = amount;
        }
      }
      const { changes } = insertHold.run(
        request_id,
        user_id,
        token_id,
        amount,
        tokenAmount,
        seconds(),
        instanceId,
        draft,
      );
      if (changes === 0) return askedAgain(request);
      own.set(request_id, { amount, token_amount: tokenAmount, user_id, token_id });
      batch.move(user_id, -amount, token_id, -tokenAmount);
      return granted(request, amount);
    },

    extend(request_id: string, amount: number, running: number): boolean {
      const hold = readHold.get(request_id);
      if (!hold) return false;
      const { user_id, token_id } = hold;
      const token = token_id === 0 ? undefined : batch.token(token_id);
      const limited = token !== undefined && !token.unlimited_quota;
      own.delete(request_id);
      const covered = (batch.user(user_id)?.quota ?? 0) >= amount && (!limited || token.remain_quota >= amount);
      if (!covered) {
        raiseHold.run(request_id, 0, 0, running);
        return false;
      }
      raiseHold.run(request_id, amount, limited ? amount : 0, running);
      batch.move(user_id, -amount, token_id, limited ? -amount : 0);
      return true;
    },

    settle({ request_id, user_id, token_id, quota: asked, log, held_only = false }: Settlement): SettleResult {
      const hold = take(request_id);
      if (!hold && held_only) return { settled: false };
      const quota = chargeable(asked, batch.room(user_id, hold?.amount ?? 0, token_id, hold?.token_amount ?? 0));
      const { changes } = insertLog.run(...logValues(log, { request_id, user_id, token_id, quota }));
      if (changes === 0) {
        if (hold) giveBack(hold);
        return { settled: false };
      }
      // What was held goes back to the user and token that are charged.
      if (hold) batch.move(user_id, hold.amount, token_id, token_id === 0 ? 0 : hold.token_amount);
      batch.charge(user_id, token_id, quota);
      batch.count(log, user_id, token_id, quota);
      return { settled: true, hold_missing: hold === null };
    },

    release(request_id: string): boolean {
      const hold = take(request_id);
      if (hold) giveBack(hold);
      return hold !== null;
    },
  };

  /**
   * Deletes a hold and answers what it held; null when there was none (ended, or swept). RETURNING costs as much as
   * half an insert, so only holds that are not known here are asked; in a batch that is undone and run again, none is
   * known.
   */
  function take(request_id: string): HoldState | null {
    const known = own.get(request_id);
    if (!known) return takeHold.get(request_id);
    own.delete(request_id);
    return deleteHold.run(request_id).changes > 0 ? known : null;
  }

  function giveBack(hold: HoldState): void {
    batch.move(hold.user_id, hold.amount, hold.token_id, hold.token_amount);
  }
}
