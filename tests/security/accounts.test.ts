/** Registration, reset, and the second proof before secrets (docs/security.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { HOOK_MS } from "../kit/harness";
import { type MailServer, startMailServer } from "../kit/mail-server";
import { ROOT, type Session, startWeir, type Weir } from "../kit/weir";

const KNOWN = "known@weir.example";
let weir: Weir;
let post: MailServer;
let owner: Session;
beforeAll(async () => {
  post = await startMailServer({ tls: "none" });
  weir = await startWeir();
  const options = {
    SMTPServer: "127.0.0.1",
    SMTPPort: String(post.port),
    SMTPFrom: "weir@weir.example",
    ServerAddress: "https://gateway.example",
  };
  for (const [key, value] of Object.entries(options)) await weir.setOption(key, value);
  owner = await weir.newUser();
  await weir.db.q.update(weir.db.t.users).set({ email: KNOWN }).where(eq(weir.db.t.users.id, owner.id));
}, HOOK_MS);
afterAll(async () => {
  await weir?.stop();
  await post?.close();
});

const ask = (path: string, headers: Record<string, string> = {}) => weir.anonymous("GET", path, undefined, headers);
const askReset = (email: string, headers?: Record<string, string>) =>
  ask(`/api/reset_password?email=${encodeURIComponent(email)}`, headers);
/** The next new mail to an address. */
async function mailTo(address: string, known: number): Promise<string> {
  for (const end = Date.now() + 15_000; Date.now() < end; await Bun.sleep(20)) {
    const mail = post.mails.slice(known).find(({ to }) => to.includes(address));
    if (mail) return mail.raw.replaceAll("=\r\n", "").replaceAll("=3D", "=");
  }
  throw new Error(`no mail came to ${address}`);
}

describe("the existence of an account is not revealed", () => {
  test("Dify CVE-2025-56520: login, reset and verification answer alike for a known and an unknown address, and take the same work", async () => {
    const answersOf = async (email: string) => {
      const answers = [
        await weir.anonymous("POST", "/api/user/login", { username: email, password: "wrong-password" }),
        await askReset(email),
        await ask(`/api/verification?email=${encodeURIComponent(email)}`),
        await weir.anonymous("POST", "/api/user/reset", { email, token: "x".repeat(32) }),
      ];
      return answers.map(({ status, body }) => [
        status,
        body.success,
        body.message,
        body.code,
        Object.keys(body).toSorted(),
      ]);
    };
    // spec: D-61, D-77
    expect(await answersOf("stranger@weir.example")).toEqual(await answersOf(KNOWN));
    // A password is hashed for an unknown name too: otherwise such an answer would be many times faster.
    const costs = async (username: string): Promise<number> => {
      const times: number[] = [];
      for (let i = 0; i < 3; i++) {
        const started = performance.now();
        await weir.anonymous("POST", "/api/user/login", { username, password: "wrong-password" });
        times.push(performance.now() - started);
      }
      return Math.min(...times);
    };
    const [unknown, known] = [await costs("nobody-of-that-name"), await costs(ROOT.username)];
    // spec: D-77
    expect(unknown).toBeGreaterThan(known / 10);
  }, 60_000);
});

describe("a reset", () => {
  test("Flowise CVE-2025-58434: the answer to a forgotten password carries no token, and a new password comes only for a valid one, once", async () => {
    const email = "reset@weir.example";
    const person = await weir.newUser();
    await weir.db.q.update(weir.db.t.users).set({ email }).where(eq(weir.db.t.users.id, person.id));
    const known = post.mails.length;
    const answer = await askReset(email);
    expect(answer.body).toEqual({ success: true, message: "" });
    const token = /token=([A-Za-z0-9_-]+)/.exec(await mailTo(email, known))?.[1] ?? "";
    expect(token.length).toBeGreaterThanOrEqual(32);
    const reset = (body: object) => weir.anonymous("POST", "/api/user/reset", body).then(({ body }) => body);
    for (const wrong of ["", "null", token.slice(1), `${token}a`, token.toLowerCase(), ["x"], { $ne: "" }, null]) {
      expect((await reset({ email, token: wrong })).data).toBeUndefined();
    }
    expect((await reset({ email: KNOWN, token })).data).toBeUndefined();
    const changed = await Promise.all([reset({ email, token }), reset({ email, token }), reset({ email, token })]);
    expect(changed.filter(({ success }) => success)).toHaveLength(1);
    expect((await reset({ email, token })).success).toBe(false);
    expect(
      (await weir.anonymous("POST", "/api/user/login", { username: person.username, password: ROOT.password })).body
        .success,
    ).toBe(false);
  }, 60_000);

  test("Host header in mail links: the link names the operator's address, whatever Host and its kin say; without one no mail is sent", async () => {
    const email = "host@weir.example";
    const person = await weir.newUser();
    await weir.db.q.update(weir.db.t.users).set({ email }).where(eq(weir.db.t.users.id, person.id));
    const known = post.mails.length;
    const evil = {
      host: "evil.example",
      "x-forwarded-host": "evil.example",
      forwarded: "host=evil.example",
      "x-forwarded-proto": "http",
      origin: "https://evil.example",
      referer: "https://evil.example/",
    };
    expect((await askReset(email, evil)).body.success).toBe(true);
    const mail = await mailTo(email, known);
    expect(mail).toContain("https://gateway.example/user/reset?");
    expect(mail).not.toContain("evil.example");
    await weir.setOption("ServerAddress", "");
    expect((await askReset("host2@weir.example", evil)).body.success).toBe(false);
    await weir.setOption("ServerAddress", "https://gateway.example");
  });
});

