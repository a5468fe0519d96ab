/** Second factors on both engines, over HTTP; the authenticator is simulated. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { Secret, TOTP } from "otpauth";
import { ENGINES } from "../../../../tests/kit/databases";
import { FakeAuthenticator } from "../../../../tests/kit/fake-authenticator";
import { HOOK_MS } from "../../../../tests/kit/harness";
import { type ApiAnswer, ROOT, type Session, startWeir, type Weir } from "../../../../tests/kit/weir";
import { PASSKEYS_MAX } from "../../../shared/factor";

describe.each(ENGINES)("second factors on %s", (engine) => {
  let weir: Weir;
  beforeAll(async () => {
    weir = await startWeir({ engine });
  }, HOOK_MS);
  afterAll(() => weir?.stop());

  const codeOf = (secret: string, periods = 0) =>
    new TOTP({ secret: Secret.fromBase32(secret), period: 30, digits: 6 }).generate({
      timestamp: Date.now() + periods * 30_000,
    });
  const cookiesOf = (answer: ApiAnswer) =>
    answer.headers
      .getSetCookie()
      .map((line) => line.split(";")[0] ?? "")
      .join("; ");
  const login = (username: string) => weir.anonymous("POST", "/api/user/login", { username, password: ROOT.password });
  const second = (cookie: string, code: string) => weir.anonymous("POST", "/api/user/login/2fa", { code }, { cookie });
  /** Forgets which periods were used, so that a test does not wait for the next one. */
  const rewind = (id: number) =>
    weir.db.q.update(weir.db.t.totps).set({ last_step: 0 }).where(eq(weir.db.t.totps.user_id, id));

  async function withTotp(): Promise<{ user: Session; secret: string; codes: string[] }> {
    const user = await weir.newUser();
    const { secret, uri } = await user.ok<{ secret: string; uri: string }>("POST", "/api/user/2fa/setup");
    expect(uri).toStartWith("otpauth://totp/Weir:user");
    expect(uri).toContain(`secret=${secret}`);
    const { backup_codes } = await user.ok<{ backup_codes: string[] }>("POST", "/api/user/2fa/enable", {
      code: codeOf(secret),
    });
    return { user, secret, codes: backup_codes };
  }

  test("one-time codes are asked for only after a first one was right; then a password alone opens no session", async () => {
    const user = await weir.newUser();
    const { secret } = await user.ok<{ secret: string }>("POST", "/api/user/2fa/setup");
    expect((await login(user.username)).body.data).toMatchObject({ id: user.id });
    expect((await user.api("POST", "/api/user/2fa/enable", { code: "000000" })).body).toMatchObject({
      success: false,
      message: "验证码错误或已被使用",
    });
    const { backup_codes } = await user.ok<{ backup_codes: string[] }>("POST", "/api/user/2fa/enable", {
      code: codeOf(secret),
    });
    expect(backup_codes).toHaveLength(10);
    expect(new Set(backup_codes).size).toBe(10);
    expect(await user.ok("GET", "/api/user/2fa/status")).toEqual({
      enabled: true,
      backup_codes_remaining: 10,
      passkeys: [],
    });
    expect((await user.api("POST", "/api/user/2fa/setup")).body).toMatchObject({
      success: false,
      code: "totp_already_on",
    });

    await rewind(user.id);
    const first = await login(user.username);
    expect(first.body.data).toEqual({ require_2fa: true, passkey: false });
    expect(first.headers.getSetCookie().some((line) => line.startsWith("session="))).toBe(false);
    const done = await second(cookiesOf(first), codeOf(secret));
    expect(done.body).toMatchObject({ success: true, data: { id: user.id } });
    const cookie = cookiesOf(done);
    expect(
      (await weir.anonymous("GET", "/api/user/self", undefined, { cookie, "new-api-user": String(user.id) })).body
        .success,
    ).toBe(true);
    // That sign-in is over: its code and its ticket are not accepted any more.
    expect((await second(cookiesOf(first), codeOf(secret, 1))).body).toMatchObject({
      success: false,
      code: "second_step_expired",
    });
  });

  test("a code works once, and the second step belongs to the browser that made the first", async () => {
    const { user, secret } = await withTotp();
    const first = await login(user.username);
    // The code that switched it on is used.
    expect((await second(cookiesOf(first), codeOf(secret))).body.code).toBe("factor_code_wrong");
    await rewind(user.id);
    expect((await second("", codeOf(secret))).body.code).toBe("second_step_expired");
    expect((await second(`sign_in_browser=${"a".repeat(43)}`, codeOf(secret))).body.code).toBe("second_step_expired");
    const other = await login((await withTotp()).user.username);
    expect((await second(cookiesOf(other), codeOf(secret))).body.code).toBe("factor_code_wrong");
    expect((await second(cookiesOf(first), codeOf(secret))).body.success).toBe(true);
  });

  test("after five wrong codes the sign-in begins again; a recovery code passes once, however it is typed", async () => {
    const { user, secret, codes } = await withTotp();
    await rewind(user.id);
    const first = await login(user.username);
    for (let i = 0; i < 5; i++) expect((await second(cookiesOf(first), "000000")).body.code).toBe("factor_code_wrong");
    expect((await second(cookiesOf(first), codeOf(secret))).body.code).toBe("second_step_expired");
    const [code = ""] = codes;
    const again = await login(user.username);
    expect((await second(cookiesOf(again), code.toUpperCase().replaceAll("-", " "))).body.success).toBe(true);
    const third = await login(user.username);
    expect((await second(cookiesOf(third), code)).body.code).toBe("factor_code_wrong");
    const status = await user.ok<{ backup_codes_remaining: number }>("GET", "/api/user/2fa/status");
    expect(status.backup_codes_remaining).toBe(9);
  });

  test("recovery codes are renewed and one-time codes switched off only with a code", async () => {
    const { user, codes } = await withTotp();
    for (const path of ["disable", "backup_codes"]) {
      expect((await user.api("POST", `/api/user/2fa/${path}`, { code: "000000" })).body.code).toBe("factor_code_wrong");
      expect((await user.api("POST", `/api/user/2fa/${path}`, {})).body.code).toBe("factor_code_missing");
    }
    const { backup_codes } = await user.ok<{ backup_codes: string[] }>("POST", "/api/user/2fa/backup_codes", {
      code: codes[0],
    });
    expect((await user.api("POST", "/api/user/2fa/disable", { code: codes[1] })).body.code).toBe("factor_code_wrong");
    await user.ok("POST", "/api/user/2fa/disable", { code: backup_codes[0] });
    expect((await login(user.username)).body.data).toMatchObject({ id: user.id });
  });

  test("of many that bring one recovery code at once, one is signed in", async () => {
    const { user, codes } = await withTotp();
    const firsts = await Promise.all(Array.from({ length: 5 }, () => login(user.username)));
    const answers = await Promise.all(firsts.map((first) => second(cookiesOf(first), codes[0] ?? "")));
    expect(answers.filter((answer) => answer.body.success)).toHaveLength(1);
  });

  test("of eight that bring one one-time code at once, one is signed in, and a step-up with it is refused", async () => {
    const { user, secret } = await withTotp();
    await rewind(user.id);
    const [code, before] = [codeOf(secret), codeOf(secret, -1)];
    const firsts = await Promise.all(Array.from({ length: 8 }, () => login(user.username)));
    const answers = await Promise.all(firsts.map((first) => second(cookiesOf(first), code)));
    expect(answers.filter((answer) => answer.body.success)).toHaveLength(1);
    await expect(user.trpc.factor.stepUp.mutate({ code })).rejects.toThrow();
    expect((await user.api("POST", "/api/user/2fa/disable", { code })).body.code).toBe("factor_code_wrong");
    // The code before it, which clocks that differ would let pass, is older than the one that was used.
    const again = await login(user.username);
    expect((await second(cookiesOf(again), before)).body.code).toBe("factor_code_wrong");
  });

  test("neither the secret nor a recovery code can be read from the database", async () => {
    const { user, secret, codes } = await withTotp();
    const [row] = await weir.db.q.select().from(weir.db.t.totps).where(eq(weir.db.t.totps.user_id, user.id));
    const kept = JSON.stringify(row);
    expect(kept).not.toContain(secret);
    for (const code of codes) expect(kept).not.toContain(code.replaceAll("-", ""));
    expect(JSON.stringify(await user.ok("GET", "/api/user/self"))).not.toContain(secret);
  });

  describe("passkeys", () => {
    const keyOf = () => new FakeAuthenticator(new URL(weir.url).origin);
    /** tRPC over fetch, with cookies. */
    const call = async (path: string, input: unknown, cookie: string, user?: Session) => {
      const response = await fetch(`${weir.url}/trpc/${path}`, {
        method: "POST",
        body: input === undefined ? undefined : JSON.stringify(input),
        headers: { "content-type": "application/json", cookie, ...(user ? { "new-api-user": String(user.id) } : {}) },
      });
      const set = response.headers.getSetCookie().map((line) => line.split(";")[0] ?? "");
      const body = (await response.json()) as { result?: { data: any }; error?: { data: { app: string } } };
      return { data: body.result?.data, error: body.error?.data.app, cookies: set };
    };
    const addKey = async (user: Session, key: FakeAuthenticator, name = "laptop") => {
      const begun = await call("factor.beginRegistration", undefined, user.cookie, user);
      return call(
        "factor.finishRegistration",
        { name, response: key.create(begun.data) },
        [user.cookie, ...begun.cookies].join("; "),
        user,
      );
    };
    const useKey = async (key: FakeAuthenticator, use: string, cookie = "", user?: Session) => {
      const begun = await call("factor.beginPasskey", { use }, cookie, user);
      if (begun.error) return begun;
      const jar = new Map(
        [...cookie.split("; "), ...begun.cookies].filter(Boolean).map((pair) => [pair.split("=")[0], pair]),
      );
      return call("factor.finishPasskey", { use, response: key.get(begun.data) }, [...jar.values()].join("; "), user);
    };

    test("a passkey signs in by itself, also where one-time codes are on", async () => {
      const { user } = await withTotp();
      const key = keyOf();
      const added = await addKey(user, key);
      expect(added).toMatchObject({ data: { name: "laptop", last_used_at: 0 } });
      const { data, cookies } = await useKey(key, "sign-in");
      expect(data).toMatchObject({ id: user.id });
      const self = await weir.anonymous("GET", "/api/user/self", undefined, {
        cookie: cookies.join("; "),
        "new-api-user": String(user.id),
      });
      expect(self.body.success).toBe(true);
      expect((await user.trpc.factor.status.query()).passkeys[0]?.last_used_at).toBeGreaterThan(0);
      await weir.root.ok("POST", "/api/user/manage", { id: user.id, action: "disable" });
      expect(await useKey(key, "sign-in")).toMatchObject({ error: "user_banned" });
    });

    test("a passkey answers the second step and the step-up of its own account, and of no other", async () => {
      const { user } = await withTotp();
      const [mine, foreign] = [keyOf(), keyOf()];
      const stranger = await weir.newUser();
      await addKey(user, mine);
      await addKey(stranger, foreign);
      const first = await login(user.username);
      expect(first.body.data).toEqual({ require_2fa: true, passkey: true });
      expect(await useKey(foreign, "second-step", cookiesOf(first))).toMatchObject({ error: "passkey_refused" });
      expect(await useKey(mine, "second-step", cookiesOf(first))).toMatchObject({ data: { id: user.id } });
      expect(await useKey(mine, "second-step")).toMatchObject({ error: "second_step_expired" });

      await weir.db.q.update(weir.db.t.sessions).set({ verified_at: 0 }).where(eq(weir.db.t.sessions.user_id, user.id));
      expect((await call("factor.beginRegistration", undefined, user.cookie, user)).error).toBe("step_up_required");
      expect(await useKey(foreign, "step-up", user.cookie, user)).toMatchObject({ error: "passkey_refused" });
      expect((await useKey(mine, "step-up", user.cookie, user)).error).toBeUndefined();
      expect((await call("factor.beginRegistration", undefined, user.cookie, user)).error).toBeUndefined();
      expect(await useKey(mine, "step-up")).toMatchObject({ error: "not_signed_in" });
    });

    test("an answer works once, in its browser, for its purpose, from this site, with the person verified, with its own key, never with an older count", async () => {
      const user = await weir.newUser();
      const key = keyOf();
      await addKey(user, key);
      const begin = (use = "sign-in") => call("factor.beginPasskey", { use }, "");
      const finish = (response: unknown, cookies: string[], use = "sign-in") =>
        call("factor.finishPasskey", { use, response }, cookies.join("; "));
      const begun = await begin();
      const response = key.get(begun.data);
      expect((await finish(response, [])).error).toBe("passkey_expired");
      expect((await finish(response, [`sign_in_browser=${"b".repeat(43)}`])).error).toBe("passkey_expired");
      expect((await finish(response, begun.cookies)).data).toMatchObject({ id: user.id });
      expect((await finish(response, begun.cookies)).error).toBe("passkey_expired");
      for (const fault of [
        { origin: "https://evil.example" },
        { origin: `${new URL(weir.url).origin}.evil.example` },
        { origin: `http://${new URL(weir.url).hostname}:1` },
        { origin: "null" },
        { rpId: "evil.example" },
        { verified: false },
        { present: false },
        { type: "webauthn.create" },
        { forge: true },
        { counter: 0 },
      ]) {
        const next = await begin();
        expect((await finish(key.get(next.data, fault), next.cookies)).error).toBe("passkey_refused");
      }
      const other = await begin();
      expect((await finish(keyOf().get(other.data), other.cookies)).error).toBe("passkey_refused");
      expect((await finish({ id: "x" }, [])).error).toBe("invalid_parameter");
    });

    test("of eight that bring one answer at once, one is signed in; and a challenge is answered for its own purpose and account", async () => {
      const [user, stranger] = [await weir.newUser(), await weir.newUser()];
      const [mine, foreign] = [keyOf(), keyOf()];
      await addKey(user, mine);
      await addKey(stranger, foreign);
      const finish = (use: string, response: unknown, cookie: string, who?: Session) =>
        call("factor.finishPasskey", { use, response }, cookie, who);
      const begun = await call("factor.beginPasskey", { use: "sign-in" }, "");
      const response = mine.get(begun.data);
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => finish("sign-in", response, begun.cookies.join("; "))),
      );
      expect(answers.filter(({ data }) => data !== undefined)).toHaveLength(1);

      // A challenge for a sign-in is none for a step-up, and none for a new passkey.
      const other = await call("factor.beginPasskey", { use: "sign-in" }, stranger.cookie, stranger);
      const cookie = [stranger.cookie, ...other.cookies].join("; ");
      expect(await finish("step-up", foreign.get(other.data), cookie, stranger)).toMatchObject({
        error: "passkey_expired",
      });
      const third = await call("factor.beginPasskey", { use: "sign-in" }, stranger.cookie, stranger);
      const made = keyOf().create({ ...third.data, rp: { id: third.data.rpId }, user: { id: "" } });
      expect(
        await call(
          "factor.finishRegistration",
          { name: "", response: made },
          [stranger.cookie, ...third.cookies].join("; "),
          stranger,
        ),
      ).toMatchObject({ error: "passkey_expired" });
      // The challenge of another account's step-up, brought with that browser's cookie.
      const asked = await call("factor.beginPasskey", { use: "step-up" }, user.cookie, user);
      expect(
        await finish("step-up", foreign.get(asked.data), [stranger.cookie, ...asked.cookies].join("; "), stranger),
      ).toMatchObject({ error: "passkey_refused" });
    });

    test("an account has no more passkeys than it may, however many are made at once", async () => {
      const user = await weir.newUser();
      const begun = [];
      for (let i = 0; i <= PASSKEYS_MAX; i++)
        begun.push(await call("factor.beginRegistration", undefined, user.cookie, user));
      const answers = await Promise.all(
        begun.map(({ data, cookies }) =>
          call(
            "factor.finishRegistration",
            { name: "", response: keyOf().create(data) },
            [user.cookie, ...cookies].join("; "),
            user,
          ),
        ),
      );
      expect(answers.flatMap(({ error }) => error ?? [])).toEqual(["passkeys_full"]);
      expect((await user.trpc.factor.status.query()).passkeys).toHaveLength(PASSKEYS_MAX);
    });

    test("a passkey is added once, to the account that asked, named, and removed by its owner alone", async () => {
      const [user, stranger] = [await weir.newUser(), await weir.newUser()];
      const key = keyOf();
      const { data } = await addKey(user, key);
      expect(await addKey(stranger, key)).toMatchObject({ error: "passkey_known" });
      const begun = await call("factor.beginRegistration", undefined, user.cookie, user);
      const made = keyOf().create(begun.data);
      expect(
        (
          await call(
            "factor.finishRegistration",
            { response: made },
            [stranger.cookie, ...begun.cookies].join("; "),
            stranger,
          )
        ).error,
      ).toBe("passkey_expired");
      await expect(stranger.trpc.factor.removePasskey.mutate({ id: data.id })).rejects.toThrow();
      await expect(stranger.trpc.factor.renamePasskey.mutate({ id: data.id, name: "mine" })).rejects.toThrow();
      await user.trpc.factor.renamePasskey.mutate({ id: data.id, name: "phone" });
      expect((await user.trpc.factor.status.query()).passkeys).toMatchObject([{ name: "phone" }]);
      await user.trpc.factor.removePasskey.mutate({ id: data.id });
      expect((await user.trpc.factor.status.query()).passkeys).toEqual([]);
      expect(await useKey(key, "sign-in")).toMatchObject({ error: "passkey_refused" });
    });

    test("the calls of new-api make, use, show and remove a passkey, with the rules of the console's", async () => {
      const { user, secret } = await withTotp();
      const key = keyOf();
      /** REST with the session's cookies and those that calls set. */
      const jar = new Map<string, string>();
      const rest = async (method: string, path: string, body?: object, who: Session | null = user) => {
        const cookie = [...(who ? [who.cookie] : []), ...jar.values()].join("; ");
        const headers = { cookie, ...(who && { "new-api-user": String(who.id) }) };
        const answer = await weir.anonymous(method, path, body ?? (method === "POST" ? {} : undefined), headers);
        for (const line of answer.headers.getSetCookie()) jar.set(line.split("=")[0] ?? "", line.split(";")[0] ?? "");
        return answer.body;
      };
      const passkey = "/api/user/passkey";
      type Options = Parameters<FakeAuthenticator["create"]>[0];
      const optionsIn = ({ data }: { data?: unknown }) =>
        (data as { options: { publicKey: Options } }).options.publicKey;
      expect((await rest("GET", passkey)).data).toEqual({ enabled: false });
      expect(await rest("DELETE", passkey)).toMatchObject({ success: false, code: "passkey_not_found" });
      const made = await rest("POST", `${passkey}/register/begin`);
      expect((await rest("POST", `${passkey}/register/finish`, key.create(optionsIn(made)))).success).toBe(true);
      expect((await rest("GET", passkey)).data).toEqual({ enabled: true });

      // A step-up, by the passkey and by a code.
      const old = () => weir.db.q.update(weir.db.t.sessions).set({ verified_at: 0 });
      await old();
      expect(await rest("POST", "/api/verify", { method: "passkey" })).toMatchObject({ code: "step_up_required" });
      expect(await rest("POST", `${passkey}/register/begin`)).toMatchObject({ code: "step_up_required" });
      const begun = await rest("POST", `${passkey}/verify/begin`);
      const used = key.get(optionsIn(begun));
      expect((await rest("POST", `${passkey}/verify/finish`, used)).success).toBe(true);
      expect((await rest("POST", "/api/verify", { method: "passkey" })).data).toMatchObject({ verified: true });
      expect((await rest("GET", passkey)).data).toEqual({ enabled: true, last_used_at: expect.stringMatching(/Z$/) });
      await old();
      await rewind(user.id);
      expect(await rest("POST", "/api/verify", { method: "2fa", code: "000000" })).toMatchObject({
        code: "factor_code_wrong",
      });
      expect((await rest("POST", "/api/verify", { method: "2fa", code: codeOf(secret) })).data).toMatchObject({
        verified: true,
        expires_at: expect.any(Number),
      });

      jar.clear();
      const entering = await rest("POST", `${passkey}/login/begin`, undefined, null);
      const entered = key.get(optionsIn(entering));
      expect((await rest("POST", `${passkey}/login/finish`, entered, null)).data).toMatchObject({ id: user.id });
      jar.clear();
      expect((await rest("DELETE", passkey)).success).toBe(true);
      expect((await rest("GET", passkey)).data).toEqual({ enabled: false });
    });
  });
});
