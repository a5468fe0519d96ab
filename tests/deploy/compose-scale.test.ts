/**
 * What deploy/compose.scale.yaml describes, read from the file itself and run as real processes: Postgres and Redis
 * with its options, two Weirs with its environment, nginx with its configuration. Hosts, ports and folders are others.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RedisClient, SQL } from "bun";
import { ROOT } from "../../scripts/run-command";
import { openDb } from "../../src/server/db/client";
import type { Db } from "../../src/server/db/types";
import { audit } from "../../src/server/features/wallet/audit";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { HOOK_MS } from "../kit/harness";
import { startPostgres } from "../kit/postgres-server";
import { required } from "../kit/required";
import { startRedis } from "../kit/trial/redis";
import { until } from "../kit/until";
import { startProcess, type WeirProcess } from "../kit/weir-process";
import { type Nginx, startTwoNodes } from "./nginx-process";

const nginx = required("nginx");
const redisServer = required("redis-server");

interface Service {
  environment?: Record<string, string>;
  command?: string[];
  volumes?: string[];
  depends_on?: unknown;
}
interface Compose {
  services: Record<string, Service>;
  networks: Record<string, { ipam: { config: { subnet: string }[] } }>;
}

const file = Bun.YAML.parse(readFileSync(join(ROOT, "deploy/compose.scale.yaml"), "utf8")) as Compose;
const service = (name: string): Service => file.services[name] ?? expect.unreachable(`no service ${name}`);

/** The .env beside the file. */
const SECRETS: Readonly<Record<string, string>> = {
  POSTGRES_PASSWORD: "letters1",
  WEIR_SECRET: "sixteen letters and more",
};
/** Variables as Docker puts them in: ${NAME:?why} must be set, ${NAME:-usual} may be. */
const filled = (text: string): string =>
  text.replace(
    /\$\{(\w+)(?::([?-])([^}]*))?\}/g,
    (_, name: string, kind: string, rest: string) =>
      SECRETS[name] ?? (kind === "-" ? rest : expect.unreachable(`${name} is in no .env that docs/scale.md describes`)),
  );

/** What the image sets. */
const IMAGE = Object.fromEntries(
  (/^ENV (.*)$/m.exec(readFileSync(join(ROOT, "Dockerfile"), "utf8"))?.[1] ?? "")
    .split(" ")
    .map((pair) => pair.split("=") as [string, string]),
);

/** Options of a server of Postgres: -c name=value. */
const postgresOptions = (): Record<string, string> =>
  Object.fromEntries(
    (service("postgres").command ?? [])
      .filter((word) => word !== "-c")
      .map((pair) => pair.split("=") as [string, string]),
  );

const NODES = ["weir-1", "weir-2"] as const;

describe("deploy/compose.scale.yaml", () => {
  test("has nothing that is not tried here, and says the same thing everywhere", () => {
    expect(Object.keys(file.services).toSorted()).toEqual(["nginx", "postgres", "redis", ...NODES]);
    const [{ environment: env = {} }, other] = NODES.map(service) as [Service, Service];
    expect(other.environment).toEqual(env);
    expect(env.WEIR_TRUSTED_PROXIES).toBe(file.networks.weir?.ipam.config[0]?.subnet ?? "");
    const database = new URL(filled(env.DATABASE_URL ?? ""));
    const { POSTGRES_USER, POSTGRES_DB, POSTGRES_PASSWORD } = service("postgres").environment ?? {};
    expect([database.username, database.pathname, database.password, database.host]).toEqual([
      POSTGRES_USER ?? "",
      `/${POSTGRES_DB}`,
      filled(POSTGRES_PASSWORD ?? ""),
      "postgres:5432",
    ]);
    expect(env.REDIS_URL).toBe("redis://redis:6379");
    // A journal of its own each.
    expect(NODES.map((name) => service(name).volumes)).toEqual([["weir-1-data:/data"], ["weir-2-data:/data"]]);
    expect([IMAGE.WEIR_DATA_DIR, IMAGE.PORT]).toEqual(["/data", "3000"]);
    expect(service("nginx").volumes).toContain("./nginx-two-nodes.conf:/etc/nginx/conf.d/default.conf:ro");
  });
});

