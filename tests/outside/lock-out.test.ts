/**
 * Strangers' wrong passwords keep no owner out who proves who they are: by a browser that has signed in before, a
 * second factor or a passkey. And guessing stays slow: from a whole /64 of IPv6, and from a known browser.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { eq } from "drizzle-orm";
import { Secret, TOTP } from "otpauth";
import { ENGINES } from "../kit/databases";
import { FakeAuthenticator } from "../kit/fake-authenticator";
import { HOOK_MS } from "../kit/harness";
import { type ApiAnswer, ROOT, type Session, startWeir, type Weir } from "../kit/weir";

setDefaultTimeout(HOOK_MS);

const OFFICE = "203.0.113.7";
const cookies = (answer: { headers: Headers }): string =>
  answer.headers
    .getSetCookie()
    .map((line) => line.split(";")[0] ?? "")
    .join("; ");
const deviceLine = (answer: ApiAnswer): string =>
  answer.headers.getSetCookie().find((line) => line.startsWith("device=")) ?? "";

describe.each(ENGINES)("an account on %s", (engine) => {
  let weir: Weir;
  beforeAll(async () => {
    weir = await startWeir({ engine, env: { WEIR_TRUSTED_PROXIES: "127.0.0.1,::1" } });
  }, HOOK_MS);
  afterAll(() => weir?.stop());

  const login = (username: string, password: string, from: string, cookie = "") =>
    weir.anonymous("POST", "/api/user/login", { username, password }, { "x-forwarded-for": from, cookie });
  const enter = (who: Session, from = OFFICE, cookie = "") => login(who.username, ROOT.password, from, cookie);
  const guess = async (who: Session, times: number, from: (i: number) => string, cookie = "") => {
    for (let i = 0; i < times; i++) {
      const { body } = await login(who.username, `wrong-${i}`, from(i), cookie);
      expect([i, body.code]).toEqual([i, "credentials_wrong"]);
    }
  };
  /** A stranger uses up what the account has from the office. */
  const close = async (who: Session) => {
    await guess(who, 10, () => OFFICE);
    expect((await enter(who)).body.code).toBe("too_many_requests");
  };
  /** A browser in which the owner has signed in: its device cookie alone. */
  const browserOf = async (who: Session) => deviceLine(await enter(who)).split(";")[0] ?? "";

  test("has ten wrong passwords from one /64 of IPv6, as from one address", async () => {
    const who = await weir.newUser();
    await guess(who, 10, (i) => `2001:db8:1:2::${i + 1}`);
    expect((await enter(who, "2001:db8:1:2:ffff::1")).body.code).toBe("too_many_requests");
    expect((await enter(who, "2001:db8:1:3::1")).body.success).toBe(true);
  });

  test("is known at the whole /64 from which it has a session", async () => {
    const who = await weir.newUser();
    expect((await enter(who, "2001:db8:7:7::1")).body.success).toBe(true);
    await guess(who, 100, (i) => `198.51.${i}.1`);
    expect((await enter(who, "198.51.100.200")).body.code).toBe("too_many_requests");
    expect((await enter(who, "2001:db8:7:7:aaaa::9")).body.success).toBe(true);
  });

  test("is open to a browser that has signed in before, wherever strangers guess, and that browser has tries of its own", async () => {
    const who = await weir.newUser();
    const line = deviceLine(await enter(who));
    expect(line).toMatch(/^device=[^;]+; Path=\/; Max-Age=7776000; HttpOnly; SameSite=Lax$/);
    const device = line.split(";")[0] ?? "";
    await close(who);
    await guess(who, 100, (i) => `198.51.${i}.1`);
    expect((await enter(who, "192.0.2.1")).body.code).toBe("too_many_requests");
    for (const from of [OFFICE, "192.0.2.2", "2001:db8:9:9::1"])
      expect((await enter(who, from, device)).body.success).toBe(true);
    await guess(who, 10, (i) => `192.0.2.${i}`, device);
    expect((await enter(who, "192.0.2.99", device)).body.code).toBe("too_many_requests");
  });

  test("is not open to another account's browser, nor to a cookie that was changed", async () => {
    const [who, other] = [await weir.newUser(), await weir.newUser()];
    const [mine, foreign] = [await browserOf(who), await browserOf(other)];
    await close(who);
    const [id, session, ends, mac = ""] = mine.replace("device=", "").split(".");
    const forged = [
      foreign,
      foreign.replace(/^device=\d+/, `device=${id}`),
      `device=${id}.${session}.${Number(ends) + 1}.${mac}`,
      `device=${id}.${Number(session) + 1}.${ends}.${mac}`,
      `device=${id}.${session}.${ends}.${"0".repeat(64)}`,
      "device=",
      "device=x",
    ];
    for (const cookie of forged)
      expect([cookie, (await enter(who, OFFICE, cookie)).body.code]).toEqual([cookie, "too_many_requests"]);
    expect((await enter(who, OFFICE, mine)).body.success).toBe(true);
  });

  test("forgets a browser with the end of its session from another one and with a new password, not with the sign-out or the session's time", async () => {
    const { sessions } = weir.db.t;
    const who = await weir.newUser();
    const ended = await browserOf(who);
    const [newest] = (await who.trpc.auth.sessions.query()).filter(({ current }) => !current);
    const left = await enter(who);
    await weir.anonymous("GET", "/api/user/logout", undefined, {
      cookie: cookies(left),
      "new-api-user": String(who.id),
    });
    const outdated = await browserOf(who);
    const [last] = (await who.trpc.auth.sessions.query()).filter(({ current }) => !current);
    await weir.db.q.delete(sessions).where(eq(sessions.id, last?.id ?? 0));
    await who.trpc.auth.endSession.mutate({ id: newest?.id ?? 0 });
    const other = await browserOf(who);
    await close(who);
    expect((await enter(who, OFFICE, ended)).body.code).toBe("too_many_requests");
    for (const cookie of [deviceLine(left).split(";")[0] ?? "", outdated])
      expect((await enter(who, OFFICE, cookie)).body.success).toBe(true);

    const kept = await who.api("PUT", "/api/user/self", { password: "another-horse-10" });
    const changed = (cookie: string) => login(who.username, "another-horse-10", OFFICE, cookie);
    expect((await changed(other)).body.code).toBe("too_many_requests");
    // The browser in which the password was changed is known by the new one.
    expect((await changed(cookies(kept))).body.success).toBe(true);
  });

  test("forgets the browsers of all other sessions when they are ended together", async () => {
    const who = await weir.newUser();
    const device = await browserOf(who);
    await who.trpc.auth.endOtherSessions.mutate();
    await close(who);
    expect((await enter(who, OFFICE, device)).body.code).toBe("too_many_requests");
  });

  test("is open to its password and second factor together, and tells a stranger nothing about either", async () => {
    const { totps } = weir.db.t;
    const who = await weir.newUser();
    const { secret } = await who.ok<{ secret: string }>("POST", "/api/user/2fa/setup");
    const code = () => new TOTP({ secret: Secret.fromBase32(secret), period: 30, digits: 6 }).generate();
    await who.ok("POST", "/api/user/2fa/enable", { code: code() });
    const rewind = () => weir.db.q.update(totps).set({ last_step: 0 }).where(eq(totps.user_id, who.id));
    const second = (first: ApiAnswer, typed: string) =>
      weir.anonymous(
        "POST",
        "/api/user/login/2fa",
        { code: typed },
        { cookie: cookies(first), "x-forwarded-for": OFFICE },
      );
    await guess(who, 10, () => OFFICE);

    const [wrong, right] = [await login(who.username, "wrong", OFFICE), await enter(who)];
    expect(wrong.body).toEqual(right.body);
    expect(right.body.data).toEqual({ require_2fa: true, passkey: false });
    await rewind();
    const refused = await second(wrong, code());
    await rewind();
    expect((await second(right, "000000")).body).toEqual(refused.body);
    expect(refused.body.code).toBe("factor_code_wrong");
    expect((await second(right, code())).body).toMatchObject({ success: true, data: { id: who.id } });

    // Strangers who know no password cannot use up its codes either.
    let blind = wrong;
    for (let i = 0; i < 12; i++) {
      if (i % 5 === 0) blind = await login(who.username, "wrong", OFFICE);
      await second(blind, "000000");
    }
    await rewind();
    expect((await second(await enter(who), code())).body).toMatchObject({ success: true });
    // Who knows the password has ten codes, and every failure reads alike.
    for (let i = 0; i < 11; i++) expect((await second(await enter(who), "000000")).body.code).toBe("factor_code_wrong");
    await rewind();
    expect((await second(await enter(who), code())).body.code).toBe("factor_code_wrong");
  });
});

