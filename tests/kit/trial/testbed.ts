/**
 * Everything a trial needs, in one place: nodes, vendors with channels and prices, accounts, callers and the book. What
 * was made is mended, at rest and compared by `settle()`.
 */
import { and, eq, gt, gte, inArray, lt, ne, notInArray, or } from "drizzle-orm";
import { LOG_TYPE } from "../../../src/shared/log";
import { FINAL_STATUSES } from "../../../src/shared/task";
import { channelOf } from "../fake-vendors";
import { brokenPromises, type Expected, expectationOf, type LedgerAtRest } from "./book";
import { addressOf, callOf, type CallRecord, fateOf, makeCall, modelsOf, type PlannedCall, VENDORS } from "./calls";
import { type Node, type Nodes, type NodesOptions, startNodes } from "./nodes";
import type { Session } from "../weir";
import { startVendors, type Vendors } from "./vendors";

/** After everything is mended: how long until the ledger agrees with the book. */
const REST_LIMIT_MS = 60_000;
/** What may still be on its way when the ledger agrees for the first time. */
const STILL_MS = 1500;
/** A heartbeat that is older is a killed process's. */
const DEAD_SECONDS = 3;
const DELIVERY_LIMIT_MS = 2000;
const CREDIT = 1_000_000_000_000;
const TOKEN_QUOTA = 100_000_000_000;
/** Two channels for each vendor, so that a call has where to go. */
export const CHANNELS_PER_VENDOR = 2;
/** The key by which a vendor knows which of its channels asks. */
export const keyOfChannel = (vendor: string, n: number): string => `${vendor}-channel-${n}`;

export type Tally = ReadonlyMap<string, ReadonlyMap<string, number>>;

export interface Testbed {
  readonly nodes: Nodes;
  readonly vendors: Vendors;
  /** What happened so far, by subject: "callers of chat" -> "delivered whole" -> 12. */
  readonly tally: Tally;
  /** Whose balance every call is charged to. */
  readonly user: Session;
  /** Counts something that the trial did. */
  note(subject: string, what: string): void;
  /** For calls that a trial makes itself: the call's number, its key and the address that it has to come from. */
  newCall(token: number): { call: number; key: string; address: string };
  /** What calls of this round must have cost that the trial has made itself. */
  alsoExpect(read: () => Expected[]): void;
  /** The user will have so many units more. */
  give(units: number): void;
  /** One unit a token for more models. */
  price(models: readonly string[]): Promise<void>;
  /** What is done before the ledger is compared, again until it agrees. */
  beforeRest(work: () => Promise<void>): void;
  /** What ends with the testbed. */
  atEnd(work: () => Promise<void>): void;
  /** Makes one call, now. */
  make(planned: PlannedCall): Promise<CallRecord>;
  /** Makes the calls, so many at a time. Resolves when the last has ended, with what their callers know. */
  run(calls: readonly PlannedCall[], atOnce: number): Promise<readonly CallRecord[]>;
  /** Resolves in the moment in which a call at this node is delivered to its last byte; after two seconds anyway. */
  nextDelivery(node: Node): Promise<void>;
  /**
   * Mends, restarts and waits until the ledger agrees with the book of all calls so far; returns every promise that is
   * still broken after `limitMs` (default: a minute).
   */
  settle(limitMs?: number): Promise<string[]>;
  stop(): Promise<void>;
}

export interface TestbedOptions extends Omit<NodesOptions, "env"> {
  /** Users beside the first, each with a token with limits and no budget: calls are theirs by `token` from 2 on. */
  others?: number;
}

