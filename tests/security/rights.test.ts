/** Users cannot raise their own rights, and cannot reach what belongs to others (docs/security.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { ROLE } from "../../src/shared/roles";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { HOOK_MS } from "../kit/harness";
import { ROOT, type Session, startWeir, type Weir } from "../kit/weir";

const upstream = startFakeUpstream();
let weir: Weir;
let alice: Session;
let bob: Session;
let admin: Session;
beforeAll(async () => {
  weir = await startWeir();
  await weir.newChannel({ base_url: upstream.url, models: ["echo"], setting: JSON.stringify({ allow_files: true }) });
  await weir.priceModels({ echo: 1 });
  alice = await weir.newUser({ quota: 5_000_000 });
  bob = await weir.newUser({ quota: 5_000_000 });
  admin = await weir.newUser({ role: ROLE.admin });
}, HOOK_MS);
afterAll(async () => {
  await weir?.stop();
  upstream.close();
});

const userRow = async (id: number) => {
  const [row] = await weir.db.q.select().from(weir.db.t.users).where(eq(weir.db.t.users.id, id));
  if (!row) throw new Error(`no user ${id}`);
  return row;
};

test("CVE-2026-35030: keys and sessions that share a long beginning share nothing else", async () => {
  const { key } = await weir.newToken({}, alice);
  const ask = { model: "echo", messages: [{ role: "user", content: "hi" }] };
  expect((await weir.call(key, ask)).status).toBe(200);
  for (const kept of [key.length - 1, 40, 24, 23, 20]) {
    const twin = key.slice(0, kept) + key.slice(kept).replace(/./g, (letter) => (letter === "a" ? "b" : "a"));
    expect([kept, (await weir.call(twin, ask)).status]).toEqual([kept, 401]);
  }
  const value = alice.cookie.slice("session=".length);
  const twin = `session=${value.slice(0, 42)}${value.endsWith("a") ? "b" : "a"}`;
  expect(
    (await weir.anonymous("GET", "/api/user/self", undefined, { cookie: twin, "new-api-user": String(alice.id) }))
      .status,
  ).toBe(401);
});

test("CVE-2026-47101: a user's own token never reaches beyond its owner's rights, whatever fields are sent", async () => {
  const { id, key } = await weir.newToken({ quota: 1000 }, alice);
  await weir.setOption("GroupRatio", { default: 1, vip: 0.1 });
  await weir.setOption("UserUsableGroups", { default: "all" });
  const { tokens } = weir.db.t;
  const rowOf = async (token: number) => (await weir.db.q.select().from(tokens).where(eq(tokens.id, token)))[0];
  /** What a token's form must not set: its owner, key, used quota and deletion. */
  const owned = async (token: number) => {
    const row = await rowOf(token);
    if (!row) throw new Error(`no token ${token}`);
    const { user_id, key_hash, used_quota, group, status, deleted_at } = row;
    return { user_id, key_hash, used_quota, group, status, deleted_at };
  };
  const all = async (): Promise<number[]> =>
    (await weir.db.q.select({ id: tokens.id }).from(tokens)).map((row) => row.id);
  const usual = { name: "t", remain_quota: 1000, expired_time: -1 };
  const put = (fields: object) => alice.api("PUT", "/api/token/", { id, ...usual, ...fields });
  const post = (fields: object) => alice.api("POST", "/api/token/", { ...usual, ...fields });
  const before = await owned(id);
  // Fields the user may set are stored, so the refusals below are about the field and not about the request.
  expect((await put({ name: "hers", remain_quota: 900, group: "default" })).body.success).toBe(true);
  expect(await rowOf(id)).toMatchObject({ name: "hers", remain_quota: 900, group: "default" });
  expect((await put({ group: "" })).body.success).toBe(true);
  expect(await owned(id)).toEqual(before);
  expect((await post({})).body.success).toBe(true);
  for (const fields of [{ group: "vip" }, { remain_quota: -5 }, { remain_quota: 1e30 }]) {
    const there = await all();
    expect([fields, (await put(fields)).body.success]).toEqual([fields, false]);
    expect([fields, (await post(fields)).body.success]).toEqual([fields, false]);
    expect([fields, await owned(id), await all()]).toEqual([fields, before, there]);
    expect(await rowOf(id)).toMatchObject(usual);
  }
  // The other fields are not the user's to set: they are ignored.
  for (const fields of [
    { user_id: bob.id },
    { used_quota: -1_000_000 },
    { role: 100 },
    { channel_id: 1 },
    { models: "*" },
    { routes: ["*"] },
    { key: "mine", key_hash: "mine" },
  ]) {
    const there = await all();
    expect([fields, (await put(fields)).body.success]).toEqual([fields, true]);
    expect([fields, await owned(id)]).toEqual([fields, before]);
    expect([fields, (await post(fields)).body.success]).toEqual([fields, true]);
    const [made, second] = (await all()).filter((token) => !there.includes(token));
    expect(second).toBeUndefined();
    const { key_hash, ...rest } = await owned(made ?? 0);
    expect(rest).toMatchObject({ user_id: alice.id, used_quota: 0, group: "", deleted_at: null });
    expect([before.key_hash, "mine"]).not.toContain(key_hash);
  }
  // The id of another's token is not found, whatever owner is named beside it.
  const bobs = await weir.newToken({ quota: 1000 }, bob);
  const his = await rowOf(bobs.id);
  for (const fields of [{ id: bobs.id }, { id: bobs.id, user_id: alice.id }, { id: 0, user_id: 1 }])
    expect([fields, (await put(fields)).body.success]).toEqual([fields, false]);
  expect(await rowOf(bobs.id)).toEqual(his);
  // Naming a channel is for administrators' keys.
  expect((await weir.call(`${key}-1`, { model: "echo", messages: [] })).status).toBe(403);
});

