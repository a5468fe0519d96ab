/**
 * Three instances on one Postgres: a change stored by one of them takes effect on every other, also when the query that
 * loads it is lost, and a change that cannot be announced is not stored.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { HOOK_MS } from "../kit/harness";
import { type FakeUpstream, startFakeUpstream } from "../kit/fake-upstream/server";
import type { PostgresProxy } from "../kit/postgres-proxy";
import { type Node, type Nodes, startNodes } from "../kit/trial/nodes";
import { until } from "../kit/until";

/** A lost query is repeated after a second. */
const SECONDS = 5_000;
/** The model of the fake upstream. */
const MODEL = "echo";

describe("a change that was announced", () => {
  let fake: FakeUpstream;
  let nodes: Nodes;
  let a: Node;
  let b: Node;
  let c: Node;
  /** On B's way to the database. */
  let proxy: PostgresProxy;
  let key: string;
  let token_id: number;
  let channel_id: number;

  beforeAll(async () => {
    fake = startFakeUpstream();
    nodes = await startNodes({ engine: "postgres", count: 3, hurried: false, env: { WEIR_PG_POOL: "4" } });
    [a, b, c] = [nodes.node(0), nodes.node(1), nodes.node(2)];
    if (!b.proxy) throw new Error("not Postgres");
    proxy = b.proxy;
    channel_id = await nodes.weir.newChannel({ base_url: fake.url, models: [MODEL] });
    await nodes.weir.setOption("ModelRatio", { [MODEL]: 1 });
    ({ id: token_id, key } = await nodes.weir.newToken());
    for (const at of [a, b, c])
      await until("the channel serves everywhere", async () => (await at.call(key, MODEL)).status === 200, SECONDS);
  }, HOOK_MS);
  afterAll(async () => {
    await nodes?.stop();
    fake?.close();
  });

  const setOption = (at: Node, key: string, value: string) => at.api("PUT", "/api/option/", { key, value });
  const setChannel = (at: Node, status: number) => at.api("PUT", "/api/channel/", { id: channel_id, status });
  const nameAt = async (at: Node) => (await at.api<{ system_name: string }>("GET", "/api/status")).system_name;
  const statusAt = (at: Node, status: number) => async () => (await at.call(key, MODEL)).status === status;
  /** The charge in units of a call at this instance. */
  const chargedAt = async (at: Node): Promise<number> => {
    const request_id = crypto.randomUUID();
    const { logs } = nodes.weir.db.t;
    const known = new Set((await nodes.weir.db.q.select({ id: logs.id }).from(logs)).map(({ id }) => id));
    expect(await at.call(key, MODEL)).toMatchObject({ status: 200 });
    const rows = await nodes.weir.db.q.select({ id: logs.id, type: logs.type, quota: logs.quota }).from(logs);
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
    await until("the reading was cut", cut, SECONDS);
    proxy.cutWhen(undefined);
    await until("B obeys", statusAt(b, 503), SECONDS);
    await setChannel(a, 1);
    await until("B serves again", statusAt(b, 200), SECONDS);
  }, 30_000);

  test("of a price is charged within seconds by an instance whose query for it was cut", async () => {
    const dear = (await chargedAt(b)) * 50;
    const cut = cutNextReading("options");
    await setOption(a, "ModelRatio", JSON.stringify({ echo: 50 }));
    await until("the reading was cut", cut, SECONDS);
    proxy.cutWhen(undefined);
    await until("B charges it", async () => (await chargedAt(b)) === dear, SECONDS);
    await setOption(a, "ModelRatio", JSON.stringify({ echo: 1 }));
    await until("B charges the old price again", async () => (await chargedAt(b)) === dear / 50, SECONDS);
  }, 30_000);

  test("takes effect when Postgres cuts every connection of the instance while it is made", async () => {
    for (const [n, at] of [
      [1, b],
      [2, c],
      [3, b],
    ] as const) {
      const name = `name ${n}`;
      const set = setOption(a, "SystemName", name);
      const ended = nodes.weir.db.driver.postgres?.unsafe(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
      );
      await Promise.all([set.catch(() => undefined), ended]);
      // The administrator whose own connection was cut retries.
      await until(
        "it is stored",
        async () =>
          setOption(a, "SystemName", name).then(
            () => true,
            () => false,
          ),
        SECONDS,
      );
      await until("it is obeyed", async () => (await nameAt(at).catch(() => "")) === name, SECONDS);
    }
  }, 30_000);

  test("of a token ends its calls everywhere", async () => {
    await a.api("PUT", "/api/token/?status_only=true", { id: token_id, status: 2 });
    for (const at of [a, b, c]) await until("the key is refused", statusAt(at, 401), SECONDS);
    await b.api("PUT", "/api/token/?status_only=true", { id: token_id, status: 1 });
    for (const at of [a, b, c]) await until("the key serves", statusAt(at, 200), SECONDS);
  }, 30_000);

  test("that cannot be announced is refused: not stored, and without effect on any instance, its own included", async () => {
    const { postgres } = nodes.weir.db.driver;
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
        a.ask("PUT", "/api/option/", { key: "SystemName", value: "untold" }),
        a.ask("PUT", "/api/channel/", { id: channel_id, status: 2 }),
        a.ask("POST", "/api/channel/", {
          type: 1,
          name: "untold",
          key: "k",
          base_url: fake.url,
          models: "untold",
        }),
        a.ask("POST", "/api/channel/batch", { ids: [channel_id] }),
        a.ask("PUT", "/api/token/?status_only=true", { id: token_id, status: 2 }),
        a.ask("PUT", "/api/user/self", { display_name: "untold" }),
      ]);
      for (const { status, body } of refused)
        expect({ status, success: body.success }).toEqual({ status: 500, success: false });
    } finally {
      await postgres.unsafe("DROP TRIGGER refuse ON versions");
    }
    const { channels, options, tokens, users } = nodes.weir.db.t;
    expect((await nodes.weir.db.q.select().from(channels)).map(({ id, status }) => ({ id, status }))).toEqual([
      { id: channel_id, status: 1 },
    ]);
    expect((await nodes.weir.db.q.select().from(options)).some(({ value }) => value === "untold")).toBe(false);
    expect((await nodes.weir.db.q.select().from(tokens)).map(({ status }) => status)).toEqual([1]);
    expect((await nodes.weir.db.q.select().from(users)).map(({ display_name }) => display_name)).not.toContain(
      "untold",
    );
    for (const at of [a, b, c]) {
      expect(await nameAt(at)).toBe(name);
      expect((await at.call(key, MODEL)).status).toBe(200);
    }
    // It succeeds once announcing works again.
    await setOption(a, "SystemName", "told");
    for (const at of [a, b, c]) await until("it is obeyed", async () => (await nameAt(at)) === "told", SECONDS);
  }, 30_000);

  test("/readyz reports the age of the oldest loaded data, and a lost query shows there until it is repeated", async () => {
    const age = async (at: Node) =>
      ((await (await fetch(`${at.url}/readyz`)).json()) as { cache_age_seconds?: number }).cache_age_seconds;
    for (const at of [a, b, c]) expect(await age(at)).toBeNumber();
    await setOption(a, "SystemName", "once more");
    await setChannel(a, 1);
    await until("the reading is young", async () => ((await age(a)) ?? Infinity) <= 2, SECONDS);
    await until("B has read the change", async () => (await nameAt(b)) === "once more", SECONDS);
    // From here on every reading of options is cut.
    proxy.cutWhen((text) => /select/i.test(text) && text.includes('from "options"'));
    await setOption(a, "SystemName", "unread");
    await until("the reading of B grows old", async () => ((await age(b)) ?? 0) >= 3, 8000);
    expect(await nameAt(b)).toBe("once more");
    expect((await fetch(`${b.url}/readyz`)).status).toBe(200);
    proxy.cutWhen(undefined);
    await until("B reads again", async () => (await nameAt(b)) === "unread", SECONDS);
    expect(await age(b)).toBeLessThan(5);
  }, 30_000);
});
