/**
 * A stored key is only sent to the address it was entered for: sending a channel's calls elsewhere, by any field or
 * route, requires the key again.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { HOOK_MS } from "../kit/harness";
import { type Session, startWeir, type Weir } from "../kit/weir";

const SECRET = "sk-roots-own-upstream-key-0001";
const MINE = "https://upstream.example";
const REQUIRED = { success: false, code: "channel_key_required" };

/** An attacker's address: the requests that arrived there. */
const heard: string[] = [];
const listener = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    heard.push(JSON.stringify([request.url, [...request.headers], await request.text()]));
    return Response.json({
      choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 1, completion_tokens: 1 },
    });
  },
});
const THEIRS = `http://127.0.0.1:${listener.port}`;

let weir: Weir;
let admin: Session;
let script: (method: string, path: string, body?: unknown) => ReturnType<Weir["anonymous"]>;
beforeAll(async () => {
  weir = await startWeir();
  admin = await weir.newUser({ role: 10 });
  const token = await admin.ok<string>("GET", "/api/user/token");
  script = (method, path, body) => weir.anonymous(method, path, body, { authorization: token });
}, HOOK_MS);
afterAll(async () => {
  // In every case above the key never reached the listener.
  expect(heard.filter((call) => call.includes(SECRET))).toEqual([]);
  await weir?.stop();
  await listener.stop(true);
});

const made = (fields: object = {}) => weir.newChannel({ key: SECRET, base_url: MINE, models: ["m", "n"], ...fields });
const rowOf = async (id: number) => {
  const [row] = await weir.db.q.select().from(weir.db.t.channels).where(eq(weir.db.t.channels.id, id));
  if (!row) throw new Error("no such channel");
  return row;
};
const refusal = (call: Promise<unknown>) =>
  call.then(
    () => "done",
    (error: { data?: { app?: string } }) => error.data?.app,
  );
const account = (token_uri?: string) =>
  JSON.stringify({
    project_id: "project-1",
    client_email: "a@b.iam.gserviceaccount.com",
    private_key: SECRET,
    ...(token_uri && { token_uri }),
  });

test("another host, port, scheme or proxy needs the key, for administrators, root and access tokens, by REST and tRPC, and nothing is changed", async () => {
  const id = await made();
  const before = await rowOf(id);
  const changes = [
    { base_url: THEIRS },
    { base_url: "https://upstream.example:8443" },
    { base_url: "http://upstream.example" },
    { base_url: "https://upstream.example.evil.example" },
    { base_url: "https://upstream.example@evil.example" },
    { base_url: "" },
    { setting: JSON.stringify({ proxy: THEIRS }) },
    { setting: '{"proxy":"socks5://evil.example:1080"}' },
    { type: 8, base_url: `${THEIRS}/v1/chat/completions` },
    { type: 14, base_url: "" },
    { base_url: "kimi-coding-plan", type: 25 },
    { base_url: THEIRS, key: "" },
    { base_url: THEIRS, key: String(id) },
    { base_url: THEIRS, key: " \n " },
    { base_url: THEIRS, multi_key_mode: "random" },
  ];
  for (const change of changes) {
    const body = { id, ...change };
    for (const answer of [
      await admin.api("PUT", "/api/channel/", body),
      await weir.root.api("PUT", "/api/channel/", body),
      await script("PUT", "/api/channel/", body),
    ]) {
      expect([change, answer.body]).toMatchObject([change, REQUIRED]);
    }
    expect([change, await refusal(admin.trpc.channel.update.mutate(body as never))]).toEqual([
      change,
      "channel_key_required",
    ]);
  }
  expect(await rowOf(id)).toEqual(before);
});

test("another path of the same host, and fields that are no address, need no key", async () => {
  const id = await made();
  const allowed = [
    { base_url: `${MINE}/gateway` },
    { base_url: `${MINE}:443` },
    { base_url: "https://UPSTREAM.example/" },
    { name: "renamed" },
    { models: "m,n,o" },
    { priority: 3 },
    { model_mapping: '{"m":"n"}' },
    { setting: '{"idle_timeout":30}' },
    { other: "anything" },
    { status: 2 },
    { type: 20 },
    { header_override: '{"x-team":"a"}' },
  ];
  for (const change of allowed)
    expect([change, (await admin.api("PUT", "/api/channel/", { id, ...change })).body.success]).toEqual([change, true]);
});

