/**
 * Limits that all instances on one Postgres share exactly, without Redis (docs/decisions/0058-limits-in-the-ledger.md).
 * What waits goes in one statement (`limits_batch_1`, drizzle/postgres/0006_limits.sql), one batch at a time; what
 * arrives meanwhile is the next batch. No timer is waited for, but by ends of calls whose limits have much room: they
 * travel with the next request, or alone a moment later. A request that is alone may be counted by a joint statement,
 * which decides the hold of its call as well (`admit_1`, drizzle/postgres/0011_admit_in_one.sql).
 *
 * With each batch an instance says how many calls it has now under each gauge, so the next batch mends what a lost
 * answer, a crash of the server or a sweep made of its leases. A request whose answer was lost may count twice in its
 * windows: a limit is never looser for it.
 */
import { numberArray, textArray } from "../db/arrays";
import type { Connections } from "../db/connection-types";
import { isConnectionLost, isLockTimeout, isTransient } from "../db/errors";
import { isUnavailable } from "../lib/unavailable";
import type { Counter, Demand, JointStatement, LimitsAnswer, Reservation } from "./types";

const STATEMENT = "SELECT limits_batch_1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) AS answer";
/** Requests in a batch. */
const MOST_REQUESTS = 128;
const MAX_TRIES = 3;
/** After a failed batch the gauges in it are said again, once in this time. */
const RETRY_MS = 1_000;
/** So late at most does another instance hear of an end that makes room where there is much. */
const ENDS_MS = 200;
/** Much room: half of the limit, and so many times what the call took. */
const ROOM_FOR = 10;
/** Rows that one round drops: nothing waits long for it. */
const MOST_FORGOTTEN = 10_000;

interface Waiting {
  readonly demands: readonly Demand[];
  /** Counts it where no other request is in its batch. */
  readonly joint: JointStatement | undefined;
  resolve(reservation: Reservation): void;
  reject(error: unknown): void;
}

/** What to add to a window of `key`, of `window_ms`, if it is the one that ends at `ends` (the database's epoch ms). */
interface Correction {
  readonly key: string;
  readonly window_ms: number;
  readonly ends: number;
  change: number;
}

interface Batch {
  readonly requests: readonly Waiting[];
  readonly corrections: readonly Correction[];
  /** Gauges that changed without a request. */
  readonly gauges: ReadonlySet<string>;
}

interface PostgresCounterOptions {
  client: Connections;
  instanceId: string;
  /** For `take`, which guards a process against floods: they must not reach the database. */
  local: Counter;
}

/** Its `reserve` rejects with the database's error when that does not answer; the call is then not under its limits. */
export function postgresCounter({ client, instanceId, local }: PostgresCounterOptions): Counter {
  let requests: Waiting[] = [];
  /** By key and end. */
  let corrections = new Map<string, Correction>();
  let gauges = new Set<string>();
  /** Calls of this instance that run, by gauge; a missing key is at 0. */
  const running = new Map<string, number>();
  let batches = 0;
  let scheduled = false;
  /** What waits without a request must go now. */
  let due = false;
  let lateEnds: ReturnType<typeof setTimeout> | undefined;
  let sending: Promise<void> | undefined;

  const waits = (): boolean => requests.length + corrections.size + gauges.size > 0;

  function schedule(): void {
    if (scheduled || sending) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      start();
    });
  }

  function sayNow(): void {
    due = true;
    schedule();
  }

  function sayLater(): void {
    lateEnds ??= setTimeout(() => {
      lateEnds = undefined;
      sayNow();
    }, ENDS_MS);
    lateEnds.unref();
  }

  function start(): void {
    if (sending || !waits()) return;
    clearTimeout(lateEnds);
    lateEnds = undefined;
    due = false;
    const batch = { requests: requests.slice(0, MOST_REQUESTS), corrections: [...corrections.values()], gauges };
    requests = requests.slice(MOST_REQUESTS);
    corrections = new Map();
    gauges = new Set();
    sending = decide(batch).finally(() => {
      sending = undefined;
      if (due || requests.length > 0) start();
    });
  }

  /** Answers each request of a batch; never rejects. */
  async function decide(batch: Batch): Promise<void> {
    const [first, second] = batch.requests;
    const joint = second ? undefined : first?.joint;
    let answer: LimitsAnswer;
    try {
      answer = joint ? await sendJointly(joint, batch) : await send(batch);
    } catch (error) {
      // Corrections may have been written, so they are not repeated: the windows stay as they are until they end.
      const unsaid = [...gaugesOf(batch)];
      setTimeout(() => {
        for (const key of unsaid) gauges.add(key);
        sayNow();
      }, RETRY_MS).unref();
      for (const { reject } of batch.requests) reject(error);
      return;
    }
    let from = 0;
    batch.requests.forEach(({ demands, resolve }, i) => {
      resolve(reservation(demands, (answer[1][i] ?? 0) - 1 - from, answer, from));
      from += demands.length;
    });
  }

  /** Where it fails the batch is sent as usual, but not after a time-out: its caller has waited long enough. */
  async function sendJointly(joint: JointStatement, batch: Batch): Promise<LimitsAnswer> {
    const { keys, windows, calls, changed, changes, change_ends, amounts, limits } = arraysOf(batch, running);
    try {
      return await joint([instanceId, ++batches, keys, windows, calls, changed, changes, change_ends, amounts, limits]);
    } catch (error) {
      const lost = isConnectionLost(error);
      if (isUnavailable(error) && !lost && !isLockTimeout(error)) throw error;
      // Corrections of a lost statement may have been written.
      return send(lost ? { ...batch, corrections: [] } : batch);
    }
  }

  async function send(batch: Batch): Promise<LimitsAnswer> {
    for (let tries = 1; ; tries++) {
      try {
        const values = [instanceId, ++batches, ...Object.values(arraysOf(batch, running))];
        const [row] = await client.unsafe<{ answer: string }>(STATEMENT, values);
        if (!row) throw new Error("The limits' statement answered nothing");
        return JSON.parse(row.answer) as LimitsAnswer; // made by the function
      } catch (error) {
        if (tries >= MAX_TRIES || !(isTransient(error) || isConnectionLost(error))) throw error;
        await Bun.sleep(2 ** tries * 5 * (0.5 + Math.random()));
      }
    }
  }

  /** `refused`: index of the demand that refuses, below 0 for none. The answer to the first demand is at `from`. */
  function reservation(demands: readonly Demand[], refused: number, answer: LimitsAnswer, from: number): Reservation {
    const [now, , used, ends] = answer;
    let ended = refused >= 0;
    if (!ended) for (const demand of demands) run(demand, demand.amount);
    const states = demands.map(({ limit }, i) => ({
      remaining: Math.max(0, limit - (used[from + i] ?? 0)),
      reset_seconds: Math.ceil(((ends[from + i] ?? now) - now) / 1000),
    }));
    const roomy = demands.every(
      ({ limit, amount }, i) => (states[i]?.remaining ?? 0) >= Math.max(limit / 2, ROOM_FOR * amount),
    );
    return {
      refused: Math.max(-1, refused),
      states,
      end: (real) => {
        if (ended) return;
        ended = true;
        demands.forEach((demand, i) => {
          if (demand.window_seconds === 0 && demand.amount > 0) {
            run(demand, -demand.amount);
            gauges.add(demand.key);
          } else correct(demand, ends[from + i] ?? now, (real[i] ?? demand.amount) - demand.amount);
        });
        if (!waits()) return;
        if (roomy) sayLater();
        else sayNow();
      },
    };
  }

  function run({ key, window_seconds }: Demand, calls: number): void {
    if (window_seconds > 0 || calls === 0) return;
    const left = (running.get(key) ?? 0) + calls;
    if (left > 0) running.set(key, left);
    else running.delete(key);
  }

  function correct({ key, window_seconds }: Demand, ends: number, change: number): void {
    if (window_seconds === 0 || change === 0) return;
    const name = `${ends} ${key}`;
    const found = corrections.get(name);
    if (found) found.change += change;
    else corrections.set(name, { key, window_ms: window_seconds * 1000, ends, change });
  }

  return {
    take: local.take,
    reserve: (demands, joint) =>
      new Promise((resolve, reject) => {
        requests.push({ demands, joint: areDistinct(demands) ? joint : undefined, resolve, reject });
        schedule();
      }),
    close: async () => {
      while (sending || waits()) {
        start();
        await sending;
      }
      await client.unsafe("DELETE FROM limit_leases WHERE instance_id = $1", [instanceId]).then(undefined, () => {});
      await local.close();
    },
  };
}

