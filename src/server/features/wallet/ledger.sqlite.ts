/**
 * The ledger on SQLite. Its verbs run in group commits (group-commit.sqlite.ts).
 *
 * A verb reads, decides, then moves: BEGIN IMMEDIATE holds the only write lock, so what was read stays true. What all
 * verbs moved is written once at the end of a group (batch.sqlite.ts), with the hours and channels of the charges, so
 * charges are born folded here. A refused verb has moved nothing that would have to be undone.
 */
import type { Database } from "bun:sqlite";
import { FOLDED } from "../../../shared/log";
import { TOKEN_STATUS } from "../../../shared/token";
import type { HoldRequest, HoldResult, Ledger, Settlement, SettleResult } from "../../contracts/ledger";
import type { Db } from "../../db/types";
import { Batch, insertLogs } from "./batch.sqlite";
import { chargeable, checkUnits, logValues } from "./call-log";
import { checkHold } from "./check-hold";
import { correctSteps } from "./correct";
import { creditSteps } from "./credit";
import { GroupCommit } from "./group-commit.sqlite";
import { askedAgain, granted } from "./hold-result";
import { refundSteps } from "./refund";

interface HoldState {
  readonly amount: number;
  readonly token_amount: number;
  readonly user_id: number;
  readonly token_id: number;
}

/** `now`: epoch milliseconds. */
export function createSqliteLedger(db: Db, client: Database, instanceId: string, now: () => number): Ledger {
  const seconds = () => Math.floor(now() / 1000);
  const batch = new Batch(client, seconds);
  const verbs = new Verbs(client, batch, instanceId, seconds);
  const commits = new GroupCommit(client, batch);

  /** Runs a verb in the next group; rejects at once when `check` throws. */
  function run<T>(verb: () => T, check?: () => void): Promise<T> {
    try {
      check?.();
    } catch (error) {
      return Promise.reject(error);
    }
    return commits.run(verb);
  }

  /** This call has a charge already: one that a sweep made is corrected. */
  const correct = (settlement: Settlement): Promise<SettleResult> => db.tx((q) => correctSteps(db, q, settlement));

  return {
    hold: (request) =>
      run(
        () => verbs.hold(request),
        () => checkHold(request),
      ),
    extend: (request_id, amount, running) =>
      run(
        () => verbs.extend(request_id, amount, running),
        () => (checkUnits(amount), checkUnits(running)),
      ),
    settle: (settlement) =>
      run(
        () => verbs.settle(settlement),
        () => checkUnits(settlement.quota),
      ).then((result) => (result.settled || settlement.held_only ? result : correct(settlement))),
    release: (request_id) => run(() => verbs.release(request_id)),
    // `durable` commits with synchronous=FULL: in WAL mode that syncs the log up to and including this commit, one
    // sequential sync. A checkpoint would also move pages and sync the database file, and a reader can block it.
    refund: (refund) => db.tx((q) => refundSteps(db, q, refund, seconds()), { durable: true }),
    credit: (credit) => db.tx((q) => creditSteps(db, q, credit, seconds()), { durable: true }),
    queued: () => commits.size,
    flush: () => commits.flush(),
  };
}

/** Units that a hold takes of what is `left`. */
function heldOf({ amount, least = amount }: HoldRequest, left: number): number {
  return Math.min(amount, Math.max(least, Math.floor(left / 4)));
}

/** The verbs, run inside a transaction; what they move is written by the batch. */
class Verbs {
  readonly #batch: Batch;
  readonly #instanceId: string;
  readonly #seconds: () => number;
  readonly #statements: ReturnType<typeof prepare>;
  /** This process's holds by request id, while nothing was added to them. No other process changes their amounts. */
  readonly #own = new Map<string, HoldState>();

  constructor(client: Database, batch: Batch, instanceId: string, seconds: () => number) {
    this.#batch = batch;
    this.#instanceId = instanceId;
    this.#seconds = seconds;
    this.#statements = prepare(client);
  }