describe.skipIf(!nginx || !redisServer)("deploy/compose.scale.yaml, run", () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-compose-"));
  const upstream = startFakeUpstream();
  const stops: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true }), () => upstream.close()];
  afterAll(async () => {
    for (const stop of stops.reverse()) await stop();
  }, HOOK_MS);

  let nodes: WeirProcess[] = [];
  let proxy: Nginx;
  let db: Db;
  let redisUrl = "";
  let cookie = "";
  const ask = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const answer = await fetch(proxy.https + path, {
      method,
      headers: { "content-type": "application/json", "new-api-user": "1", cookie, ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      tls: { rejectUnauthorized: false },
    });
    return { status: answer.status, cookies: answer.headers.getSetCookie(), body: await answer.json() };
  };
  /** The status of a call, through nginx or at one node. */
  const call = async (key: string, at = proxy.https): Promise<number> => {
    const answer = await fetch(`${at}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${key}`, "x-forwarded-for": "203.0.113.9" },
      body: JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content: "hi" }], max_tokens: 10 }),
      tls: { rejectUnauthorized: false },
    });
    await answer.text();
    return answer.status;
  };
  const newKey = async (fields: object = {}) => {
    const { body } = await ask("POST", "/api/token/", { name: "test", unlimited_quota: true, ...fields });
    const { id, key } = body.data as { id: number; key: string };
    return { id, key: `sk-${key}` };
  };

  beforeAll(async () => {
    const [{ server, url }, redis] = await Promise.all([
      startPostgres(folder, postgresOptions()),
      startRedis(redisServer ?? "", service("redis").command?.slice(1)),
    ]);
    redisUrl = redis.url;
    stops.push(
      () => new Promise((resolve) => server.once("exit", resolve) && server.kill("SIGINT")),
      () => redis.kill(),
    );
    const admin = new SQL(`${url}/postgres`, { max: 1 });
    await admin.unsafe(`CREATE DATABASE ${service("postgres").environment?.POSTGRES_DB}`);
    await admin.close();
    const here = (text: string): string =>
      filled(text)
        .replace("postgres:5432", new URL(url).host)
        .replace("redis:6379", new URL(redis.url).host)
        .replace(file.networks.weir?.ipam.config[0]?.subnet ?? "", "127.0.0.1");
    // Both at once, on an empty database, as Docker starts them.
    nodes = await Promise.all(
      NODES.map((name) => {
        const data = join(folder, name);
        mkdirSync(data);
        const all = { ...IMAGE, ...service(name).environment };
        const env = Object.entries(all).map(([key, value]) => [key, value === "/data" ? data : here(value)]);
        return startProcess(undefined, { ...Object.fromEntries(env), PORT: "0", WEIR_HOST: "127.0.0.1" });
      }),
    );
    stops.push(() => Promise.all(nodes.map((node) => node.stop())));
    const ports = nodes.map((node) => Number(new URL(node.url).port)) as [number, number];
    proxy = await startTwoNodes(nginx ?? "", ports);
    stops.push(() => proxy.stop());
    db = await openDb({ url: here(service(NODES[0]).environment?.DATABASE_URL ?? ""), pool: 2 });
    stops.push(() => db.close());
  }, HOOK_MS * 2);

  test(
    "both nodes serve behind nginx on one database: set-up by link, exact limits by Redis, changes everywhere, books that balance",
    async () => {
      const code = /setup#code=(\S+)/.exec(nodes.map((node) => node.output()).join("\n"))?.[1];
      const account = { username: "root", password: "correct-horse-9", confirmPassword: "correct-horse-9", code };
      const done = await ask("POST", "/api/setup", account);
      expect(done.status).toBe(200);
      // nginx said https, and is believed.
      expect(done.cookies.join()).toContain("Secure");
      cookie = done.cookies.map((one) => one.split(";")[0]).join("; ");
      const channel = { type: 1, name: "fake", key: "k", base_url: upstream.url, models: "gpt-4o", group: "default" };
      expect((await ask("POST", "/api/channel/", channel)).body.success).toBe(true);
      const [key, limited] = [await newKey(), await newKey({ rpm: 7 })];
      for (const { url } of nodes)
        await until("each node knows the channel", async () => (await call(key.key, url)) === 200, 5000);

      const answers = await Promise.all(Array.from({ length: 30 }, () => call(limited.key)));
      expect(answers.filter((status) => status === 200)).toHaveLength(7);
      expect(answers.filter((status) => status === 429)).toHaveLength(23);
      const redis = new RedisClient(redisUrl);
      expect(await redis.send("DBSIZE", [])).toBeGreaterThan(0);
      redis.close();

      expect((await ask("PUT", "/api/token/?status_only=true", { id: limited.id, status: 2 })).body.success).toBe(true);
      for (const { url } of nodes)
        await until("each node obeys", async () => (await call(limited.key, url)) === 401, 2000);

      // An upgrade of one node: callers notice nothing.
      let stopped = false;
      const stopping = nodes[0]?.stop().then(() => (stopped = true));
      const during: number[] = [];
      while (!stopped || during.length < 10) during.push(await call(key.key));
      await stopping;
      expect(new Set(during)).toEqual(new Set([200]));

      await until("no hold is left", async () => (await db.q.$count(db.t.holds)) === 0);
      const rows = await db.q.select({ ip: db.t.logs.ip, type: db.t.logs.type }).from(db.t.logs).orderBy(db.t.logs.id);
      const calls = rows.filter(({ type }) => type === 2);
      expect(calls).toHaveLength(2 + 7 + during.length);
      // What a caller claims to be their address is replaced by nginx; the first two calls came past it.
      expect(new Set(calls.slice(2).map(({ ip }) => ip))).toEqual(new Set(["127.0.0.1"]));
      expect(await Array.fromAsync(audit(db))).toEqual([]);
    },
    HOOK_MS * 2,
  );
});
