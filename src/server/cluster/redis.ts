/**
 * Counters that several instances share exactly. While Redis is out of reach another counter counts, from nothing:
 * limits then let through more for a window, and never refuse everything. They protect, they do not bill.
 */
import { RedisClient } from "bun";
import type { Counter, Demand, Reservation, Take } from "./types";

/** A call that Redis does not answer in this time is counted in this process. */
const TIMEOUT_MS = 250;
const SLICE_MS = 50;
/** The longest wait of a process that is busy all the time. */
const MOST_MS = 2_000;
/** Redis is not asked for this long after a failure: a stalled server must not cost every call its timeout. */
const COOLDOWN_MS = 1000;

/** KEYS[1]; ARGV: amount, limit, window in ms. Returns {allowed, used, ms left}. A refused take adds nothing. */
const TAKE = `
local used = tonumber(redis.call('GET', KEYS[1]) or '0')
local left = redis.call('PTTL', KEYS[1])
if left < 0 then left = tonumber(ARGV[3]) end
if used + tonumber(ARGV[1]) > tonumber(ARGV[2]) then return {0, used, left} end
used = redis.call('INCRBY', KEYS[1], ARGV[1])
redis.call('PEXPIRE', KEYS[1], left)
return {1, used, left}`;

/**
 * KEYS: one a demand; ARGV: member, lease in ms, then amount, limit and window in ms (0 = gauge) of each. A window is a
 * hash {used, ends}; a gauge is a sorted set of members by the end of their lease, so that what a dead instance held
 * is freed by time. Returns {index of the refused demand or -1, then used, ms left and end of each}.
 */
const RESERVE = `
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local answer = {-1}
local function arg(i, n) return tonumber(ARGV[(i - 1) * 3 + n + 2]) end
for i, key in ipairs(KEYS) do
  local used, ends = 0, now
  if arg(i, 3) > 0 then
    local h = redis.call('HMGET', key, 'used', 'ends')
    used, ends = tonumber(h[1] or '0'), tonumber(h[2] or '0')
    if ends <= now then used, ends = 0, now + arg(i, 3) end
  else
    redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
    used = redis.call('ZCARD', key)
  end
  if answer[1] < 0 and arg(i, 1) > 0 and used + arg(i, 1) > arg(i, 2) then answer[1] = i - 1 end
  answer[i * 3 - 1], answer[i * 3], answer[i * 3 + 1] = used, ends - now, ends
end
if answer[1] >= 0 then return answer end
for i, key in ipairs(KEYS) do
  answer[i * 3 - 1] = answer[i * 3 - 1] + arg(i, 1)
  if arg(i, 1) > 0 and arg(i, 3) > 0 then
    redis.call('HSET', key, 'used', answer[i * 3 - 1], 'ends', answer[i * 3 + 1])
    redis.call('PEXPIRE', key, answer[i * 3])
  elseif arg(i, 1) > 0 then
    redis.call('ZADD', key, now + tonumber(ARGV[2]), ARGV[1])
    redis.call('PEXPIRE', key, ARGV[2])
  end
end
return answer`;

/** KEYS: one a demand; ARGV: member, then end of the window (0 = gauge) and correction of each. */
const END = `
for i, key in ipairs(KEYS) do
  local ends, change = tonumber(ARGV[i * 2]), tonumber(ARGV[i * 2 + 1])
  if ends == 0 then
    redis.call('ZREM', key, ARGV[1])
  elseif change ~= 0 and tonumber(redis.call('HGET', key, 'ends') or '0') == ends then
    redis.call('HSET', key, 'used', math.max(0, tonumber(redis.call('HGET', key, 'used')) + change))
  end
end`;

/** KEYS: gauges; ARGV: lease in ms, then the member of each. */
const RENEW = `
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
for i, key in ipairs(KEYS) do
  redis.call('ZADD', key, now + tonumber(ARGV[1]), ARGV[i + 1])
  redis.call('PEXPIRE', key, ARGV[1])
end`;

const digest = (script: string): string => new Bun.CryptoHasher("sha1").update(script).digest("hex");
const shas = new Map([TAKE, RESERVE, END, RENEW].map((script) => [script, digest(script)]));