/** Drops windows that are over and gauges at 0, those that no batch writes just now. */
export async function forgetWindows(client: Connections): Promise<void> {
  await client.unsafe(`DELETE FROM limit_windows WHERE key IN (SELECT key FROM limit_windows
    WHERE ends_at < extract(epoch from clock_timestamp()) * 1000 LIMIT ${MOST_FORGOTTEN} FOR UPDATE SKIP LOCKED)`);
  await client.unsafe(`DELETE FROM limit_leases WHERE (key, instance_id) IN (SELECT key, instance_id FROM limit_leases
    WHERE calls = 0 LIMIT ${MOST_FORGOTTEN} FOR UPDATE SKIP LOCKED)`);
}

/** Every gauge that a batch speaks of. */
const gaugesOf = ({ requests, gauges }: Batch): ReadonlySet<string> =>
  gauges.union(
    new Set(requests.flatMap(({ demands }) => demands.filter((of) => of.window_seconds === 0).map(({ key }) => key))),
  );

/** A place among the keys tells a demand. */
const areDistinct = (demands: readonly Demand[]): boolean =>
  new Set(demands.map(({ key }) => key)).size === demands.length;

/** The arrays that limits_batch_1 takes, from p_keys on, in its order. The keys of demands come first. */
function arraysOf({ requests, corrections, gauges }: Batch, running: ReadonlyMap<string, number>) {
  /** Key to its place, from 1. */
  const places = new Map<string, number>();
  const windows: number[] = [];
  const placeOf = (key: string, window_ms: number): number => {
    const known = places.get(key);
    if (known !== undefined) return known;
    const place = windows.push(window_ms);
    places.set(key, place);
    return place;
  };
  const demands = requests.flatMap(({ demands: of }) => of);
  const demanded = demands.map(({ key, window_seconds }) => placeOf(key, window_seconds * 1000));
  const corrected = corrections.map(({ key, window_ms }) => placeOf(key, window_ms));
  for (const key of gauges) placeOf(key, 0);
  const keys = [...places.keys()];
  return {
    keys: textArray(keys),
    windows: numberArray(windows),
    calls: numberArray(keys.map((key) => running.get(key) ?? 0)),
    changed: numberArray(corrected),
    changes: numberArray(corrections.map(({ change }) => change)),
    change_ends: numberArray(corrections.map(({ ends }) => ends)),
    requests: numberArray(requests.flatMap(({ demands: of }, request) => of.map(() => request))),
    key_of: numberArray(demanded),
    amounts: numberArray(demands.map(({ amount }) => amount)),
    limits: numberArray(demands.map(({ limit }) => limit)),
  };
}
