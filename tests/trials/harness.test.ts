/** The harness over a real Weir: an honest ledger passes, and one that was tampered with does not. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { LOG_TYPE } from "../../src/shared/log";
import { randomCall } from "../kit/trial/calls";
import { randomOf } from "../kit/trial/random";
import { startTestbed, type Testbed } from "../kit/trial/testbed";
import { runTrial } from "../kit/trial/trial";

const SEED = 1;
const SOON_MS = 1000;

describe("a testbed on SQLite", () => {
  let bed: Testbed;
  beforeAll(async () => {
    bed = await startTestbed({ engine: "sqlite" });
    const random = randomOf(SEED, "harness");
    await bed.run(
      Array.from({ length: 24 }, () => randomCall(random, { leaving: 0 })),
      8,
    );
  }, 30_000);
  afterAll(() => bed.stop());

  test("finds calls of every dialect delivered whole, and nothing to complain of", async () => {
    expect(await bed.settle()).toEqual([]);
    for (const caller of ["chat", "responses", "anthropic", "gemini"])
      expect(Object.fromEntries(bed.tally.get(`callers of ${caller}`) ?? [])).toEqual({
        "delivered whole": expect.any(Number),
      });
  });

  test("says which call is charged at another price, with its request id, and that the ledger does not balance", async () => {
    const { db } = bed.nodes.weir;
    const { logs } = db.t;
    const [row] = await db.q.select().from(logs).where(eq(logs.type, LOG_TYPE.consume)).limit(1);
    if (!row) throw new Error("nothing was charged");
    await db.q
      .update(logs)
      .set({ quota: row.quota + 1 })
      .where(eq(logs.id, row.id));
    const broken = await bed.settle(SOON_MS);
    expect(broken).toContainEqual(
      expect.stringMatching(new RegExp(`^${row.request_id}: .* is charged ${row.quota + 1} units`)),
    );
    expect(broken).toContainEqual(expect.stringMatching(/^audit: /));
    await db.q.update(logs).set({ quota: row.quota }).where(eq(logs.id, row.id));
    expect(await bed.settle()).toEqual([]);
  });

  test("says that a hold is left", async () => {
    const { db } = bed.nodes.weir;
    const { instances, holds, users } = db.t;
    const [instance] = await db.q.select({ id: instances.id }).from(instances);
    const [user] = await db.q.select({ id: users.id }).from(users);
    const hold = { request_id: "left", user_id: user?.id ?? 0, amount: 0, token_amount: 0, draft: "{}" };
    await db.q.insert(holds).values({ ...hold, instance_id: instance?.id ?? "", created_at: 1 });
    expect(await bed.settle(SOON_MS)).toContain("left: still held");
    await db.q.delete(holds).where(eq(holds.request_id, hold.request_id));
    expect(await bed.settle()).toEqual([]);
  });
});

test("a trial ends at the round that breaks a promise, and names the seed and the round", async () => {
  const trial = {
    what: "a charge is lost",
    nodes: 1,
    round: async (bed: Testbed) => {
      const random = randomOf(SEED, "lost");
      await bed.run([randomCall(random, { leaving: 0 })], 1);
      const { db } = bed.nodes.weir;
      await bed.nodes.weir.waitForLog((row) => row.type === LOG_TYPE.consume);
      await db.q.delete(db.t.logs).where(eq(db.t.logs.type, LOG_TYPE.consume));
    },
  };
  const { rounds, broken } = await runTrial("lost", trial, { engine: "sqlite", seed: 5, ms: 60_000, restMs: SOON_MS });
  expect(rounds).toBe(1);
  expect(broken).toContainEqual(
    expect.stringMatching(/^lost on sqlite, seed 5, round 1: \S+: call 1 .* is not charged, and costs \d+ units$/),
  );
}, 30_000);
