/**
 * Counters shared exactly by several instances. While Redis is out of reach each instance counts for itself (fail-open
 * by the number of instances, never closed): limits protect, they do not bill.
 */
import { RedisClient } from "bun";
import type { Counter, Demand, Reservation, Take } from "./types";

/** A call that Redis does not answer in this time is counted locally. */
const TIMEOUT_MS = 250;
/** After a failure, Redis is left alone for this long: a stalled server must not cost every call its timeout. */
const REST_MS = 1000;

/** KEYS[1]; ARGV: amount, limit, window in ms. Answers {allowed, used, ms left}. A refused take adds nothing. */
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
 * comes free by itself. Answers {index of the refused demand or -1, then used, ms left and end of each}.
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

/** Runs a script by its digest, and by its text where the server does not know it yet. */
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

/** What an instance holds in gauges comes free this long after it was last heard of. */
const GAUGE_LEASE_MS = 60_000;
const RENEW_MS = 20_000;

export interface RedisCounterOptions {
  url: string;
  /** Counts while Redis is out of reach. */
  fallback: Counter;
  /** Hears once that Redis was lost, and once that it is back. */
  changed(up: boolean, error?: unknown): void;
}

export function redisCounter({ url, fallback, changed }: RedisCounterOptions): Counter {
  // Without the offline queue a call fails at once while the server is down; with it, it would wait for seconds.
  const connect = () =>
    new RedisClient(url, { enableOfflineQueue: false, autoReconnect: false, connectionTimeout: 2000 });
  let client: RedisClient | undefined;
  let connecting: Promise<void> | undefined;
  let restUntil = 0;
  let up = true;
  const instance = crypto.randomUUID();
  let members = 0;

  function failed(error: unknown): void {
    restUntil = performance.now() + REST_MS;
    client?.close();
    client = undefined;
    if (up) changed(false, error);
    up = false;
  }

  /** Connects in the background; the client's own reconnecting gives up after a number of tries. */
  function reconnect(): Promise<void> {
    connecting ??= (async () => {
      const next = connect();
      try {
        await next.connect();
        client = next;
        if (!up) changed(true);
        up = true;
      } catch (error) {
        next.close();
        failed(error);
      } finally {
        connecting = undefined;
      }
    })();
    return connecting;
  }

  async function takeShared(redis: RedisClient, key: string, amount: number, limit: number, ms: number): Promise<Take> {
    const answer = await evaluate(redis, TAKE, [`count:${key}`], [amount, limit, ms]);
    const [allowed, used, left] = answer as [number, number, number]; // the script's return
    return { allowed: allowed === 1, remaining: Math.max(0, limit - used), reset_seconds: Math.ceil(left / 1000) };
  }

  /** Gauge members that this instance holds: member -> gauges. Renewed while there are any. */
  const held = new Map<string, string[]>();
  let renewal: ReturnType<typeof setInterval> | undefined;

  function renew(): void {
    if (held.size === 0) {
      clearInterval(renewal);
      renewal = undefined;
      return;
    }
    const pairs = [...held].flatMap(([member, keys]) => keys.map((key) => [key, member] as const));
    if (client)
      evaluate(
        client,
        RENEW,
        pairs.map(([key]) => key),
        [GAUGE_LEASE_MS, ...pairs.map(([, member]) => member)],
      ).catch(failed);
  }

  function hold(member: string, keys: string[]): void {
    if (keys.length === 0) return;
    held.set(member, keys);
    renewal ??= setInterval(renew, RENEW_MS);
    renewal.unref();
  }

  async function reserveShared(redis: RedisClient, demands: readonly Demand[]): Promise<Reservation> {
    const member = `${instance}:${++members}`;
    const keys = demands.map(({ key, window_seconds }) => `${window_seconds > 0 ? "window" : "gauge"}:${key}`);
    const args = demands.flatMap(({ amount, limit, window_seconds }) => [amount, limit, window_seconds * 1000]);
    const answer = await evaluate(redis, RESERVE, keys, [member, GAUGE_LEASE_MS, ...args]);
    // The answer came too late: it was counted elsewhere, and the lease frees the gauge.
    if (client !== redis) throw new Error("The connection was given up");
    const [refused = -1, ...facts] = answer as number[]; // the script's return
    const fact = (i: number, n: number): number => facts[i * 3 + n] ?? 0;
    let ended = refused >= 0;
    if (!ended)
      hold(
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
        held.delete(member);
        const changes = demands.flatMap(({ amount, window_seconds }, i) =>
          window_seconds > 0 ? [fact(i, 2), (used[i] ?? amount) - amount] : [0, 0],
        );
        if (client) evaluate(client, END, keys, [member, ...changes]).catch(failed);
      },
    };
  }

  /** Asks Redis, or counts here while it is out of reach. */
  async function shared<T>(ask: (redis: RedisClient) => Promise<T>, instead: () => Promise<T>): Promise<T> {
    if (!client && performance.now() >= restUntil) await withTimeout(reconnect()).catch(() => {});
    if (!client) return instead();
    try {
      return await withTimeout(ask(client));
    } catch (error) {
      failed(error);
      return instead();
    }
  }

  return {
    take: (key, amount, limit, windowSeconds) =>
      shared(
        (redis) => takeShared(redis, key, amount, limit, windowSeconds * 1000),
        () => fallback.take(key, amount, limit, windowSeconds),
      ),
    reserve: (demands) =>
      shared(
        (redis) => reserveShared(redis, demands),
        () => fallback.reserve(demands),
      ),
    close: async () => {
      await connecting;
      clearInterval(renewal);
      client?.close();
      client = undefined;
      restUntil = Number.POSITIVE_INFINITY;
      await fallback.close();
    },
  };
}

async function withTimeout<T>(work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`Redis did not answer within ${TIMEOUT_MS} ms`)), TIMEOUT_MS);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
