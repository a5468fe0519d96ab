/** Accounts, tokens and channels, made by the server's own services. */
import { eq } from "drizzle-orm";
import type { UserActor } from "../../src/server/contracts/actor";
import type { Ctx, Services } from "../../src/server/contracts/context";
import { autoDisable } from "../../src/server/features/channel/auto-disable";
import { hashPassword } from "../../src/server/features/auth/password";
import { isSetUp, setUpUnattended } from "../../src/server/features/setup/service";
import { requestFacts } from "../../src/server/http/own-page";
import { randomText } from "../../src/server/lib/secrets";
import { createControlPlane } from "../../src/server/wiring/control-plane";
import { createRelay } from "../../src/server/relay/entry/handle";
import { createCaller } from "../../src/server/router";
import { CHANNEL_STATUS } from "../../src/shared/channel";
import { ROLE } from "../../src/shared/roles";
import type { Say } from "./say";

type Verbs = ReturnType<typeof createCaller>;

/** The server's procedures as this user. */
export function verbsOf(services: Services, actor: Pick<UserActor, "id" | "username" | "role" | "group">): Verbs {
  const ctx: Ctx = {
    ...services,
    actor: { kind: "user", via: "access_token", session_id: 0, verified_at: 0, ...actor },
    request_id: "seed",
    ip: "127.0.0.1",
    request: requestFacts({ method: "POST", headers: new Headers() }, undefined),
    lang: "zh",
    user_agent: "seed",
    session_cookie: undefined,
    browser_cookie: undefined,
    device_cookie: undefined,
    turnstile_cookie: undefined,
    secure: false,
    setCookie: () => {},
    taskService: createRelay(createControlPlane(services), { log: services.log }).tasks,
  };
  return createCaller(ctx);
}

export interface Root {
  id: number;
  verbs: Verbs;
}

/** The existing root account, or a new one whose password is printed once. */
export async function makeRoot(services: Services, say: Say): Promise<Root> {
  if (!(await isSetUp(services))) {
    const password = services.env.WEIR_ROOT_PASSWORD || randomText(14);
    const username = services.env.WEIR_ROOT_USERNAME || "root";
    const env = { ...services.env, WEIR_ROOT_USERNAME: username, WEIR_ROOT_PASSWORD: password };
    await setUpUnattended({ ...services, env });
    say(`Root account: ${username}, password: ${password}`);
  }
  const { q, t } = services.db;
  const [row] = await q.select().from(t.users).where(eq(t.users.role, ROLE.root)).limit(1);
  if (!row) throw new Error("The database is set up but has no root account.");
  return { id: row.id, verbs: verbsOf(services, row) };
}

export interface SeededChannel {
  id: number;
  name: string;
  models: readonly string[];
}

/** Real model names, so that prices and logos are real; the fake upstream answers to any of them. */
const CHANNELS = [
  { name: "OpenAI 主账号", type: 1, models: ["gpt-4o", "gpt-4o-mini"], priority: 10, weight: 3 },
  { name: "OpenAI 备用", type: 1, models: ["gpt-4o", "gpt-4o-mini"], priority: 0, weight: 1 },
  { name: "DeepSeek", type: 43, models: ["deepseek-chat", "deepseek-reasoner"], priority: 0, weight: 1 },
  {
    name: "Moonshot 企业版 with a long English name beside the Chinese one",
    type: 25,
    models: ["moonshot-v1-8k"],
    priority: 0,
    weight: 0,
  },
] as const;

export async function makeChannels(services: Services, root: Root): Promise<SeededChannel[]> {
  const made: SeededChannel[] = [];
  for (const { models, ...fields } of CHANNELS) {
    const [channel] = await root.verbs.channel.create({
      ...fields,
      key: `sk-demo-${randomText(24)}`,
      base_url: "http://127.0.0.1:4000",
      models: models.join(","),
      group: "default",
    });
    if (channel) made.push({ id: channel.id, name: channel.name, models });
  }
  return made;
}

