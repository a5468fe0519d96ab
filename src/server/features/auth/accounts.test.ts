import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { desc, eq } from "drizzle-orm";
import { ENGINES } from "../../../../tests/kit/databases";
import { type Harness, HOOK_MS, openHarness, type Person } from "../../../../tests/kit/harness";
import { AppError, errorText } from "../../../shared/errors";
import { ROLE } from "../../../shared/roles";
import type { OptionKey } from "../../../shared/options";
import { audit } from "../wallet/audit";
import { forgetCodes, issueCode, takeCode } from "./codes";

const PASSWORD = "secret-pass";
const cheapHash = await Bun.password.hash(PASSWORD, { algorithm: "bcrypt", cost: 4 });

// Other tests may run on the same machine and slow this one down.
setDefaultTimeout(60_000);

describe.each([...ENGINES])("accounts on %s", (engine) => {
  let house: Harness;
  let people = 0;
  const name = () => `person${++people}`;
  const set = (key: OptionKey, value: string) => house.services.options.set(key, value);

  beforeAll(async () => {
    house = await openHarness(engine);
    await set("SMTPServer", "mail.example");
    await set("ServerAddress", "https://gw.example/");
  }, HOOK_MS);
  afterAll(() => house?.close());
  beforeEach(async () => {
    house.mails.length = 0;
    for (const [key, value] of [
      ["RegisterEnabled", "true"],
      ["PasswordRegisterEnabled", "true"],
      ["PasswordLoginEnabled", "true"],
      ["EmailVerificationEnabled", "false"],
      ["EmailDomainRestrictionEnabled", "false"],
      ["EmailAliasRestrictionEnabled", "false"],
      ["QuotaForNewUser", "0"],
    ] as const)
      await set(key, value);
  });

  const register = async (body: object) => (await house.guest.rest("POST", "/api/user/register", body)).body;
  const login = async (username: string, password: string) =>
    (await house.guest.rest("POST", "/api/user/login", { username, password })).body;
  const verify = async (email: string) =>
    (await house.guest.rest("GET", `/api/verification?email=${encodeURIComponent(email)}`)).body;
  const askReset = async (email: string) =>
    (await house.guest.rest("GET", `/api/reset_password?email=${encodeURIComponent(email)}`)).body;
  const lastCode = () => /\n\n([A-Z0-9]{6})\n/.exec(house.mails.at(-1)?.text ?? "")?.[1] ?? "";
  /** The token of the mail, which is written in the background. */
  const resetToken = async (email: string) => {
    for (const end = Date.now() + 10_000; Date.now() < end; await Bun.sleep(10)) {
      const mail = house.mails.find(({ to, text }) => to === email && text.includes("/user/reset?"));
      const link = /https:\S+/.exec(mail?.text ?? "")?.[0];
      if (link) return new URL(link);
    }
    throw new Error("no reset mail came");
  };
  const rowOf = async (username: string) => {
    const { users } = house.services.db.t;
    const [row] = await house.services.db.q.select().from(users).where(eq(users.username, username));
    return row;
  };
  /** An account with this address and PASSWORD, whatever the options say. */
  const account = async (email: string) => {
    const username = name();
    await house.services.db.q
      .insert(house.services.db.t.users)
      .values({ username, password_hash: cheapHash, email, created_at: 1 });
    return username;
  };

  describe("registration", () => {
    test("makes an ordinary account that can sign in, with the quota of new users in its ledger", async () => {
      await set("QuotaForNewUser", "1000");
      const username = name();
      // spec
      expect(await register({ username, password: PASSWORD, password2: PASSWORD })).toMatchObject({
        success: true,
        message: "",
      });
      const row = await rowOf(username);
      // spec: A-183, D-20
      expect(row).toMatchObject({
        role: ROLE.user,
        status: 1,
        quota: 1000,
        group: "default",
        display_name: username,
        email: "",
        inviter_id: 0,
      });
      // spec: A-003
      expect((await login(username, PASSWORD)).data).toMatchObject({ id: row?.id, username, role: 1 });
      expect(await Array.fromAsync(audit(house.services.db))).toEqual([]);
    });

    test.each([
      [{}, "credentials_missing"],
      // spec: A-355
      [{ username: "", password: PASSWORD }, "credentials_missing"],
      [{ username: "   ", password: PASSWORD }, "credentials_missing"],
      // spec: A-356
      [{ username: "ann", password: "" }, "credentials_missing"],
      [{ username: null, password: null }, "credentials_missing"],
      // spec, D-42
      [{ username: "ann", password: "1234567" }, "password_too_short"],
      // spec: A-510, D-42
      [{ username: "ann", password: "x".repeat(21) }, "password_too_long"],
      // spec: D-45
      [{ username: "ann", password: PASSWORD, password2: "another-one" }, "passwords_differ"],
      // spec: A-509, D-84
      [{ username: "一二三四五六七八九十一二三", password: PASSWORD }, "username_length"],
      // spec: D-84
      [{ username: "ann@b.cd", password: PASSWORD }, "username_characters"],
      // spec: D-84
      [{ username: "an\u0000n", password: PASSWORD }, "username_characters"],
      [{ username: "an\u200bn", password: PASSWORD }, "username_characters"],
      [{ username: ["ann"], password: PASSWORD }, "credentials_missing"],
    ] as const)("refuses %j with %s", async (body, code) => {
      expect(await register(body)).toMatchObject({ success: false, code });
    });

    test("takes twelve characters of any script, eight and twenty of a password", async () => {
      for (const [username, password] of [
        ["一二三四五六七八九十十一", "12345678"],
        ["😀😀😀😀😀😀😀😀😀😀😀😀", "x".repeat(20)],
      ] as const) {
        // spec, D-42, D-45, D-84
        expect(await register({ username, password })).toMatchObject({ success: true });
        expect(await login(username, password)).toMatchObject({ success: true });
      }
    });

    test("takes no blanks around a name", async () => {
      expect(await register({ username: " trimmed ", password: PASSWORD })).toMatchObject({ success: true });
      // spec: D-84
      expect(await rowOf("trimmed")).toMatchObject({ display_name: "trimmed" });
    });

    test("refuses a name that is taken, also in another case, by a deleted account, and by a registration at the same moment", async () => {
      const username = name();
      const both = await Promise.all([
        register({ username, password: PASSWORD }),
        register({ username, password: PASSWORD }),
      ]);
      expect(both.map((answer) => answer.success).sort()).toEqual([false, true]);
      expect(both.find((answer) => !answer.success)).toMatchObject({ code: "username_taken" });
      // spec: D-84
      expect(await register({ username: username.toUpperCase(), password: PASSWORD })).toMatchObject({
        code: "username_taken",
      });
      const { users } = house.services.db.t;
      await house.services.db.q.update(users).set({ deleted_at: 1 }).where(eq(users.username, username)).returning();
      // spec: D-35
      expect(await register({ username, password: PASSWORD })).toMatchObject({ code: "username_taken" });
    });

    test("is refused while either option switches it off", async () => {
      await set("PasswordRegisterEnabled", "false");
      // spec: A-239, D-09
      expect(await register({ username: name(), password: PASSWORD })).toMatchObject({
        code: "password_register_disabled",
      });
      await set("RegisterEnabled", "false");
      // spec, D-09
      expect(await register({ username: name(), password: PASSWORD })).toMatchObject({ code: "registration_disabled" });
    });

    test("by invitation rewards both once; an unknown or absurd code is ignored", async () => {
      await set("QuotaForInvitee", "30");
      await set("QuotaForInviter", "20");
      const inviter = await house.person();
      const code = (await inviter.rest("GET", "/api/user/aff")).body.data as string;
      const [invited, stranger, absurd] = [name(), name(), name()];
      await register({ username: invited, password: PASSWORD, aff_code: code });
      await register({ username: stranger, password: PASSWORD, aff_code: "none" });
      // spec: D-63
      expect(await register({ username: absurd, password: PASSWORD, aff_code: "x".repeat(500) })).toMatchObject({
        success: true,
      });
      // spec
      expect(await rowOf(invited)).toMatchObject({ inviter_id: inviter.ctx.actor.id, quota: 30 });
      // spec: D-63
      for (const other of [stranger, absurd]) expect(await rowOf(other)).toMatchObject({ inviter_id: 0, quota: 0 });
      // spec
      expect(await rowOf(inviter.ctx.actor.username)).toMatchObject({ aff_count: 1, aff_quota: 20 });
      await set("QuotaForInvitee", "0");
      await set("QuotaForInviter", "0");
    });

    test("does not keep an address that was not verified", async () => {
      const username = name();
      await register({ username, password: PASSWORD, email: "victim@example.com", verification_code: "" });
      expect(await rowOf(username)).toMatchObject({ email: "" });
    });
  });

  describe("registration with e-mail verification", () => {
    beforeEach(() => set("EmailVerificationEnabled", "true"));

    test("needs address and code; with the mailed code, in small letters too, the account has the address", async () => {
      const email = "new1@example.com";
      // spec
      expect(await register({ username: name(), password: PASSWORD })).toMatchObject({ code: "verification_missing" });
      // spec: A-359
      expect(await register({ username: name(), password: PASSWORD, email })).toMatchObject({
        code: "verification_missing",
      });
      expect(
        await register({ username: name(), password: PASSWORD, email: "no address", verification_code: "x" }),
      ).toMatchObject({ code: "mail_address_invalid" });
      expect(await verify(" New1@Example.com ")).toMatchObject({ success: true, message: "" });
      // spec: A-440
      expect(house.mails.map(({ to }) => to)).toEqual([email]);
      const username = name();
      expect(
        await register({
          username,
          password: PASSWORD,
          email: "NEW1@example.com",
          verification_code: lastCode().toLowerCase(),
        }),
      ).toMatchObject({ success: true });
      // spec: A-439
      expect(await rowOf(username)).toMatchObject({ email });
      // spec: A-363
      expect(await login("New1@example.com", PASSWORD)).toMatchObject({ success: true });
    });

    test("a wrong, foreign, used or expired code is refused, and what else is wrong does not use one up", async () => {
      await verify("foreign@example.com");
      const foreign = lastCode();
      await verify("new2@example.com");
      const code = lastCode();
      const attempt = (verification_code: string, username = name()) =>
        register({ username, password: PASSWORD, email: "new2@example.com", verification_code });
      for (const wrong of ["AAAAAA", foreign, "' or 1=1 --", "x".repeat(64)])
        // spec: A-361
        expect(await attempt(wrong)).toMatchObject({ code: "verification_code_wrong" });
      const taken = await account("");
      expect(await attempt(code, taken)).toMatchObject({ code: "username_taken" });
      expect(await attempt(code)).toMatchObject({ success: true });
      // spec: A-361
      expect(await attempt(code)).toMatchObject({ code: "verification_code_wrong" });

      await verify("new3@example.com");
      house.advance(181);
      // spec: A-361
      expect(
        await register({
          username: name(),
          password: PASSWORD,
          email: "new3@example.com",
          verification_code: lastCode(),
        }),
      ).toMatchObject({ code: "verification_code_wrong" });
    });

    test("a code counts at 2:59 and no longer at 3:01", async () => {
      await verify("clock@example.com");
      const { services } = house;
      const [row] = await services.db.q
        .select()
        .from(services.db.t.codes)
        .orderBy(desc(services.db.t.codes.created_at))
        .limit(1);
      const at = async (age: number) => {
        const then = { ...services, now: () => ((row?.created_at ?? 0) + age) * 1000 };
        return services.db.tx(function* (q) {
          return yield* takeCode(then, q, { purpose: "verify-email", target: "clock@example.com", code: lastCode() });
        });
      };
      // spec: A-513, C-659
      expect(await at(181)).toBeUndefined();
      // spec: A-513, C-659
      expect(await at(179)).toBe("");
      expect(await at(179)).toBeUndefined();
    });

    test("of ten concurrent uses of one code one gets the account", async () => {
      await verify("race@example.com");
      const verification_code = lastCode();
      const answers = await Promise.all(
        Array.from({ length: 10 }, () =>
          register({ username: name(), password: PASSWORD, email: "race@example.com", verification_code }),
        ),
      );
      expect(answers.filter((answer) => answer.success)).toHaveLength(1);
    });

    test("guessing invalidates the code long before it can succeed", async () => {
      await verify("guess@example.com");
      const code = lastCode();
      const { codes } = house.services.db.t;
      await house.services.db.q
        .update(codes)
        .set({ attempts: 49 })
        .where(eq(codes.purpose, "verify-email"))
        .returning();
      expect(
        await register({
          username: name(),
          password: PASSWORD,
          email: "guess@example.com",
          verification_code: "BBBBBB",
        }),
      ).toMatchObject({ success: false });
      expect(
        await register({ username: name(), password: PASSWORD, email: "guess@example.com", verification_code: code }),
      ).toMatchObject({ code: "verification_code_wrong" });
    });

    test("an address of another account is reported as taken only with the right code; the mail is sent all the same", async () => {
      await account("old@example.com");
      // spec: D-61
      expect(await verify("old@example.com")).toMatchObject({ success: true, message: "" });
      expect(
        await register({ username: name(), password: PASSWORD, email: "old@example.com", verification_code: "AAAAAA" }),
      ).toMatchObject({ code: "verification_code_wrong" });
      expect(
        await register({
          username: name(),
          password: PASSWORD,
          email: "old@example.com",
          verification_code: lastCode(),
        }),
      ).toMatchObject({ code: "email_taken" });
    });

    test("the address of a deleted account stays taken", async () => {
      const username = await account("gone@example.com");
      const { users } = house.services.db.t;
      await house.services.db.q.update(users).set({ deleted_at: 1 }).where(eq(users.username, username)).returning();
      await verify("gone@example.com");
      const body = { username: name(), password: PASSWORD, email: "gone@example.com", verification_code: lastCode() };
      // spec: D-35
      expect(await register(body)).toMatchObject({ code: "email_taken" });
    });

    test("a second mail to one address within thirty seconds is refused, to another it is not", async () => {
      expect(await verify("pause@example.com")).toMatchObject({ success: true });
      expect(await verify("PAUSE@example.com")).toMatchObject({
        success: false,
        code: "mail_too_soon",
        message: "发送过于频繁，请 30 秒后再试",
      });
      expect(await verify("pause2@example.com")).toMatchObject({ success: true });
      house.advance(31);
      expect(await verify("pause@example.com")).toMatchObject({ success: true });
      expect(house.mails).toHaveLength(3);
    });

    test("a mail that could not be sent does not make the next one wait", async () => {
      const { sendMail } = house.services;
      house.services.sendMail = () => Promise.reject(new AppError("mail_failed"));
      try {
        expect(await verify("refused@example.com")).toMatchObject({ success: false });
      } finally {
        house.services.sendMail = sendMail;
      }
      // spec: D-40
      expect(await verify("refused@example.com")).toMatchObject({ success: true });
      expect(await verify("refused@example.com")).toMatchObject({ code: "mail_too_soon" });
    });

    test.each([
      ["a@other.example", "email_domain_denied"],
      ["a@gmail.com.evil.example", "email_domain_denied"],
      ["a@GMAIL.com", undefined],
      ["a+b@gmail.com", "email_alias_denied"],
      ["a.b@gmail.com", "email_alias_denied"],
      ["a-b_c@qq.com", undefined],
      ["", "mail_address_invalid"],
      ["a@b@gmail.com", "mail_address_invalid"],
      ["a@gmail.com,b@gmail.com", "mail_address_invalid"],
    ] as const)("with both rules on, %p gets %p, for a code and for registration", async (email, code) => {
      await set("EmailDomainRestrictionEnabled", "true");
      await set("EmailAliasRestrictionEnabled", "true");
      // spec, D-26
      expect((await verify(email)).code).toBe(code);
      if (email !== "" && code)
        expect(
          await register({ username: name(), password: PASSWORD, email, verification_code: "AAAAAA" }),
        ).toMatchObject({ code });
    });

    test("without a mail server a code cannot be requested", async () => {
      await set("SMTPServer", "");
      expect(await verify("any@example.com")).toMatchObject({ code: "mail_not_configured" });
      expect(await askReset("any@example.com")).toMatchObject({ code: "mail_not_configured" });
      await set("SMTPServer", "mail.example");
    });
  });

  describe("password reset", () => {
    test("the mailed link, on the operator's address, sets a new password once and ends the old one, all sessions and the token", async () => {
      const email = "reset1@example.com";
      const username = await account(email);
      const row = await rowOf(username);
      const { users, sessions } = house.services.db.t;
      await house.services.db.q
        .update(users)
        .set({ access_token_hash: "some hash" })
        .where(eq(users.username, username))
        .returning();
      await login(username, PASSWORD);
      // spec: A-089
      expect(await askReset(email)).toMatchObject({ success: true, message: "" });
      const link = await resetToken(email);
      // spec, D-03
      expect([link.origin, link.pathname, link.searchParams.get("email")]).toEqual([
        "https://gw.example",
        "/user/reset",
        email,
      ]);
      const token = link.searchParams.get("token");
      const reset = await house.guest.rest("POST", "/api/user/reset", { email: " Reset1@example.com", token });
      const password = String(reset.body.data);
      // spec: A-442
      expect(password).toMatch(/^[A-Za-z0-9]{16}$/);
      // spec: A-443, D-80
      expect((await house.guest.rest("POST", "/api/user/reset", { email, token })).body).toMatchObject({
        code: "reset_link_invalid",
      });
      // spec: A-093
      expect(await login(username, PASSWORD)).toMatchObject({ code: "credentials_wrong" });
      expect(
        await house.services.db.q
          .select()
          .from(sessions)
          .where(eq(sessions.user_id, row?.id ?? 0)),
      ).toEqual([]);
      // spec
      expect(await login(username, password)).toMatchObject({ success: true });
      expect(await rowOf(username)).toMatchObject({ access_token_hash: null });
    });

    test("a known and an unknown address get the same response, and unknown, banned and deleted accounts get no mail", async () => {
      const { users } = house.services.db.t;
      const banned = await account("banned@example.com");
      const deleted = await account("deleted@example.com");
      await account("known@example.com");
      await house.services.db.q.update(users).set({ status: 2 }).where(eq(users.username, banned)).returning();
      await house.services.db.q.update(users).set({ deleted_at: 1 }).where(eq(users.username, deleted)).returning();
      for (const email of ["known@example.com", "unknown@example.com", "banned@example.com", "deleted@example.com"]) {
        // spec: D-61
        expect([email, await askReset(email)]).toMatchObject([email, { success: true, message: "" }]);
        expect([email, (await askReset(email)).code]).toEqual([email, "mail_too_soon"]);
      }
      await resetToken("known@example.com");
      // spec: A-441, D-61
      expect(house.mails.map(({ to }) => to)).toEqual(["known@example.com"]);
    });

    test("a code of another purpose, an empty, a foreign and an old token are refused", async () => {
      const email = "reset2@example.com";
      await account(email);
      await verify(email);
      const attempt = async (token: unknown, of = email) =>
        (await house.guest.rest("POST", "/api/user/reset", { email: of, token })).body.code;
      // spec: D-80
      expect(await attempt(lastCode())).toBe("reset_link_invalid");
      for (const token of ["", null, undefined, "x", "x".repeat(300)])
        expect(await attempt(token)).toBe("reset_link_invalid");
      await askReset(email);
      const token = (await resetToken(email)).searchParams.get("token");
      await account("reset3@example.com");
      expect(await attempt(token, "reset3@example.com")).toBe("reset_link_invalid");
      // Nor is it a verification code.
      const person = await house.person();
      // spec: D-80
      expect((await person.rest("GET", `/api/oauth/email/bind?email=${email}&code=${token}`)).body).toMatchObject({
        code: "verification_code_wrong",
      });
      await account("reset4@example.com");
      await askReset("reset4@example.com");
      const young = (await resetToken("reset4@example.com")).searchParams.get("token");
      // Stored hashed, so that a reader of the table cannot use it.
      // spec: D-80
      expect(JSON.stringify(await house.services.db.q.select().from(house.services.db.t.codes))).not.toContain(young);
      house.advance(1790);
      // spec: D-80
      expect(await attempt(young, "reset4@example.com")).toBeUndefined();
      house.advance(11);
      // spec: D-80
      expect(await attempt(token)).toBe("reset_link_invalid");
    });

    test("without the server's address no link can be mailed", async () => {
      await set("ServerAddress", "");
      expect(await askReset("reset1@example.com")).toMatchObject({ code: "server_address_missing" });
      await set("ServerAddress", "https://gw.example/");
    });
  });

  describe("sign-in", () => {
    test("is refused while password sign-in is off", async () => {
      const username = await account("");
      await set("PasswordLoginEnabled", "false");
      // spec: A-238
      expect(await login(username, PASSWORD)).toMatchObject({ code: "password_login_disabled" });
    });

    test("after ten wrong passwords an address has to wait, a right one before that does not count; other addresses and accounts are not affected", async () => {
      const [victim, other] = [await account(""), await account("")];
      for (let i = 0; i < 12; i++) expect(await login(victim, PASSWORD)).toMatchObject({ success: true });
      const guesses = await Promise.all(Array.from({ length: 15 }, () => login(victim, "wrong-password")));
      expect(guesses.filter((answer) => answer.code === "credentials_wrong")).toHaveLength(10);
      expect(guesses.filter((answer) => answer.code === "too_many_requests")).toHaveLength(5);
      expect(await login(victim, PASSWORD)).toMatchObject({ code: "too_many_requests" });
      expect(await login(other, PASSWORD)).toMatchObject({ success: true });
      const unknown = await Promise.all(Array.from({ length: 11 }, () => login("nobody-at-all", "wrong-password")));
      expect(unknown.filter((answer) => answer.code === "too_many_requests")).toHaveLength(1);
      house.advance(901);
      expect(await login(victim, PASSWORD)).toMatchObject({ success: true });
    });
  });

  describe("a user's own account", () => {
    let person: Person;
    beforeEach(async () => {
      person = await house.person();
    });
    const self = async () => (await person.rest("GET", "/api/user/self")).body.data;
    const put = async (body: object) => (await person.rest("PUT", "/api/user/self", body)).body;

    test("changes name and display name, and nothing that is not the owner's to change", async () => {
      const username = name();
      const before = await self();
      expect(
        await put({
          username,
          display_name: "某人",
          quota: 99,
          group: "vip",
          role: 100,
          status: 2,
          id: 1,
          aff_quota: 5,
          email: "x@y.example",
        }),
      ).toMatchObject({ success: true });
      // spec
      expect(await self()).toEqual({ ...before, username, display_name: "某人" });
      expect(await put({})).toMatchObject({ success: true });
      // spec: A-509
      expect(await put({ username: "x".repeat(13) })).toMatchObject({ code: "username_length" });
      const taken = await account("");
      expect(await put({ username: taken.toUpperCase() })).toMatchObject({ code: "username_taken" });
      expect(await put({ username: username.toUpperCase() })).toMatchObject({ success: true });
    });

    test("a new password ends all sessions except the current one; an empty one changes nothing", async () => {
      const { db } = house.services;
      const user_id = person.ctx.actor.id;
      const rows = await db.q
        .insert(db.t.sessions)
        .values(
          ["a", "b"].map((hash) => ({
            token_hash: `${hash}${user_id}`,
            user_id,
            created_at: 1,
            last_seen_at: 1,
            expires_at: 9_999_999_999,
          })),
        )
        .returning();
      person.ctx.actor.session_id = rows[0]?.id ?? 0;
      expect(await put({ password: "" })).toMatchObject({ success: true });
      expect(await put({ password: "short" })).toMatchObject({ code: "password_too_short" });
      // spec: D-42
      expect(await put({ password: "x".repeat(21) })).toMatchObject({ code: "password_too_long" });
      expect(await put({ password: "another-pass" })).toMatchObject({ success: true });
      expect(
        (await db.q.select().from(db.t.sessions).where(eq(db.t.sessions.user_id, user_id))).map((row) => row.id),
      ).toEqual([rows[0]?.id ?? 0]);
      // spec
      expect(await login(person.ctx.actor.username, "another-pass")).toMatchObject({ success: true });
      expect(await put({ password: "a-third-pass" })).toMatchObject({ success: true });
      // spec: A-009
      expect(await login(person.ctx.actor.username, "another-pass")).toMatchObject({ code: "credentials_wrong" });
    });

    test("is deleted permanently by its owner, except a super administrator's", async () => {
      const root = await house.person({ role: ROLE.root });
      // spec: A-413
      expect((await root.rest("DELETE", "/api/user/self")).body).toMatchObject({ code: "root_protected" });
      const { username, id } = person.ctx.actor;
      await person.rest("GET", "/api/user/token");
      // spec: A-431
      expect((await person.rest("DELETE", "/api/user/self")).body).toMatchObject({ success: true });
      // spec
      expect(await rowOf(username)).toMatchObject({ deleted_at: expect.any(Number), access_token_hash: null });
      const { sessions } = house.services.db.t;
      // spec: A-342
      expect(await house.services.db.q.select().from(sessions).where(eq(sessions.user_id, id))).toEqual([]);
      expect(await register({ username, password: PASSWORD })).toMatchObject({ code: "username_taken" });
    });

    test("binds an address by its code; another account's address is reported as taken only then", async () => {
      const bind = async (email: string, code: string) =>
        (
          await person.rest(
            "GET",
            `/api/oauth/email/bind?email=${encodeURIComponent(email)}&code=${encodeURIComponent(code)}`,
          )
        ).body;
      // spec: A-369
      expect(await bind("", "AAAAAA")).toMatchObject({ code: "mail_address_invalid" });
      // spec: A-369
      expect(await bind("bind@example.com", "")).toMatchObject({ code: "verification_missing" });
      await verify("bind@example.com");
      expect(await bind("bind@example.com", "AAAAAA")).toMatchObject({
        code: "verification_code_wrong",
        message: errorText("verification_code_wrong", {}, "zh"),
      });
      expect(await bind("Bind@example.com", lastCode())).toMatchObject({ success: true });
      // spec
      expect(await self()).toMatchObject({ email: "bind@example.com" });
      expect(await bind("bind@example.com", lastCode())).toMatchObject({ code: "verification_code_wrong" });
      await account("theirs@example.com");
      await verify("theirs@example.com");
      expect(await bind("theirs@example.com", "AAAAAA")).toMatchObject({ code: "verification_code_wrong" });
      // spec: D-61
      expect(await bind("theirs@example.com", lastCode())).toMatchObject({ code: "email_taken" });
      await set("EmailDomainRestrictionEnabled", "true");
      // spec: D-26
      expect(await bind("ab@elsewhere.example", "AAAAAA")).toMatchObject({ code: "email_domain_denied" });
      await set("EmailDomainRestrictionEnabled", "false");
      await set("EmailAliasRestrictionEnabled", "true");
      // spec: D-26
      expect(await bind("a+b@example.com", "AAAAAA")).toMatchObject({ code: "email_alias_denied" });
    });

    test("secrets need a proof that is ten minutes old at most; a wrong password is not one", async () => {
      const { db } = house.services;
      const hash = await Bun.password.hash(PASSWORD, { algorithm: "bcrypt", cost: 4 });
      const { actor } = person.ctx;
      await db.q.update(db.t.users).set({ password_hash: hash }).where(eq(db.t.users.id, actor.id)).returning();
      const now = () => Math.floor(house.services.now() / 1000);
      const [session] = await db.q
        .insert(db.t.sessions)
        .values({
          token_hash: `step${actor.id}`,
          user_id: actor.id,
          created_at: 1,
          last_seen_at: 1,
          expires_at: 9_999_999_999,
          verified_at: now() - 601,
        })
        .returning();
      const created = (await person.rest("POST", "/api/token/", { name: "t", unlimited_quota: true })).body.data;
      Object.assign(actor, { session_id: session?.id ?? 0, verified_at: now() - 601 });

      for (const act of [
        () => person.call.token.reveal({ id: created.id }),
        () => person.call.token.revealMany({ ids: [created.id] }),
        () => person.call.user.newAccessToken(),
        () => person.call.user.updateSelf({ password: "another-pass" }),
        () => person.call.user.deleteSelf(),
      ])
        expect(await act().catch((error) => error.cause?.code)).toBe("step_up_required");
      expect(await person.call.auth.stepUpMethods()).toEqual(["password"]);
      expect(await person.call.auth.verifyPassword({ password: "wrong" }).catch((error) => error.cause?.code)).toBe(
        "password_wrong",
      );
      await person.call.auth.verifyPassword({ password: PASSWORD });
      const [row] = await db.q
        .select()
        .from(db.t.sessions)
        .where(eq(db.t.sessions.id, session?.id ?? 0));
      expect(now() - (row?.verified_at ?? 0)).toBeLessThan(60);

      actor.verified_at = row?.verified_at ?? 0;
      expect((await person.call.token.reveal({ id: created.id })).key).toStartWith("sk-");
      // A script cannot be asked for a proof: an access token reads its owner's keys but changes no way to sign in.
      Object.assign(actor, { via: "access_token", session_id: 0, verified_at: 0 });
      expect((await person.call.token.reveal({ id: created.id })).key).toStartWith("sk-");
      expect(await person.call.user.newAccessToken().catch((error) => error.cause?.code)).toBe("access_token_refused");
    });

    test("an account without a password cannot step up by password", async () => {
      expect(await person.call.auth.stepUpMethods()).toEqual([]);
      expect(await person.call.auth.verifyPassword({ password: "-" }).catch((error) => error.cause?.code)).toBe(
        "password_wrong",
      );
    });

    test("users see and end their own sessions, never another's", async () => {
      const { db } = house.services;
      const other = await house.person();
      const open = (user_id: number, token_hash: string, expires_at = 9_999_999_999) => ({
        user_id,
        token_hash,
        expires_at,
        created_at: 1,
        last_seen_at: 1,
        ip: "198.51.100.1",
        user_agent: "Browser",
      });
      const { id } = person.ctx.actor;
      const rows = await db.q
        .insert(db.t.sessions)
        .values([
          open(id, `s1${id}`),
          open(id, `s2${id}`),
          open(id, `s3${id}`),
          open(id, `s4${id}`, 5),
          open(other.ctx.actor.id, `s5${id}`),
        ])
        .returning();
      const ids = rows.map((row) => row.id);
      person.ctx.actor.session_id = ids[0] ?? 0;
      const listed = await person.call.auth.sessions();
      expect(listed.map((row) => [row.id, row.current])).toEqual([
        [ids[2], false],
        [ids[1], false],
        [ids[0], true],
      ] as [number, boolean][]);
      expect(JSON.stringify(listed)).not.toContain("token");
      await person.call.auth.endSession({ id: ids[1] ?? 0 });
      for (const none of [ids[1], ids[4], 999_999]) {
        expect(await person.call.auth.endSession({ id: none ?? 0 }).catch((error) => error.cause?.code)).toBe(
          "session_not_found",
        );
      }
      expect(await person.call.auth.endOtherSessions()).toBe(2);
      expect((await person.call.auth.sessions()).map((row) => row.id)).toEqual([ids[0] ?? 0]);
      expect(await other.call.auth.sessions()).toHaveLength(1);
    });
  });

  test("expired codes are swept, others stay", async () => {
    const { db } = house.services;
    const keep = { purpose: "verify-email", code: "X" } as const;
    await issueCode(house.services, { ...keep, target: "old", lifetime: -1 });
    await issueCode(house.services, { ...keep, target: "fresh", lifetime: 100 });
    await forgetCodes(house.services);
    const now = Math.floor(house.services.now() / 1000);
    const left = await db.q.select().from(db.t.codes);
    expect(left.length).toBeGreaterThan(0);
    expect(left.every((row) => row.expires_at > now)).toBe(true);
    // Neither address nor code can be read from the table.
    // spec: D-80
    expect(JSON.stringify(left)).not.toContain("fresh");
  });

  test("root tests the mail settings, to the own address or another, and reads the server's response", async () => {
    const root = await house.person({ role: ROLE.root, lang: "en" });
    const attempt = async (body: object) => (await root.rest("POST", "/api/option/test_mail", body)).body;
    expect(await attempt({})).toMatchObject({ code: "mail_address_invalid" });
    expect(await attempt({ to: "no" })).toMatchObject({ code: "mail_address_invalid" });
    expect(await attempt({ to: "Ops@example.com" })).toMatchObject({ success: true, data: "ops@example.com" });
    expect(house.mails.at(-1)).toMatchObject({ to: "ops@example.com", subject: "Weir test mail" });
    const admin = await house.person({ role: ROLE.admin });
    expect((await admin.rest("POST", "/api/option/test_mail", {})).body).toMatchObject({ code: "forbidden" });
  });
});