export async function startTestbed(options: TestbedOptions): Promise<Testbed> {
  const { others: otherUsers = 0, hurried = true } = options;
  const vendors = startVendors();
  const nodes = await startNodes(options);
  const { weir } = nodes;
  const { db } = weir;
  const models = VENDORS.flatMap(modelsOf);
  await weir.priceModels(Object.fromEntries(models.map((model) => [model, 1])));
  // A call may wait for its vendor, but ends within the time that a trial gives it.
  await weir.setOption("RelayAttemptBudget", 10);
  for (const vendor of VENDORS) {
    for (let n = 0; n < CHANNELS_PER_VENDOR; n++) {
      await weir.newChannel({
        type: channelOf[vendor].type,
        name: `${vendor} ${n}`,
        key: keyOfChannel(vendor, n),
        base_url: vendors.url,
        models: modelsOf(vendor),
        setting: JSON.stringify({
          ...channelOf[vendor].setting,
          first_byte_timeout: 2,
          idle_timeout: 2,
          total_timeout: 10,
        }),
      });
    }
  }
  const user = await weir.newUser({ quota: CREDIT });
  const limits = { name: "limited", quota: TOKEN_QUOTA, rpm: 1_000_000, concurrency: 1000 };
  const limited = await weir.newToken({ ...limits, budget_day: TOKEN_QUOTA }, user);
  const unlimited = await weir.newToken({ name: "unlimited" }, user);
  const keys = [limited.key, unlimited.key];
  const owners = [{ user: user.id, token: limited.id }];
  for (let n = 0; n < otherUsers; n++) {
    const other = await weir.newUser({ quota: CREDIT });
    const token = await weir.newToken(limits, other);
    keys.push(token.key);
    owners.push({ user: other.id, token: token.id });
  }

  const tally = new Map<string, Map<string, number>>();
  const note = (subject: string, what: string): void => {
    const counts = tally.get(subject) ?? new Map<string, number>();
    tally.set(subject, counts.set(what, (counts.get(what) ?? 0) + 1));
  };
  /** Of calls that were compared before. */
  const settled: Expected[] = [];
  let given = CREDIT;
  const others: (() => Expected[])[] = [];
  const chores: (() => Promise<void>)[] = [];
  const ends: (() => Promise<void>)[] = [];
  let records: CallRecord[] = [];
  let made = 0;
  /** Who waits for a delivery of a node. */
  const waiting = new Map<Node, Set<() => void>>();

  const readLedger = async (): Promise<LedgerAtRest> => {
    const { users, tokens, logs, holds } = db.t;
    const rows = await db.q
      .select({ request_id: logs.request_id, type: logs.type, ip: logs.ip, units: logs.quota })
      .from(logs)
      .where(inArray(logs.type, [LOG_TYPE.consume, LOG_TYPE.refund]));
    // "/refund" gives back of a charge, "/extra" adds to it: a job that came to another price than it began with.
    const moves = Map.groupBy(rows, ({ request_id }) => request_id.replace(/\/(refund|extra)$/, ""));
    const charges = [...moves].flatMap(([request_id, its]) => {
      const charge = its.find((row) => row.request_id === request_id);
      const units = its.reduce((sum, row) => sum + (row.type === LOG_TYPE.refund ? -row.units : row.units), 0);
      // Given back whole, it is no charge.
      return units === 0 && its.length > 1 ? [] : [{ request_id, units, call: callOf(charge?.ip ?? "") }];
    });
    const accounts = [];
    for (const owner of owners) {
      const [account] = await db.q.select().from(users).where(eq(users.id, owner.user));
      const [token] = await db.q.select().from(tokens).where(eq(tokens.id, owner.token));
      if (!account || !token) throw new Error("an account is gone");
      const credit = owner.user === user.id ? given : CREDIT;
      accounts.push(
        { name: `user ${owner.user}`, given: credit, left: account.quota, used: account.used_quota },
        { name: `token ${owner.token}`, given: TOKEN_QUOTA, left: token.remain_quota, used: token.used_quota },
      );
    }
    return {
      charges,
      holds: (await db.q.select({ id: holds.request_id }).from(holds)).map(({ id }) => id),
      findings: (await weir.audit()).map(({ rule, row, expected: right, found }) => `${rule} ${row} ${right} ${found}`),
      accounts,
    };
  };
  const make = async (planned: PlannedCall): Promise<CallRecord> => {
    const node = nodes.node(planned.node % nodes.all.length);
    const call = ++made;
    vendors.plan(call, planned);
    const record = await makeCall(node, {
      call,
      planned,
      prompt: vendors.textOf(call),
      key: keys[planned.token % keys.length] ?? "",
    });
    records.push(record);
    if (record.whole) for (const wake of waiting.get(node) ?? []) wake();
    note(`callers of ${planned.caller}`, fateOf(record));
    for (const { fate, dialect } of vendors.answersTo(call)) note(`vendors of ${dialect}`, fate);
    return record;
  };
  return {
    nodes,
    vendors,
    tally,
    user,
    note,
    make,
    newCall: (token) => {
      const call = ++made;
      return { call, key: keys[token % keys.length] ?? "", address: addressOf(call) };
    },
    alsoExpect: (read) => void others.push(read),
    give: (units) => void (given += units),
    price: async (names) => {
      models.push(...names);
      await weir.priceModels(Object.fromEntries(models.map((model) => [model, 1])));
    },
    beforeRest: (work) => void chores.push(work),
    atEnd: (work) => void ends.push(work),
    run: async (calls, atOnce) => {
      const left = [...calls];
      const own: CallRecord[] = [];
      const caller = async (): Promise<void> => {
        for (let planned = left.shift(); planned; planned = left.shift()) {
          await Bun.sleep(planned.waitMs);
          const node = nodes.node(planned.node % nodes.all.length);
          // A caller comes back when the node does.
          for (let tries = 0; !node.isRunning && tries < 500; tries++) await Bun.sleep(20);
          own.push(await make(planned));
        }
      };
      await Promise.all(Array.from({ length: atOnce }, caller));
      return own;
    },
    nextDelivery: async (node) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const those = waiting.get(node) ?? new Set();
      waiting.set(node, those.add(resolve));
      const timer = setTimeout(resolve, DELIVERY_LIMIT_MS);
      await promise;
      clearTimeout(timer);
      those.delete(resolve);
    },
    settle: async (limitMs = REST_LIMIT_MS) => {
      const crashes = nodes.all.filter((node) => node.crashed).map(({ name }) => `${name}: ended by itself`);
      await mendAll(nodes);
      const lives = new Map(nodes.all.map((node) => [node.name, node.lives]));
      // Read again each time: a vendor's answer may end after its caller has left.
      const expectedNow = (): Expected[] =>
        records
          .map((record) =>
            expectationOf(record, vendors.answersTo(record.call), lives.get(record.node) === record.life),
          )
          .concat(others.flatMap((read) => read()));
      let broken: string[] = [];
      const limit = Date.now() + limitMs;
      // Once more after a while: what comes late must not change anything.
      for (let agreed = 0; agreed < 2 && Date.now() < limit;) {
        // Without haste a living process's heartbeat may be as old as a dead one's here.
        if (hurried) await ageTheDead(nodes);
        await hurryJobs(nodes);
        for (const work of chores) await work();
        broken = [
          ...brokenPromises([...settled, ...expectedNow()], await readLedger()),
          ...(await Promise.all(nodes.all.map(unready))).flat(),
        ];
        agreed = broken.length === 0 ? agreed + 1 : 0;
        await Bun.sleep(agreed === 1 ? STILL_MS : 100);
      }
      broken.push(...crashes);
      for (const { late, call, request_id } of records)
        if (late) broken.push(`${request_id || `call ${call}`}: no end within a minute`);
      if (vendors.strangers > 0) broken.push(`vendors: ${vendors.strangers} requests that no caller made`);
      settled.push(...expectedNow());
      records = [];
      others.length = 0;
      vendors.forget();
      return broken;
    },
    stop: async () => {
      vendors.letGo();
      await nodes.stop();
      vendors.stop();
      for (const work of ends) await work();
    },
  };
}

