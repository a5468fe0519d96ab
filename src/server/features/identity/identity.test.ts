/** Sign-in by providers on both engines, over HTTP, against simulated providers. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { and, eq } from "drizzle-orm";
import { ENGINES } from "../../../../tests/kit/databases";
import { type FakeIdentity, startFakeIdentity } from "../../../../tests/kit/fake-identity/server";
import { HOOK_MS } from "../../../../tests/kit/harness";
import { type ApiAnswer, type Session, startWeir, type Weir } from "../../../../tests/kit/weir";
import { IDENTITY_PROVIDERS, identityProviders, type RedirectProvider } from "../../../shared/identity";
import { option } from "../../../shared/options";
import { telegramHash } from "./telegram";

test("each provider's name in the public status is that of the option that switches it on", () => {
  for (const provider of identityProviders) {
    const { enabled, status } = IDENTITY_PROVIDERS[provider];
    expect(option(enabled).public).toBe(status);
  }
});

/** A browser without a page: it keeps cookies. */
class Browser {
  private jar = new Map<string, string>();
  constructor(
    private weir: Weir,
    private user?: Session,
  ) {
    if (user) this.keep([user.cookie]);
  }
  private keep(lines: readonly string[]): void {
    for (const line of lines) {
      const [pair = ""] = line.split(";");
      this.jar.set(pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1));
    }
  }
  get cookie(): string {
    return [...this.jar].map(([name, value]) => `${name}=${value}`).join("; ");
  }
  async get(
    path: string,
    headers: Record<string, string> = { "new-api-user": String(this.user?.id ?? -1) },
  ): Promise<ApiAnswer> {
    const answer = await this.weir.anonymous("GET", path, undefined, { cookie: this.cookie, ...headers });
    this.keep(answer.headers.getSetCookie());
    return answer;
  }
}

let subjects = 10_000;

