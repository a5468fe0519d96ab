/** Who may call what: every procedure by every kind of caller, on both engines (docs/security.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { restRoutes } from "../../src/server/http/rest";
import { appRouter } from "../../src/server/router";
import { ROLE, USER_STATUS } from "../../src/shared/roles";
import { ENGINES } from "../kit/databases";
import { HOOK_MS } from "../kit/harness";
import { type ApiAnswer, ROOT, type Session, startWeir, type Weir } from "../kit/weir";
import { filled, isPublic } from "./open-routes";

// Every user may delete their own account; here that would delete the test's.
const procedures = Object.entries(
  appRouter._def.procedures as unknown as Record<string, { _def: { type: string } }>,
).filter(([name]) => name !== "user.deleteSelf");

/** Calls on the way at once: each waits for its database. */
const AT_ONCE = 16;

async function each<T>(items: readonly T[], work: (item: T, index: number) => Promise<void>): Promise<void> {
  const left = items.entries();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const [index, item] of left) await work(item, index);
    }),
  );
}

type Headers = Record<string, string>;

describe.each(ENGINES)("%s", (engine) => {
  let weir: Weir;
  beforeAll(async () => {
    weir = await startWeir({ engine });
  }, HOOK_MS);
  afterAll(() => weir?.stop());

  /** Everything that an intruder could have changed. */
  async function state() {
    const { channels, options, tokens, users } = weir.db.t;
    return {
      people: await weir.db.q
        .select({
          id: users.id,
          role: users.role,
          status: users.status,
          quota: users.quota,
          group: users.group,
          password_hash: users.password_hash,
        })
        .from(users)
        .orderBy(users.id),
      channels: await weir.db.q.select().from(channels).orderBy(channels.id),
      options: await weir.db.q.select().from(options).orderBy(options.key),
      tokens: await weir.db.q.select().from(tokens).orderBy(tokens.id),
    };
  }

  /** One user a procedure: some calls end their caller's sessions. */
  async function crowd(name: string, role: number): Promise<(index: number) => Promise<Session>> {
    const password_hash = await Bun.password.hash(ROOT.password, { algorithm: "bcrypt", cost: 4 });
    await weir.db.q
      .insert(weir.db.t.users)
      .values(procedures.map((_, i) => ({ username: `${name}${i}`, password_hash, role, created_at: 1 })));
    return (index) => weir.signIn(`${name}${index}`, ROOT.password);
  }

  const ask = (name: string, type: string, headers: Headers): Promise<ApiAnswer> =>
    type === "mutation"
      ? weir.anonymous("POST", `/trpc/${name}`, {}, headers)
      : weir.anonymous("GET", `/trpc/${name}`, undefined, headers);
  const isForbidden = ({ body }: ApiAnswer): boolean => JSON.stringify(body).includes('"app":"forbidden"');

  test("CVE-2026-35029: every procedure is refused to every caller below its level, by REST and tRPC, and changes nothing", async () => {
    const [users, admins] = [await crowd("mover", ROLE.user), await crowd("keeper", ROLE.admin)];
    const [banned, plain] = [await weir.newUser(), await weir.newUser()];
    const { key } = await weir.newToken({}, plain);
    const access = await plain.ok<string>("GET", "/api/user/token");
    await weir.db.q
      .update(weir.db.t.users)
      .set({ status: USER_STATUS.banned })
      .where(eq(weir.db.t.users.id, banned.id));
    const before = await state();

    const open = new Set<string>();
    const forUsers = new Set<string>();
    const forAdmins = new Set<string>();
    await each(procedures, async ([name, { _def }]) => {
      if ((await ask(name, _def.type, {})).status !== 401) open.add(name);
    });
    const closed = procedures.filter(([name]) => !open.has(name));
    // The sessions of users who were banned, relay keys, and a session under another user's id open nothing.
    const powerless: Headers[] = [
      banned.headers,
      { authorization: `Bearer ${key}` },
      { ...plain.headers, "new-api-user": String(weir.root.id) },
    ];
    for (const headers of powerless) {
      const letIn: unknown[] = [];
      await each(closed, async ([name, { _def }]) => {
        const { status, body } = await ask(name, _def.type, headers);
        if (status !== 401) letIn.push([name, status, body]);
      });
      expect(letIn).toEqual([]);
    }
    await each(procedures, async ([name, { _def }], i) => {
      if (!isForbidden(await ask(name, _def.type, (await users(i)).headers))) forUsers.add(name);
    });
    expect(await state()).toEqual(before);
    const above = closed.filter(([name]) => !forUsers.has(name));
    await each(above, async ([name, { _def }]) => {
      const answer = await ask(name, _def.type, { authorization: access });
      expect([name, isForbidden(answer)]).toEqual([name, true]);
    });
    const { id, headers } = await weir.signIn(plain.username, ROOT.password);
    const administrative = restRoutes(appRouter).filter(({ procedure }) => above.some(([name]) => name === procedure));
    await each(administrative, async ({ method, path }) => {
      const { body } = await weir.anonymous(method, filled(path), method === "GET" ? undefined : {}, headers);
      expect([id, path, body.code]).toEqual([id, path, "forbidden"]);
    });
    expect(await state()).toEqual(before);

    // An administrator's allowed calls work; roles, money, settings and keys are allowed only by name.
    await each(procedures, async ([name, { _def }], i) => {
      if (!isForbidden(await ask(name, _def.type, (await admins(i)).headers))) forAdmins.add(name);
    });
    const { people, options, tokens } = before;
    expect(await state()).toMatchObject({ people, options, tokens });

    const level = (name: string): string =>
      open.has(name) ? "public" : forUsers.has(name) ? "user" : forAdmins.has(name) ? "admin" : "root";
    const routes = restRoutes(appRouter).filter((route) => route.procedure !== "user.deleteSelf");
    for (const route of routes)
      expect([route.path, level(route.procedure) === "public"]).toEqual([route.path, isPublic(route)]);
    // Calls with a required level, by name: a wrong `procedure` would break this table.
    // spec
    for (const name of ["option.list", "option.update", "pricing.resetModelRatio", "pricing.remote", "audit.list"])
      if (procedures.some(([known]) => known === name)) expect([name, level(name)]).toEqual([name, "root"]);
    for (const name of ["channel.create", "channel.update", "channel.delete", "channel.test"])
      expect([name, level(name)]).toEqual([name, "admin"]);
    for (const name of ["user.create", "user.manage", "redemption.create"])
      expect([name, level(name)]).toEqual([name, "admin"]);
  }, 60_000);
});
