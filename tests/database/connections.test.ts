/**
 * Connections to Postgres: what takes too long fails in time, what is slow but alive does not, and dead connections are
 * closed.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openConnections } from "../../src/server/db/connections";
import { type Connections, LIMITS_MS } from "../../src/server/db/connection-types";
import { type FreshDatabase, freshPostgres } from "../kit/databases";
import { type PostgresProxy, startPostgresProxy } from "../kit/postgres-proxy";
import { until } from "../kit/until";

describe("connections to Postgres", () => {
  let fresh: FreshDatabase;
  const proxies: PostgresProxy[] = [];
  const opened: Connections[] = [];
  const reasons: string[] = [];
  beforeAll(async () => {
    fresh = await freshPostgres();
    await fresh.db.driver.postgres?.unsafe("CREATE TABLE counters (id int PRIMARY KEY, n int NOT NULL)");
    await fresh.db.driver.postgres?.unsafe("INSERT INTO counters VALUES (1, 0), (2, 0)");
  });
  afterAll(async () => {
    for (const one of opened) await one.close(0);
    for (const proxy of proxies) await proxy.close();
    await fresh.close();
  });

  async function connect(max: number): Promise<{ connections: Connections; proxy: PostgresProxy }> {
    const proxy = await startPostgresProxy(fresh.url);
    proxies.push(proxy);
    const connections = openConnections({ url: proxy.url, max, gaveUp: (reason) => reasons.push(reason) });
    opened.push(connections);
    return { connections, proxy };
  }
  const pidOf = async (connections: Connections) =>
    (await connections.unsafe<{ pid: number }>("SELECT pg_backend_pid() AS pid"))[0]?.pid;
  /** How long it took until it was refused. */
  async function refused(work: PromiseLike<unknown>): Promise<number> {
    const began = performance.now();
    const error = await Promise.resolve(work).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code: "database_unavailable" });
    return performance.now() - began;
  }

  test.concurrent("a slow server ends a statement itself, and the connection stays", async () => {
    const { connections, proxy } = await connect(1);
    const pid = await pidOf(connections);
    const took = await refused(connections.unsafe("SELECT pg_sleep(30)"));
    expect(took).toBeLessThan(LIMITS_MS.usual);
    expect(await pidOf(connections)).toBe(pid);
    expect(proxy.live()).toBe(1);
  }, 30_000);

  test.concurrent("a statement with a longer limit may take longer, and the limit does not stay with the connection", async () => {
    const { connections } = await connect(1);
    await connections.within("long").unsafe(`SELECT pg_sleep(${LIMITS_MS.usual / 1000 + 1})`);
    expect(await refused(connections.unsafe("SELECT pg_sleep(30)"))).toBeLessThan(LIMITS_MS.usual);
  }, 30_000);

  test.concurrent("a connection that falls silent during a long statement is closed soon after the server has finished", async () => {
    const { connections, proxy } = await connect(3);
    const slow = connections.within("long").unsafe("SELECT pg_sleep(2)");
    const waiting = refused(slow);
    while (proxy.live() === 0) await Bun.sleep(10);
    await Bun.sleep(300); // it has begun
    proxy.silence({ next: false });
    expect(await waiting).toBeLessThan(15_000);
    await until("it is closed", () => proxy.silent() === 0, 1000);
    expect(await pidOf(connections)).toBeNumber();
  }, 30_000);

  test.concurrent("a caller without a free connection is refused after a while, and the others are served in order", async () => {
    const { connections } = await connect(1);
    const busy = connections.within("long").unsafe("SELECT pg_sleep(7)");
    const order: string[] = [];
    const first = Promise.resolve(busy).then(() => order.push("busy"));
    expect(await refused(connections.unsafe("SELECT 1"))).toBeLessThan(LIMITS_MS.usual);
    const rest = [
      connections.unsafe("SELECT 1").then(() => order.push("second")),
      connections.urgent.unsafe("SELECT 1").then(() => order.push("urgent")),
    ];
    await Promise.all([first, ...rest]);
    expect(order).toEqual(["busy", "urgent", "second"]);
  }, 30_000);

  test.concurrent("short statements are pipelined when no connection is free, and a transaction among them keeps its turn", async () => {
    const { connections } = await connect(1);
    await pidOf(connections);
    const order: string[] = [];
    const done = (name: string) => () => order.push(name);
    await Promise.all([
      connections.unsafe("SELECT pg_sleep(0.3)").then(done("first")),
      connections.unsafe("SELECT 1").then(done("behind it")),
      connections
        .begin(async (tx) => {
          await tx`SELECT pg_sleep(0.1)`;
        })
        .then(done("transaction")),
      connections.unsafe("SELECT 1").then(done("after it")),
    ]);
    expect(order).toEqual(["first", "behind it", "transaction", "after it"]);
  }, 30_000);

  test.concurrent("everything sent on a connection that falls silent fails in time, and later statements are served", async () => {
    const { connections, proxy } = await connect(1);
    await pidOf(connections);
    proxy.silence({ next: false });
    const took = await Promise.all(Array.from({ length: 20 }, () => refused(connections.unsafe("SELECT 1"))));
    expect(Math.max(...took)).toBeLessThan(LIMITS_MS.usual + 1000);
    expect(await pidOf(connections)).toBeNumber();
  }, 30_000);

  test.concurrent("locks of a silent client are released within 15 s", async () => {
    const { connections, proxy } = await connect(1);
    const locked = Promise.withResolvers<void>();
    const stuck = refused(
      connections.begin(async (tx) => {
        await tx`UPDATE counters SET n = n + 1 WHERE id = 1`;
        proxy.silence({ next: true });
        locked.resolve();
        await tx`UPDATE counters SET n = n + 1 WHERE id = 1`;
      }),
    );
    await locked.promise;
    const began = performance.now();
    await fresh.db.driver.postgres?.within("long").unsafe("UPDATE counters SET n = n + 10 WHERE id = 1");
    expect(performance.now() - began).toBeLessThan(15_000);
    const [counter] =
      (await fresh.db.driver.postgres?.unsafe<{ n: number }>("SELECT n FROM counters WHERE id = 1")) ?? [];
    expect(counter?.n).toBe(10);
    await stuck;
  }, 30_000);

  test.concurrent("a refused statement and a failed transaction leave their connection usable", async () => {
    const { connections } = await connect(1);
    const pid = await pidOf(connections);
    await expect(Promise.resolve(connections.unsafe("SELECT nothing"))).rejects.toMatchObject({ errno: "42703" });
    const failing = connections.begin(async (tx) => {
      await tx`UPDATE counters SET n = 99 WHERE id = 2`;
      throw new Error("changed our mind");
    });
    await expect(failing).rejects.toThrow("changed our mind");
    await failing.catch(() => {});
    expect(await pidOf(connections)).toBe(pid);
    const [counter] = await connections.unsafe<{ n: number }>("SELECT n FROM counters WHERE id = 2");
    expect(counter?.n).toBe(0);
  }, 30_000);

  test.concurrent("a connection that the server ended while idle is not used again", async () => {
    const { connections } = await connect(1);
    const pid = await pidOf(connections);
    await fresh.db.driver.postgres?.unsafe("SELECT pg_terminate_backend($1)", [pid]);
    for (let tries = 0; tries < 100; tries++) {
      const next = await pidOf(connections).catch(() => undefined);
      if (next !== undefined && next !== pid) return;
      await Bun.sleep(20);
    }
    throw new Error("no new connection");
  }, 30_000);
});
