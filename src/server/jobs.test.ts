/** Which timers run while this process's clock is not the database's. */
import { afterEach, expect, mock, spyOn, test } from "bun:test";
import type { Services } from "./contracts/context";
import { startJobs } from "./jobs";

afterEach(() => mock.restore());

/** The leases that the timers ask for when each has come once. */
async function asked(clockAhead: number): Promise<string[]> {
  const ticks: (() => void)[] = [];
  spyOn(globalThis, "setTimeout").mockImplementation(((tick: () => void, ms: number) => {
    expect(ms).toBeWithin(500, 60_001); // also of those that come once an hour
    ticks.push(tick);
  }) as never);
  const leases: string[] = [];
  const hold = async (name: string): Promise<boolean> => leases.push(name) > 0;
  const services = {
    cluster: { lease: { hold } },
    log: { error: () => undefined },
    db: { t: { logs: {}, instances: {} } },
    pool: { all: () => [] },
    options: { get: () => [] },
    now: Date.now,
  } as unknown as Services;
  const instance = { steady: () => true, clockAhead: () => clockAhead };
  const jobs = startJobs(services, { tasks: { poll: async () => undefined }, draining: false } as never, instance);
  for (const tick of ticks) tick();
  await jobs.stop();
  return leases;
}

test.each([-90_000, -61, 61, 90_000])(
  "a process whose clock is %i s ahead polls no job and removes nothing: it counts and sweeps",
  async (ahead) => {
    expect((await asked(ahead)).toSorted()).toEqual(["fold", "sweep"]);
  },
);

test("processes that start together ask at different moments: a timer first comes after half of its time to all of it", async () => {
  const firsts = async (share: number): Promise<number[]> => {
    spyOn(Math, "random").mockReturnValue(share);
    const timers = spyOn(globalThis, "setTimeout");
    timers.mockClear();
    await asked(0);
    return timers.mock.calls.map(([, ms]) => Number(ms));
  };
  const [early, late] = [await firsts(0), await firsts(1)];
  expect(early.length).toBeGreaterThan(10);
  expect(late).toEqual(early.map((ms) => 2 * ms));
});

test.each([-60, 0, 60])("at %i s every timer runs", async (ahead) => {
  const leases = await asked(ahead);
  for (const name of ["fold", "sweep", "tasks", "sessions", "codes", "budgets", "instances"])
    expect(leases).toContain(name);
});