/** Runs a script by its digest, or by its text where the server does not have it yet. */
async function evaluate(
  redis: RedisClient,
  script: string,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  const rest = [String(keys.length), ...keys.map((key) => `weir:${key}`), ...args.map(String)];
  try {
    return await redis.send("EVALSHA", [shas.get(script) ?? "", ...rest]);
  } catch (error) {
    if (!(error instanceof Error) || !error.message.includes("NOSCRIPT")) throw error;
    return redis.send("EVAL", [script, ...rest]);
  }
}

/** Gauges that an instance holds are freed this long after its last renewal. */
const GAUGE_LEASE_MS = 60_000;
const RENEW_MS = 20_000;

export interface RedisCounterOptions {
  url: string;
  /** Counts while Redis is out of reach. */
  fallback: Counter;
  /** Called once when Redis is lost, and once when it is back. */
  changed(up: boolean, error?: unknown): void;
}

export function redisCounter({ url, fallback, changed }: RedisCounterOptions): Counter {
  const connection = new RedisConnection(url, changed);
  const leases = new GaugeLeases(connection);
  return {
    take: (key, amount, limit, windowSeconds) =>
      connection.run(
        (redis) => take(redis, key, amount, limit, windowSeconds * 1000),
        () => fallback.take(key, amount, limit, windowSeconds),
      ),
    reserve: (demands) =>
      connection.run(
        (redis) => reserve(redis, connection, leases, demands),
        () => fallback.reserve(demands),
      ),
    close: async () => {
      await connection.close();
      leases.close();
      await fallback.close();
    },
  };
}

/** The limits of one call lie on several nodes of a Redis Cluster, which no script takes in one step. */
async function refuseCluster(redis: RedisClient): Promise<void> {
  // A user who may not ask is believed to have a single server.
  const said = String(await redis.send("INFO", ["cluster"]).catch(() => ""));
  if (said.includes("cluster_enabled:1")) throw new Error("REDIS_URL names a Redis Cluster: a single server is needed");
}

class RedisConnection {
  #client: RedisClient | undefined;
  #connecting: Promise<void> | undefined;
  /** performance.now() before which no connection is tried. */
  #retryAt = 0;
  #up = true;

  constructor(
    readonly url: string,
    readonly changed: RedisCounterOptions["changed"],
  ) {}

