/**
 * A call that dies with its process gives its budgets back what it did not cost: all of it when nothing was delivered,
 * all but its charge when some was. So for the budgets of token, group and channel, and for those of the group in which
 * a token with group auto is served. A process that was only suspended, and ends its calls late, changes that once.
 */
import { afterEach, describe, expect, test } from "bun:test";
import { type Engine, ENGINES } from "../kit/databases";
import { type Nodes, startNodes } from "../kit/trial/nodes";
import { startVendors } from "../kit/trial/vendors";
import { until } from "../kit/until";
import type { Session } from "../kit/weir";

const MODEL = "gpt-4o+text:3000+slow:5+usage:10:20";
/** 10 tokens in, 20 out, one unit each. */
const PRICE = 30;
const START_MS = 60_000;
/** Of token, group and channel, a day's and a month's each. */
const BUDGETS = 6;

class Stage {
  readonly vendors = startVendors();
  #nodes: Nodes | undefined;
  #user: Session | undefined;
  key = "";

  get nodes(): Nodes {
    if (!this.#nodes) throw new Error("not started");
    return this.#nodes;
  }

  /** A token, a group and a channel, each with a budget of the day and of the month. */
  async start(engine: Engine, { count = 1, group = "default" } = {}): Promise<void> {
    this.vendors.holdBack();
    this.#nodes = await startNodes({ engine, count });
    const { weir } = this.#nodes;
    const budgets = { budget_day: 900_000, budget_month: 900_000 };
    await weir.newChannel({ base_url: this.vendors.url, models: [MODEL], setting: JSON.stringify(budgets) });
    await weir.priceModels({ [MODEL]: 1 });
    this.#user = await weir.newUser({ quota: 1_000_000 });
    await weir.setOption("GroupLimits", { default: budgets });
    this.key = (await weir.newToken({ quota: 500_000, group, ...budgets }, this.#user)).key;
  }

  /** Calls of which nothing has ended: streams whose cost so far is recorded, and plain ones that have cost nothing. */
  async begin(streams: number, whole: number): Promise<Promise<unknown>[]> {
    const { weir } = this.nodes;
    const answers = Array.from({ length: streams + whole }, async (_, i) => {
      const body = { model: MODEL, stream: i < streams, max_tokens: 2000, messages: [{ role: "user", content: "hi" }] };
      return (await weir.call(this.key, body)).text();
    });
    for (const answer of answers) answer.catch(() => undefined); // the process may end before it
    await until("every call is held", async () => (await weir.holds()) === streams + whole);
    await until("every stream has said what it has cost so far", async () => {
      const { holds } = weir.db.t;
      const rows = await weir.db.q.select({ running: holds.running }).from(holds);
      return rows.filter(({ running }) => running > 0).length === streams;
    });
    await until("every call has an attempt", async () => this.vendors.strangers === streams + whole);
    expect(await this.spent()).toEqual(Array(BUDGETS).fill(expect.any(Number)));
    for (const amount of await this.spent()) expect(amount).toBeGreaterThan(2000);
    return answers;
  }

  /** What each budget counts. */
  async spent(): Promise<number[]> {
    const { weir } = this.nodes;
    return (await weir.db.q.select().from(weir.db.t.budget_spend)).map(({ amount }) => amount);
  }

  /** Whether no process is in a transaction on Postgres. */
  async isIdle(): Promise<boolean> {
    const open = await this.nodes.weir.db.driver.postgres?.unsafe(
      "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL",
    );
    return open?.length === 0;
  }

  async charged(): Promise<number> {
    return (await this.nodes.weir.balance(this.#user?.id ?? 0)).used_quota;
  }

  /** Every budget counts the charges, and nothing else. */
  async expectExact(charged: (sum: number) => void): Promise<void> {
    let seen: unknown;
    await until("every budget counts the charges alone", async () => {
      const sum = await this.charged();
      seen = await this.spent();
      return (await this.nodes.weir.holds()) === 0 && Bun.deepEquals(seen, Array(BUDGETS).fill(sum));
    }).catch(async (error: unknown) => {
      throw new Error(`budgets ${JSON.stringify(seen)}, charges ${await this.charged()}`, { cause: error });
    });
    charged(await this.charged());
    expect(await this.nodes.weir.audit()).toEqual([]);
  }

  async end(): Promise<void> {
    this.vendors.letGo();
    await this.#nodes?.stop();
    this.vendors.stop();
  }
}

let stage = new Stage();
afterEach(async () => {
  await stage.end();
  stage = new Stage();
}, START_MS);

describe.each(ENGINES)("budgets of swept calls on %s", (engine) => {
  test(
    "calls killed before they cost anything give back all that they took",
    async () => {
      await stage.start(engine);
      await stage.begin(0, 4);
      const [node] = stage.nodes.all;
      await node?.kill();
      await node?.restart();
      await stage.nodes.weir.ageHolds();
      await stage.expectExact((sum) => expect(sum).toBe(0));
    },
    START_MS,
  );

  test(
    "streams killed on their way leave their charge in the budgets, and its row names them",
    async () => {
      await stage.start(engine, { group: "auto" });
      await stage.begin(3, 2);
      const [node] = stage.nodes.all;
      await node?.kill();
      await node?.restart();
      await stage.nodes.weir.ageHolds();
      await stage.expectExact((sum) => expect(sum).toBeGreaterThan(0));
      const charges = (await stage.nodes.weir.logs()).filter(({ quota }) => quota > 0);
      expect(charges).toHaveLength(3);
      for (const { other } of charges)
        expect((JSON.parse(other) as { admin_info: { budgets: string[] } }).admin_info.budgets).toHaveLength(BUDGETS);
    },
    START_MS,
  );
});

test(
  "a process that was suspended and swept, and then ends its calls, leaves exactly their charges in the budgets",
  async () => {
    await stage.start("postgres", { count: 2 });
    const answers = await stage.begin(3, 3);
    const [first, second] = stage.nodes.all;
    // Suspended within a transaction it would keep its locks, and its calls could not be ended by others.
    await until("no transaction is open", () => stage.isIdle());
    first?.suspend();
    await stage.nodes.weir.ageHolds();
    await until("the other process has swept the calls", async () => (await stage.nodes.weir.holds()) === 0);
    expect(second?.isRunning).toBe(true);
    stage.vendors.letGo();
    first?.resume();
    await Promise.all(answers);
    await stage.expectExact((sum) => expect(sum).toBe(6 * PRICE));
  },
  START_MS,
);