test("CVE-2026-47102: users cannot raise their own role, quota, group or status, and cannot take another's id", async () => {
  const before = [await userRow(alice.id), await userRow(bob.id)];
  const wishes = {
    role: 100,
    quota: 9e9,
    used_quota: 0,
    group: "vip",
    status: 1,
    request_count: 0,
    aff_quota: 9e9,
    inviter_id: bob.id,
    rpm: 0,
    budget_day: 0,
    access_token: "x",
    password_hash: "x",
  };
  for (const [method, path] of [
    ["PUT", "/api/user/self"],
    ["PUT", "/api/user/setting"],
    ["PUT", "/api/user/"],
    ["POST", "/api/user/manage"],
    ["POST", "/api/user/"],
  ] as const) {
    for (const id of [alice.id, bob.id, 1]) {
      await alice.api(method, path, {
        ...wishes,
        id,
        username: alice.username,
        display_name: alice.username,
        action: "promote",
      });
    }
  }
  const fields = (row: Awaited<ReturnType<typeof userRow>>) => [
    row.role,
    row.quota,
    row.used_quota,
    row.group,
    row.status,
    row.aff_quota,
    row.inviter_id,
    row.password_hash,
    row.access_token_hash,
    row.username,
  ];
  expect([await userRow(alice.id), await userRow(bob.id)].map(fields)).toEqual(before.map(fields));
  // Nor can administrators: not for themselves, other administrators or root.
  for (const id of [admin.id, weir.root.id]) {
    await admin.api("PUT", "/api/user/", { id, role: 100, quota: 9e9, group: "vip" });
    await admin.api("POST", "/api/user/manage", {
      id,
      username: id === admin.id ? admin.username : "root",
      action: "promote",
    });
  }
  expect([
    (await userRow(admin.id)).role,
    (await userRow(admin.id)).quota,
    (await userRow(weir.root.id)).status,
  ]).toEqual([ROLE.admin, 0, 1]);
});

test("CVE-2025-0628: a token has no more rights than its owner: not the role, not the balance, and none after the owner is disabled", async () => {
  const owner = await weir.newUser({ quota: 1_000_000 });
  const { key } = await weir.newToken({}, owner);
  for (const path of ["/api/channel/", "/api/user/", "/api/option/", "/api/user/self", "/api/token/"]) {
    const { body } = await weir.anonymous("GET", path, undefined, {
      authorization: `Bearer ${key}`,
      "new-api-user": String(owner.id),
    });
    expect([path, body.success]).toEqual([path, false]);
  }
  expect(
    (await weir.anonymous("POST", "/api/token/", { name: "x" }, { authorization: `Bearer ${key}` })).body.success,
  ).toBe(false);
  const ask = { model: "echo", messages: [{ role: "user", content: "hi" }] };
  expect((await weir.call(key, ask)).status).toBe(200);
  await weir.root.ok("POST", "/api/user/manage", { id: owner.id, username: owner.username, action: "disable" });
  const status = async (): Promise<number> => (await weir.call(key, ask)).status;
  for (const end = Date.now() + 10_000; (await status()) === 200 && Date.now() < end;) await Bun.sleep(20);
  // spec: A-323
  expect(await status()).toBeGreaterThanOrEqual(401);
});

test("Capgo CVE-2026-56237: the value of a new key is the server's choice", async () => {
  const wanted = "a".repeat(48);
  const { key } = await weir.newToken({ key: wanted, token: wanted, id: 4711, key_hash: "x", created_time: 1 }, alice);
  expect(key).not.toContain(wanted);
  expect(key).toMatch(/^sk-[A-Za-z0-9]{48}$/);
  expect((await weir.call(`sk-${wanted}`, { model: "echo", messages: [] })).status).toBe(401);
  const access = await alice.api("GET", `/api/user/token?token=${wanted}`);
  expect(access.body.data).not.toBe(wanted);
});

