import { describe, expect, test } from "bun:test";
import { createBackground } from "./background";
import { createCollector } from "./collector";

const failures: unknown[] = [];
const background = () => createBackground({ error: (...said: unknown[]) => void failures.push(said) });

async function until(condition: () => boolean): Promise<void> {
  const limit = Date.now() + 10_000;
  while (!condition()) {
    if (Date.now() > limit) throw new Error("It did not happen within 10 s");
    await Bun.sleep(2);
  }
}

describe("collected work", () => {
  test("requests of many callers in one pause are one round, and the newest value of a key counts", async () => {
    const rounds: [string, number][][] = [];
    const host = background();
    const collector = createCollector<string, number>(host, {
      name: "test",
      pauseMs: 5,
      max: 10,
      work: async (items) => void rounds.push([...items]),
    });
    for (let i = 0; i < 100; i++) collector.add(i % 2 ? "odd" : "even", i);
    await until(() => rounds.length === 1);
    expect(rounds).toEqual([
      [
        ["even", 98],
        ["odd", 99],
      ],
    ]);
    await host.stop();
  });

  test("rounds never overlap, requests during one go into the next, and a failed one does not end the work", async () => {
    const host = background();
    let running = 0;
    let most = 0;
    const seen: number[] = [];
    const gate = Promise.withResolvers<void>();
    const collector = createCollector<number, true>(host, {
      name: "test",
      pauseMs: 1,
      max: 10,
      work: async (items) => {
        most = Math.max(most, ++running);
        await gate.promise;
        seen.push(...items.keys());
        running--;
        if (items.has(1)) throw new Error("the first round fails");
      },
    });
    collector.add(1, true);
    await until(() => running === 1);
    collector.add(2, true);
    gate.resolve();
    await until(() => seen.length === 2);
    expect(seen).toEqual([1, 2]);
    expect(most).toBe(1);
    expect(failures).toHaveLength(1);
    await host.stop();
  });

  test("at most `max` keys wait, and a process that stops starts no further round", async () => {
    const host = background();
    const rounds: number[] = [];
    const collector = createCollector<number, true>(host, {
      name: "test",
      pauseMs: 1,
      max: 3,
      work: async (items) => void rounds.push(items.size),
    });
    for (let i = 0; i < 50; i++) collector.add(i, true);
    await until(() => rounds.length === 1);
    expect(rounds).toEqual([3]);
    await host.stop();
    collector.add(1, true);
    await Bun.sleep(20);
    expect(rounds).toEqual([3]);
  });
});
