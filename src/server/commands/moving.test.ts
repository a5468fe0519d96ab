/** Moving in and out again, as an operator does it: commands alone, then what a user of the old gateway does. */
import { afterAll, afterEach, expect, spyOn, test } from "bun:test";
import { createCipheriv, createHash, scryptSync } from "node:crypto";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { SQL } from "bun";
import { emptyPostgres } from "../../../tests/kit/databases";
import { HOOK_MS, openHarness } from "../../../tests/kit/harness";
import { oneHubTables, PASSWORD, type SourceTables, writeFile, writeServer } from "../../../tests/kit/import-sources";
import { readEnv } from "../env";
import { createLogger } from "../lib/log";
import { sha256 } from "../lib/secrets";
import { audit } from "../features/wallet/audit";
import { exportCommand } from "./export";
import { importCommand } from "./import";

const folder = mkdtempSync(join(tmpdir(), "weir-moving-"));
const log = createLogger({ level: "error", format: "json" });
process.env.LC_ALL = "C";
const out = spyOn(console, "log").mockImplementation(() => {});
const err = spyOn(console, "error").mockImplementation(() => {});
afterEach(() => out.mockClear());
afterAll(() => {
  out.mockRestore();
  err.mockRestore();
  rmSync(folder, { recursive: true, force: true });
});
const said = (): string => out.mock.calls.flat().join("\n");

const SALT = "sk-salt-1234";
const LITELLM_KEY = "sk-Ab_dEfGhIjKlMnOpQrStUv";
const scrypt = `scrypt:${Buffer.concat([Buffer.alloc(16, 3), scryptSync(PASSWORD, Buffer.alloc(16, 3), 32, { N: 16_384, r: 8, p: 1 })]).toString("base64")}`;

function sealed(text: string): string {
  const cipher = createCipheriv("aes-256-gcm", createHash("sha256").update(SALT).digest(), Buffer.alloc(12, 7));
  const parts = [Buffer.alloc(12, 7), cipher.update(text), cipher.final(), cipher.getAuthTag()];
  return `v2:gcm:${Buffer.concat(parts).toString("base64url")}`;
}

const litellmTables = (): SourceTables => ({
  LiteLLM_UserTable: {
    columns: {
      user_id: "name",
      user_alias: "text",
      user_role: "text",
      password: "text",
      max_budget: "real",
      spend: "real",
    },
    rows: [
      { user_id: "u-1", user_alias: "ann", user_role: "proxy_admin", password: scrypt, max_budget: 20, spend: 5 },
      { user_id: "u-2", user_alias: "Ann", user_role: "internal_user", password: null, max_budget: 1, spend: 0 },
    ],
  },
  LiteLLM_VerificationToken: {
    columns: { token: "name", key_name: "text", key_alias: "text", user_id: "text", spend: "real", models: "text" },
    rows: [
      {
        token: sha256(LITELLM_KEY),
        key_name: "sk-...StUv",
        key_alias: "mine",
        user_id: "u-1",
        spend: 1,
        models: "{gpt-4o}",
      },
    ],
  },
  LiteLLM_ProxyModelTable: {
    columns: { model_id: "name", model_name: "text", litellm_params: "text" },
    rows: [
      {
        model_id: "m-1",
        model_name: "gpt-4o",
        litellm_params: JSON.stringify({ model: sealed("openai/gpt-4o"), api_key: sealed("sk-upstream-lite") }),
      },
    ],
  },
});

async function postgresOf(tables: SourceTables) {
  const fresh = await emptyPostgres();
  const client = new SQL(fresh.url, { max: 1 });
  await writeServer(client, "postgres", tables);
  await client.close();
  return { address: fresh.url, close: fresh.close };
}

function fileOf(tables: SourceTables) {
  const address = join(folder, "hub.db");
  writeFile(address, tables);
  return Promise.resolve({ address, close: async () => {} });
}

test.each([
  {
    system: "one-hub",
    from: () => fileOf(oneHubTables()),
    user: "dora",
    key: `sk-${"s".repeat(15)}_${"H".repeat(43)}`,
    users: 2,
    open: 0,
    mustReset: "",
    asks: ["github-ids"],
  },
  {
    system: "litellm",
    from: () => postgresOf(litellmTables()),
    user: "ann",
    key: LITELLM_KEY,
    users: 2,
    open: 2,
    mustReset: "Must set a new password: ann, ",
    asks: [],
  },
])(
  "from $system: dry run, decisions, run; the old password signs in, the old key calls, the books balance; out to new-api and in again",
  async ({ system, from, user, key, users, open, mustReset, asks }) => {
    const [source, house] = [await from(), await openHarness("sqlite")];
    const env = readEnv({ WEIR_DATA_DIR: dirname(house.url), WEIR_SECRET: "a secret for tests only" }, () => {});
    process.env.MOVING_SOURCE = source.address;
    process.env.LITELLM_SALT_KEY = SALT;
    try {
      expect(await importCommand(env, log, ["env:MOVING_SOURCE", "--dry-run"])).toBe(open);
      const decisions = join(folder, `${system}.json`);
      writeFileSync(decisions, /\{[^{}]*\}\s*$/.exec(said())?.[0] ?? "{}");
      out.mockClear();
      const command = ["env:MOVING_SOURCE", "--decisions", decisions, "--live"];
      expect(await importCommand(env, log, [...command, "--dry-run", "--json"])).toBe(0);
      expect(JSON.parse(said())).toMatchObject({ system, balances: { users } });
      expect(said()).not.toContain(source.address);
      out.mockClear();
      expect(await importCommand(env, log, command)).toBe(0);
      expect(said()).toContain(`Users: ${users} new`);
      expect(said()).toContain("The books balance.");

      await house.services.options.reload();
      const entered = await house.guest.rest("POST", "/api/user/login", { username: user, password: PASSWORD });
      expect(entered.body).toMatchObject({ success: true, data: { username: user } });
      const caller = await house.services.tokens.authenticate(key, "10.1.0.1", "en");
      expect(caller.token_id).toBeGreaterThan(0);
      for await (const one of audit(house.services.db)) expect.unreachable(JSON.stringify(one));

      out.mockClear();
      const back = join(folder, `${system}-back.db`);
      expect(await exportCommand(env, log, ["--format", "new-api", back])).toBe(0);
      expect(existsSync(back)).toBe(true);
      expect(said()).toContain(mustReset);
      out.mockClear();
      const empty = readEnv(
        { WEIR_DATA_DIR: join(folder, `${system}-empty`), WEIR_SECRET: "a secret of sixteen" },
        () => {},
      );
      expect(await importCommand(empty, log, [back, "--dry-run", "--json"])).toBe(asks.length > 0 ? 2 : 0);
      const plan = JSON.parse(said()) as { balances: { old: number; now: number }; decisions: { id: string }[] };
      expect(plan.decisions.map(({ id }) => id)).toEqual([...asks]);
      expect(plan).toMatchObject({ system: "new-api", balances: { users, debts: 0, left: 0 } });
      const rows = await house.services.db.q
        .select({ quota: house.services.db.t.users.quota })
        .from(house.services.db.t.users);
      const sum = rows.reduce((all, row) => all + row.quota, 0);
      expect([plan.balances.old, plan.balances.now]).toEqual([sum, sum]);
    } finally {
      delete process.env.MOVING_SOURCE;
      delete process.env.LITELLM_SALT_KEY;
      await house.close();
      await source.close();
    }
  },
  HOOK_MS * 2,
);