test("Dify CVE-2026-41947: no route with an id lets one user read, change or delete what belongs to another", async () => {
  const { id } = await weir.newToken({ name: "alice's own" }, alice);
  for (const [method, path, body] of [
    ["GET", `/api/token/${id}`],
    ["DELETE", `/api/token/${id}`],
    ["PUT", "/api/token/", { id, name: "stolen" }],
    ["PUT", "/api/token/?status_only=1", { id, status: 2 }],
    ["GET", `/api/user/${alice.id}`],
    ["PUT", "/api/user/", { id: alice.id, display_name: "stolen" }],
    ["GET", "/api/channel/1"],
    ["GET", "/api/redemption/1"],
  ] as const) {
    const answer = await bob.api(method, path, body);
    expect([method, path, answer.body.success]).toEqual([method, path, false]);
    expect(JSON.stringify(answer.body)).not.toContain("alice's own");
  }
  expect(await alice.ok<{ name: string; status: number }>("GET", `/api/token/${id}`)).toMatchObject({
    name: "alice's own",
    status: 1,
  });
  // Lists with a filter by user return only the caller's own rows.
  const { key } = await weir.newToken({ name: "for-log" }, alice);
  await (await weir.call(key, { model: "echo", messages: [{ role: "user", content: "hi" }] })).text();
  await weir.waitForLog((row) => row.token_name === "for-log");
  for (const path of [
    `/api/log/self?username=${alice.username}&p=1`,
    `/api/log/self/search?keyword=${alice.username}`,
    `/api/log/self?user_id=${alice.id}&p=1`,
    `/api/data/self?username=${alice.username}`,
  ]) {
    expect(JSON.stringify((await bob.api("GET", path)).body)).not.toContain("for-log");
  }
});

test("new-api CVE-2026-30886: files, batches, responses and jobs of another are 404 on every route, as if they did not exist", async () => {
  const hers = (await weir.newToken({}, alice)).key;
  const his = (await weir.newToken({}, bob)).key;
  const asked = await weir.call(hers, { model: "echo", input: "secret words", store: true }, { path: "/v1/responses" });
  const { id } = (await asked.json()) as { id: string };
  expect(id).toStartWith("resp_");
  const form = new FormData();
  form.set("purpose", "batch");
  form.set("file", new File(['{"custom_id":"1"}\n'], "a.jsonl"));
  const uploaded = await fetch(`${weir.url}/v1/files`, {
    method: "POST",
    headers: { authorization: `Bearer ${hers}` },
    body: form,
  });
  const file = (await uploaded.json()) as { id: string };
  expect([uploaded.status, typeof file.id]).toEqual([200, "string"]);
  const doors = (name: string) => [
    ["GET", `/v1/responses/${name}`],
    ["DELETE", `/v1/responses/${name}`],
    ["GET", `/v1/responses/${name}/input_items`],
    ["POST", `/v1/responses/${name}/cancel`],
    ["GET", `/v1/files/${file.id}`],
    ["GET", `/v1/files/${file.id}/content`],
    ["DELETE", `/v1/files/${file.id}`],
    ["GET", "/v1/batches/batch_1"],
    ["POST", "/v1/batches/batch_1/cancel"],
  ];
  for (const [method = "", path = ""] of doors(id)) {
    const answer = await fetch(weir.url + path, { method, headers: { authorization: `Bearer ${his}` } });
    expect([method, path, answer.status]).toEqual([method, path, 404]);
    expect(await answer.text()).not.toContain("secret words");
  }
  const chained = await weir.call(
    his,
    { model: "echo", input: "and?", previous_response_id: id },
    { path: "/v1/responses" },
  );
  expect([chained.status, ((await chained.json()) as { error: { code: string } }).error.code]).toEqual([
    404,
    "previous_response_not_found",
  ]);
  expect((await fetch(`${weir.url}/v1/responses/${id}`, { headers: { authorization: `Bearer ${hers}` } })).status).toBe(
    200,
  );
});

test("LiteLLM GHSA-69x8-hrgq-fjj8: no answer carries a hash, and no hash is a password", async () => {
  const { password_hash } = await userRow(alice.id);
  const answers = [
    await alice.api("GET", "/api/user/self"),
    await weir.root.api("GET", `/api/user/${alice.id}`),
    await weir.root.api("GET", "/api/user/?p=1&page_size=100"),
    await weir.root.api("GET", `/api/user/search?keyword=${alice.username}`),
    await alice.api("POST", "/api/user/login", { username: alice.username, password: ROOT.password }),
  ];
  for (const { body } of answers) {
    expect(body.success).toBe(true);
    expect(JSON.stringify(body)).not.toMatch(/\$2[aby]\$|\$argon2|password_hash|"password":"[^"]/);
  }
  expect(
    (await weir.anonymous("POST", "/api/user/login", { username: alice.username, password: password_hash })).body
      .success,
  ).toBe(false);
});
