import { expect, test } from "bun:test";
import { ENGINES } from "../../../../tests/kit/databases";
import { startWeir } from "../../../../tests/kit/weir";

for (const engine of ENGINES)
  test(`the margin is the independent sum over rows whose cost is known, after refunds too, on ${engine}`, async () => {
    await using weir = await startWeir({ engine });
    const channel = await weir.newChannel({ base_url: "http://127.0.0.1:9", models: ["m"], name: "east" });
    const now = Math.floor(Date.now() / 1000);
    const row = (request_id: string, quota: number, more: object) => ({
      request_id,
      created_at: now,
      type: 2,
      user_id: 1,
      username: "root",
      channel,
      model_name: "m",
      group: "default",
      quota,
      ...more,
    });
    await weir.db.q.insert(weir.db.t.logs).values([
      row("a", 1000, { upstream_cost: 1_500_000 }),
      row("b", 500, { upstream_cost: 700_000 }),
      row("c", 300, { upstream_cost: null }),
      // An operator gave a part of "a" back; what it cost was paid.
      row("a/refund/1", 400, { type: 6, refund_of: "a", upstream_cost: 0 }),
      // A job that failed cost nothing.
      row("b/refund", 500, { type: 6, refund_of: "b", upstream_cost: -700_000 }),
      row("c/refund", 100, { type: 6, refund_of: "c", upstream_cost: null }),
    ]);
    const ask = (group_by: "model" | "channel" | "day") =>
      weir.root.trpc.dashboard.margin.query({ start_timestamp: now - 3600, end_timestamp: now + 3600, group_by });
    const expected = { quota: 800, costed_quota: 600, upstream_cost: 1_500_000 };
    for (const end = Date.now() + 20_000; Date.now() < end && (await ask("model")).totals.quota !== expected.quota;)
      await Bun.sleep(100);
    expect((await ask("model")).totals).toEqual(expected);
    expect((await ask("channel")).items).toEqual([{ key: String(channel), label: "east", owner: "", ...expected }]);
    const day = new Date(now * 1000).toISOString().slice(0, 10);
    expect((await ask("day")).items).toEqual([{ key: day, label: day, owner: "", ...expected }]);
    const user = await weir.newUser();
    expect(
      await user.trpc.dashboard.margin.query({ start_timestamp: 0, end_timestamp: 3600 }).then(
        () => "open",
        () => "closed",
      ),
    ).toBe("closed");
  }, 60_000);
