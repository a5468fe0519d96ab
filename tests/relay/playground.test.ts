/** POST /pg/chat/completions over the real server: access, the upstream request, the charge, the errors. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { type Session, startWeir, type Weir } from "../kit/weir";

const MODELS = ["gpt-4o-mini", "error-429", "error-midstream:2", "vip-only"];
const upstream = startFakeUpstream();
let weir: Weir;
let user: Session;

beforeAll(async () => {
  weir = await startWeir();
  await weir.setOption("GroupRatio", { default: 1, vip: 2, secret: 1 });
  await weir.setOption("UserUsableGroups", { default: "默认", vip: "VIP" });
  await weir.newChannel({ base_url: upstream.url, models: MODELS, group: "default,vip,secret" });
  await weir.priceModels(Object.fromEntries(MODELS.map((model) => [model, 1])));
}, 30_000);
afterAll(async () => {
  await weir?.stop();
  upstream.close();
});
beforeEach(async () => {
  user = await weir.newUser({ quota: 1_000_000 });
  upstream.journal.clear();
});

const sent = {
  messages: [
    { role: "system", id: "1", createAt: 1715676751919, content: "be brief" },
    { role: "user", id: "2", createAt: 1715676751920, content: "hello there" },
  ],
  stream: true,
  model: "gpt-4o-mini",
  group: "default",
  max_tokens: 0,
  temperature: 0,
};

const call = (headers: Record<string, string>, body: object = sent): Promise<Response> =>
  fetch(`${weir.url}/pg/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });

async function refusal(response: Response): Promise<[number, string | undefined]> {
  const body = (await response.json()) as { error?: { code?: string; message?: string } };
  expect(typeof body.error?.message).toBe("string");
  return [response.status, body.error?.code];
}

test("a signed-in user gets a stream that ends in [DONE], and it is charged to their own balance", async () => {
  const response = await call(user.headers);
  expect(response.status).toBe(200);
  // spec: C-558
  expect(response.headers.get("content-type")).toStartWith("text/event-stream");
  const text = await response.text();
  expect(text).toContain('"content"');
  // spec: C-558
  expect(text.trimEnd()).toEndWith("data: [DONE]");
  const id = response.headers.get("x-request-id");
  const row = await weir.waitForLog(({ request_id }) => request_id === id);
  // spec: C-561
  expect(row).toMatchObject({
    user_id: user.id,
    token_id: 0,
    token_name: "playground-default",
    group: "default",
    end_reason: "complete",
  });
  expect(row.quota).toBeGreaterThan(0);
  // spec: C-561
  expect(await weir.balance(user.id)).toEqual({
    quota: 1_000_000 - row.quota,
    used_quota: row.quota,
    request_count: 1,
  });
  expect(await weir.holds()).toBe(0);
  expect(await weir.audit()).toEqual([]);
});

test("the console's own members are not sent upstream: id, createAt, group, a max_tokens of 0", async () => {
  await (await call(user.headers)).text();
  const body = JSON.parse(upstream.journal.last().body) as Record<string, unknown>;
  // spec: C-559, C-561
  expect(body).toMatchObject({
    messages: [
      { role: "system", content: "be brief" },
      { role: "user", content: "hello there" },
    ],
    stream: true,
    model: "gpt-4o-mini",
    temperature: 0,
  });
  // spec: C-561
  expect(Object.keys(body)).not.toContain("group");
  // spec: C-561, C-655
  expect(Object.keys(body)).not.toContain("max_tokens");
  // spec: C-561
  expect(JSON.stringify(body)).not.toContain("createAt");
  expect(upstream.journal.last().key).toBe("good-key");
  expect(upstream.journal.last().headers.cookie).toBeUndefined();

  await (await call(user.headers, { ...sent, max_tokens: 7, temperature: 2 })).text();
  // spec: C-559, C-654
  expect(JSON.parse(upstream.journal.last().body)).toMatchObject({ max_tokens: 7, temperature: 2 });
});

test("the group decides the ratio, and a group that the user may not use is refused", async () => {
  const costs: number[] = [];
  for (const group of ["default", "vip"]) {
    const response = await call(user.headers, { ...sent, group });
    await response.text();
    const row = await weir.waitForLog(({ request_id }) => request_id === response.headers.get("x-request-id"));
    expect(row.token_name).toBe(`playground-${group}`);
    costs.push(row.quota);
  }
  expect(costs[1]).toBe((costs[0] ?? 0) * 2);
  upstream.journal.clear();
  // spec: C-561
  expect(await refusal(await call(user.headers, { ...sent, group: "secret" }))).toEqual([403, "group_denied"]);
  expect(await refusal(await call(user.headers, { ...sent, group: ["vip"] }))).toEqual([400, "invalid_request"]);
  expect(upstream.journal.entries).toHaveLength(0);
  // Without a group the user's own counts.
  const { group: _group, ...without } = sent;
  expect((await call(user.headers, without)).status).toBe(200);
});

test("the session's cookie counts only with the user-id header of the same user", async () => {
  const { cookie } = user;
  // spec: C-560
  expect(await refusal(await call({ cookie }))).toEqual([401, "user_header_mismatch"]);
  // spec: C-560
  expect(await refusal(await call({ cookie, "new-api-user": String(user.id + 1) }))).toEqual([
    401,
    "user_header_mismatch",
  ]);
  // spec: C-561
  expect(await refusal(await call({ "new-api-user": String(user.id) }))).toEqual([401, "not_signed_in"]);
  expect(upstream.journal.entries).toHaveLength(0);
});

test("a system access token and a relay key do not open the playground", async () => {
  const access = await user.ok<string>("GET", "/api/user/token");
  // spec: C-561
  expect(await refusal(await call({ authorization: access, "new-api-user": String(user.id) }))).toEqual([
    400,
    "access_token_not_supported",
  ]);
  const { key } = await weir.newToken({}, user);
  expect(await refusal(await call({ authorization: `Bearer ${key}` }))).toEqual([401, "access_token_invalid"]);
  expect(upstream.journal.entries).toHaveLength(0);
});

test("an error before the first event is a non-2xx answer, one after it an error event without [DONE]", async () => {
  const early = await call(user.headers, { ...sent, model: "error-429" });
  // spec: C-562
  expect(early.status).toBe(429);
  // spec: C-562
  expect(early.headers.get("content-type")).toStartWith("application/json");
  expect(((await early.json()) as { error: { message: string } }).error.message).not.toBe("");
  const late = await call(user.headers, { ...sent, model: "error-midstream:2" });
  expect(late.status).toBe(200);
  const text = await late.text();
  expect(text).toContain('"content"');
  // spec: C-562
  expect(text).toContain('"error"');
  // spec: C-562
  expect(text).not.toContain("[DONE]");
  expect(await weir.holds()).toBe(0);
  expect(await weir.audit()).toEqual([]);
});

test("an empty balance, a broken body and an unknown model are refused with an error object", async () => {
  const poor = await weir.newUser({ quota: 1 });
  expect(await refusal(await call(poor.headers))).toEqual([429, "insufficient_quota"]);
  expect(await refusal(await call(user.headers, { ...sent, model: "nowhere" }))).toEqual([404, "model_not_found"]);
  const broken = await fetch(`${weir.url}/pg/chat/completions`, {
    method: "POST",
    headers: { ...user.headers, "content-type": "application/json" },
    body: "{",
  });
  expect(await refusal(broken)).toEqual([400, "bad_json"]);
});

test("no other site may read its answers", async () => {
  const origin = "https://evil.example";
  const asked = await fetch(`${weir.url}/pg/chat/completions`, {
    method: "OPTIONS",
    headers: { origin, "access-control-request-method": "POST", "access-control-request-headers": "new-api-user" },
  });
  expect(asked.headers.get("access-control-allow-origin")).toBeNull();
  const answered = await call({ ...user.headers, origin });
  expect(answered.headers.get("access-control-allow-origin")).toBeNull();
  expect(answered.headers.get("access-control-allow-credentials")).toBeNull();
  await answered.text();
});