  hold(request: HoldRequest): HoldResult {
    const { user_id, token_id, request_id, draft } = request;
    // Of a group that was undone.
    this.#own.delete(request_id);
    const user = this.#batch.user(user_id);
    if (!user?.usable) return { ok: false, reason: "user_unusable", balance: user?.quota ?? 0 };
    const token = token_id === 0 ? undefined : this.#batch.token(token_id);
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
        (token.expired_time !== -1 && token.expired_time <= this.#seconds())
      ) {
        return { ok: false, reason: "token_unusable", balance: token?.remain_quota ?? 0 };
      }
      if (!token.unlimited_quota) {
        if (token.remain_quota < amount) return { ok: false, reason: "token_quota", balance: token.remain_quota };
        tokenAmount = amount;
      }
    }
    const { changes } = this.#statements.insertHold.run(
      request_id,
      user_id,
      token_id,
      amount,
      tokenAmount,
      this.#seconds(),
      this.#instanceId,
      draft,
    );
    if (changes === 0) return askedAgain(request);
    this.#own.set(request_id, { amount, token_amount: tokenAmount, user_id, token_id });
    this.#batch.move(user_id, -amount, token_id, -tokenAmount);
    return granted(request, amount);
  }

  extend(request_id: string, amount: number, running: number): boolean {
    const hold = this.#statements.readHold.get(request_id);
    if (!hold) return false;
    const { user_id, token_id } = hold;
    const token = token_id === 0 ? undefined : this.#batch.token(token_id);
    const limited = token !== undefined && !token.unlimited_quota;
    this.#own.delete(request_id);
    const covered = (this.#batch.user(user_id)?.quota ?? 0) >= amount && (!limited || token.remain_quota >= amount);
    if (!covered) {
      this.#statements.raiseHold.run(request_id, 0, 0, running);
      return false;
    }
    this.#statements.raiseHold.run(request_id, amount, limited ? amount : 0, running);
    this.#batch.move(user_id, -amount, token_id, limited ? -amount : 0);
    return true;
  }

  settle({ request_id, user_id, token_id, quota: asked, log, retried, held_only = false }: Settlement): SettleResult {
    const hold = this.#take(request_id);
    if (!hold && held_only) return { settled: false };
    const quota = chargeable(asked, this.#batch.room(user_id, hold?.amount ?? 0, token_id, hold?.token_amount ?? 0));
    const cells = logValues(log, { request_id, user_id, token_id, quota });
    if (hold && !retried && !this.#batch.alone) this.#batch.log(cells);
    else {
      const insert = retried ? this.#statements.insertUnfolded : this.#statements.insertLog;
      if (insert.run(...cells).changes === 0) {
        if (hold) this.#giveBack(hold);
        return { settled: false };
      }
    }
    // What was held goes back to the user and token that are charged.
    if (hold) this.#batch.move(user_id, hold.amount, token_id, token_id === 0 ? 0 : hold.token_amount);
    this.#batch.charge(user_id, token_id, quota);
    if (!retried) this.#batch.count(log, user_id, token_id, quota);
    return { settled: true, hold_missing: hold === null };
  }

  release(request_id: string): boolean {
    const hold = this.#take(request_id);
    if (hold) this.#giveBack(hold);
    return hold !== null;
  }

  /**
   * Deletes a hold and returns what it held; null when there was none (ended, or swept). RETURNING costs as much as
   * half an insert, so it is used only for holds that are not known here, and in a group that was undone and is run
   * again.
   */
  #take(request_id: string): HoldState | null {
    const known = this.#own.get(request_id);
    this.#own.delete(request_id);
    // What is known may be from the group that was undone.
    if (!known || this.#batch.alone) return this.#statements.takeHold.get(request_id);
    return this.#statements.deleteHold.run(request_id).changes > 0 ? known : null;
  }

  #giveBack(hold: HoldState): void {
    this.#batch.move(hold.user_id, hold.amount, hold.token_id, hold.token_amount);
  }
}

const prepare = (client: Database) => ({
  readHold: client.prepare<HoldState, [string]>(
    "SELECT amount, token_amount, user_id, token_id FROM holds WHERE request_id = ?",
  ),
  insertHold: client.prepare(
    "INSERT INTO holds (request_id, user_id, token_id, amount, token_amount, created_at, instance_id, draft) " +
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (request_id) DO NOTHING",
  ),
  raiseHold: client.prepare(
    "UPDATE holds SET amount = amount + ?2, token_amount = token_amount + ?3, running = ?4 WHERE request_id = ?1",
  ),
  deleteHold: client.prepare("DELETE FROM holds WHERE request_id = ?"),
  takeHold: client.prepare<HoldState, [string]>(
    "DELETE FROM holds WHERE request_id = ? RETURNING amount, token_amount, user_id, token_id",
  ),
  insertLog: client.prepare(insertLogs(FOLDED.done)),
  insertUnfolded: client.prepare(insertLogs(FOLDED.not_yet)),
});
