/** With the limits that a fresh installation has, floods are answered with 429 and a time to wait, and cost nothing. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readEnv } from "../../src/server/env";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { startFakeIdentity, type FakeIdentity } from "../kit/fake-identity/server";
import { HOOK_MS } from "../kit/harness";
import { type Session, startWeir, type Weir } from "../kit/weir";

const defaults = readEnv({});
const upstream = startFakeUpstream();
let weir: Weir;
let fake: FakeIdentity;
let user: Session;
let key = "";
beforeAll(async () => {
  fake = await startFakeIdentity();
  weir = await startWeir({
    env: {
      ...fake.env,
      WEIR_API_RATE_LIMIT: String(defaults.WEIR_API_RATE_LIMIT),
      WEIR_CRITICAL_RATE_LIMIT: String(defaults.WEIR_CRITICAL_RATE_LIMIT),
    },
  });
  await weir.newChannel({ base_url: upstream.url, models: ["echo"] });
  await weir.priceModels({ echo: 1 });
  for (const key of ["WeChatServerAddress", "WeChatServerToken", "WeChatAuthEnabled"])
    await weir.setOption(key, fake.options[key]);
  user = await weir.newUser({ quota: 5_000_000 });
  ({ key } = await weir.newToken({}, user));
}, HOOK_MS);
afterAll(async () => {
  await weir?.stop();
  await fake?.stop();
  upstream.close();
});

const named = { "new-api-user": "-1" };
/** Seconds to wait, of an answer that must be a 429. */
function waitOf(answer: { status: number; headers: Headers }): number {
  expect(answer.status).toBe(429);
  const text = answer.headers.get("retry-after") ?? "";
  expect(text).toMatch(/^[1-9]\d*$/);
  return Number(text);
}

test("calls of models beyond a user's limit are refused with the time to wait, reach no vendor and cost nothing, however many come at once", async () => {
  for (const [name, value] of Object.entries({
    ModelRequestRateLimitEnabled: "true",
    ModelRequestRateLimitCount: "5",
    ModelRequestRateLimitDurationMinutes: "1",
  }))
    await weir.setOption(name, value);
  const before = await weir.balance(user.id);
  upstream.journal.clear();
  const ask = { model: "echo", messages: [{ role: "user", content: "hi" }] };
  const answers = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const answer = await weir.call(key, ask);
      await answer.text();
      return answer;
    }),
  );
  const refused = answers.filter(({ status }) => status !== 200);
  expect(refused).toHaveLength(15);
  for (const answer of refused) expect(waitOf(answer)).toBeLessThanOrEqual(60);
  expect(upstream.journal.entries).toHaveLength(5);
  for (const end = Date.now() + 10_000; (await weir.holds()) > 0 && Date.now() < end;) await Bun.sleep(20);
  const rows = (await weir.logs()).filter((row) => row.user_id === user.id && row.type === 2);
  expect(rows).toHaveLength(5);
  expect((await weir.balance(user.id)).quota).toBe(before.quota - rows.reduce((sum, row) => sum + row.quota, 0));
  expect(await weir.audit()).toEqual([]);
  await weir.setOption("ModelRequestRateLimitEnabled", "false");
});

test("sign-ins and what can be guessed beside them are one count of an address, by both doors", async () => {
  const login = { username: "no-such-user", password: "wrong-password" };
  let last = await weir.anonymous("POST", "/api/user/login", login);
  // Wrong codes are cheaper than wrong passwords.
  for (let i = 0; i < defaults.WEIR_CRITICAL_RATE_LIMIT && last.status !== 429; i++)
    last = await weir.anonymous("GET", `/api/oauth/wechat?code=${i}`, undefined, named);
  for (const answer of [
    last,
    await weir.anonymous("POST", "/api/user/login", login),
    await weir.anonymous("POST", "/trpc/auth.login", login),
    await weir.anonymous("GET", "/api/oauth/wechat?code=000000", undefined, named),
    await weir.anonymous("POST", "/api/user/register", { username: "another", password: "correct-horse-9" }),
    await weir.anonymous("GET", "/api/reset_password?email=a@b.example"),
    await weir.anonymous("GET", "/api/oauth/state"),
  ])
    expect(waitOf(answer)).toBeLessThanOrEqual(20 * 60);
  // Of registration and the like an invented address has no count of its own.
  const forwarded = { "x-forwarded-for": "192.0.2.77", ...named };
  waitOf(await weir.anonymous("GET", "/api/oauth/wechat?code=000001", undefined, forwarded));
});

test("beyond the limit of an address all of /api waits, and what pays or has a key of its own does not", async () => {
  let answer = await weir.anonymous("GET", "/api/status");
  for (let i = 0; i < defaults.WEIR_API_RATE_LIMIT && answer.status !== 429; i++)
    answer = await weir.anonymous("GET", "/api/status");
  expect(waitOf(answer)).toBeLessThanOrEqual(180);
  const spoofed = { "x-forwarded-for": "192.0.2.77", "true-client-ip": "192.0.2.77" };
  for (const [method, path] of [
    ["GET", "/api/status/"],
    ["GET", "/api/pricing"],
    ["POST", "/api/user/login"],
    ["GET", "/trpc/status.get"],
  ] as const)
    waitOf(await weir.anonymous(method, path, method === "POST" ? {} : undefined, spoofed));
  const called = await weir.call(key, { model: "echo", messages: [{ role: "user", content: "hi" }] });
  expect([called.status, (await called.text()).length > 0]).toEqual([200, true]);
  expect((await fetch(`${weir.url}/api/user/epay/notify?out_trade_no=x`)).status).toBe(200);
  expect((await fetch(`${weir.url}/healthz`)).status).toBe(200);
});
