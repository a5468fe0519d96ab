/**
 * Two processes of Weir on one Postgres: they start together, and a change on one takes effect on the other at once.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type FakeUpstream, startFakeUpstream } from "../kit/fake-upstream/server";
import { freshPostgres, type FreshDatabase } from "../kit/databases";
import { HOOK_MS } from "../kit/harness";
import { startProcess, type WeirProcess } from "../kit/weir-process";

const ACCOUNT = { username: "root", password: "correct-horse-9" };

describe("two processes on one Postgres", () => {
  let fresh: FreshDatabase;
  let fake: FakeUpstream;
  let a: WeirProcess;
  let b: WeirProcess;
  let headers: Record<string, string>;
  const folders: string[] = [];

  const start = (): Promise<WeirProcess> => {
    const folder = mkdtempSync(join(tmpdir(), "weir-instance-"));
    folders.push(folder);
    return startProcess(undefined, {
      PORT: "0",
      WEIR_HOST: "127.0.0.1",
      WEIR_DATA_DIR: folder,
      DATABASE_URL: fresh.url,
      WEIR_PG_POOL: "4",
      WEIR_ROOT_USERNAME: ACCOUNT.username,
      WEIR_ROOT_PASSWORD: ACCOUNT.password,
      WEIR_API_RATE_LIMIT: "0",
      WEIR_CRITICAL_RATE_LIMIT: "0",
    });
  };

  beforeAll(async () => {
    [fresh, fake] = [await freshPostgres(2), startFakeUpstream({ port: 0 })];
    // Neither has a secret of its own or an account: one of them creates both in the database.
    [a, b] = await Promise.all([start(), start()]);
    const login = await fetch(`${a.url}/api/user/login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(ACCOUNT),
    });
    const { data } = (await login.json()) as { data: { id: number } };
    headers = {
      cookie: login.headers.getSetCookie()[0]?.split(";")[0] ?? "",
      "new-api-user": String(data.id),
      "content-type": "application/json",
    };
  }, HOOK_MS);
  afterAll(async () => {
    await Promise.all([a?.stop(), b?.stop()]);
    fake?.close();
    await fresh?.close();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  const api = async (
    at: WeirProcess,
    method: string,
    path: string,
    body?: object,
  ): Promise<Record<string, unknown>> => {
    const answer = await fetch(at.url + path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
    const { success, message, data } = (await answer.json()) as {
      success: boolean;
      message: string;
      data: Record<string, unknown>;
    };
    if (!success) throw new Error(`${method} ${path}: ${message}`);
    return data;
  };
  const call = async (at: WeirProcess, key: string): Promise<number> => {
    const answer = await fetch(`${at.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: "echo", messages: [{ role: "user", content: "hi" }] }),
    });
    await answer.text();
    return answer.status;
  };
  /** Waits until B answers so; fails after the second within which instances must agree. */
  const onB = async (key: string, status: number): Promise<void> => {
    const deadline = Date.now() + 1000;
    let last: number;
    do {
      last = await call(b, key);
      if (last === status) return;
      await Bun.sleep(20);
    } while (Date.now() < deadline);
    expect(last).toBe(status);
  };

  test("both serve after a start at the same moment on an empty database, with one root account", async () => {
    expect((await fetch(`${a.url}/readyz`)).status).toBe(200);
    expect((await fetch(`${b.url}/readyz`)).status).toBe(200);
    expect(await fresh.db.q.select({ name: fresh.db.t.users.username }).from(fresh.db.t.users)).toEqual([
      { name: "root" },
    ]);
    expect(await api(b, "GET", "/api/user/self")).toMatchObject({ username: "root" });
  });

  test("prices, channels, tokens and drains of one hold on the other within a second, and so does their end", async () => {
    await api(a, "PUT", "/api/option/", { key: "ModelRatio", value: '{"echo":1}' });
    await api(a, "POST", "/api/channel/", { type: 1, name: "f", key: "good", base_url: fake.url, models: "echo" });
    const token = (await api(a, "POST", "/api/token/", { name: "t", unlimited_quota: true })) as {
      id: number;
      key: string;
    };
    const key = `sk-${token.key}`;
    await onB(key, 200);

    await api(a, "PUT", "/api/token/?status_only=true", { id: token.id, status: 2 });
    await onB(key, 401);
    await api(a, "PUT", "/api/token/?status_only=true", { id: token.id, status: 1 });
    await onB(key, 200);

    const [channel] = (await api(a, "GET", "/api/channel/")) as unknown as { id: number }[];
    await api(a, "PUT", "/api/channel/", { id: channel?.id, status: 2 });
    await onB(key, 503);
    await api(a, "PUT", "/api/channel/", { id: channel?.id, status: 1 });
    await onB(key, 200);

    await api(a, "POST", `/api/channel/${channel?.id}/drain`, {});
    await onB(key, 503);
    await api(a, "POST", `/api/channel/${channel?.id}/resume`);
    await onB(key, 200);
    const list = (await api(b, "GET", "/api/instance/")) as unknown as { id: string; self: boolean }[];
    const ofB = list.find(({ self }) => self)?.id ?? "";
    expect(list).toHaveLength(2);
    await api(a, "POST", `/api/instance/${ofB}/drain`, {});
    await onB(key, 503);
    expect([(await fetch(`${b.url}/readyz`)).status, await call(a, key)]).toEqual([503, 200]);
    await api(a, "POST", `/api/instance/${ofB}/resume`);
    await onB(key, 200);

    await api(a, "PUT", "/api/option/", { key: "SystemName", value: "Elsewhere" });
    await Bun.sleep(1000);
    // spec: A-294
    expect(await api(b, "GET", "/api/status")).toMatchObject({ system_name: "Elsewhere" });
    await api(a, "GET", "/api/user/logout");
    expect((await fetch(`${b.url}/api/user/self`, { headers })).status).toBe(401);
  });
});
