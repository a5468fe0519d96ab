import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createCipheriv, createHash, scryptSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { type Harness, HOOK_MS, openHarness } from "../../../../tests/kit/harness";
import { memorySource } from "../../db/foreign/memory";
import { openSource } from "../../db/foreign/open";
import { sha256 } from "../../lib/secrets";
import { revealToken } from "../token/service";
import { periodsAt } from "../limit/periods";
import { audit } from "../wallet/audit";
import { planText } from "./report";
import { runImport, type RunInput } from "./run";
import { survey } from "./survey";

const SALT = "sk-salt-1234";
const KEY = "sk-Ab_dEfGhIjKlMnOpQrStUv";

/** As LiteLLM encrypts with general_settings.encryption_algorithm = aes-256-gcm. */
function gcm(text: string): string {
  const iv = Buffer.alloc(12, 7);
  const cipher = createCipheriv("aes-256-gcm", createHash("sha256").update(SALT).digest(), iv);
  return `v2:gcm:${Buffer.concat([iv, cipher.update(text), cipher.final(), cipher.getAuthTag()]).toString("base64url")}`;
}
/** "openai/gpt-4o" and "sk-upstream-lite" in a box of NaCl under the same salt. */
const BOXED_MODEL = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAR2kNeKZKBJTY57F3iBQ4XVuPvwB8bXVrdv0g7o";
const BOXED_KEY = "AgICAgICAgICAgICAgICAgICAgICAgICtOn4nn8Fe6C2EsKLlQ6saZCVsZ8D4nJtrXqwViDBNtc";

const password = (text: string): string =>
  `scrypt:${Buffer.concat([Buffer.alloc(16, 3), scryptSync(text, Buffer.alloc(16, 3), 32, { N: 16_384, r: 8, p: 1 })]).toString("base64")}`;

const database = () =>
  memorySource(
    new Map([
      [
        "LiteLLM_UserTable",
        [
          {
            user_id: "u-1",
            user_email: "Ann@x.example",
            user_alias: "ann",
            user_role: "proxy_admin",
            password: password("old password"),
            max_budget: null,
            spend: 1.5,
          },
          {
            user_id: "u-2",
            user_email: null,
            user_alias: null,
            user_role: "internal_user",
            password: null,
            max_budget: 20,
            budget_duration: null,
            spend: 5,
            rpm_limit: 60,
          },
          {
            user_id: "u-3",
            user_role: "internal_user",
            user_alias: "monthly",
            max_budget: 10,
            budget_duration: "30d",
            budget_reset_at: new Date("2099-01-01T00:00:00Z"),
            spend: 4,
            sso_user_id: "s",
          },
        ],
      ],
      [
        "LiteLLM_VerificationToken",
        [
          {
            token: sha256(KEY),
            key_name: "sk-...StUv",
            key_alias: "ann's key",
            user_id: "u-1",
            team_id: null,
            spend: 1,
            max_budget: null,
            models: ["gpt-4o"],
            blocked: null,
            expires: null,
          },
          {
            token: sha256("sk-team"),
            key_name: "sk-...team",
            key_alias: null,
            user_id: null,
            team_id: "t-1",
            spend: 0.5,
            max_budget: 2,
            models: ["all-team-models"],
            // Its window is over.
            budget_reset_at: new Date("2020-01-01T00:00:00Z"),
            blocked: true,
            expires: new Date("2030-01-01T00:00:00Z"),
            aliases: '{"a":"b"}',
          },
        ],
      ],
      ["LiteLLM_TeamTable", [{ team_id: "t-1", team_alias: "research" }]],
      [
        "LiteLLM_ProxyModelTable",
        [
          {
            model_id: "m-1",
            model_name: "gpt-4o",
            litellm_params: { model: BOXED_MODEL, api_key: BOXED_KEY },
            model_info: {},
          },
          {
            model_id: "m-2",
            model_name: "house-mini",
            litellm_params: JSON.stringify({
              model: gcm("openai/gpt-4o-mini"),
              api_key: BOXED_KEY,
              input_cost_per_token: 0.000001,
              output_cost_per_token: 0.000004,
            }),
          },
          {
            model_id: "m-3",
            model_name: "claude",
            litellm_params: { model: gcm("anthropic/claude-sonnet-4-5"), litellm_credential_name: gcm("ant") },
          },
          {
            model_id: "m-4",
            model_name: "local",
            litellm_params: {
              model: gcm("hosted_vllm/llama"),
              api_base: gcm("http://10.0.0.5:8000/v1"),
              api_key: gcm("k"),
            },
          },
        ],
      ],
      [
        "LiteLLM_CredentialsTable",
        [{ credential_name: "ant", credential_values: { api_key: gcm("sk-ant-secret-value") } }],
      ],
      [
        "LiteLLM_SpendLogs",
        [
          // 1,000 x $1 + 100 x $4 a million, as it costs here; and what was not charged.
          spent("r", 2, { spend: 0.0014 }),
          spent("s", 1, { spend: 0.002 }),
          spent("t", 3, { spend: 0 }),
        ],
      ],
    ]),
    "postgres",
  );

