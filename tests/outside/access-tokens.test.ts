/** What a stolen system access token can do: nothing after a password change, and never take over the account. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { createTRPCClient, httpLink } from "@trpc/client";
import { eq } from "drizzle-orm";
import type { AppRouter } from "../../src/server/router";
import { HOOK_MS } from "../kit/harness";
import { type MailServer, startMailServer } from "../kit/mail-server";
import { ROOT, type Session, startWeir, type Weir } from "../kit/weir";

const NEW_PASSWORD = "another-horse-10";

let weir: Weir;
let post: MailServer;
beforeAll(async () => {
  post = await startMailServer({ tls: "none" });
  weir = await startWeir();
  const options = {
    SMTPServer: "127.0.0.1",
    SMTPPort: post.port,
    SMTPFrom: "weir@weir.example",
    ServerAddress: "https://gateway.example",
  };
  for (const [key, value] of Object.entries(options)) await weir.setOption(key, value);
}, HOOK_MS);
afterAll(async () => {
  await weir?.stop();
  await post?.close();
});

const tokenOf = (person: Session) => person.ok<string>("GET", "/api/user/token");
const by = (token: string) => (method: string, path: string, body?: unknown) =>
  weir.anonymous(method, path, body, { authorization: token });
const works = async (token: string) => (await by(token)("GET", "/api/user/self")).body.success === true;
const trpcBy = (token: string) =>
  createTRPCClient<AppRouter>({
    links: [httpLink({ url: `${weir.url}/trpc`, headers: { authorization: `Bearer ${token}` } })],
  });
const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => "done",
    (error: { data?: { app?: string } }) => error.data?.app,
  );

test("a session creates one, and it ends when its owner changes the password", async () => {
  const person = await weir.newUser();
  const token = await tokenOf(person);
  expect(await works(token)).toBe(true);
  await person.ok("PUT", "/api/user/self", { display_name: "Another Name" });
  expect(await works(token)).toBe(true);
  await person.ok("PUT", "/api/user/self", { password: NEW_PASSWORD });
  expect(await works(token)).toBe(false);
  expect((await person.api("GET", "/api/user/self")).body.success).toBe(true);
});

test("it ends when an administrator or the super administrator sets a new password, and stays when they change anything else", async () => {
  const admin = await weir.newUser({ role: 10 });
  for (const superior of [admin, weir.root]) {
    const person = await weir.newUser();
    const token = await tokenOf(person);
    await superior.ok("PUT", "/api/user/", { id: person.id, display_name: "Another Name", password: "" });
    expect(await works(token)).toBe(true);
    await superior.ok("PUT", "/api/user/", { id: person.id, password: NEW_PASSWORD });
    expect(await works(token)).toBe(false);
  }
});

test("it ends with a reset by mail and with the rescue command", async () => {
  const person = await weir.newUser();
  const token = await tokenOf(person);
  const email = `${person.username}@weir.example`;
  await weir.db.q.update(weir.db.t.users).set({ email }).where(eq(weir.db.t.users.id, person.id));
  await weir.anonymous("GET", `/api/reset_password?email=${encodeURIComponent(email)}`);
  let raw: string | undefined;
  for (const end = Date.now() + 10_000; raw === undefined && Date.now() < end; await Bun.sleep(10))
    raw = post.mails.find(({ to }) => to.includes(email))?.raw;
  const reset = /[?&]token=([A-Za-z0-9]+)/.exec((raw ?? "").replaceAll("=\r\n", "").replaceAll("=3D", "="))?.[1];
  expect((await weir.anonymous("POST", "/api/user/reset", { email, token: reset })).body.success).toBe(true);
  expect(await works(token)).toBe(false);

  const locked = await weir.newUser();
  const old = await tokenOf(locked);
  const env = { ...process.env, WEIR_DATA_DIR: weir.dataDir, WEIR_LOG_LEVEL: "silent" };
  const rescue = Bun.spawn(
    [process.execPath, join(import.meta.dir, "../../src/server/main.ts"), "rescue", locked.username, "--new-password"],
    { env, stdio: ["ignore", "pipe", "pipe"] },
  );
  expect([await rescue.exited, await new Response(rescue.stderr).text()]).toEqual([0, ""]);
  expect(await works(old)).toBe(false);
});

test("it never changes password, second factors, passkeys, bindings, mail or itself, and never deletes the account, by REST or tRPC", async () => {
  for (const role of [1, 10]) {
    const person = await weir.newUser({ role });
    const token = await tokenOf(person);
    const call = by(token);
    await weir.anonymous("GET", "/api/verification?email=stolen%40weir.example");
    const refused = [
      ["PUT", "/api/user/self", { password: NEW_PASSWORD }],
      ["GET", "/api/user/token"],
      ["DELETE", "/api/user/self"],
      ["POST", "/api/user/2fa/setup"],
      ["POST", "/api/user/2fa/enable", { code: "123456" }],
      ["POST", "/api/user/2fa/disable", { code: "123456" }],
      ["POST", "/api/user/2fa/backup_codes", { code: "123456" }],
      ["GET", "/api/oauth/email/bind?email=stolen%40weir.example&code=AAAAAA"],
      ["GET", "/api/oauth/wechat/bind?code=x"],
      ["GET", "/api/oauth/telegram/bind?id=1&hash=x&auth_date=1"],
      ["DELETE", "/api/user/oauth/bindings/github"],
    ] as const;
    for (const [method, path, body] of refused) {
      const answer = await call(method, path, body);
      expect([method, path, answer.body.success, answer.body.code]).toEqual([
        method,
        path,
        false,
        "access_token_refused",
      ]);
    }
    const trpc = trpcBy(token);
    const other = await weir.newUser();
    const deeds = [
      trpc.user.updateSelf.mutate({ password: NEW_PASSWORD }),
      trpc.user.newAccessToken.mutate(),
      trpc.user.deleteSelf.mutate(),
      trpc.factor.setup.mutate(),
      trpc.factor.enable.mutate({ code: "123456" }),
      trpc.factor.disable.mutate({ code: "123456" }),
      trpc.factor.recoveryCodes.mutate({ code: "123456" }),
      trpc.factor.beginRegistration.mutate(),
      trpc.factor.renamePasskey.mutate({ id: 1, name: "mine" }),
      trpc.factor.removePasskey.mutate({ id: 1 }),
      trpc.auth.bindEmail.mutate({ email: "stolen@weir.example", code: "AAAAAA" }),
      trpc.identity.unbind.mutate({ provider: "github" }),
      trpc.identity.wechatBind.mutate({ code: "x" }),
      trpc.identity.begin.mutate({ provider: "github" }),
      ...(role === 10 ? [trpc.user.removeFactors.mutate({ id: other.id })] : []),
    ];
    const codes = await Promise.all(deeds.map(codeOf));
    expect(codes).toEqual(deeds.map(() => "access_token_refused"));
    expect(await works(token)).toBe(true);
    expect((await weir.signIn(person.username, ROOT.password)).id).toBe(person.id);
  }
});

test("the error says in both languages that the call is for the console, with 403 on tRPC", async () => {
  const token = await tokenOf(await weir.newUser());
  const told = async (lang: string) =>
    String(
      (await weir.anonymous("GET", "/api/user/token", undefined, { authorization: token, "accept-language": lang }))
        .body.message,
    );
  expect(await told("zh-CN")).toContain("系统访问令牌");
  expect(await told("en-US")).toContain("sign in to the console");
  const answer = await fetch(`${weir.url}/trpc/user.newAccessToken`, {
    method: "POST",
    headers: { authorization: token, "content-type": "application/json" },
    body: "{}",
  });
  expect(answer.status).toBe(403);
});

test("calls of scripts still work: tokens, names, other people's accounts, channels, and the owner's own relay keys", async () => {
  const admin = await weir.newUser({ role: 10 });
  const token = await tokenOf(admin);
  const call = by(token);
  const created = await call("POST", "/api/token/", { name: "script", unlimited_quota: true });
  expect(created.body.success).toBe(true);
  const { id, key } = created.body.data as { id: number; key: string };
  expect((await trpcBy(token).token.reveal.mutate({ id })).key).toBe(`sk-${key}`);
  expect((await trpcBy(token).token.revealMany.mutate({ ids: [id] })).length).toBe(1);
  expect((await call("PUT", "/api/user/self", { display_name: "Script" })).body.success).toBe(true);
  const name = "made-by-it";
  expect(
    (await call("POST", "/api/user/", { username: name, password: ROOT.password, display_name: name, role: 1 })).body
      .success,
  ).toBe(true);
  const person = await weir.signIn(name, ROOT.password);
  expect((await call("PUT", "/api/user/", { id: person.id, password: NEW_PASSWORD })).body.success).toBe(true);
  expect((await weir.signIn(name, NEW_PASSWORD)).id).toBe(person.id);
  expect((await call("GET", "/api/channel/?p=0")).body.success).toBe(true);
});

test("it shows channel keys only after the super administrator allowed it in a session, and each time is in the audit log", async () => {
  const channel = await weir.newChannel({
    name: "kept",
    key: "sk-kept-upstream-key-1",
    base_url: "http://127.0.0.1:9",
    models: ["m"],
  });
  const path = `/api/channel/${channel}/key`;
  const token = await tokenOf(weir.root);
  const call = by(token);
  const audited = async () => {
    const rows = await weir.db.q
      .select()
      .from(weir.db.t.audit_log)
      .where(eq(weir.db.t.audit_log.action, "channel.reveal"));
    return rows.filter((row) => row.target_id === String(channel));
  };
  expect((await call("POST", path)).body).toMatchObject({ success: false, code: "channel_key_reveal_off" });
  // The token itself cannot change this setting.
  expect((await call("PUT", "/api/option/", { key: "ChannelKeyRevealEnabled", value: "true" })).body).toMatchObject({
    success: false,
    code: "access_token_refused",
  });
  expect((await weir.root.api("POST", path)).body).toMatchObject({ success: false, code: "channel_key_reveal_off" });
  expect(await audited()).toEqual([]);

  await weir.setOption("ChannelKeyRevealEnabled", "true");
  expect((await call("POST", path)).body).toMatchObject({ success: true, data: { key: "sk-kept-upstream-key-1" } });
  const rows = await audited();
  expect(rows).toMatchObject([{ actor_id: weir.root.id, after: '{"count":1,"via":"access_token"}' }]);
  expect(JSON.stringify(rows)).not.toContain("sk-kept");
  const admin = await weir.newUser({ role: 10 });
  expect((await by(await tokenOf(admin))("POST", path)).body).toMatchObject({ success: false, code: "forbidden" });
  expect((await admin.api("POST", path)).body).toMatchObject({ success: false, code: "forbidden" });
  await weir.setOption("ChannelKeyRevealEnabled", "false");
});
