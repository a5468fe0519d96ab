/** Banned, locked, deleted and demoted accounts against the real server: sessions, access tokens, keys. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { eq } from "drizzle-orm";
import { ROLE, USER_STATUS } from "../../src/shared/roles";
import { type FakeUpstream, startFakeUpstream } from "../kit/fake-upstream/server";
import { HOOK_MS } from "../kit/harness";
import { ROOT, type Session, startWeir, type Weir } from "../kit/weir";

setDefaultTimeout(HOOK_MS);

let weir: Weir;
let fake: FakeUpstream;
beforeAll(async () => {
  fake = startFakeUpstream({ port: 0 });
  weir = await startWeir();
  await weir.priceModels({ echo: 1, "words:40+slow:50": 1 });
  await weir.newChannel({ base_url: fake.url, models: ["echo", "words:40+slow:50"] });
}, HOOK_MS);
afterAll(async () => {
  await weir?.stop();
  fake?.close();
});

const ask = (model: string, more: object = {}) => ({ model, messages: [{ role: "user", content: "hi" }], ...more });

/** A user with every kind of credential, and what the server answers to each. */
async function newAccount() {
  const person = await weir.newUser({ quota: 1_000_000 });
  const { key } = await weir.newToken({}, person);
  const authorization = await person.ok<string>("GET", "/api/user/token");
  const enters = async (credential: "password" | "session" | "access token" | "key") => {
    if (credential === "key") return (await weir.call(key, ask("echo"))).ok;
    const { username } = person;
    if (credential === "password")
      return (await weir.anonymous("POST", "/api/user/login", { username, password: ROOT.password })).body.success;
    const headers: Record<string, string> = credential === "session" ? person.headers : { authorization };
    return (await weir.anonymous("GET", "/api/user/self", undefined, headers)).body.success;
  };
  const entered = () => Promise.all((["password", "session", "access token", "key"] as const).map(enters));
  return { person, key, entered };
}

const setStatus = ({ id }: Session, status: number) =>
  weir.db.q.update(weir.db.t.users).set({ status }).where(eq(weir.db.t.users.id, id));
const manage = ({ id }: Session, action: string) => weir.root.ok("POST", "/api/user/manage", { id, action });

test("an account of status 3, as imports bring it, is refused with every credential, cannot be enabled, but can be deleted", async () => {
  const { person, entered } = await newAccount();
  await setStatus(person, USER_STATUS.locked);
  // spec: D-32
  expect(await entered()).toEqual([false, false, false, false]);
  const enabled = await weir.root.api("POST", "/api/user/manage", { id: person.id, action: "enable" });
  // spec: D-32
  expect(enabled.body.success).toBe(false);
  await manage(person, "delete");
  expect(await entered()).toEqual([false, false, false, false]);
});

test("deleting an account revokes every credential at once; running requests are served to their end and charged", async () => {
  const { person, key, entered } = await newAccount();
  expect(await entered()).toEqual([true, true, true, true]);
  const running = await weir.call(key, ask("words:40+slow:50", { stream: true }));
  await manage(person, "delete");
  // Without waiting; the specification allows a second.
  // spec: D-33
  expect(await entered()).toEqual([false, false, false, false]);
  // spec: D-33
  expect(await running.text()).toContain("[DONE]");
  const row = await weir.waitForLog((log) => log.user_id === person.id && log.model_name.startsWith("words"));
  // spec: D-33
  expect(row.quota).toBeGreaterThan(0);
  // spec: D-33
  expect(await weir.audit()).toEqual([]);
});

test("a demotion takes effect at the next call of an open session", async () => {
  const person = await weir.newUser({ role: ROLE.admin });
  expect((await person.api("GET", "/api/user/")).body.success).toBe(true);
  await manage(person, "demote");
  // spec: D-33, D-38
  expect((await person.api("GET", "/api/user/")).body).toMatchObject({ success: false, code: "forbidden" });
  expect((await person.api("GET", "/api/user/self")).body).toMatchObject({ success: true, data: { role: ROLE.user } });
});

test("unknown, wrong and deleted get the same answer at login, and a ban is revealed only with the right password", async () => {
  const [living, banned, deleted] = [await weir.newUser(), await weir.newUser(), await weir.newUser()];
  await setStatus(banned, USER_STATUS.banned);
  await manage(deleted, "delete");
  const told = async (username: string, password: string) => {
    const { status, body } = await weir.anonymous("POST", "/api/user/login", { username, password });
    return { status, ...body };
  };
  const wrong = await told("nobody-at-all", "wrong-password");
  expect(wrong).toMatchObject({ status: 200, success: false, code: "credentials_wrong" });
  for (const [username, password] of [
    [living.username, "wrong-password"],
    [banned.username, "wrong-password"],
    [deleted.username, "wrong-password"],
    [deleted.username, ROOT.password],
  ] as const) {
    // spec: D-77
    expect([username, await told(username, password)]).toEqual([username, wrong]);
  }
  // spec: D-77
  expect(await told(banned.username, ROOT.password)).toMatchObject({
    status: 200,
    success: false,
    code: "user_banned",
  });
});

test("a login returns the signed-in user: id, names, role, status and group", async () => {
  const person = await weir.newUser({ group: "vip" });
  const { username } = person;
  const { body } = await weir.anonymous("POST", "/api/user/login?turnstile=", { username, password: ROOT.password });
  // spec: A-438
  expect(body.data).toMatchObject({
    id: person.id,
    username,
    display_name: username,
    role: ROLE.user,
    status: USER_STATUS.active,
    group: "vip",
  });
});