const spent = (request_id: string, hour: number, more: object) => ({
  request_id,
  startTime: new Date(Date.UTC(2025, 0, 1, hour)),
  model: "gpt-4o-mini",
  model_group: "house-mini",
  prompt_tokens: 1000,
  completion_tokens: 100,
  ...more,
});

const go: RunInput = { live: true, merge: false, logDays: 0, progress: () => {}, stopped: () => false };
const findings = async (house: Harness): Promise<unknown[]> => {
  const found: unknown[] = [];
  for await (const one of audit(house.services.db)) found.push(one);
  return found;
};

describe("LiteLLM's database", () => {
  let house: Harness;
  beforeAll(async () => {
    house = await openHarness("sqlite");
    const found = await survey(house.services, database(), {
      answers: {},
      merge: false,
      env: { LITELLM_SALT_KEY: SALT },
    });
    expect(found.plan).toMatchObject({ system: "litellm", decisions: [] });
    expect(found.plan.other.map(({ table, rows }) => `${table} ${rows}`)).toContain("LiteLLM_SpendLogs 3");
    expect(found.plan.shadow).toEqual({
      calls: 2,
      old: 1700,
      now: 1400,
      unpriced: 0,
      models: [{ model: "house-mini", group: "default", calls: 2, old: 1700, now: 1400 }],
      differences: [{ id: "s", model: "house-mini", old: 1000, now: 700 }],
    });
    expect(found.plan.other).toContainEqual({
      table: "LiteLLM_TeamTable",
      rows: 1,
      why: "Weir has no teams: their keys get an account",
    });
    expect(JSON.stringify(found.plan)).not.toContain("secret-value");
    await runImport(house.services, found, undefined, go);
  }, HOOK_MS);
  afterAll(() => house?.close());

  test("both encryptions are opened, and deployments of one credential are one channel", async () => {
    const { db, secrets } = house.services;
    const rows = await db.q.select().from(db.t.channels).orderBy(db.t.channels.id);
    expect(
      rows.map((row) => [
        row.type,
        row.models,
        row.model_mapping,
        row.base_url,
        secrets.decrypt("channel-key", row.key_cipher),
      ]),
    ).toEqual([
      [1, "gpt-4o,house-mini", '{"house-mini":"gpt-4o-mini"}', "", "sk-upstream-lite"],
      [14, "claude", '{"claude":"claude-sonnet-4-5"}', "", "sk-ant-secret-value"],
      [1, "local", '{"local":"llama"}', "http://10.0.0.5:8000", "k"],
    ]);
    expect(house.services.options.get("ModelRatio")).toMatchObject({ "house-mini": 0.5 });
    expect(house.services.options.get("CompletionRatio")).toMatchObject({ "house-mini": 4 });
  });

  test("budgets become balances and limits, keys of a team an account, and the books balance", async () => {
    const { db } = house.services;
    expect(await findings(house)).toEqual([]);
    const users = await db.q.select().from(db.t.users).orderBy(db.t.users.username);
    expect(users.map((one) => [one.username, one.role, one.quota, one.used_quota, one.budget_month, one.rpm])).toEqual([
      ["ann", 10, 5e11, 750_000, 0, 0],
      ["monthly", 1, 5e11, 2_000_000, 5_000_000, 0],
      ["team research", 1, 5e11, 0, 0, 0],
      ["u-2", 1, 7_500_000, 2_500_000, 0, 60],
    ]);
  });

  test("what is spent of a budget's running window is spent here too, so nobody gets it twice", async () => {
    const { db, now } = house.services;
    const [user] = await db.q.select().from(db.t.users).where(eq(db.t.users.username, "monthly"));
    expect(await db.q.select().from(db.t.budget_spend)).toMatchObject([
      { name: `user:${user?.id}:${periodsAt(now()).month.name}`, amount: 2_000_000 },
    ]);
  });

  test("the old key calls although only its hash was known; from then on its owner can see it", async () => {
    const { db, tokens } = house.services;
    const [user] = await db.q.select().from(db.t.users).where(eq(db.t.users.username, "ann"));
    const [token] = await db.q
      .select()
      .from(db.t.tokens)
      .where(eq(db.t.tokens.user_id, user?.id ?? 0));
    expect(token).toMatchObject({
      key_cipher: "",
      key_hint: "sk-...StUv",
      model_limits: "gpt-4o",
      unlimited_quota: true,
    });
    const ctx = { ...house.services, actor: { id: user?.id } } as unknown as Parameters<typeof revealToken>[0];
    await expect(revealToken(ctx, token?.id ?? 0)).rejects.toMatchObject({ code: "token_key_unknown" });
    await expect(tokens.authenticate(sha256(KEY), "127.0.0.1", "en")).rejects.toMatchObject({ code: "token_invalid" });
    const callers = await Promise.all([1, 2, 3].map(() => tokens.authenticate(KEY, "127.0.0.1", "en")));
    expect(callers.every((one) => one.token_id === token?.id)).toBe(true);
    expect(await revealToken(ctx, token?.id ?? 0)).toEqual({ key: KEY });
    const [after] = await db.q
      .select()
      .from(db.t.tokens)
      .where(eq(db.t.tokens.id, token?.id ?? 0));
    expect(after?.imported_hash).toBeNull();
    await expect(tokens.authenticate("sk-team", "127.0.0.1", "en")).rejects.toMatchObject({ code: "token_disabled" });
  });

  test(
    "the old password signs in, and is hashed again",
    async () => {
      const { db } = house.services;
      const answer = await house.guest.rest("POST", "/api/user/login", { username: "ann", password: "old password" });
      expect(answer.body).toMatchObject({ success: true });
      const [user] = await db.q.select().from(db.t.users).where(eq(db.t.users.username, "ann"));
      expect(user?.password_hash).toStartWith("$argon2id$");
      const wrong = await house.guest.rest("POST", "/api/user/login", { username: "ann", password: "another" });
      expect(wrong.body).toMatchObject({ success: false });
    },
    HOOK_MS,
  );
});

