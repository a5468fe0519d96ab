/** The ledger under load and kills, over the real server in its own process, on both engines. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { LOG_TYPE } from "../../src/shared/log";
import { ENGINES } from "../kit/databases";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { startWeir, type Weir } from "../kit/weir";
import { HURRIED } from "../kit/weir-process";

const SLOW = "words:5+slow-head:3000";
/** Long enough to see its hold. */
const SEEN = "words:5+slow-head:1000";
const QUICK = "words:5";
const PACED = "paced:100:20";
const ENDLESS = "paced:1000:50";
const HANGING = "hang-before-headers";
const MODELS = [SLOW, SEEN, QUICK, PACED, ENDLESS, HANGING];

const ask = (model: string, stream = false): object => ({
  model,
  stream,
  max_tokens: 5,
  messages: [{ role: "user", content: "hello" }],
});

for (const engine of ENGINES) {
  describe(engine, () => {
    const upstream = startFakeUpstream();
    let weir: Weir;
    let price: number;

    beforeAll(async () => {
      weir = await startWeir({ engine, child: HURRIED, env: { WEIR_DRAIN_SECONDS: "0" } });
      await weir.newChannel({ base_url: upstream.url, models: MODELS });
      await weir.priceModels(Object.fromEntries(MODELS.map((model) => [model, 1])));
      price = await holdOf(weir);
    }, 30_000);
    afterAll(async () => {
      await weir?.stop();
      upstream.close();
    });

    test("two hundred calls at once on a balance that covers 37 holds: 37 are served, 163 refused, no unit is lost", async () => {
      const user = await weir.newUser({ quota: 37 * price + price - 1 });
      const { key } = await weir.newToken({}, user);
      const before = (await weir.logs()).length;
      const answers = await Promise.all(
        Array.from({ length: 200 }, async () => {
          const response = await weir.call(key, ask(SLOW));
          return { status: response.status, body: (await response.json()) as { error?: { code?: string } } };
        }),
      );
      const served = answers.filter(({ status }) => status === 200);
      const refused = answers.filter(({ body }) => body.error?.code === "insufficient_quota");
      expect([served.length, refused.length]).toEqual([37, 163]);

      const rows = (await weir.logs()).slice(before);
      expect(rows.filter((row) => row.type === LOG_TYPE.consume)).toHaveLength(37);
      // 10 tokens in, 5 out, at a unit a token.
      expect(await weir.balance(user.id)).toEqual({
        quota: 38 * price - 1 - 37 * 15,
        used_quota: 37 * 15,
        request_count: 37,
      });
      expect(await weir.holds()).toBe(0);
      expect(await weir.audit()).toEqual([]);
    }, 60_000);

    test("a token's own quota is as hard a limit as the balance", async () => {
      const user = await weir.newUser({ quota: 1_000_000 });
      const { key } = await weir.newToken({ quota: 5 * price }, user);
      const answers = await Promise.all(Array.from({ length: 40 }, () => weir.call(key, ask(SLOW))));
      expect(answers.filter((answer) => answer.status === 200)).toHaveLength(5);
      await Promise.all(answers.map((answer) => answer.text()));
      expect(await weir.balance(user.id)).toMatchObject({ used_quota: 5 * 15, request_count: 5 });
      expect(await weir.audit()).toEqual([]);
    }, 60_000);

    test("SIGTERM drains: a running stream ends complete and charged, new connections are refused, the exit code is 0", async () => {
      const { key } = await weir.newToken({ name: "drain" });
      const before = (await weir.logs()).length;
      const response = await weir.call(key, ask(PACED, true));
      const reader = response.body?.getReader();
      const decoder = new TextDecoder();
      let text = decoder.decode((await reader?.read())?.value);
      weir.process?.kill("SIGTERM");
      await Bun.sleep(200);
      const late = await fetch(`${weir.url}/healthz`).then(
        () => "answered",
        () => "refused",
      );
      for (let part = await reader?.read(); part && !part.done; part = await reader?.read())
        text += decoder.decode(part.value);
      expect(text.trimEnd()).toEndWith("data: [DONE]");
      expect(await weir.process?.exited).toBe(0);
      expect(late).toBe("refused");
      expect((await weir.logs()).slice(before)).toMatchObject([
        { type: LOG_TYPE.consume, end_reason: "complete", model_name: PACED },
      ]);
      expect(await weir.holds()).toBe(0);
      expect(await weir.audit()).toEqual([]);
      await weir.restart();
    }, 60_000);

    test("SIGKILL at ten points of calls in flight: after restart and sweep no hold is left and the ledger balances", async () => {
      const user = await weir.newUser({ quota: 10_000_000 });
      const { key } = await weir.newToken({}, user);
      for (let point = 0; point < 10; point++) {
        const calls = [
          ...Array.from({ length: 4 }, () => weir.call(key, ask(ENDLESS, true))),
          ...Array.from({ length: 3 }, () => weir.call(key, ask(QUICK))),
          weir.call(key, ask(HANGING)),
        ].map((call) => call.then((response) => response.text()).catch(() => ""));
        await Bun.sleep(3 + point * 12);
        weir.process?.kill("SIGKILL");
        await weir.process?.exited;
        await Promise.all(calls);
        expect(await weir.audit()).toEqual([]);
        await weir.restart();
      }
      expect(await weir.holds()).toBeGreaterThan(0);
      await weir.ageHolds();
      for (const deadline = Date.now() + 25_000; (await weir.holds()) > 0 && Date.now() < deadline;)
        await Bun.sleep(100);
      expect(await weir.holds()).toBe(0);
      expect(await weir.audit()).toEqual([]);
      const rows = (await weir.logs()).filter((row) => row.user_id === user.id);
      expect(rows.some((row) => row.end_reason === "gateway_restart")).toBe(true);
      const charged = rows.filter((row) => row.type === LOG_TYPE.consume);
      const sum = charged.reduce((total, row) => total + row.quota, 0);
      expect(await weir.balance(user.id)).toEqual({
        quota: 10_000_000 - sum,
        used_quota: sum,
        request_count: charged.length,
      });
    }, 120_000);
  });
}

/** The hold of one call of SLOW, read from a call with the same price. */
async function holdOf(weir: Weir): Promise<number> {
  const { key } = await weir.newToken({ name: "probe" });
  const running = weir.call(key, ask(SEEN));
  for (const deadline = Date.now() + 900; Date.now() < deadline; await Bun.sleep(20)) {
    const [hold] = await weir.db.q.select({ amount: weir.db.t.holds.amount }).from(weir.db.t.holds);
    if (!hold) continue;
    await (await running).text();
    return hold.amount;
  }
  throw new Error("the call took no hold");
}
