import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { asc, eq } from "drizzle-orm";
import { emptyPostgres, ENGINES } from "../../../../tests/kit/databases";
import { type Harness, HOOK_MS, openHarness } from "../../../../tests/kit/harness";
import {
  keyOfToken,
  newApiHistory,
  newApiTables,
  oneApiTables,
  oneHubTables,
  PASSWORD,
  type SourceTables,
  writeFile,
  writeServer,
} from "../../../../tests/kit/import-sources";
import { verifyPassword } from "../auth/password";
import { audit } from "../wallet/audit";
import { openSource } from "../../db/foreign/open";
import { openDecisions } from "./plan";
import { planText } from "./report";
import { runImport, type RunInput } from "./run";
import type { Source } from "../../db/foreign/source";
import { survey, type SurveyInput } from "./survey";

const folder = mkdtempSync(join(tmpdir(), "weir-import-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
async function sourceOf(tables: SourceTables): Promise<Source> {
  const path = join(folder, `${++files}.db`);
  writeFile(path, tables);
  return openSource(path, {});
}

const ask = (answers: Record<string, string> = {}): SurveyInput => ({ answers, merge: false });
const go = (more: Partial<RunInput> = {}): RunInput => ({
  live: false,
  merge: false,
  logDays: Infinity,
  progress: () => {},
  stopped: () => false,
  ...more,
});

/** What the dry run of newApiTables recommends. */
const ANSWERS = { "name:bob:4": "rename", "mail:alice@x.example": "last", debts: "zero", "type:type 58": "disabled" };

async function recommended(house: Harness, source: Source): Promise<Record<string, string>> {
  const { plan } = await survey(house.services, source, ask());
  return Object.fromEntries(plan.decisions.map((one) => [one.id, one.recommended]));
}

async function findings(house: Harness): Promise<string[]> {
  const found: string[] = [];
  for await (const { rule, row, expected, found: there } of audit(house.services.db))
    found.push(`${rule} ${row}: ${expected}, ${there}`);
  return found;
}

describe("the dry run of new-api", () => {
  let house: Harness;
  beforeAll(async () => {
    house = await openHarness("sqlite");
  }, HOOK_MS);
  afterAll(() => house?.close());

  test("names the system, every column and table that holds something and is not taken, and what each row becomes", async () => {
    const { plan } = await survey(house.services, await sourceOf(newApiTables()), ask());
    expect(plan).toMatchObject({ system: "new-api", recognised: "new-api 0.8.5 or later", engine: "sqlite" });
    expect(plan.tables.map(({ table, rows, taken }) => [table, rows, taken])).toEqual([
      ["users", 8, 8],
      ["tokens", 4, 3],
      ["channels", 4, 4],
      ["redemptions", 2, 1],
      ["logs", 11, 11],
    ]);
    expect(
      plan.tables.flatMap(({ table, columns }) => columns.map((one) => `${table}.${one.column} ${one.rows}`)),
    ).toEqual(["users.discord_id 1", "channels.need_reconcile 1"]);
    expect(plan.other.map(({ table, rows }) => `${table} ${rows}`)).toEqual([
      "setups 1",
      "abilities 1",
      "top_ups 1",
      "fork_table 1",
    ]);
    expect(plan.options.left).toEqual([
      "CreemApiKey",
      "ServerAddress: set it by hand, it names the old server",
      "price of odd-model: its expression has no equal here; set its price before it is used",
    ]);
  });

  test("asks about names, mails, debts and unknown types, and is not open once they are answered", async () => {
    const source = await sourceOf(newApiTables());
    const { plan } = await survey(house.services, source, ask());
    expect(openDecisions(plan).map(({ id }) => id)).toEqual([
      "name:bob:4",
      "mail:alice@x.example",
      "debts",
      "type:type 58",
    ]);
    expect(ANSWERS).toEqual(
      Object.fromEntries(plan.decisions.map((one) => [one.id, one.recommended])) as typeof ANSWERS,
    );
    const answered = await survey(house.services, source, ask(ANSWERS));
    expect(openDecisions(answered.plan)).toEqual([]);
    const wrong = await survey(house.services, source, ask({ debts: "forgive" }));
    expect(openDecisions(wrong.plan)).toHaveLength(4);
  });

  test("plans and subscriptions are not taken, and the plan says so with their rows", async () => {
    const tables = newApiTables();
    tables.subscription_plans = { columns: { id: "int", title: "text" }, rows: [{ id: 1, title: "Pro" }] };
    tables.user_subscriptions = {
      columns: { id: "int", user_id: "int", amount_total: "bigint" },
      rows: [1, 2].map((id) => ({ id, user_id: id, amount_total: 5 })),
    };
    const { plan } = await survey(house.services, await sourceOf(tables), ask());
    expect(plan.other).toContainEqual({ table: "subscription_plans", rows: 1, why: "Weir has no plans" });
    expect(plan.other).toContainEqual({
      table: "user_subscriptions",
      rows: 2,
      why: "what is left of a plan must be given as a credit by hand",
    });
    expect(planText(plan)).toContain("user_subscriptions");
    expect(planText(plan, "zh")).toContain("user_subscriptions");
  });

  test("balances are equal to the unit, with debts apart", async () => {
    const { plan } = await survey(house.services, await sourceOf(newApiTables()), ask());
    expect(plan.balances).toEqual({ users: 8, old: 120_815, now: 121_065, debts: 250, left: 0 });
    expect(planText(plan)).toContain("120815 there, 121065 here (debts of 250 become 0): equal.");
  });

  test("old and new price of each served model in dollars per million tokens, and the models without one", async () => {
    const { plan } = await survey(house.services, await sourceOf(newApiTables()), ask());
    expect(plan.prices.find(({ model }) => model === "gpt-4o")).toEqual({
      model: "gpt-4o",
      old: { input: 2.5, output: 10 },
      now: { input: 2.5, output: 10 },
      differs: false,
    });
    expect(plan.prices.find(({ model }) => model === "expr-model")?.now).toEqual({ input: 2, output: 8 });
    expect(plan.unpriced).toEqual(["claude-sonnet-4-5", "odd-model"]);
  });

  test("the shadow run charges the last 1,000 charged calls at the prices here, however far back they are, and shows each difference", async () => {
    const tables = newApiTables();
    const [call] = tables.logs?.rows ?? [];
    const price = (tokens: number, other: object | null, quota: number, id: number) => ({
      ...call,
      id,
      prompt_tokens: tokens,
      completion_tokens: 10,
      quota,
      other: other && JSON.stringify(other),
    });
    if (tables.logs)
      tables.logs.rows = [
        // (100 + 10 x 4) x 1.25
        price(100, null, 175, 1),
        // 40 of 100 from the cache, at half of the input's price: (60 + 20 + 40) x 1.25
        price(100, { cache_tokens: 40, cache_ratio: 0.5 }, 150, 2),
        { ...price(100, null, 999, 3), model_name: "old-model" },
        { ...price(100, null, 5, 4), model_name: "nobody-serves-it" },
        // Their sum is right, and neither is.
        price(100, null, 180, 5),
        price(100, null, 170, 6),
        ...Array.from({ length: 6000 }, (_, n) => price(100, null, 0, 10 + n)),
      ];
    const { plan } = await survey(house.services, await sourceOf(tables), ask());
    expect(plan.shadow).toEqual({
      calls: 6,
      old: 1674,
      now: 1005,
      unpriced: 1,
      models: [
        { model: "old-model", group: "default", calls: 1, old: 999, now: 330 },
        { model: "gpt-4o", group: "default", calls: 4, old: 675, now: 675 },
      ],
      differences: [
        { id: "3", model: "old-model", old: 999, now: 330 },
        { id: "6", model: "gpt-4o", old: 170, now: 175 },
        { id: "5", model: "gpt-4o", old: 180, now: 175 },
      ],
    });
    expect(planText(plan)).toContain(
      "3 of them are charged differently\n  old-model log 3: 999 -> 330\n  gpt-4o log 6: 170",
    );
    expect(planText(plan, "zh")).toContain("其中 3 次的费用不同\n  old-model 日志 3: 999 -> 330");
    if (tables.logs)
      tables.logs.rows = Array.from({ length: 1200 }, (_, n) => price(100, null, n < 200 ? 999 : 175, n + 1));
    const { plan: many } = await survey(house.services, await sourceOf(tables), ask());
    expect(many.shadow).toMatchObject({ calls: 1000, old: 175_000, now: 175_000, models: [] });
  });

  test("in Chinese every sentence of the plan is: of options, channels, notes and questions", async () => {
    for (const tables of [newApiHistory(), oneApiTables(), oneHubTables()]) {
      // A wide open GitHub column, a channel that cannot be read, and settings that differ here.
      Object.assign(tables.users?.rows[1] ?? {}, { github_id: "123456" });
      Object.assign(tables.channels?.rows[0] ?? {}, { model_mapping: "{" });
      tables.options?.rows.push({ key: "RetryTimes", value: "3" }, { key: "ChannelDisableThreshold", value: "5" });
      const found = await survey(house.services, await sourceOf(tables), { ...ask(), since: 0 });
      const english = planText(found.plan, "zh")
        .split("\n")
        .filter((line) => /[a-z]{2,}( [a-z]{2,}){3}/i.test(line));
      expect(english).toEqual([]);
      expect(planText(found.plan, "zh")).toContain("RetryTimes：这里是在其他渠道重试的次数");
    }
  });

  test("no secret is in the plan, as JSON or as text", async () => {
    const { plan } = await survey(house.services, await sourceOf(newApiTables()), ask());
    const shown = JSON.stringify(plan) + planText(plan);
    for (const secret of [
      "secret-value",
      "sk-upstream",
      "k-a",
      keyOfToken(1),
      "$2a$",
      "0123456789abcdef0123",
      "a".repeat(32),
    ])
      expect(shown).not.toContain(secret);
  });

  test("a source of no known system is refused, and so is a run with an open decision", async () => {
    await expect(
      survey(house.services, await sourceOf({ things: { columns: { id: "int" }, rows: [] } }), ask()),
    ).rejects.toThrow(/none of the systems/);
    const source = await sourceOf(newApiTables());
    const found = await survey(house.services, source, ask());
    await expect(runImport(house.services, found, undefined, go())).rejects.toThrow(/decisions are open/);
  });
});

test(
  "one-api: types by name, addresses to which no /v1 is added become complete, AWS keys come from config",
  async () => {
    const house = await openHarness("sqlite");
    try {
      const source = await sourceOf(oneApiTables());
      const { plan, tables } = await survey(house.services, source, ask());
      expect(plan.system).toBe("one-api");
      expect(plan.channels.map(({ was, becomes }) => `${was} -> ${becomes}`)).toEqual([
        "xAI -> xAI",
        "CloseAI -> OpenAI",
        "AWS -> AWS Bedrock Claude",
        "DeepL -> Custom (disabled)",
        "OpenAI compatible -> OpenAI",
        "OpenAI compatible -> Custom",
      ]);
      const rows = (await source.rows("channels", "id", undefined, 10)).map((row) => tables.channels.read(row));
      expect(rows.map((row) => ("left" in row ? "" : row.base_url))).toEqual([
        "",
        "https://api.closeai-proxy.xyz",
        "",
        "",
        "https://api.example",
        "https://api.example/openai/chat/completions",
      ]);
      expect(rows[2]).toMatchObject({ keys: [{ key: "AKIA|secret|us-east-1" }], weight: 0 });
      const found = await survey(house.services, source, ask(await recommended(house, source)));
      await runImport(house.services, found, undefined, go());
      expect(await findings(house)).toEqual([]);
      const { q, t } = house.services.db;
      const logs = await q.select().from(t.logs);
      expect(logs.map(({ use_time, quota }) => [use_time, quota])).toEqual([[2, 3]]);
      const [token] = await q.select().from(t.tokens);
      expect(token).toMatchObject({
        status: 1,
        unlimited_quota: true,
        model_limits: "moonshot-v1-8k",
        allow_ips: "10.0.0.0/8\n::1",
      });
    } finally {
      await house.close();
    }
  },
  HOOK_MS,
);

test(
  "one-hub: prices and groups of its tables, its own type numbers, limits of tokens, GitHub by numeric id",
  async () => {
    const house = await openHarness("sqlite");
    try {
      const source = await sourceOf(oneHubTables());
      const found = await survey(house.services, source, ask());
      const { plan } = found;
      expect(plan.system).toBe("one-hub");
      expect(plan.channels.map(({ was, becomes }) => `${was} -> ${becomes}`)).toEqual([
        "xAI -> xAI",
        "Gemini -> Google Gemini",
      ]);
      expect(plan.prices.map(({ model, now }) => [model, now])).toEqual([
        ["dall-e-3", { call: 0.04 }],
        ["gpt-4o", { input: 2.5, output: 10 }],
        ["grok-4", { input: 3, output: 15 }],
      ]);
      expect(openDecisions(plan)).toEqual([]);
      expect(plan.options.left).toEqual([
        "extra ratio reasoning_tokens of gpt-4o",
        "promotion of group pro by what is paid",
      ]);
      await runImport(house.services, found, undefined, go({ live: true }));
      expect(await findings(house)).toEqual([]);
      const { q, t } = house.services.db;
      const [token] = await q.select().from(t.tokens);
      expect(token).toMatchObject({
        model_limits_enabled: true,
        model_limits: "gpt-4o",
        allow_ips: "10.1.0.0/16",
        used_quota: 8,
      });
      const [grok] = await q.select().from(t.channels).where(eq(t.channels.id, 1));
      expect(grok).toMatchObject({ status: 1, weight: 1, header_override: '{"x-team":"a"}' });
      expect(grok?.setting).not.toContain("proxy-secret-value");
      const [bound] = await q.select().from(t.identities);
      expect(bound).toMatchObject({ user_id: 1, provider: "github", subject: "583231" });
      expect(house.services.options.get("GroupRatio")).toEqual({ default: 1, pro: 0.5 });
    } finally {
      await house.close();
    }
  },
  HOOK_MS,
);

const byTable = (a: { table: string }, b: { table: string }): number => a.table.localeCompare(b.table);

test(
  "a source on Postgres is read like the file (padded char, booleans, timestamps), and cannot be written",
  async () => {
    const [fresh, house] = [await emptyPostgres(), await openHarness("sqlite")];
    try {
      const client = new SQL(fresh.url, { max: 1 });
      await client.unsafe("set time zone 'UTC'");
      await writeServer(client, "postgres", newApiTables());
      await client.close();
      const [source, file] = [await openSource(fresh.url, {}), await sourceOf(newApiTables())];
      const [one, other] = [await survey(house.services, source, ask()), await survey(house.services, file, ask())];
      expect({ ...one.plan, engine: "", other: one.plan.other.toSorted(byTable) }).toEqual({
        ...other.plan,
        engine: "",
        other: other.plan.other.toSorted(byTable),
      });
      const answers = Object.fromEntries(one.plan.decisions.map(({ id, recommended }) => [id, recommended]));
      const found = await survey(house.services, source, ask(answers));
      await runImport(house.services, found, undefined, go());
      await source.close();
      expect(await findings(house)).toEqual([]);
      const caller = house.services.tokens.authenticate(`sk-${keyOfToken(1)}`, "127.0.0.1", "en");
      await expect(caller).resolves.toMatchObject({ token_id: 1 });
      const { q, t } = house.services.db;
      const [gone] = await q.select().from(t.users).where(eq(t.users.username, "gone"));
      expect(gone?.deleted_at).toBe(Date.UTC(2025, 0, 2, 3, 4, 5) / 1000);
    } finally {
      await house.close();
      await fresh.close();
    }
  },
  HOOK_MS * 2,
);

test(
  "killed after any transaction, the books balance; and the next run makes it whole",
  async () => {
    const source = await sourceOf(newApiTables());
    for (let after = 0; after < 100; after++) {
      const house = await openHarness("sqlite");
      try {
        const found = await survey(house.services, source, ask(ANSWERS));
        let left = after;
        const { db } = house.services;
        const mortal = {
          ...house.services,
          db: {
            ...db,
            tx: ((steps, options) =>
              left-- > 0 ? db.tx(steps, options) : Promise.reject(new Error("killed"))) as typeof db.tx,
          },
        };
        const whole = await runImport(mortal, found, undefined, go()).then(
          () => true,
          () => false,
        );
        expect(await findings(house)).toEqual([]);
        if (whole) {
          expect(after).toBe(5);
          return;
        }
        await runImport(house.services, found, undefined, go());
        expect(await findings(house)).toEqual([]);
        const { t, q } = db;
        expect([
          await q.$count(t.users),
          await q.$count(t.tokens),
          await q.$count(t.channels),
          await q.$count(t.logs),
        ]).toEqual([8, 3, 4, 10]);
      } finally {
        await house.close();
      }
    }
    expect.unreachable();
  },
  HOOK_MS * 2,
);

test(
  "a user who has spent here and changed there is refused; --merge adds the difference, and no balance falls below zero",
  async () => {
    const house = await openHarness("sqlite");
    try {
      const { db } = house.services;
      const { q, t } = db;
      const source = await sourceOf(newApiTables());
      const found = await survey(house.services, source, ask(await recommended(house, source)));
      await runImport(house.services, found, undefined, go());
      for (const [id, quota] of [
        [1, 100],
        [2, 1950],
      ] as const) {
        const [user] = await q.select().from(t.users).where(eq(t.users.id, id));
        if (!user) throw new Error("no such user");
        const set = {
          quota: user.quota - quota,
          used_quota: user.used_quota + quota,
          request_count: user.request_count + 1,
        };
        await q.update(t.users).set(set).where(eq(t.users.id, id));
        const created_at = Math.floor(house.services.now() / 1000) + 1;
        await q.insert(t.logs).values({ request_id: `here-${id}`, created_at, type: 2, user_id: id, quota });
      }
      expect(await findings(house)).toEqual([]);
      const tables = newApiTables();
      const [root, alice] = tables.users?.rows ?? [];
      Object.assign(root ?? {}, { quota: 99_000, used_quota: 1070 });
      Object.assign(alice ?? {}, { quota: 1000, used_quota: 1030 });
      const later = await sourceOf(tables);
      const next = await survey(house.services, later, ask(await recommended(house, later)));
      await expect(runImport(house.services, next, undefined, go())).rejects.toThrow(
        /root, alice\. Nothing was written; --merge/,
      );
      await runImport(house.services, next, undefined, go({ merge: true }));
      expect(await findings(house)).toEqual([]);
      const users = await q.select().from(t.users).orderBy(asc(t.users.id)).limit(2);
      // root: 100,000 - 100 here - 1,000 there. alice: 2,000 - 1,950 here, and of 1,000 there 50 were left.
      expect(users.map((one) => [one.quota, one.used_quota])).toEqual([
        [98_900, 1170],
        [0, 2980],
      ]);
    } finally {
      await house.close();
    }
  },
  HOOK_MS,
);

test(
  "into a house that is not empty: joined with the account of the same name, new ids where they are taken",
  async () => {
    const house = await openHarness("sqlite");
    try {
      const { db, secrets } = house.services;
      const { q, t } = db;
      const created_at = 1;
      await q.insert(t.users).values([
        { id: 1, username: "Root", password_hash: "-", role: 100, quota: 0, created_at },
        { id: 2, username: "other", password_hash: "-", quota: 0, created_at },
      ]);
      const source = await sourceOf(newApiTables());
      const answers = await recommended(house, source);
      expect(answers["name:root"]).toBe("join");
      await runImport(house.services, await survey(house.services, source, ask(answers)), undefined, go());
      expect(await findings(house)).toEqual([]);
      const [root] = await q.select().from(t.users).where(eq(t.users.id, 1));
      expect(root).toMatchObject({ username: "Root", password_hash: "-", quota: 100_000, used_quota: 70 });
      const [alice] = await q.select().from(t.users).where(eq(t.users.username, "alice"));
      expect(alice?.id).toBe(10);
      const [token] = await q
        .select()
        .from(t.tokens)
        .where(eq(t.tokens.key_hash, secrets.hash("relay-key", keyOfToken(2))));
      expect(token?.user_id).toBe(10);
    } finally {
      await house.close();
    }
  },
  HOOK_MS,
);

describe.each([...ENGINES])("the run of new-api into %s", (engine) => {
  let house: Harness;
  let source: Source;
  beforeAll(async () => {
    house = await openHarness(engine);
    source = await sourceOf(newApiTables());
    const found = await survey(house.services, source, ask(ANSWERS));
    const done = await runImport(house.services, found, undefined, go());
    expect(done).toMatchObject({
      users: { users: 8, tokens: 3 },
      channels: 4,
      codes: 1,
      options: {},
      moved: false,
      finished: true,
    });
    await house.services.options.reload();
  }, HOOK_MS * 2);
  afterAll(() => house?.close());

  test("the audit is clean, and totals are the source's", async () => {
    expect(await findings(house)).toEqual([]);
    const { q, t } = house.services.db;
    const users = await q.select().from(t.users).orderBy(asc(t.users.id));
    expect(users.map((one) => [one.id, one.username, one.quota, one.used_quota, one.request_count])).toEqual([
      [1, "root", 100_000, 70, 7],
      [2, "alice", 2000, 30, 3],
      [3, "Bob", 3000, 0, 0],
      [4, "bob-4", 5, 0, 0],
      [5, "debtor", 0, 900, 9],
      [6, "gone", 60, 0, 0],
      [7, "nopass", 7000, 0, 0],
      [9, "admin2", 9000, 0, 0],
    ]);
    const channels = await q.select().from(t.channels).orderBy(asc(t.channels.id));
    expect(channels.map((one) => [one.id, one.status, one.used_quota, one.weight])).toEqual([
      [1, 2, 80, 10],
      [2, 2, 0, 15],
      [3, 2, 0, 10],
      [4, 2, 12, 10],
    ]);
  });

  test("the old password signs in, the old key calls, and the old system access token works", async () => {
    const { db, secrets, tokens } = house.services;
    const [alice] = await db.q.select().from(db.t.users).where(eq(db.t.users.username, "alice"));
    expect(await verifyPassword(PASSWORD, alice?.password_hash ?? "")).toBe(true);
    expect(alice?.access_token_hash).toBe(secrets.hash("access-token", "a".repeat(32)));
    await expect(tokens.authenticate(`sk-${keyOfToken(1)}`, "127.0.0.1", "en")).resolves.toMatchObject({
      user_id: 1,
      token_id: 1,
    });
    await expect(tokens.authenticate(`sk-${keyOfToken(3)}`, "127.0.0.1", "en")).rejects.toThrow();
  });

  test("limits, bindings, inviters, earnings and settings arrive; secrets arrive encrypted", async () => {
    const { db, secrets } = house.services;
    const { q, t } = db;
    const [alice] = await q.select().from(t.users).where(eq(t.users.id, 2));
    expect(alice).toMatchObject({ inviter_id: 3, aff_quota: 40, aff_history_quota: 100, email: "" });
    const setting = JSON.parse(alice?.setting ?? "{}");
    expect(setting.webhook_secret).toBeUndefined();
    expect(secrets.decrypt("user-secret", setting.webhook_secret_cipher)).toBe("hook-secret-value");
    expect(
      await q
        .select({ user_id: t.identities.user_id, provider: t.identities.provider, subject: t.identities.subject })
        .from(t.identities),
    ).toEqual([{ user_id: 3, provider: "linuxdo", subject: "77" }]);
    const [token] = await q.select().from(t.tokens).where(eq(t.tokens.id, 2));
    expect(token).toMatchObject({
      status: 1,
      model_limits_enabled: true,
      model_limits: "gpt-4o,old-model",
      allow_ips: "10.0.0.0/8\n192.0.2.1",
    });
    const keys = await q.select().from(t.channel_keys).orderBy(asc(t.channel_keys.position));
    expect(keys.map((one) => [secrets.decrypt("channel-key", one.key_cipher), one.status])).toEqual([
      ["k-a", 1],
      ["k-b", 2],
      ["k-c", 1],
    ]);
    const [gemini] = await q.select().from(t.channels).where(eq(t.channels.id, 4));
    expect(gemini?.header_override).not.toContain("up-secret-value");
    expect(JSON.parse(gemini?.setting ?? "{}")).toEqual({ allow_speed: true });
    expect(house.services.options.get("SMTPToken")).toBe("smtp-secret-value");
    expect(house.services.options.get("ModelRatio")).toMatchObject({ "gpt-4o": 1.25, "old-model": 3 });
  });

  test("roll-ups have the log's hours, and rows of users who are gone are left", async () => {
    const { q, t } = house.services.db;
    const rows = await q.select().from(t.usage_hourly).where(eq(t.usage_hourly.model_name, "gpt-4o"));
    expect(rows.reduce((sum, row) => sum + row.quota, 0)).toBe(5 * 10 + 12 + 5 - 4);
    expect(await q.$count(t.logs)).toBe(10);
  });

  test("the report of the run is kept for super administrators, in the reader's language, without secrets", async () => {
    const root = await house.person({ role: 100, lang: "en" });
    const [report] = await root.call.import.reports();
    const { text } = await root.call.import.report({ id: report?.id ?? 0 });
    expect(text).toContain("Source: new-api 0.8.5 or later, sqlite");
    expect(text).toContain("Users: 8 new");
    const other = await house.person({ role: 100, lang: "zh" });
    const { text: chinese } = await other.call.import.report({ id: report?.id ?? 0 });
    expect(chinese).toContain("来源：new-api 0.8.5 or later, sqlite");
    expect(chinese).toContain("用户：新增 8");
    expect(chinese).toContain("由渠道得出");
    for (const one of [text, chinese]) expect(one).not.toContain("secret-value");
    await expect(root.call.import.report({ id: 999 })).rejects.toThrow();
    const admin = await house.person({ role: 10 });
    await expect(admin.call.import.reports()).rejects.toThrow();
  });

  test(
    "run again, nothing changes; after more use there, only the difference comes",
    async () => {
      const found = await survey(house.services, source, ask(ANSWERS));
      const again = await runImport(house.services, found, undefined, go());
      expect(again).toMatchObject({
        users: { users: 0, tokens: 0, changed: 0 },
        channels: 0,
        codes: 0,
        logs: { read: 0 },
      });
      const tables = newApiTables();
      const [root] = tables.users?.rows ?? [];
      Object.assign(root ?? {}, { quota: 99_990, used_quota: 80, request_count: 8 });
      Object.assign(tables.tokens?.rows[0] ?? {}, { used_quota: 60 });
      tables.logs?.rows.push({ ...tables.logs.rows[0], id: 12, quota: 10 });
      const later = await sourceOf(tables);
      const next = await survey(house.services, later, ask(ANSWERS));
      expect(next.plan.source).toBe(found.plan.source);
      const done = await runImport(house.services, next, undefined, go());
      expect(done).toMatchObject({ users: { users: 0, changed: 1 }, logs: { read: 1, kept: 1 } });
      expect(await findings(house)).toEqual([]);
      const { q, t } = house.services.db;
      const [user] = await q.select().from(t.users).where(eq(t.users.id, 1));
      expect(user).toMatchObject({ quota: 99_990, used_quota: 80, request_count: 8 });
      await later.close();
    },
    HOOK_MS,
  );
});