  /** Asks Redis, or `fallback` while Redis is out of reach. */
  async run<T>(ask: (redis: RedisClient) => Promise<T>, fallback: () => Promise<T>): Promise<T> {
    if (!this.#client && performance.now() >= this.#retryAt) await withTimeout(this.#connect()).catch(() => {});
    if (!this.#client) return fallback();
    try {
      return await withTimeout(ask(this.#client));
    } catch (error) {
      this.#failed(error);
      return fallback();
    }
  }

  /** Runs a script whose answer nothing waits for; skipped while Redis is out of reach. */
  send(script: string, keys: readonly string[], args: readonly (string | number)[]): void {
    if (this.#client) evaluate(this.#client, script, keys, args).catch((error: unknown) => this.#failed(error));
  }

  isCurrent(redis: RedisClient): boolean {
    return this.#client === redis;
  }

  async close(): Promise<void> {
    await this.#connecting;
    this.#client?.close();
    this.#client = undefined;
    this.#retryAt = Number.POSITIVE_INFINITY;
  }

  /** Not the client's own reconnecting: that gives up after a number of tries. */
  #connect(): Promise<void> {
    this.#connecting ??= (async () => {
      // With the offline queue a call would wait for seconds while the server is down.
      const next = new RedisClient(this.url, {
        enableOfflineQueue: false,
        autoReconnect: false,
        connectionTimeout: 2000,
      });
      try {
        await next.connect();
        await refuseCluster(next);
        this.#client = next;
        if (!this.#up) this.changed(true);
        this.#up = true;
      } catch (error) {
        next.close();
        this.#failed(error);
      } finally {
        this.#connecting = undefined;
      }
    })();
    return this.#connecting;
  }

  #failed(error: unknown): void {
    this.#retryAt = performance.now() + COOLDOWN_MS;
    this.#client?.close();
    this.#client = undefined;
    if (this.#up) this.changed(false, error);
    this.#up = false;
  }
}

/** The gauges that this instance holds; their leases are renewed while there are any. */
class GaugeLeases {
  readonly #connection: RedisConnection;
  readonly #instance = crypto.randomUUID();
  #members = 0;
  /** Member to its gauges. */
  readonly #held = new Map<string, string[]>();
  #renewal: ReturnType<typeof setInterval> | undefined;

  constructor(connection: RedisConnection) {
    this.#connection = connection;
  }

  newMember(): string {
    return `${this.#instance}:${++this.#members}`;
  }

  hold(member: string, gauges: string[]): void {
    if (gauges.length === 0) return;
    this.#held.set(member, gauges);
    this.#renewal ??= setInterval(() => this.#renew(), RENEW_MS);
    this.#renewal.unref();
  }

  release(member: string): void {
    this.#held.delete(member);
  }

  close(): void {
    clearInterval(this.#renewal);
  }

  #renew(): void {
    if (this.#held.size === 0) {
      clearInterval(this.#renewal);
      this.#renewal = undefined;
      return;
    }
    const pairs = [...this.#held].flatMap(([member, gauges]) => gauges.map((gauge) => [gauge, member] as const));
    const gauges = pairs.map(([gauge]) => gauge);
    this.#connection.send(RENEW, gauges, [GAUGE_LEASE_MS, ...pairs.map(([, member]) => member)]);
  }
}

async function take(redis: RedisClient, key: string, amount: number, limit: number, ms: number): Promise<Take> {
  const answer = await evaluate(redis, TAKE, [`count:${key}`], [amount, limit, ms]);
  const [allowed, used, left] = answer as [number, number, number]; // the script's return
  return { allowed: allowed === 1, remaining: Math.max(0, limit - used), reset_seconds: Math.ceil(left / 1000) };
}

async function reserve(
  redis: RedisClient,
  connection: RedisConnection,
  leases: GaugeLeases,
  demands: readonly Demand[],
): Promise<Reservation> {
  const member = leases.newMember();
  const keys = demands.map(({ key, window_seconds }) => `${window_seconds > 0 ? "window" : "gauge"}:${key}`);
  const args = demands.flatMap(({ amount, limit, window_seconds }) => [amount, limit, window_seconds * 1000]);
  const answer = await evaluate(redis, RESERVE, keys, [member, GAUGE_LEASE_MS, ...args]);
  // A late answer: the fallback has counted the demands, and the lease frees the gauges.
  if (!connection.isCurrent(redis)) throw new Error("The connection was given up");
  const [refused = -1, ...facts] = answer as number[]; // the script's return
  const fact = (i: number, n: number): number => facts[i * 3 + n] ?? 0;
  let ended = refused >= 0;
  if (!ended)
    leases.hold(
      member,
      keys.filter((_, i) => demands[i]?.window_seconds === 0 && demands[i].amount > 0),
    );
  return {
    refused,
    states: demands.map(({ limit }, i) => ({
      remaining: Math.max(0, limit - fact(i, 0)),
      reset_seconds: Math.ceil(fact(i, 1) / 1000),
    })),
    end: (used) => {
      if (ended) return;
      ended = true;
      leases.release(member);
      const changes = demands.flatMap(({ amount, window_seconds }, i) =>
        window_seconds > 0 ? [fact(i, 2), (used[i] ?? amount) - amount] : [0, 0],
      );
      connection.send(END, keys, [member, ...changes]);
    },
  };
}

/**
 * Waits TIMEOUT_MS in slices. One that ends late was this process's own: it was busy, and the answer may be there,
 * unread, so that slice does not count. In all MOST_MS.
 */
async function withTimeout<T>(work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const until = performance.now() + MOST_MS;
  let left = TIMEOUT_MS;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = (): void => {
    const from = performance.now();
    timer = setTimeout(() => {
      const now = performance.now();
      if (now - from < 2 * SLICE_MS) left -= SLICE_MS;
      if (left > 0 && now < until) wait();
      else late.reject(new Error(`Redis did not answer within ${TIMEOUT_MS} ms`));
    }, SLICE_MS);
  };
  wait();
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
