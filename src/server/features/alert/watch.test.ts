import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { ENGINES } from "../../../../tests/kit/databases";
import { type Harness, HOOK_MS, openHarness } from "../../../../tests/kit/harness";
import { incidentText } from "../../../shared/incidents";
import { readParams } from "../../../shared/log-text";
import { ROLE } from "../../../shared/roles";
import { hoursLeft } from "./balance-pace";
import { openIncidents } from "./incidents";
import { jwtExpiry } from "./key-expiry";
import { compareModels, servedNames, watchUpstreams } from "./watch";

test("a model is lost when the channel serves it and the upstream once listed it; names that it never lists are not", () => {
  const first = compareModels(undefined, ["a", "b"], ["a", "b", "alias"]);
  expect(first).toEqual({ listed: ["a", "b"], lost: [], gained: [] });
  const known = { ...first, next_at: 0, models: ["a", "b"] };
  expect(compareModels(known, ["a", "c"], ["a", "b", "alias"])).toEqual({
    listed: ["a", "b"],
    lost: ["b"],
    gained: ["c"],
  });
  expect(compareModels(known, ["a"], ["a", "alias"]).lost).toEqual([]);
  expect(servedNames({ models: "gpt,claude,gpt", model_mapping: '{"gpt":"gpt-5"}' })).toEqual(["gpt-5", "claude"]);
});

test("a balance lasts what is left of it at the pace of the last hours, in its currency", () => {
  expect(hoursLeft(12, "USD", { since: 0, lately: 6 })).toEqual({ left: 12, pace: 1, hours: 12 });
  expect(hoursLeft(12, "", { since: 10, lately: 6 })?.hours).toBe(2);
  expect(hoursLeft(71, "CNY", { since: 0, lately: 6 })?.hours).toBeCloseTo(10);
  expect(hoursLeft(1, "USD", { since: 5, lately: 6 })?.hours).toBe(0);
  expect(hoursLeft(1, "USD", { since: 0, lately: 0 })).toBeUndefined();
  expect(hoursLeft(1, "points", { since: 0, lately: 6 })).toBeUndefined();
});

test("a key that is a JWT says when it expires; others do not", () => {
  const jwt = (payload: object) => `e30.${Buffer.from(JSON.stringify(payload)).toString("base64url")}.c2ln`;
  expect(jwtExpiry(jwt({ exp: 1_800_000_000 }))).toBe(1_800_000_000);
  expect([jwt({ exp: "soon" }), jwt({}), "sk-123", "a.b.c", ""].map(jwtExpiry)).toEqual(Array(5).fill(undefined));
});

describe.each([...ENGINES])("the upstream watch on %s", (engine) => {
  let house: Harness;
  let models = ["gpt-a", "gpt-b"];
  let asked = 0;
  const expires = Math.floor(Date.now() / 1000) + 3 * 86_400;
  const key = `e30.${Buffer.from(JSON.stringify({ exp: expires })).toString("base64url")}.c2lnbmF0dXJl`;
  const upstream = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => {
      asked += 1;
      return models.length === 0
        ? new Response("no", { status: 500 })
        : Response.json({ data: models.map((id) => ({ id })) });
    },
  });
  beforeAll(async () => {
    house = await openHarness(engine, { WEIR_ALLOW_PRIVATE_FETCH: "true" });
  }, HOOK_MS);
  afterAll(async () => {
    await upstream.stop(true);
    await house?.close();
  });
  afterEach(() => house.services.options.set("AlertRules", "[]"));

  const texts = async () =>
    (await openIncidents(house.services)).map(({ code, params, subject }) =>
      incidentText({ code, params: readParams(params), subject }, "en"),
    );

  test("asks each enabled channel once a day, tells of models and keys, and a list that fails says nothing", async () => {
    const root = await house.person({ role: ROLE.root });
    const rules = [
      { name: "models", kind: "models" },
      { name: "key", kind: "key", days: 7 },
    ];
    await house.services.options.set("AlertRules", JSON.stringify(rules));
    const base_url = `http://127.0.0.1:${upstream.port}`;
    await root.call.channel.create({ type: 1, name: "one", key, base_url, models: "gpt-a,gpt-b", group: "default" });
    await watchUpstreams(house.services);
    await watchUpstreams(house.services);
    expect(asked).toBe(1);
    expect(await texts()).toEqual([
      expect.stringMatching(/^Channel “one” \(#\d+\): its key ….{4} expires on .* \(in 3 d\)$/),
    ]);
    models = [];
    house.advance(86_401);
    await watchUpstreams(house.services);
    expect(await texts()).toHaveLength(1);
    models = ["gpt-a", "gpt-c"];
    house.advance(3601);
    await watchUpstreams(house.services);
    expect((await texts()).slice(1)).toEqual([
      expect.stringMatching(/the upstream no longer lists 1 models that the channel serves: gpt-b$/),
      expect.stringMatching(/1 new models upstream: gpt-c$/),
    ]);
    models = ["gpt-a", "gpt-b", "gpt-c"];
    house.advance(86_401);
    await watchUpstreams(house.services);
    expect((await texts()).filter((text) => text.includes("no longer"))).toEqual([]);
  });

  test("tells of a balance that runs dry, and ends it when the account was topped up", async () => {
    await house.services.options.set("AlertRules", JSON.stringify([{ name: "balance", kind: "balance", hours: 24 }]));
    const { services } = house;
    const { channels, usage_hourly } = services.db.t;
    const [channel] = await services.db.q.select({ id: channels.id }).from(channels);
    const id = channel?.id ?? 0;
    const now = Math.floor(services.now() / 1000);
    const unit = services.options.get("QuotaPerUnit");
    const row = { user_id: 1, token_id: 1, channel: id, model_name: "m", group: "g", count: 1 };
    await services.db.q.insert(usage_hourly).values({ ...row, hour: Math.floor(now / 3600) * 3600, quota: 6 * unit });
    const balance = (amount: number) =>
      services.db.q.update(channels).set({ balance: amount, balance_updated_time: now }).where(eq(channels.id, id));
    await balance(10);
    await watchUpstreams(services);
    const balances = async () => (await texts()).filter((text) => text.includes("balance"));
    expect(await balances()).toEqual([expect.stringContaining("lasts about 10 h (10 USD left, 1 USD an hour)")]);
    await balance(100);
    await watchUpstreams(services);
    expect(await balances()).toEqual([]);
  });
});
