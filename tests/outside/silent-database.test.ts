/**
 * Postgres is unreachable without an error: the sockets stay open and nothing comes back, as after a failover of an
 * address or a firewall that dropped a connection. No caller waits for ever, the dead connections are closed, and Weir
 * recovers automatically.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { HOOK_MS } from "../kit/harness";
import { type FakeUpstream, startFakeUpstream } from "../kit/fake-upstream/server";
import type { PostgresProxy } from "../kit/postgres-proxy";
import { type Node, type Nodes, startNodes } from "../kit/trial/nodes";
import { until } from "../kit/until";

/** Within this time every caller gets a response and every dead connection is closed. */
const LIMIT_MS = 15_000;
const SHUTDOWN_SECONDS = 2;
/** The model of the fake upstream. */
const MODEL = "echo";

interface Patient {
  weir: Node;
  proxy: PostgresProxy;
}

describe("a database that went silent", () => {
  let fake: FakeUpstream;
  let nodes: Nodes;
  /** Its way to the database is never touched. */
  let healthy: Node;
  const patients: Patient[] = [];
  let key: string;

  beforeAll(async () => {
    fake = startFakeUpstream();
    const env = { WEIR_PG_POOL: "4", WEIR_SHUTDOWN_SECONDS: String(SHUTDOWN_SECONDS) };
    nodes = await startNodes({ engine: "postgres", count: 4, hurried: false, env });
    healthy = nodes.node(0);
    await nodes.weir.newChannel({ base_url: fake.url, models: [MODEL] });
    await nodes.weir.setOption("ModelRatio", { [MODEL]: 1 });
    ({ key } = await nodes.weir.newToken());
    for (const weir of nodes.all.slice(1)) if (weir.proxy) patients.push({ weir, proxy: weir.proxy });
    for (const { weir } of patients)
      await until("the channel serves", async () => (await weir.call(key, MODEL)).status === 200);
    // Several at once, so that several connections are open.
    for (const { weir } of patients) {
      for (const { status } of await Promise.all(Array.from({ length: 6 }, () => weir.call(key, MODEL))))
        expect(status).toBe(200);
    }
  }, HOOK_MS);
  afterAll(async () => {
    await nodes?.stop();
    fake?.close();
  });

  const patient = (n: number): Patient =>
    patients[n] ??
    (() => {
      throw new Error("not started");
    })();

  /** Calls in sequence from several callers until stopped; returns each result. */
  function callers(at: Node, count: number) {
    const answers: { status: number; body: string; ms: number }[] = [];
    let going = true;
    const work = Promise.all(
      Array.from({ length: count }, async () => {
        while (going) {
          const answer = await at.call(key, MODEL).catch(() => undefined);
          // The process has ended.
          if (!answer) return;
          answers.push(answer);
          await Bun.sleep(20);
        }
      }),
    );
    return { answers, stop: () => ((going = false), work) };
  }

  test.concurrent("on its old connections alone: callers are answered within 15 s, the connections are closed, changes are received, without a restart", async () => {
    const { weir, proxy } = patient(0);
    expect(proxy.live()).toBeGreaterThan(2);
    proxy.silence({ next: false });
    const began = performance.now();
    const { answers, stop } = callers(weir, 6);
    await until("a call is served", async () => (await weir.call(key, MODEL)).status === 200, LIMIT_MS);
    await until("every dead connection is closed", () => proxy.silent() === 0, LIMIT_MS - (performance.now() - began));
    await nodes.weir.setOption("SystemName", "after the silence");
    await until(
      "a change is heard",
      async () => (await weir.api<{ system_name: string }>("GET", "/api/status")).system_name === "after the silence",
      2000,
    );
    await stop();
    for (const { status, body, ms } of answers) {
      expect([200, 503]).toContain(status);
      if (status === 503) expect(body).toContain("database_unavailable");
      expect(ms).toBeLessThan(LIMIT_MS);
    }
    expect(answers.slice(-3).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await fetch(`${weir.url}/readyz`)).status).toBe(200);
  }, 60_000);

  test.concurrent("altogether: calls and the console answer 503 database_unavailable within 15 s, and work again when it recovers", async () => {
    const { weir, proxy } = patient(1);
    const signIn = () =>
      fetch(`${weir.url}/api/user/login`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ username: "root", password: "correct-horse-9" }),
      });
    expect((await signIn()).status).toBe(200);
    proxy.silence({ next: true });
    const { answers, stop } = callers(weir, 6);
    const began = performance.now();
    const door = signIn().then(async (answer) => ({
      status: answer.status,
      body: await answer.json(),
      ms: performance.now() - began,
    }));
    await until("every caller was refused", () => answers.filter(({ status }) => status === 503).length >= 6, LIMIT_MS);
    const { ms, ...answer } = await door;
    expect(answer).toMatchObject({ status: 503, body: { success: false, code: "database_unavailable" } });
    expect(ms).toBeLessThan(LIMIT_MS);
    expect((await fetch(`${weir.url}/readyz`)).status).toBe(503);
    proxy.heal();
    await until("a call is served", async () => (await weir.call(key, MODEL)).status === 200, LIMIT_MS);
    await until("every dead connection is closed", () => proxy.silent() === 0, LIMIT_MS);
    await stop();
    for (const answered of answers) {
      expect([200, 503]).toContain(answered.status);
      if (answered.status === 503) expect(answered.body).toContain("database_unavailable");
      expect(answered.ms).toBeLessThan(LIMIT_MS);
    }
    expect((await fetch(`${weir.url}/readyz`)).status).toBe(200);
    expect((await signIn()).status).toBe(200);
  }, 60_000);

  test.concurrent("while the process was idle: its connections are closed as well, and the next call is served", async () => {
    const { weir, proxy } = patient(2);
    proxy.silence({ next: false });
    await until("every dead connection is closed", () => proxy.silent() === 0, LIMIT_MS);
    expect((await weir.call(key, MODEL)).status).toBe(200);
  }, 60_000);

  test("does not keep a process from ending: SIGTERM takes its limit and 5 s at most", async () => {
    const { weir, proxy } = patient(1);
    // The upstream hangs as well, with a held call.
    const asked = Promise.withResolvers<void>();
    using upstream = Bun.serve({
      port: 0,
      idleTimeout: 0,
      fetch: () => (asked.resolve(), new Promise<Response>(() => {})),
    });
    await nodes.weir.setOption("ModelRatio", { [MODEL]: 1, hang: 1 });
    await healthy.api("POST", "/api/channel/", {
      type: 1,
      name: "hang",
      key: "good",
      base_url: upstream.url.origin,
      models: "hang",
    });
    const models = async () =>
      (await fetch(`${weir.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).text();
    await until("the model is known", async () => (await models()).includes('"hang"'), 5000);
    const held = weir.call(key, "hang").catch(() => undefined);
    await asked.promise;
    proxy.silence({ next: true });
    const { stop } = callers(weir, 4);
    await until("statements wait", () => proxy.silent() > 0, 5000);
    const began = performance.now();
    weir.process.kill("SIGTERM");
    const ended = await Promise.race([
      weir.process.exited.then(() => true),
      Bun.sleep(SHUTDOWN_SECONDS * 1000 + 20_000).then(() => false),
    ]);
    expect(ended).toBe(true);
    expect(performance.now() - began).toBeLessThan((SHUTDOWN_SECONDS + 5) * 1000);
    await Promise.all([stop(), held]);
  }, 60_000);

  test("charged every delivered answer once: the ledger balances", async () => {
    const { audit } = await import("../../src/server/features/wallet/audit");
    expect(await Array.fromAsync(audit(nodes.weir.db))).toEqual([]);
  });
});
