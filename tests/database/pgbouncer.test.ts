/** A real PgBouncer before Postgres: it either works, or is refused with a reason. */
import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { readEnv } from "../../src/server/env";
import { createLogger } from "../../src/server/lib/log";
import { startServer } from "../../src/server/serve";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { HOOK_MS } from "../kit/harness";
import { startPgbouncer } from "../kit/pgbouncer";
import { required } from "../kit/required";
import { until } from "../kit/until";
import { startWeir } from "../kit/weir";

const program = required("pgbouncer");

describe.skipIf(!program)("PgBouncer", () => {
  const poolers: { stop(): Promise<void> }[] = [];
  const through =
    (mode: Parameters<typeof startPgbouncer>[2]) =>
    async (url: string): Promise<string> => {
      const pooler = await startPgbouncer(program ?? "", url, mode);
      poolers.push(pooler);
      return pooler.url;
    };
  afterAll(async () => {
    for (const pooler of poolers) await pooler.stop();
  });

  test(
    "with pool_mode session everything works: calls are charged exactly, and a change is heard by another instance",
    async () => {
      const upstream = startFakeUpstream();
      const [pooled, secret] = [through("session"), { WEIR_SECRET: "a secret of two instances" }];
      let url = "";
      await using weir = await startWeir({
        engine: "postgres",
        env: secret,
        through: async (direct) => (url = await pooled(direct)),
      });
      const place = { PORT: "0", WEIR_HOST: "127.0.0.1", WEIR_DATA_DIR: join(weir.dataDir, "other") };
      const env = readEnv({ ...place, ...secret, DATABASE_URL: url, WEIR_LOG_LEVEL: "silent" });
      const other = await startServer(env, createLogger({ level: "silent", format: "json" }));
      try {
        await weir.newChannel({ base_url: upstream.url, models: ["gpt-4o"] });
        const user = await weir.newUser({ quota: 10_000_000 });
        const token = await weir.newToken({}, user);
        const call = async (url: string): Promise<number> => {
          const answer = await fetch(`${url}/v1/chat/completions`, {
            method: "POST",
            headers: { "content-type": "application/json", authorization: `Bearer ${token.key}` },
            body: JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content: "hi" }], max_tokens: 10 }),
          });
          await answer.text();
          return answer.status;
        };
        await until("the other instance knows the channel", async () => (await call(other.url)) === 200, 2000);
        const calls = Array.from({ length: 40 }, (_, n) => call(n % 2 ? weir.url : other.url));
        expect(new Set(await Promise.all(calls))).toEqual(new Set([200]));
        await until("no hold is left", async () => (await weir.holds()) === 0);
        expect((await weir.balance(user.id)).request_count).toBe(41);
        expect(await weir.audit()).toEqual([]);
        const listening = async (): Promise<unknown> =>
          weir.db.q
            .select({ n: sql<number>`count(*)::int` })
            .from(sql`pg_stat_activity`)
            .where(sql`datname = current_database() and query ilike 'listen%'`);
        expect(await listening()).toEqual([{ n: 2 }]);
        await user.ok("PUT", "/api/token/?status_only=true", { id: token.id, status: 2 });
        await until("the other instance obeys", async () => (await call(other.url)) === 401, 2000);
      } finally {
        await other.stop();
        await upstream.close();
      }
    },
    HOOK_MS,
  );

  test.each(["transaction", "statement"] as const)(
    "with pool_mode %s it is refused at the start, with what to set instead",
    async (mode) => {
      const refused = startWeir({ engine: "postgres", through: through(mode) });
      await expect(refused).rejects.toThrow(/behind a pooler that shares sessions.*pool_mode = session/);
    },
    HOOK_MS,
  );
});
