/**
 * Random histories of jobs on both engines: submits that are accepted, refused or never answered, polls that advance,
 * end, lie or fail, two rounds at once, cancelled jobs, higher and lower final prices, a channel that is deleted. After
 * each the ledger balances and every job has one charge, one charge and its refund, or neither. A failure prints its
 * seed: JOBS_SEED=….
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import fc from "fast-check";
import { sweepSilent } from "../../src/server/features/wallet/sweep";
import { applyReport } from "../../src/server/relay/tasks/apply";
import type { TaskReport, TaskWatcher } from "../../src/server/relay/tasks/provider";
import { isFinal, type TaskStatus } from "../../src/shared/task";
import { ENGINES } from "../kit/databases";
import { HOOK_MS } from "../kit/harness";
import { type Caller, openTaskBench, type TaskBench } from "../tasks/kit";
import { clip } from "../tasks/suno-fake";

const HISTORIES = Number(process.env.JOBS_HISTORIES ?? 40);
const SEED = Number(process.env.JOBS_SEED ?? Math.floor(Math.random() * 2 ** 31));
const SUNO = 36;
const START = 1_000_000;

/** The vendor's reaction to a submit. */
const taking = fc.constantFrom("take", "take", "take", "refuse", "empty", "dead" as const);
/** The content of a report; its job is chosen by number. */
const report: fc.Arbitrary<TaskReport> = fc.oneof(
  fc.record({
    status: fc.constantFrom<TaskStatus>("QUEUED", "IN_PROGRESS", "UNKNOWN"),
    percent: fc.integer({ min: -5, max: 120 }),
  }),
  fc.record({ status: fc.constant("FAILURE" as const), fail_reason: fc.constantFrom("no", "") }),
  fc.record({ status: fc.constant("SUCCESS" as const), data: fc.constantFrom<unknown>([clip], [], null) }),
  fc.record({
    status: fc.constant("SUCCESS" as const),
    data: fc.constant([clip]),
    final: fc.record({
      usage: fc.constant({}),
      times: fc.record({ factors: fc.record({ seconds: fc.constantFrom(0, 0.25, 1, 3) }) }),
    }),
  }),
);
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ verb: fc.constant("submit" as const), taking, key: fc.constantFrom("", "", "one", "two") }),
  },
  { weight: 8, arbitrary: fc.record({ verb: fc.constant("report" as const), job: fc.nat(7), report }) },
  {
    weight: 2,
    arbitrary: fc.record({ verb: fc.constant("round" as const), seconds: fc.constantFrom(1, 20, 400, 2000) }),
  },
  { weight: 1, arbitrary: fc.record({ verb: fc.constant("sweep" as const) }) },
  { weight: 1, arbitrary: fc.record({ verb: fc.constant("collect" as const), job: fc.nat(7) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
const history = fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { minLength: 2, maxLength: 6 });

const watcher: TaskWatcher = {
  platform: "suno",
  poll: async () => new Map(),
  hasResult: ({ data }) => Array.isArray(data) && data.length > 0,
};

describe.each(ENGINES)("histories of jobs on %s", (engine) => {
  let bench: TaskBench;
  beforeAll(async () => {
    bench = await openTaskBench(engine);
  }, HOOK_MS);
  afterAll(() => bench?.close());

  let made = 0;
  /** Unanswered submits -> resolved when the vendor has them. */
  const heard = new Map<string, () => void>();
  async function play(ann: Caller, asked: Step): Promise<void> {
    const mine = async () =>
      (await bench.tasks()).filter(({ user_id }) => user_id === ann.user_id).toSorted((a, b) => a.id - b.id);
    const pick = async (job: number) => {
      const rows = await mine();
      const row = rows[job % Math.max(1, rows.length)];
      return row && bench.controlPlane.tasks.find(["suno"], row.task_id, ann.user_id);
    };
    if (asked.verb === "submit") {
      const headers: Record<string, string> = asked.key === "" ? {} : { "idempotency-key": asked.key };
      if (asked.taking !== "dead")
        return void (await ann.send("POST", "/suno/submit/music", { prompt: asked.taking }, headers));
      // Never answered: its row is written before the vendor receives it.
      const prompt = `dead ${++made}`;
      const reached = new Promise<void>((resolve) => void heard.set(prompt, resolve));
      await Promise.race([ann.send("POST", "/suno/submit/music", { prompt }, headers), reached]);
    } else if (asked.verb === "report") {
      const task = await pick(asked.job);
      if (task && task.status !== "NOT_START") await applyReport(bench.controlPlane, watcher, task, asked.report);
    } else if (asked.verb === "round") {
      bench.h.advance(asked.seconds);
      await Promise.all([bench.relay.tasks.poll(), bench.relay.tasks.poll()]);
    } else if (asked.verb === "sweep") {
      await sweep(ann);
    } else {
      const task = await pick(asked.job);
      if (task) await bench.controlPlane.tasks.collect(task.id);
    }
  }

  /** The state 30 s after the end of the process that held. */
  async function sweep({ user_id }: Caller): Promise<void> {
    const { db, ledger } = bench.h.services;
    await db.q.update(db.t.holds).set({ created_at: 1 }).where(eq(db.t.holds.user_id, user_id)).returning();
    await sweepSilent(db, ledger, "sweeper");
  }

  test(`${HISTORIES} histories end with every job charged once or not at all (seed ${SEED})`, async () => {
    bench.vendor.on("POST /suno/submit/{action}", ({ body }) => {
      const reached = heard.get(body.prompt);
      reached?.();
      if (reached) return "dead";
      if (body.prompt === "refuse") return Response.json({ code: "bad", message: "no", data: null }, { status: 400 });
      return { code: "success", message: "", data: body.prompt === "empty" ? "" : `up-${++made}` };
    });
    bench.vendor.on("POST /suno/fetch", { code: "success", message: "", data: [] });
    const property = fc.asyncProperty(history, fc.boolean(), async (rounds, goes) => {
      const channel = await bench.channel(SUNO, ["suno_music"]);
      const ann = await bench.caller(START);
      for (const steps of rounds) await Promise.all(steps.map((asked) => play(ann, asked)));
      if (goes) await bench.root.call.channel.delete({ id: channel });
      await sweep(ann);
      // A day later no job is open.
      for (const seconds of [60, 3_600, 86_400, 60]) {
        bench.h.advance(seconds);
        await bench.relay.tasks.poll();
      }
      if (!goes) await bench.root.call.channel.delete({ id: channel });
      const rows = (await bench.tasks()).filter(({ user_id }) => user_id === ann.user_id);
      for (const row of rows)
        expect([row.task_id, isFinal(row.status as TaskStatus), row.next_poll_at_ms]).toEqual([row.task_id, true, 0]);
      const { quota, used_quota, held, token_used } = await bench.money(ann);
      const cost = rows.reduce((sum, row) => sum + row.quota, 0);
      expect({ quota, used_quota, held, token_used }).toEqual({
        quota: START - cost,
        used_quota: cost,
        held: 0,
        token_used: cost,
      });
    });
    await fc.assert(property, { numRuns: HISTORIES, seed: SEED });
    await bench.balanced();
  }, 300_000);
});
