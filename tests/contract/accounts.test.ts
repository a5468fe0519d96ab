/** What calls about accounts expose, and what a ban ends, over the real server. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { type FakeUpstream, startFakeUpstream } from "../kit/fake-upstream/server";
import { ROOT, startWeir, type Weir } from "../kit/weir";

let weir: Weir;
let fake: FakeUpstream;

beforeAll(async () => {
  fake = startFakeUpstream({ port: 0 });
  weir = await startWeir();
  await weir.priceModels({ echo: 15 }, { echo: 2 });
});
afterAll(async () => {
  await weir?.stop();
  fake?.close();
});

const chat = (model: string) => ({ model, messages: [{ role: "user", content: "hello there" }] });

test("no answer about an account has its password, not even hashed", async () => {
  const password = "a-very-own-word";
  const username = "secretive";
  const made = await weir.root.api("POST", "/api/user/", { username, password });
  const { id } = made.body.data as { id: number };
  const { users } = weir.db.t;
  const [row] = await weir.db.q.select().from(users).where(eq(users.id, id));
  const hash = row?.password_hash ?? "";
  expect(hash.length).toBeGreaterThan(20);
  const own = await weir.signIn(username, password);
  const answers = [
    made,
    await own.api("GET", "/api/user/self"),
    await own.api("PUT", "/api/user/self", { display_name: "x" }),
    await weir.anonymous("POST", "/api/user/login", { username, password }),
    await weir.root.api("GET", `/api/user/${id}`),
    await weir.root.api("GET", "/api/user/?page_size=100"),
    await weir.root.api("GET", `/api/user/search?keyword=${username}`),
    await weir.root.api("PUT", "/api/user/", { id, display_name: "y" }),
    await weir.root.api("POST", "/api/user/manage", { id, action: "disable" }),
  ];
  for (const { body } of answers) {
    expect(body.success).toBe(true);
    const text = JSON.stringify(body);
    for (const secret of [password, hash, "password"]) {
      // spec: A-166
      expect(text).not.toContain(secret);
    }
  }
});

test("a ban ends sessions, the system access token and the relay keys at once, and the password no longer signs in", async () => {
  const banned = await weir.newUser({ quota: 1_000_000 });
  await weir.newChannel({ base_url: fake.url, models: ["echo"] });
  const { key } = await weir.newToken({}, banned);
  const access = await banned.ok<string>("GET", "/api/user/token");
  const doors = async () => [
    (await banned.api("GET", "/api/user/self")).body.success === true,
    (await weir.anonymous("GET", "/api/user/self", undefined, { authorization: access })).body.success === true,
    (await weir.call(key, chat("echo"))).ok,
    (await weir.anonymous("POST", "/api/user/login", { username: banned.username, password: ROOT.password })).body
      .success === true,
  ];
  expect(await doors()).toEqual([true, true, true, true]);
  await weir.root.ok("POST", "/api/user/manage", { id: banned.id, action: "disable" });
  // spec
  expect(await doors()).toEqual([false, false, false, false]);
});