/**
 * Further channels of an operator: a pool under a tag, several keys, an own address, one switched off, one that the
 * system switched off.
 */
const MORE_CHANNELS = [
  {
    name: "Claude 三个密钥",
    type: 14,
    tag: "claude",
    models: "claude-3-5-sonnet-20241022,claude-3-5-haiku-20241022",
    multi_key_mode: "polling",
    keys: 3,
    fate: "on",
  },
  {
    name: "Claude 备用",
    type: 14,
    tag: "claude",
    models: "claude-3-5-sonnet-20241022",
    multi_key_mode: "",
    keys: 1,
    fate: "auto-disabled",
  },
  {
    name: "Azure 东亚",
    type: 3,
    tag: "",
    models: "gpt-4o",
    model_mapping: JSON.stringify({ "gpt-4o": "gpt-4o-eastasia" }),
    multi_key_mode: "",
    keys: 1,
    fate: "off",
  },
] as const;

/** Puts the first channels under a tag and adds others in every state that a channel can be in. */
export async function makeMoreChannels(
  services: Services,
  root: Root,
  channels: readonly SeededChannel[],
): Promise<void> {
  await root.verbs.channel.batchTag({ ids: channels.slice(0, 2).map(({ id }) => id), tag: "gpt" });
  await root.verbs.option.set({ key: "AutomaticDisableChannelEnabled", value: "true" });
  for (const { keys, fate, ...fields } of MORE_CHANNELS) {
    const key = Array.from({ length: keys }, () => `sk-demo-${randomText(24)}`).join("\n");
    const [channel] = await root.verbs.channel.create({
      ...fields,
      key,
      base_url: "http://127.0.0.1:4000",
      group: "default",
    });
    if (!channel) throw new Error(`${fields.name} was not made`);
    if (fate === "off") await root.verbs.channel.update({ id: channel.id, status: CHANNEL_STATUS.disabled });
    if (fate === "auto-disabled")
      await autoDisable(services, channel, {
        code: "channel_test_failed",
        values: { detail: "HTTP 401: invalid x-api-key" },
      });
  }
}

export interface Person {
  id: number;
  username: string;
  group: string;
  tokens: { id: number; name: string }[];
}

const NAMES = ["lin", "chen", "wang", "zhao", "alice", "bob", "mei", "tom"];
const BALANCE = 500_000_000;

/** Ordinary users with a balance and two tokens each; the first password is printed, all have the same. */
export async function makePeople(services: Services, root: Root, count: number, say: Say): Promise<Person[]> {
  const password = randomText(14);
  const password_hash = await hashPassword(password);
  const { db, ledger } = services;
  const people: Person[] = [];
  for (let i = 0; people.length < count && i < count * 1000; i++) {
    const base = NAMES[i % NAMES.length] ?? "user";
    const username = i < NAMES.length ? base : `${base}${Math.floor(i / NAMES.length) + 1}`;
    const created_at = Math.floor(services.now() / 1000);
    const [user] = await db.q
      .insert(db.t.users)
      .values({ username, display_name: username, password_hash, role: ROLE.user, group: "default", created_at })
      .onConflictDoNothing()
      .returning();
    if (!user) continue;
    await ledger.credit({
      user_id: user.id,
      amount: BALANCE,
      kind: "adjust",
      idempotency_key: `seed:${user.id}`,
      actor_id: root.id,
    });
    const verbs = verbsOf(services, user);
    const tokens = [];
    for (const name of ["production", "notebook"]) {
      tokens.push(
        ...(await verbs.token.create({ name, unlimited_quota: name === "production", remain_quota: BALANCE })),
      );
    }
    people.push({ id: user.id, username, group: user.group, tokens: tokens.map(({ id, name }) => ({ id, name })) });
  }
  say(
    `${people.length} users (${people
      .slice(0, 3)
      .map((p) => p.username)
      .join(", ")} …), password: ${password}`,
  );
  return people;
}