test(
  "with a wrong salt the channels are listed and kept disabled, and nothing else is lost",
  async () => {
    const house = await openHarness("sqlite");
    try {
      const found = await survey(house.services, database(), {
        answers: { "type:no provider": "disabled" },
        merge: false,
        env: { LITELLM_SALT_KEY: "wrong" },
      });
      expect(found.plan.channels[0]?.notes[0]).toContain("cannot be read, is the salt right?");
      await runImport(house.services, found, undefined, go);
      const { q, t } = house.services.db;
      expect((await q.select().from(t.channels)).every((row) => row.status === 2)).toBe(true);
      expect(await q.$count(t.tokens)).toBe(2);
    } finally {
      await house.close();
    }
  },
  HOOK_MS,
);

test(
  "a key that cannot be decrypted is listed by its member alone and its channel stays disabled; the others arrive, of both encryptions",
  async () => {
    const house = await openHarness("sqlite");
    try {
      const torn = (text: string): string => `${text.slice(0, -6)}AAAAAA`;
      const [boxed, sealed] = [torn(BOXED_KEY), torn(gcm("sk-torn-secret-value"))];
      const model = (model_id: string, api_key: string) => ({
        model_id,
        model_name: `house-${model_id}`,
        litellm_params: { model: BOXED_MODEL, api_key },
      });
      const source = memorySource(
        new Map([
          ["LiteLLM_VerificationToken", []],
          ["LiteLLM_UserTable", [{ user_id: "u-1", user_alias: "ann", user_role: "proxy_admin", spend: 0 }]],
          [
            "LiteLLM_ProxyModelTable",
            [
              model("a", BOXED_KEY),
              model("b", boxed),
              model("c", gcm("sk-sealed")),
              model("d", sealed),
              model("e", "no base64 of anything: ???"),
            ],
          ],
        ]),
        "postgres",
      );
      const found = await survey(house.services, source, {
        answers: {},
        merge: false,
        env: { LITELLM_SALT_KEY: "an older salt", LITELLM_MASTER_KEY: SALT },
      });
      const lists = [
        "cannot be read, is the salt right?: api_key",
        expect.stringContaining("cannot be called as it is"),
      ];
      expect(found.plan.channels.map(({ notes }) => notes)).toEqual([[], lists, []]);
      for (const text of [planText(found.plan), planText(found.plan, "zh"), JSON.stringify(found.plan)])
        for (const secret of [boxed, sealed, BOXED_KEY, "sk-upstream-lite", "sk-sealed", SALT])
          expect(text).not.toContain(secret);
      expect(planText(found.plan)).toContain("cannot be read, is the salt right?: api_key");
      const sentences = planText(found.plan, "zh").split("\n");
      expect(sentences.filter((line) => /[a-z]{2,}( [a-z]{2,}){3}/i.test(line))).toEqual([]);
      await runImport(house.services, found, undefined, go);
      const { q, t } = house.services.db;
      const rows = await q.select().from(t.channels).orderBy(t.channels.id);
      expect(
        rows.map((row) => [row.models, row.status, house.services.secrets.decrypt("channel-key", row.key_cipher)]),
      ).toEqual([
        ["house-a", 1, "sk-upstream-lite"],
        ["house-b,house-d,house-e", 2, ""],
        ["house-c", 1, "sk-sealed"],
      ]);
    } finally {
      await house.close();
    }
  },
  HOOK_MS,
);

