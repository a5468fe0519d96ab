import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ENGINES } from "../../../../tests/kit/databases";
import { type Harness, HOOK_MS, openHarness, type Person } from "../../../../tests/kit/harness";
import { eq } from "drizzle-orm";
import { fail } from "../../../shared/errors";
import { ROLE } from "../../../shared/roles";
import type { TaskRow } from "../../db/schema";
import type { TaskService } from "../../contracts/task-service";
import { createCaller } from "../../router";
import { taskOf } from "./row";

const NOON = 1_790_000_000_000;

for (const engine of ENGINES) {
  describe(`the lists of jobs on ${engine}`, () => {
    let h: Harness;
    let admin: Person;
    let ann: Person;
    let ben: Person;
    let ids: Record<string, number>;

    const idOf = (person: Person): number => person.ctx.actor.id;
    async function job(fields: Partial<TaskRow>): Promise<void> {
      const { tasks } = h.services.db.t;
      await h.services.db.q.insert(tasks).values({
        task_id: "",
        platform: "suno",
        action: "MUSIC",
        user_id: idOf(ann),
        username: ann.ctx.actor.username,
        channel_id: 3,
        status: "SUCCESS",
        submit_time_ms: NOON,
        state: JSON.stringify({ own: { secret: "sk-state" } }),
        input: JSON.stringify({ prompt: "asked" }),
        ...fields,
      });
    }

    beforeAll(async () => {
      h = await openHarness(engine);
      [admin, ann, ben] = await Promise.all([h.person({ role: ROLE.admin }), h.person(), h.person()]);
      await job({
        task_id: "song",
        progress: "100%",
        start_time_ms: NOON + 1500,
        finish_time_ms: NOON + 61_999,
        quota: 5,
        refunded: 1,
        charge_id: "call-1",
        upstream_id: "up-song",
        data: JSON.stringify([{ title: "A", audio_url: "https://cdn.example/a.mp3" }]),
      });
      await job({
        task_id: "words",
        action: "LYRICS",
        submit_time_ms: NOON + 1000,
        status: "FAILURE",
        fail_reason: "no",
        channel_id: 4,
      });
      await job({
        task_id: "film",
        platform: "kling",
        action: "textGenerate",
        submit_time_ms: NOON + 2000,
        status: "IN_PROGRESS",
        progress: "45%",
      });
      await job({
        task_id: "others",
        user_id: idOf(ben),
        username: ben.ctx.actor.username,
        submit_time_ms: NOON + 3000,
        data: "no JSON",
      });
      await job({
        task_id: "draw",
        platform: "mj",
        action: "IMAGINE",
        prompt: "猫",
        submit_time_ms: NOON + 4567,
        finish_time_ms: NOON + 9999,
        progress: "100%",
        data: JSON.stringify({
          code: 22,
          description: "In queue",
          properties: { numberOfQueues: 1 },
          task: {
            promptEn: "a cat",
            imageUrl: "https://cdn.example/a.png",
            buttons: [{ customId: "JOB::upsample::1" }],
            properties: { finalPrompt: "a cat" },
          },
        }),
      });
      await job({ task_id: "odd", platform: "mj", action: "", status: "", submit_time_ms: NOON + 4568, data: "[1]" });
      await job({
        task_id: "benmj",
        platform: "mj",
        action: "PAN",
        user_id: idOf(ben),
        username: ben.ctx.actor.username,
        submit_time_ms: NOON + 5000,
      });
      const rows = await h.services.db.q
        .select({ id: h.services.db.t.tasks.id, task_id: h.services.db.t.tasks.task_id })
        .from(h.services.db.t.tasks);
      ids = Object.fromEntries(rows.map((row) => [row.task_id, row.id]));
    }, HOOK_MS);
    afterAll(() => h.close());

    const tasks = async (who: Person, query = "", path = "/api/task/self") => {
      const { body } = await who.rest("GET", `${path}?${query}`);
      expect(body).toMatchObject({ success: true });
      return body.data as Record<string, unknown>[];
    };
    const names = async (...asked: Parameters<typeof tasks>) =>
      (await tasks(...asked)).map((row) => row.task_id ?? row.mj_id);

    test("administrators see all jobs newest first, other users their own; drawing jobs are in a separate list", async () => {
      // spec: C-554
      expect(await names(admin, "", "/api/task/")).toEqual(["others", "film", "words", "song"]);
      // spec: C-459, C-555
      expect(await names(ann)).toEqual(["film", "words", "song"]);
      expect(await names(admin)).toEqual([]);
      // spec: C-552
      expect(await names(admin, "", "/api/mj/")).toEqual(["benmj", "odd", "draw"]);
      // spec: C-459, C-553
      expect(await names(ann, "", "/api/mj/self/")).toEqual(["odd", "draw"]);
      // spec: C-460
      // spec: C-293
      expect((await ann.rest("GET", "/api/task/")).body).toMatchObject({ success: false, code: "forbidden" });
      // spec: C-460
      expect((await ann.rest("GET", "/api/mj/")).body).toMatchObject({ success: false, code: "forbidden" });
      const own = [...(await tasks(ann)), ...(await tasks(ann, "", "/api/mj/self"))];
      // spec: C-287, C-293
      expect(own.map((row) => row.channel_id)).toEqual([0, 0, 0, 0, 0]);
    });

    test("a task's times are whole seconds, 0 until then, and its texts are never null", async () => {
      const rows = await tasks(admin, "", "/api/task/");
      // spec: C-291, C-292, C-293, C-294
      expect(rows.find((row) => row.task_id === "song")).toMatchObject({
        submit_time: 1_790_000_000,
        start_time: 1_790_000_001,
        finish_time: 1_790_000_061,
        progress: "100%",
        channel_id: 3,
        platform: "suno",
        action: "MUSIC",
        status: "SUCCESS",
        fail_reason: "",
        quota: 5,
        refunded: 1,
        request_id: "call-1",
        username: ann.ctx.actor.username,
        data: [{ title: "A", audio_url: "https://cdn.example/a.mp3" }],
      });
      // spec: C-291, C-292
      expect(rows.find((row) => row.task_id === "others")).toMatchObject({
        finish_time: 0,
        progress: "",
        prompt: "",
        data: null,
      });
    });

    test("a drawing job's times are milliseconds, and the vendor's answer is beside them", async () => {
      const [odd, draw] = await tasks(ann, "", "/api/mj/self");
      // spec: C-286, C-287, C-288, C-289, C-290
      expect(draw).toMatchObject({
        mj_id: "draw",
        submit_time: NOON + 4567,
        finish_time: NOON + 9999,
        code: 22,
        prompt: "猫",
        prompt_en: "a cat",
        description: "In queue",
        action: "IMAGINE",
        status: "SUCCESS",
        progress: "100%",
        buttons: '[{"customId":"JOB::upsample::1"}]',
        properties: '{"finalPrompt":"a cat"}',
        channel_id: 0,
        fail_reason: "",
      });
      // spec: C-286, C-288, C-289
      expect(odd).toMatchObject({
        mj_id: "odd",
        finish_time: 0,
        code: 0,
        properties: "{}",
        prompt_en: "",
        image_url: "",
        description: "",
        buttons: "",
        status: "",
        action: "",
      });
    });

    test("a picture's address is this server's, unless the operator allows the vendor's", async () => {
      const root = await h.person({ role: ROLE.root });
      const image = async () => (await tasks(ann, "mj_id=draw", "/api/mj/self"))[0]?.image_url;
      expect(await image()).toBe("/mj/image/draw");
      await root.rest("PUT", "/api/option/", { key: "ServerAddress", value: "https://weir.example/" });
      // spec: A-208
      expect(await image()).toBe("https://weir.example/mj/image/draw");
      await root.rest("PUT", "/api/option/", { key: "MjForwardUrlEnabled", value: "false" });
      expect(await image()).toBe("https://cdn.example/a.png");
      await root.rest("PUT", "/api/option/", { key: "MjForwardUrlEnabled", value: "true" });
      await root.rest("PUT", "/api/option/", { key: "ServerAddress", value: "" });
    });

    test("each filter narrows; only administrators filter by channel", async () => {
      // spec: C-554
      // spec: C-156
      expect(await names(ann, "task_id=film")).toEqual(["film"]);
      expect(await names(ann, "task_id=others")).toEqual([]);
      expect(await names(ann, "task_id=draw")).toEqual([]);
      expect(await names(ann, "platform=kling")).toEqual(["film"]);
      expect(await names(ann, "platform=mj")).toEqual([]);
      expect(await names(ann, "status=FAILURE")).toEqual(["words"]);
      expect(await names(ann, "action=LYRICS")).toEqual(["words"]);
      // spec: C-554
      // spec: C-156
      expect(await names(admin, "channel_id=4", "/api/task/")).toEqual(["words"]);
      // spec: C-556
      // spec: C-156
      expect(await names(ann, "channel_id=4")).toEqual(["film", "words", "song"]);
      // spec: C-552
      // spec: C-155
      expect(await names(admin, "channel_id=4", "/api/mj/")).toEqual([]);
      // spec: C-556
      // spec: C-155
      expect(await names(ann, "channel_id=4", "/api/mj/self")).toEqual(["odd", "draw"]);
      // spec: C-552
      // spec: C-155
      expect(await names(admin, "mj_id=benmj", "/api/mj/")).toEqual(["benmj"]);
      expect(await names(ann, "mj_id=benmj", "/api/mj/self")).toEqual([]);
    });

    test("times are seconds for tasks and milliseconds for drawing, both ends included", async () => {
      // spec: C-554, C-556
      expect(await names(ann, "start_timestamp=1790000001")).toEqual(["film", "words"]);
      // spec: C-554
      expect(await names(ann, "end_timestamp=1790000001")).toEqual(["words", "song"]);
      // spec: C-156
      expect(await names(ann, "start_timestamp=1790000001&end_timestamp=1790000001")).toEqual(["words"]);
      // spec: C-552
      // spec: C-155
      expect(await names(ann, `start_timestamp=${NOON + 4568}`, "/api/mj/self")).toEqual(["odd"]);
      // spec: C-552
      // spec: C-155
      expect(await names(ann, `end_timestamp=${NOON + 4567}`, "/api/mj/self")).toEqual(["draw"]);
    });

    test("pages are bare arrays from p=0; invalid parameters count as absent", async () => {
      // spec: C-481
      expect(await names(ann, "p=0&page_size=2")).toEqual(["film", "words"]);
      expect(await names(ann, "p=1&page_size=2")).toEqual(["song"]);
      for (const path of ["/api/task/", "/api/task/self", "/api/mj/", "/api/mj/self/"]) {
        const who = path.includes("self") ? ann : admin;
        // spec: C-481, C-556
        expect([path, (await names(who, "page_size=1", path)).length]).toEqual([path, 1]);
      }
      // spec: C-482
      expect(await names(ann, "p=7")).toEqual([]);
      for (const odd of [
        "p=-1",
        "p=x",
        "p=1e300",
        "page_size=0",
        "page_size=x",
        "page_size=99999",
        "start_timestamp=&end_timestamp=NaN",
        "start_timestamp=x",
        "end_timestamp=1e300",
        "start_timestamp=-5",
        "channel_id=x",
        "task_id=&status=null",
        "p=0&channel_id=&task_id=&start_timestamp=0.5&end_timestamp=NaN",
      ]) {
        // spec: C-482, C-556
        expect([odd, await names(ann, odd)]).toEqual([odd, ["film", "words", "song"]]);
        // spec: C-556
        expect([odd, await names(admin, odd, "/api/task/")]).toEqual([odd, ["others", "film", "words", "song"]]);
        // spec: C-481, C-556
        expect([odd, (await names(ann, odd, "/api/mj/self")).length]).toEqual([odd, 2]);
      }
      expect(await names(ann, `task_id=${encodeURIComponent("x\u0000' OR 1=1 --")}`)).toEqual([]);
      expect((await ann.rest("GET", `/api/task/self?task_id=${"x".repeat(5000)}`)).body.success).toBe(false);
    });

    test("the console's list has totals, and the filters of user and channel for administrators", async () => {
      expect(await admin.call.task.list({})).toMatchObject({ total: 4, total_exact: true, page: 1, page_size: 10 });
      expect(
        (await admin.call.task.list({ username: ben.ctx.actor.username })).items.map((row) => row.task_id),
      ).toEqual(["others"]);
      expect((await admin.call.task.list({ username: "nobody" })).total).toBe(0);
      expect((await ann.call.task.list({ username: ben.ctx.actor.username, channel_id: 99 })).total).toBe(3);
      expect((await ann.call.midjourney.list({ page: 2, page_size: 1 })).items.map((row) => row.mj_id)).toEqual([
        "draw",
      ]);
      expect((await admin.call.midjourney.list({ action: "PAN" })).items.map((row) => row.mj_id)).toEqual(["benmj"]);
    });

    test("one job can be opened by its owner and administrators; other users, and the other list's route, find none", async () => {
      const id = (name: string) => ({ id: ids[name] ?? 0 });
      // spec: C-293
      expect(await ann.call.task.get(id("song"))).toMatchObject({
        task_id: "song",
        channel_id: 0,
        data: [{ title: "A" }],
      });
      expect(await admin.call.task.get(id("song"))).toMatchObject({ task_id: "song", channel_id: 3 });
      expect(await ann.call.midjourney.get(id("draw"))).toMatchObject({ mj_id: "draw" });
      for (const asked of [
        () => ben.call.task.get(id("song")),
        () => ann.call.task.get(id("draw")),
        () => ann.call.midjourney.get(id("song")),
        () => ben.call.midjourney.get(id("draw")),
        () => ann.call.task.get({ id: 999_999 }),
      ]) {
        await expect(asked()).rejects.toThrow("No such task");
      }
    });

    test("a job is stopped by its owner or by an administrator, whose act is recorded; another user stops nothing", async () => {
      const { tasks, audit_log } = h.services.db.t;
      const { q } = h.services.db;
      for (const task_id of ["stop-own", "stop-others"])
        await job({ task_id, platform: "replicate", status: "IN_PROGRESS", submit_time_ms: 1 });
      const rows = await q.select().from(tasks).where(eq(tasks.platform, "replicate")).orderBy(tasks.id);
      const [own = 0, others = 0] = rows.map((row) => row.id);
      const stopped: unknown[] = [];
      // A vendor that stops every job.
      const cancel: TaskService["cancel"] = async ({ task_id, user_id }) => {
        stopped.push({ task_id, user_id });
        const [row] = await q.update(tasks).set({ status: "FAILURE" }).where(eq(tasks.task_id, task_id)).returning();
        return row ? taskOf(row) : fail("task_not_found");
      };
      const as = ({ ctx }: Person) =>
        createCaller({
          ...ctx,
          taskService: { ...ctx.taskService, cancel, canCancel: ({ status }) => status === "IN_PROGRESS" },
        });

      await expect(as(ben).task.cancel({ id: own })).rejects.toThrow("No such task");
      expect(stopped).toEqual([]);
      expect((await as(ann).task.get({ id: own })).cancellable).toBe(true);
      expect(await as(ann).task.cancel({ id: own })).toEqual({ id: own, status: "FAILURE" });
      expect((await as(ann).task.get({ id: own })).cancellable).toBe(false);
      const acts = () => q.select().from(audit_log).where(eq(audit_log.action, "task.cancel"));
      expect(await acts()).toEqual([]);
      await as(admin).task.cancel({ id: others });
      expect(stopped).toEqual([
        { task_id: "stop-own", user_id: idOf(ann) },
        { task_id: "stop-others", user_id: idOf(ann) },
      ]);
      expect(await acts()).toMatchObject([{ actor_id: idOf(admin), target_type: "task", target_id: "stop-others" }]);
      await q.delete(tasks).where(eq(tasks.platform, "replicate"));
    });

    test("neither the engine's state, nor the vendor's id, nor the input leaves the server", async () => {
      const said = [
        (await admin.rest("GET", "/api/task/")).text,
        (await ann.rest("GET", "/api/task/self")).text,
        (await admin.rest("GET", "/api/mj/")).text,
        JSON.stringify(await admin.call.task.get({ id: ids.song ?? 0 })),
        JSON.stringify(await ann.call.midjourney.get({ id: ids.draw ?? 0 })),
      ].join();
      for (const secret of ["sk-state", "up-song", "asked", "client_key", "deadline"])
        expect(said).not.toContain(secret);
    });
  });
}
