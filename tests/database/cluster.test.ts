/** What instances agree on through Postgres: changes, leases, trust. */
import { afterAll, afterEach, beforeAll, describe, expect, mock, spyOn, test } from "bun:test";
import { join } from "node:path";
import { SQL } from "bun";
import { eq } from "drizzle-orm";
import { createListeners } from "../../src/server/cluster/listeners";
import { localLease } from "../../src/server/cluster/local";
import { postgresBus, postgresLease } from "../../src/server/cluster/postgres";
import type { Bus, Topic } from "../../src/server/cluster/types";
import { openConnections } from "../../src/server/db/connections";
import type { Connections } from "../../src/server/db/connection-types";
import { type FreshDatabase, freshPostgres, postgresServer } from "../kit/databases";

/** Waits until `condition` holds; returns how long it took in ms, or fails. */
async function until(condition: () => boolean, ms: number): Promise<number> {
  const started = performance.now();
  while (!condition()) {
    if (performance.now() - started > ms) throw new Error(`not within ${ms} ms`);
    await Bun.sleep(5);
  }
  return performance.now() - started;
}

describe("instances on one Postgres", () => {
  let fresh: FreshDatabase;
  let name: string;
  let admin: SQL;
  const clients: Connections[] = [];
  const buses: Bus[] = [];
  beforeAll(async () => {
    fresh = await freshPostgres();
    name = new URL(fresh.url).pathname.slice(1);
    admin = new SQL(`${await postgresServer()}/postgres`, { max: 1 });
  });
  // No instance may still listen when the next test cuts connections.
  afterEach(async () => {
    mock.restore();
    for (const bus of buses.splice(0)) await bus.close();
    for (const client of clients.splice(0)) await client.close();
  });
  afterAll(async () => {
    await admin.close();
    await fresh.close();
  });
  const connect = () => {
    const client = openConnections({ url: fresh.url, max: 3 });
    clients.push(client);
    return client;
  };
  async function instance(instanceId: string, now = Date.now) {
    /** Its comparisons with the database. */
    const compared = { answered: 0, failed: 0 };
    const bus = await postgresBus({
      client: connect(),
      versions: fresh.db.t.versions,
      listeners: createListeners({ now }),
      instanceId,
      now,
      answered: () => void compared.answered++,
      failed: () => void compared.failed++,
    });
    buses.push(bus);
    const heard: string[] = [];
    bus.subscribe("tokens", (id) => void heard.push(id));
    const announce = (topic: Topic, id: string) => fresh.db.tx((q) => bus.announce(q, topic, id));
    return { bus, heard, announce, compared };
  }
  /** Connections that listen, each an instance's. */
  async function listening(): Promise<number> {
    const rows = await admin`
      select 1 from pg_stat_activity where datname = ${name} and query = ${'LISTEN "weir_changes"'}`;
    return rows.length;
  }

  test("a change is received once by every instance, its own included, within a fraction of a second", async () => {
    const [a, b] = [await instance("a"), await instance("b")];
    await a.announce("tokens", "7");
    expect(a.heard).toEqual(["7"]);
    const took = await until(() => b.heard.length > 0, 1000);
    expect(took).toBeLessThan(500);
    await b.announce("channels", "1");
    await b.announce("tokens", "8");
    await until(() => a.heard.length > 1, 1000);
    // A whole comparison later nothing is announced twice: the second one from here began after the last change.
    const [fromA, fromB] = [a.compared.answered, b.compared.answered];
    await until(() => a.compared.answered >= fromA + 2 && b.compared.answered >= fromB + 2, 5000);
    expect([a.heard, b.heard]).toEqual([
      ["7", "8"],
      ["7", "8"],
    ]);
  });

  test("concurrent changes from two instances all arrive", async () => {
    const [a, b] = [await instance("c"), await instance("d")];
    await Promise.all(Array.from({ length: 40 }, (_, i) => (i % 2 ? a : b).announce("tokens", String(i))));
    // a comparison may have been faster than some messages, and said "*" for them
    const complete = (heard: string[]) => heard.includes("*") || heard.length === 40;
    await until(() => complete(a.heard) && complete(b.heard), 2000);
    expect(a.heard.length).toBeGreaterThan(0);
  });

  test("a change missed while the listening connection was cut is announced as * within about a second", async () => {
    const [a, b] = [await instance("e"), await instance("f")];
    const cut = await admin`
      select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name} and query ilike 'listen%'`;
    expect(cut.length).toBeGreaterThan(0);
    await a.announce("tokens", "9");
    await until(() => b.heard.length > 0, 1500);
    expect(["*", "9"]).toContain(b.heard[0] ?? "");
    // and listening is up again by itself, on both
    for (const end = performance.now() + 5000; (await listening()) < 2 && performance.now() < end;) await Bun.sleep(20);
    b.heard.length = 0;
    await a.announce("tokens", "10");
    await until(() => b.heard.includes("10"), 500);
  });

  test("caches are trusted for 5 s without a database, and again when it answers", async () => {
    let time = Date.now();
    const a = await instance("g", () => time);
    expect(a.bus.fresh()).toBe(true);
    // Bun logs each time that it cannot listen.
    spyOn(console, "warn").mockImplementation(() => {});
    await admin.unsafe(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
    await admin`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`;
    const before = a.compared.failed;
    await until(() => a.compared.failed > before, 5000);
    time += 4900;
    expect(a.bus.fresh()).toBe(true);
    time += 200;
    const failed = a.compared.failed;
    await until(() => a.compared.failed > failed, 5000);
    expect(a.bus.fresh()).toBe(false);
    await admin.unsafe(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
    await until(() => a.bus.fresh(), 5000);
  }, 20_000);

  test("a lease has one runner; it passes on when given back or silent", async () => {
    const [a, b] = [postgresLease(connect(), "a"), postgresLease(connect(), "b")];
    let runs = 0;
    const work = async () => {
      runs++;
      await Bun.sleep(20);
    };
    expect(await Promise.all([a.hold("x", work), a.hold("x", work), b.hold("x", work)])).toHaveLength(3);
    expect(runs).toBe(1);
    const [row] = await fresh.db.q.select().from(fresh.db.t.leases);
    const [holder, other] = row?.holder === "a" ? [a, b] : [b, a];
    expect(await holder.hold("x", work)).toBe(true);
    expect(await other.hold("x", work)).toBe(false);
    expect(await other.hold("y", work)).toBe(true); // another name, another holder
    await holder.close();
    expect(await other.hold("x", work)).toBe(true);
    expect(await holder.hold("x", work)).toBe(false);
    await fresh.db.q.update(fresh.db.t.leases).set({ expires_at: 1 }).returning();
    expect(await holder.hold("x", work)).toBe(true);
    expect(runs).toBe(5);
  });

  test("a lease that is released after its work can be taken by another at once, and not before", async () => {
    const [a, b] = [postgresLease(connect(), "a"), postgresLease(connect(), "b")];
    const started = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    const first = a.hold("once", () => (started.resolve(), end.promise), { release: true });
    await started.promise;
    expect(await b.hold("once", async () => {}, { release: true })).toBe(false);
    end.resolve();
    expect(await first).toBe(true);
    expect(await b.hold("once", async () => {}, { release: true })).toBe(true);
    expect(await a.hold("once", async () => {}, { release: true })).toBe(true);
  });

  test("work whose lease another instance took knows it at the next renewal, also when that one has given it back, and takes it not again", async () => {
    const lost: string[] = [];
    const a = postgresLease(connect(), "a", { lost: (name) => lost.push(name), renewMs: 20 });
    const { leases } = fresh.db.t;
    await a.hold("fenced", async (held) => {
      await Bun.sleep(60);
      expect(held.lost).toBe(false);
      // As an instance leaves it that took it after 15 s and has given it back.
      await fresh.db.q.delete(leases).where(eq(leases.name, "fenced")).returning();
      await until(() => held.lost, 2000);
    });
    expect(lost).toEqual(["fenced"]);
    expect(await a.hold("fenced", async (held) => expect(held.lost).toBe(false))).toBe(true);
  });

  test("work that was suspended, or takes too long, has lost its lease before its timers have run", async () => {
    let time = 0;
    const lease = postgresLease(connect(), "a", { now: () => time });
    await lease.hold("asleep", async (held) => {
      time += 12_900;
      expect(held.lost).toBe(false);
      time += 200;
      expect(held.lost).toBe(true);
      time -= 200;
      expect(held.lost).toBe(true);
    });
    for (const limited of [lease, localLease()])
      await limited.hold("long", async (held) => expect(held.lost).toBe(true), { mostMs: -1 });
  });

  test("a process that is stopped (SIGSTOP) while another takes its lease does nothing more under it when it goes on", async () => {
    const worker = Bun.spawn([process.execPath, join(import.meta.dir, "../kit/lease-worker.ts"), fresh.url], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      const { leases, meta } = fresh.db.t;
      const steps = async () =>
        Number((await fresh.db.q.select().from(meta).where(eq(meta.name, "steps")))[0]?.value ?? 0);
      while ((await steps()) < 3) await Bun.sleep(10);
      worker.kill("SIGSTOP");
      await fresh.db.q.update(leases).set({ expires_at: 1 }).where(eq(leases.name, "work")).returning();
      const before = await steps();
      await Bun.sleep(3000);
      const other = postgresLease(connect(), "b");
      expect(await other.hold("work", async () => {})).toBe(true);
      worker.kill("SIGCONT");
      expect(await new Response(worker.stdout).text()).toBe("lost\n");
      // One step may have been under way.
      expect((await steps()) - before).toBeWithin(0, 2);
      const [row] = await fresh.db.q.select().from(leases).where(eq(leases.name, "work"));
      expect(row?.holder).toBe("b");
    } finally {
      worker.kill("SIGKILL");
    }
  }, 20_000);

  test("work that fails does not keep the lease busy, and its error is the caller's", async () => {
    const lease = postgresLease(connect(), "z");
    await expect(lease.hold("f", () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
    expect(await lease.hold("f", async () => {})).toBe(true);
  });
});
