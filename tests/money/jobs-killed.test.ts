/**
 * Jobs and SIGKILL: a real server, killed while it submits, polls and refunds, and restarted on the same database.
 * Every job ends with one charge, with a charge and its refund, or with neither.
 */
import { describe, expect, test } from "bun:test";
import { eq, inArray, notInArray } from "drizzle-orm";
import { FINAL_STATUSES } from "../../src/shared/task";
import { ENGINES } from "../kit/databases";
import { startWeir, type Weir } from "../kit/weir";
import { HURRIED } from "../kit/weir-process";
import { clip } from "../tasks/suno-fake";

const SUNO = 36;
const MUSIC = 50_000;
const START = 100 * MUSIC;

/** A Suno server on a port: each answer takes a different time, so that a kill hits jobs in every state. */
function vendor() {
  const heard = { submits: 0, polls: 0 };
  const made = new Map<string, { polls: number; fate: "SUCCESS" | "FAILURE" }>();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname.startsWith("/suno/submit/")) {
        const number = ++heard.submits;
        await Bun.sleep((number % 8) * 25);
        const id = `up-${number}`;
        made.set(id, { polls: 0, fate: number % 3 === 0 ? "FAILURE" : "SUCCESS" });
        return Response.json({ code: "success", message: "", data: id });
      }
      heard.polls++;
      const { ids } = (await request.json()) as { ids: string[] };
      const data = ids.flatMap((id) => {
        const task = made.get(id);
        if (!task) return [];
        const over = ++task.polls >= 2;
        return [
          {
            task_id: id,
            status: over ? task.fate : "IN_PROGRESS",
            progress: "50%",
            fail_reason: "no",
            data: over ? [clip] : null,
          },
        ];
      });
      return Response.json({ code: "success", message: "", data });
    },
  });
  return { heard, url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) };
}

/**
 * Waits for a condition with a long limit: the machine may be busy, and timers under leases are slow. `seen`: the
 * current state, for the error.
 */
async function until(
  what: string,
  holds: () => Promise<boolean> | boolean,
  seen: () => Promise<unknown> = async () => "",
): Promise<void> {
  for (const deadline = Date.now() + 180_000; !(await holds()); await Bun.sleep(50)) {
    if (Date.now() > deadline) throw new Error(`never: ${what} ${JSON.stringify(await seen())}`);
  }
}

describe.each(ENGINES)("jobs of a killed server on %s", (engine) => {
  test("SIGKILL while twenty jobs are submitted, and again while they are polled: one charge or one refund each", async () => {
    const fake = vendor();
    const weir = await startWeir({ engine, child: HURRIED });
    try {
      const { tasks, logs } = weir.db.t;
      await weir.newChannel({ type: SUNO, base_url: fake.url, models: ["suno_music"] });
      const ann = await weir.newUser({ quota: START });
      const { key, id: token_id } = await weir.newToken({ quota: START }, ann);
      const submit = () =>
        weir
          .call(key, { prompt: "x" }, { path: "/suno/submit/music" })
          .then((answer) => answer.text())
          .catch(() => "");
      const rows = () => weir.db.q.select().from(tasks);
      const die = async (at: Weir) => {
        at.process?.kill("SIGKILL");
        await at.process?.exited;
      };

      const calls = Promise.all(Array.from({ length: 20 }, submit));
      await until("the vendor hears of the jobs", () => fake.heard.submits >= 10);
      await die(weir);
      await calls;
      expect((await rows()).length).toBeGreaterThanOrEqual(10);
      await weir.ageHolds();
      await weir.restart();
      await Promise.all(Array.from({ length: 4 }, submit));
      const soon = () =>
        weir.db.q
          .update(tasks)
          .set({ next_poll_at_ms: 1 })
          .where(notInArray(tasks.status, [...FINAL_STATUSES]))
          .returning({ id: tasks.id });
      await until("jobs are polled", async () => {
        await soon();
        return fake.heard.polls >= 1;
      });
      await die(weir);
      await weir.ageHolds();
      await weir.restart();
      await until(
        "no hold is left, and every job is over",
        async () => {
          await weir.ageHolds();
          await soon();
          const open = await rows();
          return (await weir.holds()) === 0 && open.every((row) => row.next_poll_at_ms === 0);
        },
        async () => ({
          holds: await weir.holds(),
          heard: fake.heard,
          output: weir.process?.output().slice(-3000),
          rows: (await rows()).filter((row) => row.next_poll_at_ms !== 0),
        }),
      );

      let kept = 0;
      const ended = await rows();
      const entries = await weir.db.q
        .select()
        .from(logs)
        .where(
          inArray(
            logs.request_id,
            ended.flatMap(({ charge_id }) => [charge_id, `${charge_id}/refund`]),
          ),
        );
      for (const { task_id, charge_id, status, quota } of ended) {
        const charge = entries.filter((row) => row.type === 2 && row.request_id === charge_id);
        const refund = entries.filter((row) => row.type === 6 && row.request_id === `${charge_id}/refund`);
        const bill = [task_id, status, charge.length, refund.length, quota];
        if (status === "SUCCESS") {
          expect(bill).toEqual([task_id, "SUCCESS", 1, 0, MUSIC]);
          kept++;
        } else expect(bill).toEqual([task_id, "FAILURE", charge.length, charge.length, 0]);
      }
      expect(kept).toBeGreaterThan(0);
      expect(await weir.balance(ann.id)).toMatchObject({ quota: START - kept * MUSIC, used_quota: kept * MUSIC });
      const [token] = await weir.db.q.select().from(weir.db.t.tokens).where(eq(weir.db.t.tokens.id, token_id));
      expect(token).toMatchObject({ remain_quota: START - kept * MUSIC, used_quota: kept * MUSIC });
      await until("the log is folded", async () => (await weir.audit()).length === 0);
    } finally {
      await weir.stop();
      fake.stop();
    }
  }, 600_000);
});
