import { afterEach, expect, mock, spyOn, test } from "bun:test";
import { createListeners, type Listeners } from "./listeners";

const opened: Listeners[] = [];
afterEach(() => {
  mock.restore();
  for (const one of opened.splice(0)) one.close();
});
function open(now: () => number = Date.now) {
  const told: string[] = [];
  const listeners = createListeners({
    now,
    failed: (topic) => told.push(`${topic} failed`),
    recovered: (topic) => told.push(`${topic} recovered`),
  });
  opened.push(listeners);
  return { listeners, told };
}

test("a version counts as applied when its listeners have succeeded; until then they are called every second", async () => {
  const { listeners, told } = open();
  let broken = true;
  const asked: [string, number][] = [];
  listeners.subscribe("channels", async (id) => {
    asked.push([id, performance.now()]);
    if (broken) throw new Error("cut");
  });
  await listeners.notify("channels", "7", 1);
  expect([listeners.latest("channels"), listeners.applied("channels")]).toEqual([1, 0]);
  while (asked.length < 2) await Bun.sleep(10);
  expect((asked[1]?.[1] ?? 0) - (asked[0]?.[1] ?? 0)).toBeGreaterThan(900);
  broken = false;
  while (listeners.applied("channels") < 1) await Bun.sleep(10);
  expect(asked.map(([id]) => id)).toEqual(["7", "7", "7"]);
  expect(told).toEqual(["channels failed", "channels recovered"]);
  await Bun.sleep(1100);
  expect(asked).toHaveLength(3);
});

test("listeners get * for a missed message, and nothing for a version that is known", async () => {
  const { listeners } = open();
  const ids: string[] = [];
  listeners.subscribe("tokens", (id) => void ids.push(id));
  await listeners.notify("tokens", "1", 1);
  await listeners.notify("tokens", "1", 1);
  await listeners.notify("tokens", "3", 3);
  expect(ids).toEqual(["1", "*"]);
});

test("a change during a reading is read after it, once, and its announcement waits for that", async () => {
  const { listeners } = open();
  const stored = { now: 1, read: 0 };
  const reading = Promise.withResolvers<void>();
  let readings = 0;
  listeners.subscribe(
    "options",
    async () => {
      const found = stored.now;
      if (++readings === 1) await reading.promise;
      stored.read = found;
    },
    { whole: true },
  );
  const first = listeners.notify("options", "a", 1);
  await Bun.sleep(1);
  stored.now = 2;
  const later = [listeners.notify("options", "b", 2), listeners.notify("options", "c", 3, true)];
  reading.resolve();
  await Promise.all([first, ...later]);
  expect(stored.read).toBe(2);
  expect(readings).toBe(2);
});

test("listeners that read everything are also called every minute, and their age is that of their last success", async () => {
  const interval = spyOn(globalThis, "setInterval");
  let time = 0;
  const { listeners } = open(() => time);
  const [minutely, every] = interval.mock.calls[0] ?? [];
  expect(every).toBe(60_000);
  let broken = false;
  const readings: string[] = [];
  const dropped: string[] = [];
  listeners.subscribe(
    "options",
    async (id) => {
      if (broken) throw new Error("cut");
      readings.push(id);
    },
    { whole: true },
  );
  listeners.subscribe("tokens", (id) => void dropped.push(id));
  time = 61_000;
  expect(listeners.age()).toBe(61_000);
  if (typeof minutely !== "function") throw new Error("no timer");
  minutely();
  await Bun.sleep(1);
  expect([readings, dropped]).toEqual([["*"], []]);
  expect(listeners.age()).toBe(0);
  broken = true;
  time = 62_000;
  await listeners.notify("options", "x", 1);
  time = 65_000;
  expect(listeners.age()).toBe(4_000);
});