test("with the key in the same request the address changes, and no stored key is sent there", async () => {
  const one = await made();
  expect(
    (await admin.api("PUT", "/api/channel/", { id: one, base_url: THEIRS, key: "sk-entered-with-it" })).body.success,
  ).toBe(true);
  await admin.api("GET", `/api/channel/test/${one}`);
  expect(heard.at(-1)).toContain("sk-entered-with-it");

  // Of several keys none stays: the new ones are not added to them.
  const several = await made({ key: `${SECRET}\n${SECRET}b`, multi_key_mode: "polling" });
  expect((await admin.api("PUT", "/api/channel/", { id: several, base_url: THEIRS })).body).toMatchObject(REQUIRED);
  expect(
    (await admin.api("PUT", "/api/channel/", { id: several, base_url: THEIRS, multi_key_mode: "" })).body,
  ).toMatchObject({ code: "channel_keys_left" });
  expect(
    (await admin.api("PUT", "/api/channel/", { id: several, base_url: THEIRS, key: "sk-entered-with-it-2" })).body
      .success,
  ).toBe(true);
  expect(await admin.ok<unknown[]>("GET", `/api/channel/${several}/keys`)).toHaveLength(1);

  const grown = await made();
  expect(
    (
      await admin.api("PUT", "/api/channel/", {
        id: grown,
        base_url: THEIRS,
        multi_key_mode: "random",
        key: "sk-entered-with-it-3",
      })
    ).body.success,
  ).toBe(true);
  expect(await admin.ok<unknown[]>("GET", `/api/channel/${grown}/keys`)).toHaveLength(1);
  for (const id of [several, grown]) for (let i = 0; i < 3; i++) await admin.api("GET", `/api/channel/test/${id}`);
});

test("a channel whose key names its region, or whose region is a field, keeps its key in that region", async () => {
  const vertex = await made({
    type: 41,
    key: account(),
    base_url: "",
    other: "us-central1",
    models: ["gemini-2.5-pro", "gemini-2.5-flash"],
  });
  const moves = [
    { other: "europe-west1" },
    { other: '{"default":"us-central1","gemini-2.5-pro":"europe-west1"}' },
    { base_url: THEIRS },
    { type: 24, base_url: "" },
  ];
  for (const change of moves)
    expect([change, (await admin.api("PUT", "/api/channel/", { id: vertex, ...change })).body]).toMatchObject([
      change,
      REQUIRED,
    ]);
  // The region map has the same region for every model.
  expect(
    (await admin.api("PUT", "/api/channel/", { id: vertex, other: '{"default":"us-central1"}' })).body.success,
  ).toBe(true);
  expect(
    (await admin.api("PUT", "/api/channel/", { id: vertex, other: "europe-west1", key: account() })).body.success,
  ).toBe(true);

  const bedrock = await made({
    type: 33,
    key: "AKIAABCDEFGHIJKLMNOP|secretsecretsecret|us-east-1",
    base_url: "",
    models: ["claude-sonnet-4-5"],
  });
  expect((await admin.api("PUT", "/api/channel/", { id: bedrock, base_url: THEIRS })).body).toMatchObject(REQUIRED);
  expect(
    (
      await admin.api("PUT", "/api/channel/", {
        id: bedrock,
        base_url: "https://bedrock-runtime.us-east-1.amazonaws.com",
      })
    ).body.success,
  ).toBe(true);
  expect((await admin.api("PUT", "/api/channel/", { id: bedrock, base_url: "" })).body.success).toBe(true);
});

test("a region is lower-case letters, digits and hyphens, in a key, a field and a map; no other text gets into a host name", async () => {
  const vertex = (other: string) => ({
    type: 41,
    name: "v",
    key: account(),
    base_url: "",
    models: "gemini-2.5-pro",
    other,
  });
  const bedrock = (region: string) => ({
    type: 33,
    name: "b",
    key: `AKIAABCDEFGHIJKLMNOP|secretsecretsecret|${region}`,
    base_url: "",
    models: "claude-sonnet-4-5",
  });
  for (const region of [
    "evil.example/",
    "evil.example#",
    "us.east",
    "us/east",
    "US-EAST-1",
    "us east",
    "us@evil",
    "us-east-1\\",
  ]) {
    for (const body of [
      vertex(region),
      vertex(JSON.stringify({ default: "us-central1", "gemini-2.5-pro": region })),
      bedrock(region),
    ]) {
      expect([body, (await weir.root.api("POST", "/api/channel/", body)).body.success]).toEqual([body, false]);
    }
  }
  for (const body of [vertex("us-central1"), vertex("global"), bedrock("ap-northeast-2")])
    expect((await weir.root.api("POST", "/api/channel/", body)).body.success).toBe(true);
  expect(
    (
      await weir.root.api("POST", "/api/channel/", {
        type: 8,
        name: "c",
        key: "k",
        models: "evil.example",
        base_url: "https://{model}/v1",
      })
    ).body,
  ).toMatchObject({ code: "channel_base_url_invalid" });
});

