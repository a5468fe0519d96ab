import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ENGINES } from "../../../../tests/kit/databases";
import { HOOK_MS } from "../../../../tests/kit/harness";
import { startWeir } from "../../../../tests/kit/weir";
import { ROOT_QUOTA } from "../../../shared/user";
import { readEnv } from "../../env";
import { createLogger } from "../../lib/log";
import { openServices } from "../../wiring/services";
import { setUpUnattended } from "./service";

describe.each([...ENGINES])("first run on %s", (engine) => {
  let weir: Awaited<ReturnType<typeof startWeir>>;
  beforeAll(async () => {
    weir = await startWeir({ engine, root: false });
    account.code = new URLSearchParams(new URL(await weir.setupLink()).hash.slice(1)).get("code") ?? "";
  }, HOOK_MS);
  afterAll(() => weir?.stop());

  const post = (body: object) =>
    fetch(`${weir.url}/api/setup`, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" },
    }).then(async (answer) => ({
      status: answer.status,
      cookie: answer.headers.get("set-cookie"),
      body: (await answer.json()) as {
        success: boolean;
        message: string;
        code?: string;
        data?: { id: number; role: number };
      },
    }));
  const account = { username: "root", password: "correct-horse-9", confirmPassword: "correct-horse-9", code: "" };

  test("nothing is seeded: no default account exists and every management call is closed", async () => {
    const status = (await (await fetch(`${weir.url}/api/setup`)).json()) as {
      data: { status: boolean; database_type: string };
    };
    expect(status.data).toMatchObject({ status: false, database_type: engine });
    const login = await fetch(`${weir.url}/api/user/login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ username: "root", password: "123456" }),
    });
    expect((await login.json()) as object).toMatchObject({ success: false });
    expect((await fetch(`${weir.url}/api/channel/`)).status).toBe(401);
  });

  test("no caller gets in without the set-up code, this machine included", async () => {
    for (const code of ["", "AAAAA-AAAAA", account.code.slice(0, -1), `${account.code}0`]) {
      expect(await post({ ...account, code })).toMatchObject({ status: 403, body: { code: "setup_code_wrong" } });
    }
  });

  test("invalid accounts are refused with the specified texts", async () => {
    expect((await post({ ...account, password: "short", confirmPassword: "short" })).body.message).toBe(
      "密码长度不得小于 8 位！",
    );
    expect((await post({ ...account, confirmPassword: "something else" })).body.message).toBe("两次输入的密码不一致");
    expect((await post({ ...account, username: "" })).body.success).toBe(false);
    expect((await post({ ...account, username: "a-name-that-is-too-long" })).body.code).toBe("username_length");
  });

  test("of ten at once exactly one makes the root account; then the set-up is closed forever", async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => post({ ...account, username: `root${i}` })));
    const won = answers.filter((answer) => answer.body.success);
    expect(won).toHaveLength(1);
    expect(won[0]?.body.data?.role).toBe(100);
    expect(won[0]?.cookie).toContain("HttpOnly; SameSite=Lax");
    // The operator's browser is known from the start.
    expect(won[0]?.cookie).toMatch(/^session=.*device=/);
    for (const lost of answers.filter((answer) => !answer.body.success))
      expect([lost.status, lost.body.code]).toEqual([403, "setup_done"]);
    expect((await post({ ...account, username: "again" })).body.code).toBe("setup_done");
    const { data } = (await (await fetch(`${weir.url}/api/status`)).json()) as { data: { setup: boolean } };
    expect(data.setup).toBe(true);
  }, 30_000);

  test("the root account's first quota is in the ledger", async () => {
    const rows = await weir.db.q.select({ quota: weir.db.t.users.quota }).from(weir.db.t.users);
    expect(rows).toEqual([{ quota: ROOT_QUOTA }]);
    expect(await weir.audit()).toEqual([]);
  });
});

test("names that options hold by default are written in the language of the wizard", async () => {
  for (const [language, written] of [
    ["en", ['{"default":"Default group","vip":"VIP group"}', "Alipay", "WeChat Pay"]],
    // As they are.
    ["zh", []],
  ] as const) {
    const weir = await startWeir({ root: false });
    const code = new URLSearchParams(new URL(await weir.setupLink()).hash.slice(1)).get("code");
    const password = "correct-horse-9";
    const done = await fetch(`${weir.url}/api/setup`, {
      method: "POST",
      body: JSON.stringify({ username: "root", password, confirmPassword: password, code }),
      headers: { "content-type": "application/json", "accept-language": language },
    });
    expect(done.status).toBe(200);
    const rows = await weir.db.q.select().from(weir.db.t.options);
    const stored = Object.fromEntries(rows.map(({ key, value }) => [key, value]));
    const { UserUsableGroups, PayMethods } = stored;
    const names = [UserUsableGroups, ...JSON.parse(PayMethods ?? "[]").map(({ name }: { name: string }) => name)];
    expect(names.filter(Boolean)).toEqual([...written]);
    await weir.stop();
  }
});

test("instances that start at the same moment on an empty database set up once, and none of them fails", async () => {
  const account = { WEIR_ROOT_USERNAME: "root", WEIR_ROOT_PASSWORD: "correct-horse-9" };
  const WEIR_DATA_DIR = mkdtempSync(join(tmpdir(), "weir-setup-"));
  const env = readEnv({ WEIR_DATA_DIR, WEIR_LOG_LEVEL: "silent", ...account });
  const { services, close } = await openServices(env, createLogger({ level: "silent", format: "json" }));
  const done = await Promise.all([1, 2, 3].map(() => setUpUnattended(services)));
  expect(done.filter(Boolean)).toHaveLength(1);
  expect(await setUpUnattended(services)).toBe(false);
  await close();
  rmSync(WEIR_DATA_DIR, { recursive: true, force: true });
});
