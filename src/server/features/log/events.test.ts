import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { ENGINES, freshPostgres, type FreshDatabase } from "../../../../tests/kit/databases";
import { type Harness, HOOK_MS, openHarness } from "../../../../tests/kit/harness";
import { zhText } from "../../../../tests/kit/row-text";
import { openCluster } from "../../cluster/open";
import type { Cluster } from "../../cluster/types";
import type { Events, GatewayEvent } from "../../contracts/events";
import { openDb } from "../../db/client";
import type { Db } from "../../db/types";
import { readEnv } from "../../env";
import { createBackground } from "../../lib/background";
import { createLogger } from "../../lib/log";
import { createEvents } from "./events";

async function until(holds: () => boolean): Promise<void> {
  for (const limit = Date.now() + 10_000; !holds(); await Bun.sleep(10))
    if (Date.now() > limit) throw new Error("not within 10 s");
}

describe.each([...ENGINES])("events on %s", (engine) => {
  let house: Harness;
  beforeAll(async () => void (house = await openHarness(engine)), HOOK_MS);
  afterAll(() => house?.close());

  test("listeners hear of an event when its transaction is committed, once, and the log has its row", async () => {
    const { db, events } = house.services;
    const heard: GatewayEvent[] = [];
    const unsubscribe = events.subscribe((event) => void heard.push(event));
    const during = await db.tx(function* (q) {
      yield* events.record(q, {
        type: "topup",
        user: { id: 7, username: "ann" },
        quota: 500_000,
        event: "redeemed",
        params: { redemption_id: 3 },
      });
      return heard.length;
    });
    expect(during).toBe(0);
    expect(heard).toMatchObject([
      { name: "redeemed", subject: "money", level: "info", own: true, user_id: 7, params: { redemption_id: 3 } },
    ]);
    const [row] = await db.q
      .select()
      .from(db.t.logs)
      .where(eq(db.t.logs.request_id, heard[0]?.request_id ?? ""));
    expect(row).toMatchObject({ type: 1, user_id: 7, username: "ann", quota: 500_000, code: "redeemed", folded: 2 });
    expect(zhText(row)).toBe("通过兑换码充值 $1.00，兑换码 ID 3");
    unsubscribe();
  });

  test("nothing is heard of an event whose transaction is undone, and a listener that throws keeps no other from hearing", async () => {
    const { db, events } = house.services;
    const heard: string[] = [];
    const ends = [
      events.subscribe(() => {
        throw new Error("a bad listener");
      }),
      events.subscribe(({ name }) => void heard.push(name)),
    ];
    const undone = db.tx(function* (q) {
      yield* events.record(q, { type: "system", event: "channel_tested" });
      throw new Error("undone");
    });
    expect(undone).rejects.toThrow("undone");
    await undone.catch(() => undefined);
    expect(heard).toEqual([]);
    await db.tx((q) => events.record(q, { type: "system", event: "node_back", params: { instance: "a", seconds: 9 } }));
    expect(heard).toEqual(["node_back"]);
    for (const end of ends) end();
  });
});

describe("events of several instances", () => {
  let fresh: FreshDatabase;
  const opened: { db: Db; cluster: Cluster }[] = [];
  const log = createLogger({ level: "fatal", format: "json" });
  beforeAll(async () => void (fresh = await freshPostgres()), HOOK_MS);
  afterEach(async () => {
    for (const { db, cluster } of opened.splice(0)) {
      await cluster.counter.close();
      await cluster.lease.close();
      await cluster.bus.close();
      await db.close();
    }
  });
  afterAll(() => fresh.close());

  async function node(): Promise<{ db: Db; events: Events; heard: GatewayEvent[] }> {
    const db = await openDb({ url: fresh.url, pool: 2 });
    const cluster = await openCluster({ db, env: readEnv({ DATABASE_URL: fresh.url }), log, now: Date.now });
    opened.push({ db, cluster });
    const events = createEvents({ db, cluster, log, now: Date.now, background: createBackground(log) });
    const heard: GatewayEvent[] = [];
    events.subscribe((event) => void heard.push(event));
    return { db, events, heard };
  }

  test("each hears of an event once, and one of them, where it happened, as its own", async () => {
    const [a, b] = [await node(), await node()];
    for (let i = 0; i < 20; i++) {
      await a.db.tx((q) =>
        a.events.record(q, { type: "system", event: "node_back", params: { instance: "a", seconds: i } }),
      );
    }
    await until(() => b.heard.length === 20);
    await Bun.sleep(100);
    expect(a.heard.map(({ own, params }) => [own, params.seconds])).toEqual(
      Array.from({ length: 20 }, (_, i) => [true, i]),
    );
    expect(b.heard.every(({ own, name }) => !own && name === "node_back")).toBe(true);
    expect(new Set(b.heard.map(({ params }) => params.seconds)).size).toBe(20);
  });
});