describe.each(ENGINES)("sign-in elsewhere on %s", (engine) => {
  let weir: Weir;
  let fake: FakeIdentity;

  beforeAll(async () => {
    fake = await startFakeIdentity();
    weir = await startWeir({ engine, env: { ...fake.env } });
    for (const [key, value] of Object.entries(fake.options)) await weir.setOption(key, value);
  }, HOOK_MS);
  afterAll(async () => {
    await weir?.stop();
    await fake?.stop();
  });
  afterEach(() => {
    fake.claims = {};
    fake.signing = "key";
  });

  const newPerson = () => {
    subjects++;
    fake.person = { id: subjects, login: `person${subjects}`, trust_level: 2, sub: `sub-${subjects}` };
    return fake.person;
  };
  /** The address that a provider sends this browser back to, as a call of the API. */
  const goThere = async (browser: Browser, provider: RedirectProvider, aff = "") => {
    const begun = await browser.get(`/api/oauth/state?provider=${provider}&aff=${aff}`);
    expect(begun.body.message).toBe("");
    const ids = { github: "GitHubClientId", linuxdo: "LinuxDOClientId", oidc: "oidc.client_id" } as const;
    const address = new URL(String(begun.body.url));
    // spec
    expect(address.searchParams.get("client_id")).toBe(fake.options[ids[provider]] ?? "");
    // spec
    expect(address.searchParams.get("state")).toBe(String(begun.body.data));
    const back = await fake.agree(address.href);
    expect(back.origin + back.pathname).toBe(`${new URL(weir.url).origin}/oauth/${provider}`);
    expect(back.searchParams.get("state")).toBe(String(begun.body.data));
    return `/api/oauth/${provider}${back.search}`;
  };
  const signedInAs = async (browser: Browser, answer: ApiAnswer) => {
    // spec: C-495, C-496
    expect(answer.body).toMatchObject({ success: true, message: "" });
    const { id, username } = answer.body.data as { id: number; username: string };
    const self = await browser.get("/api/user/self", { "new-api-user": String(id) });
    expect(self.body).toMatchObject({ success: true, data: { id, username } });
    return { id, username, self: self.body.data as Record<string, unknown> };
  };
  const identitiesOf = (user_id: number) =>
    weir.db.q.select().from(weir.db.t.identities).where(eq(weir.db.t.identities.user_id, user_id));
  const telegram = (fields: Record<string, string | number>) => {
    const signed = {
      id: "1",
      auth_date: String(Math.floor(Date.now() / 1000)),
      ...Object.fromEntries(Object.entries(fields).map(([k, v]) => [k, String(v)])),
    };
    return new URLSearchParams({ ...signed, hash: telegramHash(signed, fake.options.TelegramBotToken ?? "") });
  };

  for (const provider of ["github", "linuxdo", "oidc"] as const) {
    test(`${provider}: an unknown person gets an account, the same person comes back to it, and it is never found by name or mail`, async () => {
      const person = newPerson();
      const subject = provider === "oidc" ? `${fake.url}/oidc ${person.sub}` : String(person.id);
      // Another account has the provider's name and mail address already.
      const lookalike = await weir.newUser();
      await weir.db.q
        .update(weir.db.t.users)
        .set({ username: person.login, email: `${person.login}@x.example` })
        .where(eq(weir.db.t.users.id, lookalike.id));
      const first = new Browser(weir);
      const made = await signedInAs(first, await first.get(await goThere(first, provider)));
      // spec: D-69
      expect(made.username).toMatch(new RegExp(`^${provider}_\\d+$`));
      expect(made.id).not.toBe(lookalike.id);
      // spec
      expect(made.self).toMatchObject({
        [IDENTITY_PROVIDERS[provider].field]: subject,
        role: 1,
        email: "",
        display_name: person.login,
      });
      fake.person.login = "renamed";
      const second = new Browser(weir);
      expect((await signedInAs(second, await second.get(await goThere(second, provider)))).id).toBe(made.id);
      expect(await identitiesOf(made.id)).toMatchObject([{ provider, subject }]);
      const exchange = fake.exchanges.findLast((call) => call.provider === provider);
      expect(Boolean(exchange?.form.code_verifier)).toBe(provider !== "linuxdo");
    });
  }

  test("a state works once, in the browser that asked for it, for the provider it was made for; whatever else comes is refused with 403", async () => {
    newPerson();
    const browser = new Browser(weir);
    const path = await goThere(browser, "github");
    const refused = async (from: Browser, target: string) => {
      const answer = await from.get(target);
      expect(answer).toMatchObject({ status: 403, body: { success: false, code: "identity_state_wrong" } });
      expect(answer.headers.getSetCookie().filter((line) => line.startsWith("session="))).toEqual([]);
    };
    await refused(new Browser(weir), path);
    const other = new Browser(weir);
    await goThere(other, "github");
    await refused(other, path);
    await refused(browser, path.replace("/github", "/linuxdo"));
    await refused(browser, path);
    await refused(browser, "/api/oauth/github?code=x");
    await refused(browser, "/api/oauth/github?code=x&state=");
    await refused(browser, `/api/oauth/github?code=x&state=${"a".repeat(32)}`);
    const again = await goThere(browser, "github");
    expect((await browser.get(again)).body.success).toBe(true);
    await refused(browser, again);
    // An id of another purpose is refused too: a session token, an access token.
    await refused(browser, `/api/oauth/github?code=x&state=${weir.root.cookie.slice("session=".length)}`);
  });

  test("a state that is too old is refused", async () => {
    newPerson();
    const browser = new Browser(weir);
    const path = await goThere(browser, "github");
    await weir.db.q
      .update(weir.db.t.codes)
      .set({ expires_at: Math.floor(Date.now() / 1000) - 1 })
      .where(eq(weir.db.t.codes.purpose, "oauth"));
    expect((await browser.get(path)).status).toBe(403);
  });

  test("a front-end that builds the provider's address itself signs in with the bare state", async () => {
    newPerson();
    const browser = new Browser(weir);
    const { body } = await browser.get("/api/oauth/state");
    // spec: A-444
    expect(body).toEqual({ success: true, message: "", data: expect.stringMatching(/^[A-Za-z0-9]{32}$/) });
    const callback = `${new URL(weir.url).origin}/oauth/linuxdo`;
    const back = await fake.agree(
      `${fake.url}/oauth2/authorize?client_id=client-of-weir&redirect_uri=${encodeURIComponent(callback)}&state=${String(body.data)}`,
    );
    await signedInAs(browser, await browser.get(`/api/oauth/linuxdo${back.search}`));
  });

  test("an ID token for another client, of another issuer, with another nonce, expired, unsigned or signed with another key signs no user in", async () => {
    newPerson();
    const attempt = async () => {
      const browser = new Browser(weir);
      const { body } = await browser.get(await goThere(browser, "oidc"));
      expect(body).toMatchObject({ success: false, code: "identity_provider_failed" });
      expect(JSON.stringify(body)).not.toContain("secret-of-weir");
    };
    for (const claims of [
      { aud: "somebody-else" },
      { iss: "https://evil.example" },
      { nonce: "another" },
      { nonce: undefined },
      { exp: 1_000 },
      { sub: undefined },
    ]) {
      fake.claims = claims;
      await attempt();
    }
    fake.claims = {};
    for (const signing of ["none", "foreign"] as const) {
      fake.signing = signing;
      await attempt();
    }
  });

  test("a refusal at the provider, or a wrong code, is reported in the provider's words", async () => {
    const browser = new Browser(weir);
    const { body } = await browser.get("/api/oauth/state?provider=github");
    expect((await browser.get(`/api/oauth/github?error=access_denied&state=${String(body.data)}`)).body).toMatchObject({
      success: false,
      message: "GitHub 未授权：access_denied",
    });
    const { body: next } = await browser.get("/api/oauth/state?provider=github");
    expect((await browser.get(`/api/oauth/github?code=wrong&state=${String(next.data)}`)).body.message).toContain(
      "bad_verification_code",
    );
    expect((await browser.get("/api/oauth/nobody?code=x&state=y")).body).toMatchObject({ code: "not_found" });
  });

  test("what begins on a signed-in page binds to that account and to no other; a bound identity is refused elsewhere; unbinding keeps the last way to sign in", async () => {
    newPerson();
    const [one, two] = [await weir.newUser(), await weir.newUser()];
    const [first, second] = [new Browser(weir, one), new Browser(weir, two)];
    // spec: C-495
    // spec: A-008
    expect((await first.get(await goThere(first, "github"))).body).toEqual({ success: true, message: "bind" });
    expect((await first.get("/api/user/self")).body.data).toMatchObject({
      id: one.id,
      github_id: String(fake.person.id),
    });
    // Once more changes nothing; another identity of the same provider is refused.
    expect((await first.get(await goThere(first, "github"))).body.success).toBe(true);
    // spec
    expect((await second.get(await goThere(second, "github"))).body).toMatchObject({
      success: false,
      message: "该 GitHub 账户已被绑定",
    });
    newPerson();
    expect((await first.get(await goThere(first, "github"))).body).toMatchObject({
      success: false,
      code: "identity_other_bound",
    });
    // Begun signed in, finished signed out or as another user.
    const path = await goThere(first, "linuxdo");
    expect((await first.get(path, {})).status).toBe(403);
    const again = await goThere(first, "linuxdo");
    expect(
      (
        await weir.anonymous("GET", again, undefined, {
          cookie: `${first.cookie}; ${two.cookie}`,
          "new-api-user": String(two.id),
        })
      ).status,
    ).toBe(403);

    expect(await one.trpc.identity.list.query()).toMatchObject([{ provider: "github" }]);
    expect((await one.api("DELETE", "/api/user/oauth/bindings/telegram")).body).toMatchObject({
      success: false,
      code: "identity_not_bound",
    });
    await weir.setOption("PasswordLoginEnabled", "false");
    // spec: D-70
    expect((await one.api("DELETE", "/api/user/oauth/bindings/github")).body).toMatchObject({
      success: false,
      code: "identity_last",
    });
    expect(await identitiesOf(one.id)).toHaveLength(1);
    await weir.setOption("PasswordLoginEnabled", "true");
    expect((await one.api("DELETE", "/api/user/oauth/bindings/github")).body.success).toBe(true);
    expect(await identitiesOf(one.id)).toEqual([]);
    // spec: C-496
    expect((await first.get(await goThere(first, "linuxdo"))).body).toEqual({ success: true, message: "bind" });
    expect((await weir.anonymous("GET", "/api/user/oauth/bindings")).status).toBe(401);
  });

  for (const provider of ["github", "linuxdo"] as const) {
    test(`${provider}: what begins on a signed-in page is bound to that account`, async () => {
      const { id } = newPerson();
      const browser = new Browser(weir, await weir.newUser());
      // spec: A-008
      expect((await browser.get(await goThere(browser, provider))).body).toEqual({ success: true, message: "bind" });
      const field = IDENTITY_PROVIDERS[provider].field;
      // spec: A-008
      expect((await browser.get("/api/user/self")).body.data).toMatchObject({ [field]: String(id) });
    });
  }

  test("binding and unbinding need a recent proof; signing in needs none", async () => {
    newPerson();
    const user = await weir.newUser();
    const browser = new Browser(weir, user);
    const path = await goThere(browser, "github");
    await weir.db.q.update(weir.db.t.sessions).set({ verified_at: 0 }).where(eq(weir.db.t.sessions.user_id, user.id));
    const refused = { success: false, code: "step_up_required" };
    expect((await browser.get(path)).body).toMatchObject(refused);
    expect((await browser.get("/api/oauth/state?provider=github")).body).toMatchObject(refused);
    expect((await browser.get("/api/oauth/wechat/bind?code=1")).body).toMatchObject(refused);
    expect((await browser.get(`/api/oauth/telegram/bind?${telegram({ id: ++subjects })}`)).body).toMatchObject(refused);
    const { body } = await browser.get("/api/oauth/state");
    const navigated = telegram({ id: ++subjects });
    navigated.set("state", String(body.data));
    expect((await browser.get(`/api/oauth/telegram/bind?${navigated}`, {})).body).toMatchObject(refused);
    expect((await user.api("DELETE", "/api/user/oauth/bindings/github")).body).toMatchObject(refused);
    expect(await identitiesOf(user.id)).toEqual([]);
  });

  test("an account made elsewhere cannot remove its only binding, and no password opens it", async () => {
    newPerson();
    const browser = new Browser(weir);
    const { id, username } = await signedInAs(browser, await browser.get(await goThere(browser, "github")));
    const headers = { cookie: browser.cookie, "new-api-user": String(id) };
    // spec: D-70
    expect((await weir.anonymous("DELETE", "/api/user/oauth/bindings/github", undefined, headers)).body).toMatchObject({
      code: "identity_last",
    });
    for (const password of ["-", "", "password"]) {
      expect((await weir.anonymous("POST", "/api/user/login", { username, password })).body.success).toBe(false);
    }
  });

  test("of the last two ways to sign in, removed at once, one stays", async () => {
    const { users, identities } = weir.db.t;
    for (let round = 0; round < 25; round++) {
      const user = await weir.newUser();
      await weir.db.q.update(users).set({ password_hash: "-" }).where(eq(users.id, user.id));
      const row = { user_id: user.id, name: "", created_at: 1 };
      await weir.db.q.insert(identities).values([
        { ...row, provider: "github", subject: String(++subjects) },
        { ...row, provider: "linuxdo", subject: String(++subjects) },
      ]);
      const answers = await Promise.all(
        ["github", "linuxdo"].map((provider) => user.api("DELETE", `/api/user/oauth/bindings/${provider}`)),
      );
      expect(answers.map(({ body }) => body.code ?? "removed").sort()).toEqual(["identity_last", "removed"]);
      expect(await identitiesOf(user.id)).toHaveLength(1);
    }
  });

  test("registration that is off refuses unknown persons by every provider; a provider that is off refuses every user", async () => {
    newPerson();
    fake.wechat.set("998877", `wechat-${subjects}`);
    await weir.setOption("RegisterEnabled", "false");
    const browser = new Browser(weir);
    for (const provider of ["github", "linuxdo", "oidc"] as const) {
      // spec: A-241
      expect((await browser.get(await goThere(browser, provider))).body).toMatchObject({
        success: false,
        message: "管理员关闭了新用户注册",
      });
    }
    expect((await browser.get("/api/oauth/wechat?code=998877")).body.code).toBe("registration_disabled");
    // spec: D-68
    expect((await browser.get(`/api/oauth/telegram/login?${telegram({ id: subjects })}`)).body.code).toBe(
      "registration_disabled",
    );
    await weir.setOption("RegisterEnabled", "true");
    for (const provider of identityProviders) await weir.setOption(IDENTITY_PROVIDERS[provider].enabled, "false");
    expect((await browser.get("/api/oauth/state?provider=github")).body).toMatchObject({
      code: "identity_provider_off",
      message: "管理员未开启通过 GitHub 登录",
    });
    const { body } = await browser.get("/api/oauth/state");
    for (const path of [
      `/api/oauth/github?code=x&state=${String(body.data)}`,
      `/api/oauth/linuxdo?code=x&state=${String((await browser.get("/api/oauth/state")).body.data)}`,
      "/api/oauth/wechat?code=998877",
      `/api/oauth/telegram/login?${telegram({ id: subjects })}`,
    ]) {
      // spec: A-242..A-245
      expect((await browser.get(path)).body.code).toBe("identity_provider_off");
    }
    for (const provider of identityProviders) await weir.setOption(IDENTITY_PROVIDERS[provider].enabled, "true");
  });

  test("a banned account is refused by its provider, and a deleted one is not opened again", async () => {
    newPerson();
    const browser = new Browser(weir);
    const { id } = await signedInAs(browser, await browser.get(await goThere(browser, "github")));
    await weir.root.ok("POST", "/api/user/manage", { id, action: "disable" });
    // spec: A-452
    expect((await browser.get(await goThere(browser, "github"))).body).toMatchObject({
      success: false,
      message: "该用户已被封禁",
    });
    await weir.root.ok("POST", "/api/user/manage", { id, action: "enable" });
    await weir.db.q.update(weir.db.t.users).set({ deleted_at: 1 }).where(eq(weir.db.t.users.id, id));
    // spec: A-452
    expect((await browser.get(await goThere(browser, "github"))).body).toMatchObject({
      success: false,
      code: "user_deleted",
    });
  });

  test("LinuxDO users below the least trust level are refused", async () => {
    newPerson().trust_level = 1;
    await weir.setOption("LinuxDOMinimumTrustLevel", "2");
    const browser = new Browser(weir);
    expect((await browser.get(await goThere(browser, "linuxdo"))).body).toMatchObject({
      success: false,
      message: "您的 LinuxDO 信任等级为 1，至少需要 2",
    });
    fake.person.trust_level = 2;
    await signedInAs(browser, await browser.get(await goThere(browser, "linuxdo")));
    await weir.setOption("LinuxDOMinimumTrustLevel", "0");
  });

  test("a user invited by a code who registers by a provider counts for the inviter, and the ledger balances", async () => {
    newPerson();
    const inviter = await weir.newUser();
    const code = await inviter.ok<string>("GET", "/api/user/aff");
    await weir.setOption("QuotaForNewUser", "1000");
    await weir.setOption("QuotaForInvitee", "500");
    const browser = new Browser(weir);
    const { self } = await signedInAs(browser, await browser.get(await goThere(browser, "oidc", code)));
    expect(self).toMatchObject({ inviter_id: inviter.id, quota: 1500 });
    // spec: A-445
    expect((await inviter.ok<{ aff_count: number }>("GET", "/api/user/self")).aff_count).toBe(1);
    await weir.setOption("QuotaForNewUser", "0");
    await weir.setOption("QuotaForInvitee", "0");
    expect(await weir.audit()).toEqual([]);
  });

  test("a WeChat code signs in, binds and is refused when the server does not know it", async () => {
    const person = `wechat-${++subjects}`;
    fake.wechat.set("123456", person);
    const browser = new Browser(weir);
    const { id, self, username } = await signedInAs(browser, await browser.get("/api/oauth/wechat?code=123456"));
    // spec: D-69
    expect(username).toMatch(/^wechat_\d+$/);
    // spec
    expect(self).toMatchObject({ wechat_id: person });
    // spec: A-349
    expect((await browser.get("/api/oauth/wechat?code=000000")).body.message).toBe("验证码错误或已过期");
    expect((await browser.get("/api/oauth/wechat?code=")).body.message).toBe("请输入验证码！");
    const user = await weir.newUser();
    expect((await user.api("GET", "/api/oauth/wechat/bind?code=123456")).body).toMatchObject({
      success: false,
      message: "该 微信 账户已被绑定",
    });
    fake.wechat.set("654321", `${person}b`);
    // spec: A-008
    expect((await user.api("GET", "/api/oauth/wechat/bind?code=654321")).body.success).toBe(true);
    expect(
      (await weir.anonymous("GET", "/api/oauth/wechat/bind?code=654321", undefined, { cookie: user.cookie })).status,
    ).toBe(401);
    const [bound] = await weir.db.q
      .select()
      .from(weir.db.t.identities)
      .where(and(eq(weir.db.t.identities.user_id, user.id), eq(weir.db.t.identities.provider, "wechat")));
    // spec: A-447
    expect(bound?.subject).toBe(`${person}b`);
    expect(bound?.user_id).not.toBe(id);
  });

  test("signed Telegram data signs in once; a changed letter, an old date, a replay and unsigned fields do nothing", async () => {
    const id = ++subjects;
    const browser = new Browser(weir);
    const login = (fields: URLSearchParams) => browser.get(`/api/oauth/telegram/login?${fields}`);
    const photo_url = "https://t.me/i/userpic/320/ann.jpg";
    const fields = telegram({ id, first_name: "Ann & Bob", last_name: "Doe", username: "ann", photo_url });
    fields.set("lang", "zh");
    const { self, username } = await signedInAs(browser, await login(fields));
    // spec: D-69
    expect(username).toMatch(/^telegram_\d+$/);
    // spec, D-67, D-68
    expect(self).toMatchObject({ telegram_id: String(id), display_name: "ann" });
    // spec: D-67
    expect((await login(fields)).body.code).toBe("telegram_invalid");
    const changed = telegram({ id });
    changed.set("id", String(id + 1));
    // spec
    expect((await login(changed)).body.code).toBe("telegram_invalid");
    // spec: D-67
    expect((await login(telegram({ id, auth_date: Math.floor(Date.now() / 1000) - 86_401 }))).body.code).toBe(
      "telegram_invalid",
    );
    expect((await login(telegram({ id, auth_date: Math.floor(Date.now() / 1000) + 3600 }))).body.code).toBe(
      "telegram_invalid",
    );
    expect((await login(new URLSearchParams({ id: "1", auth_date: "1", hash: "" }))).body.code).toBe(
      "telegram_invalid",
    );
  });

  test("Telegram data in which a line break lets one field stand for others signs no user in", async () => {
    const [owner, attacker] = [String(++subjects), String(++subjects)];
    const first = new Browser(weir);
    await signedInAs(first, await first.get(`/api/oauth/telegram/login?${telegram({ id: owner })}`));
    const accounts = await weir.db.q.select().from(weir.db.t.users);
    // Signed for the attacker, whose name has line breaks; then the same lines as other fields.
    const signed = telegram({ id: attacker, first_name: `Eve\nid=${owner}\nlast_name=x` });
    const moved = new URLSearchParams({
      first_name: "Eve",
      id: owner,
      last_name: `x\nid=${attacker}`,
      auth_date: signed.get("auth_date") ?? "",
      hash: signed.get("hash") ?? "",
    });
    for (const fields of [moved, signed]) {
      const browser = new Browser(weir);
      expect((await browser.get(`/api/oauth/telegram/login?${fields}`)).body.code).toBe("telegram_invalid");
    }
    expect(await weir.db.q.select().from(weir.db.t.users)).toHaveLength(accounts.length);
  });

  test("Telegram binds by a call, and by navigation only with the state of a signed-in page in the same browser", async () => {
    const user = await weir.newUser();
    const browser = new Browser(weir, user);
    const bind = (fields: URLSearchParams, headers?: Record<string, string>) =>
      browser.get(`/api/oauth/telegram/bind?${fields}`, headers);
    expect((await bind(telegram({ id: ++subjects }), {})).status).toBe(401);
    const answer = await bind(telegram({ id: ++subjects }));
    // spec: D-66
    expect(answer.status).toBe(302);
    // spec: D-66
    expect(answer.headers.get("location")).toStartWith("/setting");
    // spec
    expect((await browser.get("/api/user/self")).body.data).toMatchObject({ telegram_id: String(subjects) });

    await user.api("DELETE", "/api/user/oauth/bindings/telegram");
    const { body } = await browser.get("/api/oauth/state");
    const navigated = telegram({ id: ++subjects });
    navigated.set("state", String(body.data));
    expect((await new Browser(weir).get(`/api/oauth/telegram/bind?${navigated}`)).status).toBe(403);
    // spec: C-479
    expect((await bind(navigated, {})).status).toBe(302);
    expect((await browser.get("/api/user/self")).body.data).toMatchObject({ telegram_id: String(subjects) });
    // A guest's state names no account to bind to.
    const guest = new Browser(weir);
    const { body: guests } = await guest.get("/api/oauth/state");
    navigated.set("state", String(guests.data));
    expect((await guest.get(`/api/oauth/telegram/bind?${navigated}`)).status).toBe(403);
  });

  test("two first sign-ins of one identity at once make one account", async () => {
    newPerson();
    const browsers = Array.from({ length: 6 }, () => new Browser(weir));
    const paths = await Promise.all(browsers.map((browser) => goThere(browser, "github")));
    const answers = await Promise.all(browsers.map((browser, index) => browser.get(paths[index] ?? "")));
    const ids = new Set(answers.map((answer) => (answer.body.data as { id: number }).id));
    expect(ids.size).toBe(1);
  });
});