test("CVE-2026-114612: what was issued for one purpose is invalid for another", async () => {
  const email = "purpose@weir.example";
  const person = await weir.newUser();
  await weir.db.q.update(weir.db.t.users).set({ email }).where(eq(weir.db.t.users.id, person.id));
  const known = post.mails.length;
  await askReset(email);
  const reset = /token=([A-Za-z0-9_-]+)/.exec(await mailTo(email, known))?.[1] ?? "";
  const state = String((await ask("/api/oauth/state")).body.data);
  const access = await person.ok<string>("GET", "/api/user/token");
  const aff = await person.ok<string>("GET", "/api/user/aff");
  const { key } = await weir.newToken({}, person);
  const session = person.cookie.slice("session=".length);
  const issued = { reset, state, access, aff, session, key: key.slice(3) };
  for (const [name, value] of Object.entries(issued)) {
    const asSession = await weir.anonymous("GET", "/api/user/self", undefined, {
      cookie: `session=${value}`,
      "new-api-user": String(person.id),
    });
    expect([name, "session", asSession.status === 200]).toEqual([name, "session", name === "session"]);
    const asAccess = await weir.anonymous("GET", "/api/user/self", undefined, { authorization: `Bearer ${value}` });
    expect([name, "access", asAccess.body.success]).toEqual([name, "access", name === "access"]);
    const asKey = await fetch(`${weir.url}/v1/models`, { headers: { authorization: `Bearer sk-${value}` } });
    expect([name, "key", asKey.status === 200]).toEqual([name, "key", name === "key"]);
    if (name !== "reset")
      expect([name, (await weir.anonymous("POST", "/api/user/reset", { email, token: value })).body.success]).toEqual([
        name,
        false,
      ]);
    if (name !== "state")
      expect([name, (await ask(`/api/oauth/github?code=x&state=${value}`)).body.success]).toEqual([name, false]);
    const asCode = await person.api("GET", `/api/oauth/email/bind?email=${email}&code=${value}`);
    expect([name, "code", asCode.body.success]).toEqual([name, "code", false]);
  }
});

test("new-api GO-2026-4813: no secret is shown on an old, foreign, absent or replayed proof", async () => {
  const { sessions } = weir.db.t;
  const person = await weir.newUser();
  const { id } = await weir.newToken({}, person);
  const channel = await weir.newChannel({ base_url: "http://127.0.0.1:9", models: ["echo"] });
  const age = () => weir.db.q.update(sessions).set({ verified_at: Math.floor(Date.now() / 1000) - 3600 });
  const code = (promise: Promise<unknown>) =>
    promise.then(
      () => "shown",
      (error: { data?: { app?: string } }) => error.data?.app,
    );
  await age();
  expect(await code(person.trpc.token.reveal.mutate({ id }))).toBe("step_up_required");
  expect(await code(person.trpc.token.revealMany.mutate({ ids: [id] }))).toBe("step_up_required");
  expect(await code(person.trpc.user.newAccessToken.mutate())).toBe("step_up_required");
  // Invalid: another session's proof, a wrong password, and members of the call.
  const other = await weir.signIn(person.username, ROOT.password);
  expect(await code(other.trpc.token.reveal.mutate({ id }))).toBe("shown");
  expect(await code(person.trpc.token.reveal.mutate({ id }))).toBe("step_up_required");
  expect(await code(person.trpc.auth.verifyPassword.mutate({ password: "wrong" }))).toBe("password_wrong");
  const claim = await person.api(
    "POST",
    "/trpc/token.reveal",
    { id, verified_at: 9e9, step_up: true, password: ROOT.password },
    { "x-step-up": "1", "x-verified": "true" },
  );
  expect([claim.status, JSON.stringify(claim.body).includes("sk-")]).toEqual([403, false]);
  await person.trpc.auth.verifyPassword.mutate({ password: ROOT.password });
  expect(await code(person.trpc.token.reveal.mutate({ id }))).toBe("shown");
  await age();
  expect(await code(person.trpc.token.reveal.mutate({ id }))).toBe("step_up_required");
  // A channel's key is never shown, with any proof.
  const { body } = await weir.root.api("GET", `/api/channel/${channel}`);
  expect((body.data as { key: string }).key).toBe("");
});
