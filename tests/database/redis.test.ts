/** Counters shared through a real Redis server. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { localCounter } from "../../src/server/cluster/local";
import { redisCounter } from "../../src/server/cluster/redis";
import type { Counter } from "../../src/server/cluster/types";
import { required } from "../kit/required";
import { type Redis, startRedis } from "../kit/trial/redis";

const program = required("redis-server");

describe.skipIf(!program)("counters on Redis", () => {
  let server: Redis;
  let url: string;
  const counters: Counter[] = [];
  const changes: boolean[] = [];

  const counter = (): Counter => {
    const made = redisCounter({ url, fallback: localCounter(Date.now), changed: (up) => changes.push(up) });
    counters.push(made);
    return made;
  };
  beforeAll(async () => {
    server = await startRedis(program ?? "");
    ({ url } = server);
  });
  afterAll(async () => {
    for (const made of counters) await made.close();
    await server.kill();
  });

  test("two instances share one window exactly, and a refused take adds nothing", async () => {
    const [a, b] = [counter(), counter()];
    const takes = await Promise.all(Array.from({ length: 50 }, (_, i) => (i % 2 ? a : b).take("rpm", 1, 30, 60)));
    expect(takes.filter((take) => take.allowed)).toHaveLength(30);
    expect(await a.take("rpm", 1, 30, 60)).toMatchObject({ allowed: false, remaining: 0 });
    expect(await a.take("rpm", 3, 33, 60)).toMatchObject({ allowed: true, remaining: 0 });
    expect((await b.take("other", 2, 10, 60)).remaining).toBe(8);
  });

  test("an answer that waits unread while this process is busy counts as an answer: the limit stays exact", async () => {
    const [a, b] = [counter(), counter()];
    await Promise.all([a.take("busy", 1, 30, 60), b.take("busy", 1, 30, 60)]);
    const lost = changes.filter((up) => !up).length;
    for (let burst = 0; burst < 3; burst++) {
      const takes = [a, b].map((one) => one.take("busy", 10, 30, 60));
      for (const until = performance.now() + 400; performance.now() < until;);
      expect((await Promise.all(takes)).filter(({ allowed }) => allowed)).toHaveLength(burst === 0 ? 2 : 0);
    }
    expect(changes.filter((up) => !up)).toHaveLength(lost);
  });

  test("a window ends by itself", async () => {
    const a = counter();
    expect(await a.take("short", 1, 1, 1)).toEqual({ allowed: true, remaining: 0, reset_seconds: 1 });
    expect((await a.take("short", 1, 1, 1)).allowed).toBe(false);
    await Bun.sleep(1050);
    expect((await a.take("short", 1, 1, 1)).allowed).toBe(true);
  });

  const window = (key: string, amount: number, limit: number, window_seconds = 60) => ({
    key,
    amount,
    limit,
    window_seconds,
  });

  test("a request for nothing gets the current state, is never refused and takes nothing, on Redis and in one process", async () => {
    for (const made of [counter(), localCounter(Date.now)]) {
      const look = () => made.reserve([window("look", 0, 3), { ...window("busy", 0, 1), window_seconds: 0 }]);
      expect((await look()).states.map(({ remaining }) => remaining)).toEqual([3, 1]);
      const work = await made.reserve([window("look", 3, 3), { ...window("busy", 1, 1), window_seconds: 0 }]);
      for (let i = 0; i < 3; i++) {
        const seen = await look();
        expect(seen).toMatchObject({ refused: -1, states: [{ remaining: 0 }, { remaining: 0 }] });
        seen.end([0, 0]);
      }
      work.end([3, 0]);
      const limit = performance.now() + 10_000;
      while ((await look()).states[1]?.remaining !== 1 && performance.now() < limit) await Bun.sleep(5);
      expect((await look()).states.map(({ remaining }) => remaining)).toEqual([0, 1]);
    }
  });

  test("several limits are taken in one step, all or nothing, exactly by many instances", async () => {
    const [a, b] = [counter(), counter()];
    const demands = [window("r", 1, 100), window("t", 10, 250), { ...window("g", 1, 40), window_seconds: 0 }];
    const answers = await Promise.all(Array.from({ length: 60 }, (_, i) => (i % 2 ? a : b).reserve(demands)));
    const granted = answers.filter(({ refused }) => refused < 0);
    expect(granted).toHaveLength(25);
    expect(answers.filter(({ refused }) => refused === 1)).toHaveLength(35);
    expect((await a.reserve([window("r", 0, 100)])).states[0]?.remaining).toBe(75); // a refusal took nothing
    for (const reservation of granted) {
      reservation.end([1, 4, 0]);
      reservation.end([1, 4, 0]);
    }
    await Bun.sleep(20);
    const [requests, tokens, gauge] = (
      await b.reserve([window("r", 0, 100), window("t", 0, 250), { ...window("g", 1, 40), window_seconds: 0 }])
    ).states;
    expect([requests?.remaining, tokens?.remaining, gauge?.remaining]).toEqual([75, 250 - 25 * 4, 39]);
  });

  test("a gauge lets in as many as its limit at once, and again when they ended", async () => {
    const [a, b] = [counter(), counter()];
    const gauge = { key: "calls", amount: 1, limit: 7, window_seconds: 0 };
    for (let round = 0; round < 3; round++) {
      const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => (i % 2 ? a : b).reserve([gauge])));
      expect(answers.filter(({ refused }) => refused < 0)).toHaveLength(7);
      for (const reservation of answers) reservation.end([0]);
      await Bun.sleep(20);
    }
  });

  test("a correction after the end of its window does not change the next one", async () => {
    const a = counter();
    const late = await a.reserve([window("late", 90, 100, 1)]);
    await Bun.sleep(1050);
    await a.reserve([window("late", 20, 100, 1)]);
    late.end([0]);
    await Bun.sleep(20);
    expect((await a.reserve([window("late", 0, 100, 1)])).states[0]?.remaining).toBe(80);
  });

  test("without Redis an instance counts locally, fast, logs it once, and shares again afterwards", async () => {
    const a = counter();
    await a.take("down", 1, 5, 60);
    changes.length = 0;
    await server.kill();
    const started = performance.now();
    const takes = [];
    for (let i = 0; i < 8; i++) takes.push(await a.take("down", 1, 5, 60));
    expect(performance.now() - started).toBeLessThan(600);
    expect(takes.filter((take) => take.allowed)).toHaveLength(5);
    await server.start();
    await Bun.sleep(1100);
    await a.take("down", 2, 5, 60);
    expect((await counter().take("down", 1, 5, 60)).remaining).toBe(2); // a new instance sees the 2
    expect(changes).toEqual([false, true]);
  });

  test("a Redis Cluster is refused with the reason, and limits are counted without it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "weir-redis-cluster-"));
    const cluster = await startRedis(program ?? "", ["--cluster-enabled", "yes", "--dir", folder]);
    const reasons: string[] = [];
    const made = redisCounter({
      url: cluster.url,
      fallback: localCounter(Date.now),
      changed: (_, error) => reasons.push(String(error)),
    });
    expect((await made.reserve([window("r", 1, 1), window("t", 1, 5)])).refused).toBe(-1);
    expect((await made.reserve([window("r", 1, 1), window("t", 1, 5)])).refused).toBe(0);
    expect(reasons).toEqual(["Error: REDIS_URL names a Redis Cluster: a single server is needed"]);
    await made.close();
    await cluster.kill();
    rmSync(folder, { recursive: true });
  });

  test("a stalled Redis costs a quarter of a second at most, once a second", async () => {
    const a = counter();
    await a.take("stall", 1, 100, 60);
    server.suspend();
    const started = performance.now();
    for (let i = 0; i < 50; i++) expect((await a.take("stall", 1, 100, 60)).allowed).toBe(true);
    expect(performance.now() - started).toBeLessThan(450);
    server.resume();
  });
});
