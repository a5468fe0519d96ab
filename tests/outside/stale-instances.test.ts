/**
 * Three instances on one Postgres: a change stored by one of them takes effect on every other, also when the query that
 * loads it is lost, and a change that cannot be announced is not stored.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { HOOK_MS } from "../kit/harness";
import { type Instances, openInstances, until } from "../kit/instances";
import { type PostgresProxy, startPostgresProxy } from "../kit/postgres-proxy";
import type { WeirProcess } from "../kit/weir-process";

/** A lost query is repeated after a second. */
const SECONDS = 5_000;

describe("a change that was announced", () => {
  let all: Instances;
  let proxy: PostgresProxy;
  let a: WeirProcess;
  let b: WeirProcess;
  let c: WeirProcess;
  let key: string;
  let token_id: number;
  let channel_id: number;

  beforeAll(async () => {
    all = await openInstances();
    proxy = await startPostgresProxy(all.fresh.url);
    a = await all.start();
    [b, c] = await Promise.all([all.start(proxy.url), all.start()]);
    ({ key, token_id, channel_id } = await all.prepare(a));
    for (const at of [a, b, c])
      await until("the channel serves everywhere", SECONDS, async () => (await all.call(at, key)).status === 200);
  }, HOOK_MS);
  afterAll(async () => {
    await all?.stop();
    await proxy?.close();
  });

  const setChannel = (at: WeirProcess, status: number) =>
    all.api(at, "PUT", "/api/channel/", { id: channel_id, status });
  const nameAt = async (at: WeirProcess) =>
    (await all.api<{ system_name: string }>(at, "GET", "/api/status")).system_name;
  const statusAt = (at: WeirProcess, status: number) => async () => (await all.call(at, key)).status === status;
  /** The charge in units of a call at this instance. */
  const chargedAt = async (at: WeirProcess): Promise<number> => {
    const request_id = crypto.randomUUID();
    const { logs } = all.fresh.db.t;
    const known = new Set((await all.fresh.db.q.select({ id: logs.id }).from(logs)).map(({ id }) => id));
    expect(await all.call(at, key)).toMatchObject({ status: 200 });
    const rows = await all.fresh.db.q.select({ id: logs.id, type: logs.type, quota: logs.quota }).from(logs);
    const mine = rows.find((row) => row.type === 2 && !known.has(row.id));
    if (!mine) throw new Error(`no charge of ${request_id}`);
    return mine.quota;
  };

  /** Cuts the next query of this table by instance B, in the middle of it. */
  const cutNextReading = (table: string) => {
    const before = proxy.cuts;
    proxy.cutWhen((text) => {
      if (proxy.cuts > before || !/select/i.test(text) || !text.includes(`from "${table}"`)) return false;
      return true;
    });
    return () => proxy.cuts > before;
  };

  test("of a channel takes effect within seconds on an instance whose query for it was cut", async () => {
    const cut = cutNextReading("channels");
    await setChannel(a, 2);
    await until("the reading was cut", SECONDS, cut);
    proxy.cutWhen(undefined);
    await until("B obeys", SECONDS, statusAt(b, 503));
    await setChannel(a, 1);
    await until("B serves again", SECONDS, statusAt(b, 200));
  }, 30_000);

  test("of a price is charged within seconds by an instance whose query for it was cut", async () => {
    const dear = (await chargedAt(b)) * 50;
    const cut = cutNextReading("options");
    await all.setOption(a, "ModelRatio", JSON.stringify({ echo: 50 }));
    await until("the reading was cut", SECONDS, cut);
    proxy.cutWhen(undefined);
    await until("B charges it", SECONDS, async () => (await chargedAt(b)) === dear);
    await all.setOption(a, "ModelRatio", JSON.stringify({ echo: 1 }));
    await until("B charges the old price again", SECONDS, async () => (await chargedAt(b)) === dear / 50);
  }, 30_000);

  test("takes effect when Postgres cuts every connection of the instance while it is made", async () => {
    for (const [n, at] of [
      [1, b],
      [2, c],
      [3, b],
    ] as const) {
      const name = `name ${n}`;
      const set = all.setOption(a, "SystemName", name);
      const ended = all.fresh.db.driver.postgres?.unsafe(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
      );
      await Promise.all([set.catch(() => undefined), ended]);
      // The administrator whose own connection was cut retries.
      await until("it is stored", SECONDS, async () =>
        all.setOption(a, "SystemName", name).then(
          () => true,
          () => false,
        ),
      );
      await until("it is obeyed", SECONDS, async () => (await nameAt(at).catch(() => "")) === name);
    }
  }, 30_000);

  test("of a token ends its calls everywhere", async () => {
    await all.api(a, "PUT", "/api/token/?status_only=true", { id: token_id, status: 2 });
    for (const at of [a, b, c]) await until("the key is refused", SECONDS, statusAt(at, 401));
    await all.api(b, "PUT", "/api/token/?status_only=true", { id: token_id, status: 1 });
    for (const at of [a, b, c]) await until("the key serves", SECONDS, statusAt(at, 200));
  }, 30_000);

  test("that cannot be announced is refused: not stored, and without effect on any instance, its own included", async () => {
    const { postgres } = all.fresh.db.driver;
    if (!postgres) throw new Error("not Postgres");
    await postgres.unsafe(
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no announcement'; END $$`,
    );
    await postgres.unsafe(
      "CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON versions FOR EACH ROW EXECUTE FUNCTION refuse()",
    );
    const name = await nameAt(a);
    try {
      const refused = await Promise.all([
        all.ask(a, "PUT", "/api/option/", { key: "SystemName", value: "untold" }),
        all.ask(a, "PUT", "/api/channel/", { id: channel_id, status: 2 }),
        all.ask(a, "POST", "/api/channel/", {
          type: 1,
          name: "untold",
          key: "k",
          base_url: all.fake.url,
          models: "untold",
        }),
        all.ask(a, "POST", "/api/channel/batch", { ids: [channel_id] }),
        all.ask(a, "PUT", "/api/token/?status_only=true", { id: token_id, status: 2 }),
        all.ask(a, "PUT", "/api/user/self", { display_name: "untold" }),
      ]);
      for (const { status, body } of refused)
        expect({ status, success: body.success }).toEqual({ status: 500, success: false });
    } finally {
      await postgres.unsafe("DROP TRIGGER refuse ON versions");
    }
    const { channels, options, tokens, users } = all.fresh.db.t;
    expect((await all.fresh.db.q.select().from(channels)).map(({ id, status }) => ({ id, status }))).toEqual([
      { id: channel_id, status: 1 },
    ]);
    expect((await all.fresh.db.q.select().from(options)).some(({ value }) => value === "untold")).toBe(false);
    expect((await all.fresh.db.q.select().from(tokens)).map(({ status }) => status)).toEqual([1]);
    expect((await all.fresh.db.q.select().from(users)).map(({ display_name }) => display_name)).not.toContain("untold");
    for (const at of [a, b, c]) {
      expect(await nameAt(at)).toBe(name);
      expect((await all.call(at, key)).status).toBe(200);
    }
    // It succeeds once announcing works again.
    await all.setOption(a, "SystemName", "told");
    for (const at of [a, b, c]) await until("it is obeyed", SECONDS, async () => (await nameAt(at)) === "told");
  }, 30_000);

  test("/readyz reports the age of the oldest loaded data, and a lost query shows there until it is repeated", async () => {
    const age = async (at: WeirProcess) =>
      ((await (await fetch(`${at.url}/readyz`)).json()) as { cache_age_seconds?: number }).cache_age_seconds;
    for (const at of [a, b, c]) expect(await age(at)).toBeNumber();
    await all.setOption(a, "SystemName", "once more");
    await setChannel(a, 1);
    await until("the reading is young", SECONDS, async () => ((await age(a)) ?? Infinity) <= 2);
    await until("B has read the change", SECONDS, async () => (await nameAt(b)) === "once more");
    // From here on every reading of options is cut.
    proxy.cutWhen((text) => /select/i.test(text) && text.includes('from "options"'));
    await all.setOption(a, "SystemName", "unread");
    await until("the reading of B grows old", 8000, async () => ((await age(b)) ?? 0) >= 3);
    expect(await nameAt(b)).toBe("once more");
    expect((await fetch(`${b.url}/readyz`)).status).toBe(200);
    proxy.cutWhen(undefined);
    await until("B reads again", SECONDS, async () => (await nameAt(b)) === "unread");
    expect(await age(b)).toBeLessThan(5);
  }, 30_000);
});