test("a model mapping cannot lead to another host either", async () => {
  const id = await made({ type: 8, base_url: `${MINE}/{model}/chat` });
  // As an earlier release may have stored it.
  await weir.db.q
    .update(weir.db.t.channels)
    .set({ base_url: "https://{model}.example/chat" })
    .where(eq(weir.db.t.channels.id, id));
  expect((await admin.api("PUT", "/api/channel/", { id, model_mapping: '{"m":"evil"}' })).body).toMatchObject(REQUIRED);
});

test("a copy sent as a form takes the key only to the same address", async () => {
  const id = await made({ name: "orig", setting: '{"proxy":"http://proxy.example:8080"}' });
  const row = {
    ...(await admin.ok<Record<string, unknown>>("GET", `/api/channel/${id}`)),
    id: undefined,
    name: "orig_复制",
  };
  for (const key of ["", String(id)]) {
    for (const change of [
      { base_url: THEIRS },
      { setting: "" },
      { setting: JSON.stringify({ proxy: THEIRS }) },
      { base_url: `${MINE}:8443` },
    ]) {
      expect([change, (await admin.api("POST", "/api/channel/", { ...row, key, ...change })).body]).toMatchObject([
        change,
        REQUIRED,
      ]);
    }
    expect((await admin.api("POST", "/api/channel/", { ...row, key, base_url: `${MINE}/other` })).body.success).toBe(
      true,
    );
  }
  const copy = await admin.trpc.channel.copy.mutate({ id });
  expect((await admin.api("PUT", "/api/channel/", { id: copy.id, base_url: THEIRS })).body).toMatchObject(REQUIRED);
});

test("batch edits, tag edits, the repair and a switch of status change no address", async () => {
  const id = await made({ tag: "group-a" });
  const before = await rowOf(id);
  const address = { base_url: THEIRS, type: 8, other: "x", setting: JSON.stringify({ proxy: THEIRS }) };
  await admin.api("PUT", "/api/channel/tag", { tag: "group-a", priority: 7, ...address });
  await admin.trpc.channel.batchEdit.mutate({ ids: [id], weight: 5, ...address } as never);
  await admin.trpc.channel.batchStatus.mutate({ ids: [id], status: 2, ...address } as never);
  await admin.api("POST", "/api/channel/tag/enabled", { tag: "group-a", ...address });
  await admin.api("POST", "/api/channel/fix", address);
  const { type, base_url, other, setting, key_cipher } = await rowOf(id);
  expect({ type, base_url, other, setting, key_cipher }).toEqual({
    type: before.type,
    base_url: before.base_url,
    other: before.other,
    setting: before.setting,
    key_cipher: before.key_cipher,
  });
  expect(await rowOf(id)).toMatchObject({ priority: 7, weight: 5, status: 1 });
});

test("two concurrent changes that are harmless each cannot combine into a harmful one", async () => {
  for (let round = 0; round < 5; round++) {
    const id = await made({ type: 1 });
    const answers = await Promise.all([
      admin.api("PUT", "/api/channel/", { id, base_url: `${THEIRS}/v1`, key: "sk-entered-by-them" }),
      admin.api("PUT", "/api/channel/", { id, base_url: `${MINE}/a` }),
      admin.api("PUT", "/api/channel/", { id, multi_key_mode: "random" }),
      admin.api("PUT", "/api/channel/", { id, base_url: THEIRS }),
    ]);
    expect(answers.length).toBe(4);
    for (let i = 0; i < 3; i++) await admin.api("GET", `/api/channel/test/${id}`);
  }
});

test("a channel without a key has nothing to protect: its address changes freely", async () => {
  const id = await made({ type: 4, key: "", base_url: "http://127.0.0.1:11434" });
  expect((await admin.api("PUT", "/api/channel/", { id, base_url: "http://127.0.0.1:11435" })).body.success).toBe(true);
});

test("the error is in both languages", async () => {
  const id = await made();
  const told = async (lang: string) =>
    String(
      (await admin.api("PUT", "/api/channel/", { id, base_url: THEIRS }, { "accept-language": lang })).body.message,
    );
  expect(await told("zh-CN")).toContain("请同时填写密钥");
  expect(await told("en-US")).toContain("enter the key");
});
