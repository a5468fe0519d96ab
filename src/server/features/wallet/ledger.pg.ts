/**
 * The ledger on Postgres. Its verbs run in batches (verb-batches.pg.ts), which a function of the database decides and
 * writes: `ledger_batch_2` of drizzle/postgres/0010_counted_when_charged.sql. One that is alone is a statement
 * (single-verb.pg.ts); a hold that is alone may count the limits of its call, too. Why:
 * docs/decisions/0048-postgres-batches.md. Lock order everywhere: users by id, tokens by id, order, hold.
 */
import { FOLDED } from "../../../shared/log";
import type {
  CallLog,
  HoldRequest,
  HoldResult,
  JointHold,
  Ledger,
  Settlement,
  SettleResult,
} from "../../contracts/ledger";
import { numberArray, textArray } from "../../db/arrays";
import type { Connections } from "../../db/connection-types";
import { isLockTimeout } from "../../db/errors";
import type { Db } from "../../db/types";
import { isUnavailable } from "../../lib/unavailable";
import { firstTokenOf } from "../log/hour-sums";
import { checkUnits, sparseRow } from "./call-log";
import { checkHold } from "./check-hold";
import { correctSteps } from "./correct";
import { creditSteps } from "./credit";
import { askedAgain, granted } from "./hold-result";
import { refundSteps } from "./refund";
import { holdWithLimits, NO_DISK, runAlone } from "./single-verb.pg";
import { type Send, VerbBatches } from "./verb-batches.pg";
import { type Answer, CHARGED, FOUND, RANK, type Verb } from "./verb.pg";

/** A batch gives up a row that stays locked for so long, and is sent again without the verb that waits for it. */
const LOCK_TIMEOUT_MS = 1_000;
/** The settings end with the statement. */
const statement = (settings: string): string => `SELECT CASE WHEN ${settings} <> ''
  THEN ledger_batch_2($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) END AS answers`;
const WITH_ENDS = statement(`set_config('lock_timeout', '${LOCK_TIMEOUT_MS}', true)`);
const HOLDS_ALONE = statement(`set_config('lock_timeout', '${LOCK_TIMEOUT_MS}', true) || ${NO_DISK}`);

/** `now`: epoch milliseconds. */
export function createPostgresLedger(db: Db, client: Connections, instanceId: string, now: () => number): Ledger {
  const seconds = () => Math.floor(now() / 1000);
  const batches = new VerbBatches(client, sender(instanceId, seconds));
  /** User and token of the holds made here. */
  const owners = new Map<string, Pick<HoldRequest, "user_id" | "token_id">>();
  const corrections = new Set<Promise<unknown>>();

  function run(kind: Verb["kind"], verb: Pick<Verb, "request_id"> & Partial<Verb>): Promise<Answer> {
    const nothing = { user_id: 0, token_id: 0, amount: 0, other: 0, draft: "", log: undefined, folded_later: false };
    return batches.run({ ...nothing, ...verb, kind, rank: RANK[kind] });
  }

  async function hold(request: HoldRequest): Promise<HoldResult> {
    checkHold(request);
    const { request_id, user_id, token_id, amount, draft, least = amount } = request;
    return held(request, await run("h", { request_id, user_id, token_id, amount, other: least, draft }));
  }

  function held(request: HoldRequest, answer: Answer): HoldResult {
    const { request_id, user_id, token_id } = request;
    if (typeof answer !== "object") {
      owners.set(request_id, { user_id, token_id });
      return answer === "again" ? askedAgain(request) : granted(request, answer);
    }
    const [reason, ofUser, ofToken, left] = answer;
    const balance = reason.startsWith("user") ? ofUser : ofToken;
    return { ok: false, reason, balance, ...(reason === "user_quota" && left < balance && { left }) };
  }

  async function settle(settlement: Settlement): Promise<SettleResult> {
    const { request_id, user_id, token_id, quota: amount, log, retried = false, held_only = false } = settlement;
    checkUnits(amount);
    const verb = { request_id, user_id, token_id, amount, log, folded_later: retried };
    const moved = Number(await run(held_only ? "o" : "s", verb));
    owners.delete(request_id);
    if (moved & CHARGED) return { settled: true, hold_missing: (moved & FOUND) === 0 };
    if (held_only) return { settled: false };
    // This call has a charge already: one that a sweep made is corrected.
    const correcting = db.tx((q) => correctSteps(db, q, settlement));
    corrections.add(correcting);
    return correcting.finally(() => corrections.delete(correcting));
  }

  function jointHold(request: HoldRequest): JointHold | undefined {
    if (batches.size > 0) return undefined;
    const joint = {
      statement: async (limits: readonly unknown[]) => {
        checkHold(request);
        try {
          const answer = await holdWithLimits(client, request, seconds(), limits);
          if (answer.hold !== undefined) joint.result = held(request, answer.hold);
          return answer.limits;
        } catch (error) {
          joint.lost = isUnavailable(error) && !isLockTimeout(error);
          throw error;
        }
      },
      result: undefined as HoldResult | undefined,
      lost: false,
    };
    return joint;
  }

  return {
    hold,
    jointHold,
    settle,
    extend: async (request_id, amount, running) => {
      checkUnits(amount);
      checkUnits(running);
      return (await run("e", { request_id, ...owners.get(request_id), amount, other: running })) === 1;
    },
    release: async (request_id) => {
      const released = await run("x", { request_id, ...owners.get(request_id) });
      owners.delete(request_id);
      return released === 1;
    },
    refund: (refund) => db.tx((q) => refundSteps(db, q, refund, seconds()), { durable: true }),
    credit: (credit) => db.tx((q) => creditSteps(db, q, credit, seconds()), { durable: true }),
    queued: () => batches.size + corrections.size,
    flush: async () => {
      do {
        await batches.flush();
        await Promise.allSettled(corrections);
      } while (batches.size + corrections.size > 0);
    },
  };
}

/** What the function needs to count a row in its hour, beside the row. */
function counting(log: CallLog, folded_later: boolean): { folded?: number; first_token?: number } {
  if (folded_later) return { folded: FOLDED.not_yet };
  const first_token = firstTokenOf(log);
  return first_token < 0 ? {} : { first_token };
}

/** Sends a batch as the arrays that the function takes. */
function sender(instanceId: string, seconds: () => number): Send<Verb, Answer> {
  return async (on, { lane, number, again, verbs }) => {
    const [first] = verbs;
    if (first && verbs.length === 1) return [await runAlone(on, first, instanceId, seconds())];
    const rows = verbs.flatMap(({ log, folded_later }, i) =>
      log ? [{ n: i + 1, ...sparseRow(log), ...counting(log, folded_later) }] : [],
    );
    const text = verbs.every(({ rank }) => rank > RANK.s) ? HOLDS_ALONE : WITH_ENDS;
    const [answer] = await on.unsafe<{ answers: string }>(text, [
      lane,
      number,
      again,
      seconds(),
      instanceId,
      verbs.map(({ kind }) => kind).join(""),
      textArray(verbs.map(({ request_id }) => request_id)),
      numberArray(verbs.map(({ user_id }) => user_id)),
      numberArray(verbs.map(({ token_id }) => token_id)),
      numberArray(verbs.map(({ amount }) => amount)),
      numberArray(verbs.map(({ other }) => other)),
      textArray(verbs.map(({ draft }) => draft)),
      rows.length > 0 ? JSON.stringify(rows) : "",
    ]);
    if (!answer) throw new Error("The ledger's statement answered nothing");
    return JSON.parse(answer.answers) as Answer[]; // made by the function
  };
}
