import { expect, test } from "bun:test";
import { ENGINES } from "../../../../tests/kit/databases";
import { startWeir } from "../../../../tests/kit/weir";

for (const engine of ENGINES)
  test(`a vendor's bill is held against the costs of the chosen channels by day and model sent, on ${engine}`, async () => {
    await using weir = await startWeir({ engine });
    const mapped = await weir.newChannel({
      base_url: "http://127.0.0.1:9",
      models: ["fast"],
      model_mapping: JSON.stringify({ fast: "claude-haiku-4-5-20251001" }),
    });
    const other = await weir.newChannel({ base_url: "http://127.0.0.1:9", models: ["claude-haiku-4-5"] });
    const hour = (text: string) => Date.parse(text) / 1000;
    const row = (channel: number, model_name: string, at: string, dollars: number, more = {}) => ({
      hour: hour(at),
      user_id: 1,
      token_id: 1,
      channel,
      model_name,
      group: "default",
      quota: 10,
      costed_quota: 10,
      upstream_cost: dollars * 1e9,
      ...more,
    });
    await weir.db.q
      .insert(weir.db.t.usage_hourly)
      .values([
        row(mapped, "fast", "2026-11-01T00:00:00Z", 1.5),
        row(mapped, "fast", "2026-11-01T23:00:00Z", 0.5, { costed_quota: 4 }),
        row(mapped, "fast", "2026-11-02T00:00:00Z", 3),
        row(mapped, "fast", "2026-11-04T00:00:00Z", 9),
        row(other, "claude-haiku-4-5", "2026-11-01T00:00:00Z", 7),
      ]);
    const { trpc } = weir.root;
    const { id } = await trpc.pricing.reconcile.mutate({
      title: "anthropic.csv",
      channels: [mapped],
      rows: [
        { day: "2026-11-01", model: "claude-haiku-4-5", cost: 2 },
        { day: "2026-11-03", model: "claude-haiku-4-5", cost: 1 },
      ],
    });
    expect(await trpc.pricing.reconciliation.query({ id })).toMatchObject({
      title: "anthropic.csv",
      vendor: 3,
      counted: 5,
      flagged: 2,
      rows: [
        { day: "2026-11-01", model: "claude-haiku-4-5", vendor: 2, counted: 2, unknown: 6, flagged: false },
        { day: "2026-11-02", vendor: 0, counted: 3, flagged: true },
        { day: "2026-11-03", vendor: 1, counted: 0, flagged: true },
      ],
    });
    expect(await trpc.pricing.reconciliations.query()).toMatchObject([{ id, title: "anthropic.csv" }]);
    const admin = await weir.newUser({ role: 10 });
    expect(
      await admin.trpc.pricing.reconciliations.query().then(
        () => "open",
        () => "closed",
      ),
    ).toBe("closed");
  }, 60_000);
