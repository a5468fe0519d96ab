/**
 * The database is down, or its disk is full, for longer than any caller waits. Answers delivered meanwhile are charged
 * once, whatever happens to the process; nothing of a living process is swept.
 */
import { afterEach, describe, expect, test } from "bun:test";
import { copyFileSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LOG_TYPE } from "../../src/shared/log";
import { type Engine, ENGINES } from "../kit/databases";
import { type Node, type Nodes, startNodes } from "../kit/trial/nodes";
import { startVendors } from "../kit/trial/vendors";
import { until } from "../kit/until";
import type { Session, Weir } from "../kit/weir";
import { HURRIED, startProcess } from "../kit/weir-process";

/** In pieces, like a model; long enough that a stream's cost so far is recorded. */
const MODEL = "gpt-4o+text:3000+slow:5+usage:10:20";
/** 10 tokens in, 20 out, one unit each. */
const PRICE = 30;
const START_MS = 60_000;

/** A node, one user with a limited token, and a vendor whose answers wait before their end until they are let go. */
class Outage {
  readonly vendors = startVendors();
  #nodes: Nodes | undefined;
  #user: Session | undefined;
  key = "";

  get nodes(): Nodes {
    if (!this.#nodes) throw new Error("not started");
    return this.#nodes;
  }

  get weir(): Weir {
    return this.nodes.weir;
  }

  get node(): Node {
    return this.nodes.node(0);
  }

  get journal(): string {
    return join(this.weir.dataDir, "settles-1.journal");
  }

  async start(engine: Engine): Promise<this> {
    this.vendors.holdBack();
    this.#nodes = await startNodes({ engine });
    const { weir } = this;
    await weir.newChannel({ base_url: this.vendors.url, models: [MODEL] });
    await weir.priceModels({ [MODEL]: 1 });
    this.#user = await weir.newUser({ quota: 1_000_000 });
    this.key = (await weir.newToken({ quota: 500_000 }, this.#user)).key;
    return this;
  }

  /**
   * Calls with their first content delivered (streams) or their hold taken (plain answers); each resolves to the whole
   * text.
   */
  async begin(streams: number, whole: number): Promise<Promise<string>[]> {
    const ask = (stream: boolean): Promise<Response> =>
      this.weir.call(this.key, {
        model: MODEL,
        stream,
        max_tokens: 2000,
        messages: [{ role: "user", content: "hello" }],
      });
    const first = (await this.weir.holds()) + streams + whole;
    const answers = Array.from({ length: streams + whole }, async (_, i) => (await ask(i < streams)).text());
    for (const answer of answers) answer.catch(() => undefined); // told where it is waited for
    await until("every call is held", async () => (await this.weir.holds()) === first);
    await until("every stream has said what it has cost so far", async () => {
      const { holds } = this.weir.db.t;
      const rows = await this.weir.db.q.select({ running: holds.running }).from(holds);
      return rows.filter(({ running }) => running > 0).length >= streams;
    });
    return answers;
  }

  /** All of them were delivered to the last byte while the database was down. */
  async deliveredWhileAway(streams: number, whole: number, away = (): void => this.node.cutDatabase()): Promise<void> {
    const answers = await this.begin(streams, whole);
    away();
    this.vendors.letGo();
    for (const text of await Promise.all(answers)) expect(text).toMatch(/\[DONE\]\n\n$|"finish_reason":"stop"/);
    this.vendors.holdBack();
  }

  /** Nothing waits and nothing is held any more, and the ledger contains that many calls at their price. */
  async expectCharged(calls: number): Promise<void> {
    const charges = async () => (await this.weir.logs()).filter((row) => row.type === LOG_TYPE.consume);
    await until(
      `${calls} charges at their price and no hold`,
      async () =>
        (await this.weir.holds()) === 0 &&
        (await charges()).filter((row) => row.quota === PRICE && row.end_reason === "complete").length === calls,
    );
    expect(await charges()).toHaveLength(calls);
    expect(await this.weir.balance(this.#user?.id ?? 0)).toEqual({
      quota: 1_000_000 - calls * PRICE,
      used_quota: calls * PRICE,
      request_count: calls,
    });
    const tokens = await this.weir.db.q.select().from(this.weir.db.t.tokens);
    expect(tokens.map(({ remain_quota, used_quota }) => [remain_quota, used_quota])).toEqual([
      [500_000 - calls * PRICE, calls * PRICE],
    ]);
    // Roll-ups are a round behind the log, and a killed process's lease delays that round.
    await this.weir.db.q.update(this.weir.db.t.leases).set({ expires_at: 0 });
    await until("every row is counted", async () => (await this.weir.logs()).every((row) => row.folded !== 0));
    expect(await this.weir.audit()).toEqual([]);
    const hours = await this.weir.db.q.select().from(this.weir.db.t.usage_hourly);
    expect(hours.reduce((sum, { quota }) => sum + quota, 0)).toBe(calls * PRICE);
    expect(hours.filter(({ quota }) => quota !== 0).every(({ channel }) => channel > 0)).toBe(true);
  }

  async end(): Promise<void> {
    this.vendors.letGo();
    await this.#nodes?.stop();
    this.vendors.stop();
  }
}

let outage = new Outage();
afterEach(async () => {
  await outage.end();
  outage = new Outage();
});

describe.each(ENGINES)("a long outage on %s", (engine) => {
  test(
    "answers that were delivered while the database was away are charged once when it is back, and new calls were refused with 503",
    async () => {
      const { weir } = await outage.start(engine);
      await outage.deliveredWhileAway(6, 4);
      const refused = await weir.call(outage.key, { model: MODEL, messages: [{ role: "user", content: "hello" }] });
      expect(refused.status).toBe(503);
      expect(await refused.text()).toContain("database_unavailable");
      expect(await outage.node.metric("weir_waiting_settles")).toBe(10);
      // However old they look, these calls belong to a living process.
      await weir.ageHolds().catch(() => undefined);
      outage.node.mendDatabase();
      await outage.expectCharged(10);
      await until("nothing waits", async () => (await outage.node.metric("weir_waiting_settles")) === 0);
      expect((await weir.logs()).filter((row) => row.end_reason === "gateway_restart")).toEqual([]);
    },
    START_MS,
  );

  test(
    "a process that is killed while the database is away leaves its settles to the next one, which charges each once",
    async () => {
      const { weir } = await outage.start(engine);
      await outage.deliveredWhileAway(6, 4);
      await outage.node.kill();
      outage.node.mendDatabase();
      await outage.node.restart();
      await outage.expectCharged(10);
      await weir.ageHolds();
      await outage.node.stop();
      await outage.node.restart();
      await outage.expectCharged(10);
    },
    START_MS,
  );

  test(
    "a true settle that comes after the sweep corrects what the sweep charged, and charges what it released, once however often it comes",
    async () => {
      const { weir } = await outage.start(engine);
      await outage.deliveredWhileAway(5, 3);
      await outage.node.kill();
      outage.node.mendDatabase();
      const aside = `${outage.journal}.aside`;
      renameSync(outage.journal, aside);
      await outage.node.restart();
      await until("the sweep has ended every hold", async () => {
        await weir.ageHolds();
        return (await weir.holds()) === 0;
      });
      const swept = (await weir.logs()).filter((row) => row.end_reason === "gateway_restart");
      expect(swept.filter((row) => row.type === LOG_TYPE.consume).length).toBe(5);
      expect(swept.filter((row) => row.type === LOG_TYPE.error).length).toBe(3);
      for (const row of swept.filter(({ quota }) => quota > 0)) expect(row.quota).not.toBe(PRICE);
      await until("every row is counted", async () => (await weir.logs()).every((row) => row.folded !== 0));
      expect(await weir.audit()).toEqual([]);
      for (let again = 0; again < 2; again++) {
        await outage.node.stop();
        copyFileSync(aside, outage.journal);
        await outage.node.restart();
        await outage.expectCharged(8);
      }
    },
    START_MS,
  );
});

test(
  "a database that falls silent without a word loses no charge either",
  async () => {
    await outage.start("postgres");
    await outage.deliveredWhileAway(3, 2, () => outage.node.silenceDatabase());
    expect(await outage.node.metric("weir_waiting_settles")).toBe(5);
    await outage.node.kill();
    outage.node.mendDatabase();
    await outage.node.restart();
    await outage.expectCharged(5);
  },
  START_MS,
);

test(
  "records that are torn or damaged are passed over, the others are charged",
  async () => {
    const { weir } = await outage.start("sqlite");
    await outage.deliveredWhileAway(0, 4);
    await outage.node.kill();
    const bytes = readFileSync(outage.journal);
    expect(bytes.length).toBe(16 * 1024 * 1024);
    // The first letters of the last record's text.
    const last = bytes.lastIndexOf(`"request_id"`);
    bytes.fill(0x20, last, last + 12);
    writeFileSync(outage.journal, bytes);
    outage.node.mendDatabase();
    await outage.node.restart();
    await until("three are charged", async () => (await weir.logs()).filter((row) => row.quota === PRICE).length === 3);
    expect(weir.process?.output()).toContain("not whole");
    expect(await weir.holds()).toBe(1);
  },
  START_MS,
);

test(
  "a journal without room refuses new calls with 503 and retry-after, and the server says that it is not ready",
  async () => {
    await outage.start("sqlite");
    await outage.deliveredWhileAway(0, 2);
    await outage.node.kill();
    outage.node.mendDatabase();
    const bytes = readFileSync(outage.journal);
    const used = bytes.subarray(0, Math.ceil((bytes.findLastIndex((byte) => byte !== 0) + 1) / 512) * 512);
    const other = await new Outage().start("sqlite");
    try {
      expect((await fetch(`${other.weir.url}/readyz`)).status).toBe(200);
      await other.node.stop();
      // Another database's calls: they are not charged here, and are not deleted either.
      writeFileSync(other.journal, Buffer.alloc(bytes.length, used));
      await other.node.restart();
      const ready = await fetch(`${other.weir.url}/readyz`);
      expect(ready.status).toBe(503);
      expect(((await ready.json()) as { checks: { journal: string } }).checks.journal).toContain("full");
      other.vendors.letGo();
      const refused = await other.weir.call(other.key, {
        model: MODEL,
        messages: [{ role: "user", content: "hello" }],
      });
      expect([refused.status, Number(refused.headers.get("retry-after")) > 0]).toEqual([503, true]);
      expect(await refused.text()).toContain("database_unavailable");
      expect(await other.weir.holds()).toBe(0);
      expect((await other.weir.logs()).filter((row) => row.type === LOG_TYPE.consume)).toEqual([]);
      expect(await other.weir.audit()).toEqual([]);
    } finally {
      await other.end();
    }
  },
  START_MS,
);

test(
  "processes that share a data folder have a journal each, and a killed one's is settled by the next one to start",
  async () => {
    const { weir, node } = await outage.start("postgres");
    const beside = await startProcess(HURRIED, {
      PORT: "0",
      WEIR_HOST: "127.0.0.1",
      WEIR_DATA_DIR: weir.dataDir,
      DATABASE_URL: node.databaseUrl,
    });
    try {
      expect(readFileSync(join(weir.dataDir, "settles-2.journal")).length).toBe(16 * 1024 * 1024);
      await outage.deliveredWhileAway(3, 2);
      await outage.node.kill();
      outage.node.mendDatabase();
      expect(await weir.holds()).toBe(5);
      await outage.node.restart();
      await outage.expectCharged(5);
    } finally {
      await beside.stop();
    }
  },
  START_MS,
);
