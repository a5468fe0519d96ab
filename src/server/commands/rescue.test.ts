import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { desc, eq } from "drizzle-orm";
import { ENGINES } from "../../../tests/kit/databases";
import { type Harness, HOOK_MS, openHarness } from "../../../tests/kit/harness";
import { ROLE, USER_STATUS } from "../../shared/roles";
import { readEnv } from "../env";
import { verifyPassword } from "../features/auth/password";
import { createLogger } from "../lib/log";
import { openServices } from "../wiring/services";
import { allowPasswordLogin, describeAccount, rescue, rescueCommand } from "./rescue";

describe.each([...ENGINES])("weir rescue on %s", (engine) => {
  let house: Harness;
  beforeAll(async () => {
    house = await openHarness(engine);
  }, HOOK_MS);
  afterAll(() => house?.close());

  const rowOf = async (id: number) => {
    const { q, t } = house.services.db;
    const [row] = await q.select().from(t.users).where(eq(t.users.id, id));
    if (!row) throw new Error("no such user");
    return row;
  };
  async function lockedOut() {
    const { services } = house;
    const { q, t } = services.db;
    const {
      ctx: {
        actor: { id, username },
      },
    } = await house.person();
    await q
      .update(t.users)
      .set({ status: USER_STATUS.banned, email: `${username}@x.example`.toLowerCase(), access_token_hash: `x${id}` })
      .where(eq(t.users.id, id));
    await q
      .insert(t.sessions)
      .values({ token_hash: `s${id}`, user_id: id, created_at: 1, last_seen_at: 1, expires_at: 9_999_999_999 });
    await q.insert(t.totps).values({ user_id: id, secret_cipher: "x", enabled_at: 1 });
    await q.insert(t.passkeys).values({ user_id: id, credential_id: `c${id}`, public_key: "k", created_at: 1 });
    return { id, username };
  }

  test("all of it at once: a password that works, no ban, role 100, no second factor, no old session; one line in the audit log", async () => {
    const { services } = house;
    const { q, t } = services.db;
    const { id, username } = await lockedOut();
    const announced: string[] = [];
    const stop = services.cluster.bus.subscribe("users", (who) => void announced.push(who));
    const { password = "" } = await rescue(services, username, {
      password: true,
      enable: true,
      superAdmin: true,
      removeSecondFactors: true,
    });
    stop();
    const row = await rowOf(id);
    expect(password).toMatch(/^[A-Za-z0-9]{16}$/);
    expect(await verifyPassword(password, row.password_hash)).toBe(true);
    expect(row).toMatchObject({ status: USER_STATUS.active, role: ROLE.root, access_token_hash: null });
    expect(await q.select().from(t.sessions).where(eq(t.sessions.user_id, id))).toEqual([]);
    expect(await q.select().from(t.totps).where(eq(t.totps.user_id, id))).toEqual([]);
    expect(await q.select().from(t.passkeys).where(eq(t.passkeys.user_id, id))).toEqual([]);
    expect(announced).toContain(String(id));
    const [line] = await q.select().from(t.audit_log).orderBy(desc(t.audit_log.id)).limit(1);
    expect(line).toMatchObject({
      action: "user.rescue",
      target_type: "user",
      target_id: String(id),
      actor_id: 0,
      actor_name: "system",
      request_id: "weir rescue",
    });
    expect(JSON.parse(line?.before ?? "")).toEqual({ status: USER_STATUS.banned, role: ROLE.user });
    expect(line?.after).not.toContain(password);
    expect(JSON.parse(line?.after ?? "")).toMatchObject({ status: 1, role: 100, second_factors: "removed" });
    expect((await house.guest.rest("POST", "/api/user/login", { username, password })).body).toMatchObject({
      success: true,
      data: { id, role: 100 },
    });
  });

  test("what was not requested stays as it is, and an account is found by its address too", async () => {
    const { id, username } = await lockedOut();
    const before = await rowOf(id);
    expect(await rescue(house.services, before.email, { enable: true })).toEqual({});
    expect(await rowOf(id)).toEqual({ ...before, status: USER_STATUS.active });
    expect(await describeAccount(house.services, username)).toContain("second factors: one-time codes, 1 passkey");
  });

  test("an unknown and a deleted account are refused, and nothing is written", async () => {
    const { q, t } = house.services.db;
    const { id, username } = await lockedOut();
    await q.update(t.users).set({ deleted_at: 1 }).where(eq(t.users.id, id));
    const lines = (await q.select().from(t.audit_log)).length;
    await expect(rescue(house.services, "nobody-is-called-so", { enable: true })).rejects.toThrow(
      "there is no account nobody-is-called-so.",
    );
    await expect(rescue(house.services, username, { password: true })).rejects.toThrow("was deleted");
    expect((await q.select().from(t.audit_log)).length).toBe(lines);
  });

  test("sign-in by password is switched on again, with a line in the audit log", async () => {
    const { services } = house;
    await services.options.set("PasswordLoginEnabled", "false");
    await allowPasswordLogin(services);
    // spec: D-52
    expect(services.options.get("PasswordLoginEnabled")).toBe(true);
    const [line] = await services.db.q
      .select()
      .from(services.db.t.audit_log)
      .orderBy(desc(services.db.t.audit_log.id))
      .limit(1);
    expect(line).toMatchObject({
      action: "option.update",
      target_id: "PasswordLoginEnabled",
      actor_name: "system",
      request_id: "weir rescue",
    });
  });
});

test("on the command line: a new password is printed once, a status query changes nothing, bad arguments are exit code 2", async () => {
  const home = mkdtempSync(join(tmpdir(), "weir-rescue-"));
  try {
    const command = (...args: string[]) => {
      const env = { PATH: process.env.PATH ?? "", WEIR_DATA_DIR: home, WEIR_LOG_LEVEL: "silent" };
      const { exitCode, stdout, stderr } = Bun.spawnSync(
        [process.execPath, join(import.meta.dir, "../main.ts"), "rescue", ...args],
        { env },
      );
      return { exitCode, out: stdout.toString(), err: stderr.toString() };
    };
    expect(command("root", "--enable")).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining("weir rescue: there is no database"),
    });
    const { services, close } = await openServices(
      readEnv({ WEIR_DATA_DIR: home }),
      createLogger({ level: "silent", format: "json" }),
    );
    await services.db.q
      .insert(services.db.t.users)
      .values({ username: "root", password_hash: "-", role: ROLE.root, created_at: 1 });
    await close();
    expect(command("root")).toMatchObject({ exitCode: 0, out: expect.stringContaining("Nothing was changed") });
    expect(command("root", "--new-password").out).toMatch(
      /^root \(id 1\): role 100, super administrator, enabled\npassword: set;[^]*\nnew password: [A-Za-z0-9]{16}\n/,
    );
    expect(command("nobody", "--enable")).toMatchObject({
      exitCode: 1,
      err: "weir rescue: there is no account nobody.\n",
    });
    expect(command("root", "other").exitCode).toBe(2);
    const env = readEnv({ WEIR_DATA_DIR: home });
    for (const args of [[], ["--enable"], ["root", "other"], ["root", "--no-such-thing"]])
      expect(await rescueCommand(env, createLogger({ level: "silent", format: "json" }), args)).toBe(2);
    expect(command("--password-login")).toMatchObject({
      exitCode: 0,
      out: expect.stringContaining("Sign-in by password is on."),
    });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}, 60_000);