test(
  "config.yaml: its models become channels, with keys from the environment",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "weir-litellm-"));
    const house = await openHarness("sqlite");
    try {
      const path = join(folder, "config.yaml");
      writeFileSync(
        path,
        "model_list:\n  - model_name: fast\n    litellm_params:\n      model: groq/llama-3\n      api_key: os.environ/GROQ\n  - model_name: gone\n    litellm_params:\n      model: openai/gpt-4o\n      api_key: os.environ/MISSING\nlitellm_settings:\n  drop_params: true\n",
      );
      const found = await survey(house.services, await openSource(path, {}), {
        answers: {},
        merge: false,
        env: { GROQ: "gsk-1" },
      });
      expect(found.plan.recognised).toBe("LiteLLM's config.yaml");
      expect(found.plan.channels.map(({ notes }) => notes.length > 0)).toEqual([false, true]);
      await runImport(house.services, found, undefined, go);
      const { q, t } = house.services.db;
      const rows = await q.select().from(t.channels).orderBy(t.channels.id);
      expect(rows.map((row) => [row.models, row.base_url, row.status])).toEqual([
        ["fast", "https://api.groq.com/openai", 1],
        ["gone", "", 2],
      ]);
    } finally {
      await house.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
  HOOK_MS,
);

test("a config.yaml in which a key stands twice is refused with its line: one of the two values would be lost", async () => {
  const path = join(mkdtempSync(join(tmpdir(), "weir-litellm-twice-")), "config.yaml");
  writeFileSync(path, "model_list:\n  - model_name: a\n    litellm_params: {model: openai/a}\n    model_name: b\n");
  await expect(openSource(path, {})).rejects.toThrow(/line 4: the key model_name stands twice/);
  rmSync(path);
});