/** Ends every fault, and starts what was killed. */
async function mendAll({ all, redis }: Nodes): Promise<void> {
  await redis?.start();
  for (const node of all) {
    node.resume();
    node.mendDatabase();
    node.setClock(0);
    if (!node.isRunning) await node.restart();
  }
}

/** What keeps a node from being at rest: it is not ready, or settles wait. */
async function unready(node: Node): Promise<string[]> {
  try {
    const { status } = await fetch(`${node.url}/readyz`);
    const waiting = await node.metric("weir_waiting_settles");
    return [
      ...(status === 200 ? [] : [`${node.name}: /readyz answers ${status}`]),
      ...(waiting === 0 ? [] : [`${node.name}: ${waiting} settles wait`]),
    ];
  } catch (error) {
    return [`${node.name}: ${String(error)}`];
  }
}

/** Jobs that are not over are asked about in the next round. */
async function hurryJobs({ weir: { db } }: Nodes): Promise<void> {
  const { tasks } = db.t;
  await db.q
    .update(tasks)
    .set({ next_poll_at_ms: 1 })
    .where(and(ne(tasks.next_poll_at_ms, 0), notInArray(tasks.status, [...FINAL_STATUSES])));
}

/**
 * Makes killed processes look silent for long, so that the next sweep takes their holds at once: their heartbeat, which
 * living ones renew four times a second, their holds and their leases.
 */
async function ageTheDead({ weir: { db } }: Nodes): Promise<void> {
  const { instances, holds, leases } = db.t;
  const old = Math.floor(Date.now() / 1000) - DEAD_SECONDS;
  const alive = await db.q.select({ id: instances.id }).from(instances).where(gte(instances.heartbeat_at, old));
  const ids = alive.map(({ id }) => id);
  if (ids.length === 0) return;
  await db.q.update(instances).set({ heartbeat_at: 0 }).where(notInArray(instances.id, ids));
  await db.q.update(leases).set({ expires_at: 0 }).where(notInArray(leases.holder, ids));
  await db.q
    .update(holds)
    .set({ created_at: 0 })
    // Of a process whose clock was ahead, too.
    .where(
      and(
        or(lt(holds.created_at, old), gt(holds.created_at, old + 2 * DEAD_SECONDS)),
        notInArray(holds.instance_id, ids),
      ),
    );
}
