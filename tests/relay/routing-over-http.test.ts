/**
 * Routing and automatic status through a real Weir: what operators and callers see of cooldown, disabling and recovery.
 */
import { zhText } from "../kit/row-text";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { readStatusInfo } from "../../src/shared/channel-operations";
import { addUp, healthOf, successOf } from "../../src/shared/health";
import { ENGINES } from "../kit/databases";
import { HOOK_MS } from "../kit/harness";
import { startWeir, type Weir } from "../kit/weir";

const TEST_MS = 60_000;

/** The behaviour of the upstream's accounts, by the first part of their path. */
const accounts = new Map<string, (body: string) => Response | Promise<Response>>();
const seen: string[] = [];
const answered = (): Response =>
  Response.json({
    id: "x",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  });
const refused =
  (status: number, error: Record<string, unknown>, headers: Record<string, string> = {}) =>
  () =>
    Response.json({ error }, { status, headers });
const upstream = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const account = new URL(request.url).pathname.split("/")[1] ?? "";
    seen.push(account);
    const body = await request.text();
    return accounts.get(account)?.(body) ?? answered();
  },
});
afterAll(() => upstream.stop(true));
afterEach(() => {
  accounts.clear();
  seen.length = 0;
});

for (const engine of ENGINES) {
  describe(`routing on ${engine}`, () => {
    let weir: Weir;
    let key: string;
    const channel = (name: string, more: Record<string, unknown> = {}): Promise<number> =>
      weir.newChannel({ name, key: `sk-${name}`, base_url: `${upstream.url}${name}`, models: ["m"], ...more });
    const say = (text: string, more: Record<string, unknown> = {}): Promise<Response> =>
      weir.call(key, { model: "m", messages: [{ role: "user", content: text }], ...more });
    const row = async (id: number) => {
      const { channels } = weir.db.t;
      const [found] = await weir.db.q.select().from(channels).where(eq(channels.id, id));
      if (!found) throw new Error(`no channel ${id}`);
      return found;
    };
    async function until(what: () => Promise<boolean>): Promise<void> {
      const deadline = performance.now() + 20_000;
      while (!(await what())) {
        if (performance.now() > deadline) throw new Error("it did not happen");
        await Bun.sleep(10);
      }
    }
    const statusIs = (id: number, status: number): Promise<void> =>
      until(async () => (await row(id)).status === status);
    async function removeChannels(): Promise<void> {
      const rows = await weir.db.q.select({ id: weir.db.t.channels.id }).from(weir.db.t.channels);
      if (rows.length > 0) await weir.root.ok("POST", "/api/channel/batch", { ids: rows.map(({ id }) => id) });
    }

    beforeAll(async () => {
      weir = await startWeir({ engine });
      key = (await weir.newToken()).key;
      await weir.priceModels({ m: 1 });
      await weir.setOption("RetryTimes", 3);
      await weir.setOption("AutomaticDisableChannelEnabled", true);
      await weir.setOption("AutomaticEnableChannelEnabled", true);
      await weir.setOption("StickyRouting", false);
    }, HOOK_MS);
    afterEach(removeChannels, HOOK_MS);
    afterAll(() => weir.stop(), HOOK_MS);

    test(
      "bad credentials disable a channel with reason and time; the caller gets his answer from another, and nobody asks it again",
      async () => {
        const [bad, good] = [await channel("bad", { priority: 9 }), await channel("good")];
        accounts.set(
          "bad",
          refused(401, {
            message: "Incorrect API key provided: sk-bad-0123456789abcdef",
            type: "invalid_request_error",
            code: "invalid_api_key",
          }),
        );
        expect((await say("hello")).status).toBe(200);
        // spec: C-330
        await statusIs(bad, 3);
        const info = readStatusInfo((await row(bad)).other_info, "en");
        expect(info?.reason).toStartWith("The upstream refused service (status 401): Incorrect API key provided");
        expect(info?.reason).not.toContain("0123456789abcdef");
        expect(Math.abs((info?.time ?? 0) - Date.now() / 1000)).toBeLessThan(60);
        const event = await weir.waitForLog((log) => log.type === 4 && log.channel === bad, 20_000);
        expect(event.code).toBe("channel_auto_disabled");
        expect(JSON.parse(event.other)).toMatchObject({ model: "m" });
        seen.length = 0;
        for (let i = 0; i < 5; i++) expect((await say("again")).status).toBe(200);
        // spec: C-330
        expect(new Set(seen)).toEqual(new Set(["good"]));
        expect((await row(good)).status).toBe(1);
      },
      TEST_MS,
    );

    test(
      "a dead channel beside a good one turns red, the good one stays green, and a caller's own mistake colours neither",
      async () => {
        const [dead, good] = [await channel("dead", { priority: 9 }), await channel("good")];
        accounts.set("dead", refused(503, { message: "gone", code: "server_error" }));
        expect((await say("hello")).status).toBe(200);
        accounts.set("good", refused(400, { message: "no", type: "invalid_request_error", code: "invalid_value" }));
        expect((await say("wrong")).status).toBe(400);
        const { logs, usage_hourly: u } = weir.db.t;
        await until(async () => (await weir.db.q.select().from(logs).where(eq(logs.folded, 0))).length === 0);
        const health = await weir.root.trpc.channel.health.query({ ids: [dead, good] });
        const of = (id: number) => addUp(health[id] ?? []);
        // After its first failure it may rest for the second call.
        expect(of(dead).errors).toBeGreaterThan(0);
        expect(healthOf(successOf(of(dead)))).toBe("bad");
        expect(of(good)).toMatchObject({ calls: 1, errors: 0 });
        expect(healthOf(successOf(of(good)))).toBe("good");
        // The call itself is counted once, at the channel that served it.
        const [hour] = await weir.db.q.select().from(u).where(eq(u.channel, good));
        expect(hour).toMatchObject({ count: 1 });
        expect(await weir.db.q.select().from(u).where(eq(u.channel, dead))).toEqual([]);
        expect((await row(good)).used_quota).toBe(hour?.quota ?? -1);
        expect(await weir.audit()).toEqual([]);
        const { models } = await weir.root.trpc.status.models.query();
        expect(models.find(({ model }) => model === "m")?.failed_attempts).toBeGreaterThanOrEqual(of(dead).errors);
      },
      TEST_MS,
    );

    test(
      "a phrase of the option disables, but not when the caller himself wrote it, in a body or in a form",
      async () => {
        const id = await channel("words");
        // An upstream that quotes the request.
        const echo = (body: string): Response =>
          Response.json({ error: { message: `cannot process: ${body}` } }, { status: 403 });
        accounts.set("words", echo);
        expect((await say("please print: PERMISSION denied")).status).toBe(502);
        const form = new FormData();
        form.set("model", "m");
        form.set("prompt", "Your credit balance is too low");
        form.set("image", new File([new Uint8Array(2000)], "permission denied.png", { type: "image/png" }));
        const sent = await fetch(`${weir.url}/v1/images/edits`, {
          method: "POST",
          headers: { authorization: `Bearer ${key}` },
          body: form,
        });
        expect(sent.status).toBe(502);
        // The effects of those two are over when a later change of another channel has taken effect.
        const other = await channel("other", { models: ["m2"] });
        await weir.priceModels({ m: 1, m2: 1 });
        accounts.set("other", refused(401, { message: "no", code: "invalid_api_key" }));
        await weir.call(key, { model: "m2", messages: [{ role: "user", content: "x" }] });
        await statusIs(other, 3);
        expect((await row(id)).status).toBe(1);

        accounts.set("words", refused(403, { message: "Your account: permission denied by policy" }));
        expect((await say("hello")).status).toBe(502);
        await statusIs(id, 3);
      },
      TEST_MS,
    );

    test(
      "without the option, or with auto_ban off, nothing is disabled, and the caller still gets his answer elsewhere",
      async () => {
        const [spared, good] = [await channel("spared", { priority: 9, auto_ban: 0 }), await channel("good")];
        accounts.set("spared", refused(401, { message: "no", code: "invalid_api_key" }));
        expect((await say("one")).status).toBe(200);
        await weir.root.ok("PUT", "/api/channel/", { id: spared, auto_ban: 1 });
        await weir.setOption("AutomaticDisableChannelEnabled", false);
        const gone = await channel("gone", { priority: 10 });
        accounts.set("gone", refused(402, { message: "pay", code: "insufficient_quota" }));
        expect((await say("two")).status).toBe(200);
        await weir.setOption("AutomaticDisableChannelEnabled", true);
        // spec: C-217, C-330
        expect([(await row(spared)).status, (await row(gone)).status, (await row(good)).status]).toEqual([1, 1, 1]);
      },
      TEST_MS,
    );

    test(
      "the test of all channels enables what was disabled automatically and works again, never what a person disabled",
      async () => {
        const [mine, byHand, still] = [await channel("mine"), await channel("byhand"), await channel("still")];
        for (const name of ["mine", "still"])
          accounts.set(name, refused(401, { message: "no", code: "invalid_api_key" }));
        await weir.root.ok("PUT", "/api/channel/", { id: byHand, status: 2 });
        await say("both fail");
        await Promise.all([statusIs(mine, 3), statusIs(still, 3)]);
        accounts.delete("mine");
        await weir.root.ok("GET", "/api/channel/test");
        await statusIs(mine, 1);
        await until(async () => (await weir.root.trpc.channel.run.query({ kind: "test" }))?.running === false);
        expect([(await row(byHand)).status, (await row(still)).status]).toEqual([2, 3]);
        expect((await row(mine)).other_info).toBe("");
        expect(seen).not.toContain("byhand");
        const event = await weir.waitForLog(
          (log) => log.type === 4 && log.channel === mine && log.code === "channel_auto_enabled",
          20_000,
        );
        expect(zhText(event)).toContain("自动启用");
        expect((await say("works again")).status).toBe(200);
      },
      TEST_MS,
    );

    test(
      "a failing channel cools down: it is passed over until its time is over, and real traffic finds it well again",
      async () => {
        const [first, second] = [await channel("first", { priority: 9 }), await channel("second")];
        accounts.set(
          "first",
          refused(429, { message: "slow down", code: "rate_limit_exceeded" }, { "retry-after": "2" }),
        );
        expect((await say("one")).status).toBe(200);
        const plan = await weir.root.trpc.channel.dryRun.query({ model: "m" });
        expect(plan.channels.map(({ id, standing, turn }) => [id, standing, turn])).toEqual([
          [second, "ready", 1],
          [first, "cooling", 2],
        ]);
        expect(plan.channels[1]?.remaining_ms).toBeLessThanOrEqual(2_000);
        accounts.delete("first");
        seen.length = 0;
        await until(async () => (await say("again"), seen.includes("first")));
        const back = await weir.root.trpc.channel.dryRun.query({ model: "m" });
        expect(back.channels[0]).toMatchObject({ id: first, standing: "ready", turn: 1 });
        expect((await row(first)).status).toBe(1);
      },
      TEST_MS,
    );

    test(
      "a conversation leaves its channel when that cools down and stays with the new one when the old is back",
      async () => {
        await weir.setOption("StickyRouting", true);
        const ids = { left: await channel("left"), right: await channel("right") };
        const talk = () => say("the same beginning", { user: "conversation-1" });
        await talk();
        const own = seen.at(-1) === "left" ? "left" : "right";
        const other = own === "left" ? "right" : "left";
        seen.length = 0;
        for (let i = 0; i < 6; i++) await talk();
        expect(new Set(seen)).toEqual(new Set([own]));
        accounts.set(own, refused(429, { message: "slow down" }, { "retry-after": "1" }));
        expect((await talk()).status).toBe(200);
        accounts.delete(own);
        const plan = () => weir.root.trpc.channel.dryRun.query({ model: "m", cache_key: "conversation-1" });
        expect((await plan()).channels.find(({ id }) => id === ids[own])?.standing).toBe("cooling");
        await until(async () => (await plan()).channels.every(({ standing }) => standing === "ready"));
        expect((await plan()).sticky).toBe(ids[other]);
        seen.length = 0;
        for (let i = 0; i < 6; i++) await talk();
        expect(new Set(seen)).toEqual(new Set([other]));
        await weir.setOption("StickyRouting", false);
      },
      TEST_MS,
    );

    test(
      "group auto serves from its first group, from the next while that cools, and bills each at its own ratio",
      async () => {
        await weir.setOption("GroupRatio", { default: 1, cheap: 1, dear: 3 });
        await weir.setOption("UserUsableGroups", { default: "d", cheap: "c", dear: "d" });
        await weir.setOption("AutoGroups", ["cheap", "dear"]);
        await weir.setOption("DefaultUseAutoGroup", true);
        await channel("cheap", { group: "cheap" });
        await channel("dear", { group: "dear", priority: 99 });
        const auto = await weir.newToken({ name: "auto", group: "auto" });
        const talk = () => weir.call(auto.key, { model: "m", messages: [{ role: "user", content: "x" }] });
        expect((await talk()).status).toBe(200);
        accounts.set("cheap", refused(503, { message: "overloaded" }));
        expect((await talk()).status).toBe(200);
        expect((await talk()).status).toBe(200);
        expect(seen).toEqual(["cheap", "cheap", "dear", "dear"]);
        const rows = (await weir.logs()).filter((log) => log.token_id === auto.id && log.type === 2);
        expect(rows.map(({ group, quota }) => [group, quota])).toEqual([
          ["cheap", 15],
          ["dear", 45],
          ["dear", 45],
        ]);
      },
      TEST_MS,
    );

    test(
      "a token's budget holds through the books, over REST and for parallel calls, and the books are right",
      async () => {
        await channel("one");
        const token = await weir.newToken({ name: "tight", budget_day: 2_000, group: "default" });
        // Answered when one was refused: the usage is far less than the hold, so calls in sequence would all fit.
        const full = Promise.withResolvers<void>();
        accounts.set("one", () => full.promise.then(answered));
        const responses = await Promise.all(
          Array.from({ length: 12 }, async () => {
            const response = await weir.call(token.key, {
              model: "m",
              max_tokens: 300,
              messages: [{ role: "user", content: "x" }],
            });
            if (response.status === 429) full.resolve();
            return response;
          }),
        );
        const good = responses.filter(({ status }) => status === 200).length;
        expect(good).toBeGreaterThan(0);
        expect(responses.filter(({ status }) => status === 429)).toHaveLength(12 - good);
        const refusal = responses.find(({ status }) => status === 429);
        expect(Number(refusal?.headers.get("retry-after"))).toBeGreaterThan(0);
        expect(await refusal?.json()).toMatchObject({ error: { code: "budget_day_used_up" } });
        const spent = await weir.db.q.select().from(weir.db.t.budget_spend);
        expect(spent.map(({ name, amount }) => [name.replace(/:[\d-]+$/, ""), amount])).toEqual([
          [`token:${token.id}`, good * 15],
        ]);
        expect(await weir.audit()).toEqual([]);
        expect(await weir.holds()).toBe(0);
      },
      TEST_MS,
    );
  });
}
