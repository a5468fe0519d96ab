/** What calls are charged, by how they ended, by default and with the channel's own settings. */
import { afterAll, describe, expect, test } from "bun:test";
import type { ChannelSetting } from "../../src/shared/channel-setting";
import { compilePrice } from "../../src/shared/pricing";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { type Bench, chatBody, makeBench, makeChannel } from "./kit";

const upstream = startFakeUpstream();
afterAll(() => upstream.close());
const path = "/v1/chat/completions";
const bench = (setting: ChannelSetting = {}): Bench => makeBench([makeChannel(1, upstream.url, { setting })]);

interface Other {
  waived?: boolean;
  estimated?: boolean;
  bill: { units: string }[];
}

async function ended(setting: ChannelSetting, model: string, stream = true) {
  const { send, ledger } = bench(setting);
  const response = await send(path, chatBody(model, { stream }));
  await response.text();
  const [settlement] = ledger.settlements;
  const other: Other = JSON.parse(settlement?.log.other ?? '{"bill":[]}');
  expect(ledger.holds.size).toBe(0);
  expect(ledger.balance + ledger.charged).toBe(1_000_000);
  return { quota: settlement?.quota ?? 0, reason: settlement?.log.end_reason, other };
}

describe("an upstream that fails in the middle of an answer", () => {
  const models = ["cut-midstream", "cut-clean", "error-midstream"];

  test.each(models)("%s: what was produced is charged by default, estimated, and the row says so", async (model) => {
    const { quota, other } = await ended({}, model);
    expect(quota).toBeGreaterThan(0);
    expect(other).toMatchObject({ estimated: true });
    expect(other.waived).toBeUndefined();
    expect(Math.round(other.bill.reduce((sum, line) => sum + Number(line.units), 0))).toBe(quota);
  });

  test.each(models)("%s: is free where the channel says so, and the bill is empty", async (model) => {
    const { quota, other } = await ended({ bill_broken: "free" }, model);
    expect([quota, other.bill, other.waived]).toEqual([0, [], true]);
  });

  test("a complete answer is charged anyway", async () => {
    const { quota, reason, other } = await ended({ bill_broken: "free", bill_left: "free" }, "gpt-4o+usage:12:34");
    expect([quota, reason, other.waived]).toEqual([12 + 68, "complete", undefined]);
  });

  test("before its first content it is free whatever the channel says", async () => {
    for (const setting of [{}, { bill_broken: "produced" }] as const) {
      const { ledger, send } = bench(setting);
      await (await send(path, chatBody("error:500", { stream: true }))).text();
      expect([ledger.charged, ledger.holds.size]).toEqual([0, 0]);
    }
  });
});

test.each([false, true])(
  "a model that searches at every call costs the search besides its tokens, once (stream: %p)",
  async (stream) => {
    const one = bench();
    const why = { model_ratio: { value: 1, source: "test" }, completion_ratio: { value: 2, source: "test" } };
    one.controlPlane.price = (model) =>
      compilePrice(model, "default", why, {
        QuotaPerUnit: 500_000,
        "tool_price_setting.prices": { web_search_preview: 10, "web_search_preview:gpt-4o*": 25 },
      });
    const charged = async (model: string): Promise<number | undefined> => {
      await (await one.send(path, chatBody(model, { stream }))).text();
      return one.ledger.settlements.at(-1)?.quota;
    };
    expect(await charged("gpt-4o-search-preview+usage:12:34")).toBe(12 + 68 + 12_500);
    expect(await charged("gpt-4o+usage:12:34")).toBe(12 + 68);
  },
);

test("an image in the request is estimated by a fixed allowance, not by its bytes", async () => {
  const image = { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(600_000)}` } };
  const { ledger, send } = bench();
  await (
    await send(
      path,
      chatBody("no-usage", { messages: [{ role: "user", content: [{ type: "text", text: "What is it?" }, image] }] }),
    )
  ).text();
  expect(ledger.settlements[0]?.log.prompt_tokens).toBeLessThan(8192);
  expect(ledger.settlements[0]?.log.prompt_tokens).toBeGreaterThan(100);
});

test.each([
  ["produced", true],
  ["free", false],
] as const)("a caller who leaves: %s", async (bill_left, pays) => {
  const { send, ledger, quiet } = bench({ bill_left, on_disconnect: "cut" });
  const response = await send(path, chatBody("paced:2000:5", { stream: true }));
  const reader = response.body?.getReader();
  await reader?.read();
  await reader?.cancel();
  await quiet();
  const [settlement] = ledger.settlements;
  expect(settlement?.log.end_reason).toBe("caller_left");
  expect((settlement?.quota ?? 0) > 0).toBe(pays);
  expect(ledger.balance + ledger.charged).toBe(1_000_000);
});
