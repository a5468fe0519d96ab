/** Redis as `weir doctor` sees it. */
import { RedisClient } from "bun";
import { checked, type Found, problemText } from "./found";

const CONNECT_MS = 3000;
/** Weir gives an answer 250 ms, and then counts without Redis. */
const SLOW_MS = 50;

export function redisChecks(url: string): Promise<Found[]> {
  return checked("Redis", async () => {
    const check = "Redis";
    const redis = new RedisClient(url, { connectionTimeout: CONNECT_MS, autoReconnect: false });
    try {
      await redis.connect();
      const began = performance.now();
      await redis.send("PING", []);
      const ms = performance.now() - began;
      // A user who may not ask is believed to have a single server without limits.
      const info = async (section: string) => String(await redis.send("INFO", [section]).catch(() => ""));
      const valueOf = (text: string, name: string) => new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(text)?.[1] ?? "";
      const [server, cluster, memory] = [await info("server"), await info("cluster"), await info("memory")];
      if (valueOf(cluster, "cluster_enabled") === "1")
        return [
          {
            check,
            state: "wrong",
            found: "it is a Redis Cluster, in which no script takes the limits of one call in one step",
            advice: "Name a single server in REDIS_URL, or none: then Postgres counts.",
          },
        ];
      const found: Found[] = [
        ms < SLOW_MS
          ? { check, state: "ok", found: `version ${valueOf(server, "redis_version")}, answers in ${ms.toFixed(1)} ms` }
          : {
              check,
              state: "note",
              found: `answers in ${ms.toFixed(0)} ms`,
              advice: "Every call with limits waits for it: bring it nearer.",
            },
      ];
      const policy = valueOf(memory, "maxmemory_policy");
      if (Number(valueOf(memory, "maxmemory")) > 0 && policy !== "noeviction")
        found.push({
          check,
          state: "wrong",
          found: `maxmemory-policy is ${policy}: when memory is short it forgets limits that run`,
          advice: "Set maxmemory-policy to noeviction, and give Weir a Redis of its own.",
        });
      return found;
    } catch (error) {
      const advice = "Start it or correct REDIS_URL; until then limits are counted without it.";
      return [{ check, state: "wrong", found: `REDIS_URL cannot be reached: ${problemText(error)}`, advice }];
    } finally {
      redis.close();
    }
  });
}