/** What the server asks of an authenticator, at either ceremony. */
type CeremonyOptions = Parameters<FakeAuthenticator["create"]>[0] & Parameters<FakeAuthenticator["get"]>[0];

test("an address whose sign-ins are used up is still open to a known browser and to a passkey", async () => {
  await using weir = await startWeir({ env: { WEIR_CRITICAL_RATE_LIMIT: "20" } });
  const rpc = async (path: string, input: unknown, headers: Record<string, string>) => {
    const response = await fetch(`${weir.url}/trpc/${path}`, {
      method: "POST",
      body: input === undefined ? undefined : JSON.stringify(input),
      headers: { "content-type": "application/json", ...headers },
    });
    const body = (await response.json()) as { result: { data: CeremonyOptions } };
    return { status: response.status, headers: response.headers, data: body.result.data };
  };
  const who = weir.root;
  const key = new FakeAuthenticator(new URL(weir.url).origin);
  const begun = await rpc("factor.beginRegistration", undefined, who.headers);
  await rpc(
    "factor.finishRegistration",
    { name: "laptop", response: key.create(begun.data) },
    { ...who.headers, cookie: `${who.cookie}; ${cookies(begun)}` },
  );
  const login = (username: string, cookie = "") =>
    weir.anonymous("POST", "/api/user/login", { username, password: ROOT.password }, { cookie });
  const device = deviceLine(await login(who.username)).split(";")[0] ?? "";
  const answers = [];
  for (let i = 0; i < 25; i++) answers.push((await login(`stranger${i}`)).status);
  expect(answers.at(-1)).toBe(429);
  expect((await login(who.username)).status).toBe(429);

  expect((await login(who.username, device)).body.success).toBe(true);
  const asked = await rpc("factor.beginPasskey", { use: "sign-in" }, {});
  const entered = await rpc(
    "factor.finishPasskey",
    { use: "sign-in", response: key.get(asked.data) },
    { cookie: cookies(asked) },
  );
  expect(entered.data).toMatchObject({ id: who.id });
});
