/**
 * Videos through every vendor: submitted, polled, charged, refunded, corrected, cancelled; on both engines, with time
 * that tests advance.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { ENGINES } from "../kit/databases";
import { HOOK_MS } from "../kit/harness";
import { type Caller, dearBetween, openTaskBench, type TaskBench } from "./kit";
import { FakeMaker, scripts } from "./video-fakes";

const corrected = scripts.find(({ other }) => other);
const fixed = scripts.find(({ other }) => !other);

describe.each(ENGINES)("videos on %s", (engine) => {
  let bench: TaskBench;
  let ann: Caller;
  beforeAll(async () => {
    bench = await openTaskBench(engine);
    for (const { type, key, model } of scripts) await bench.channel(type, [model], { key });
    await bench.setOption(
      "ModelPrice",
      JSON.stringify({ ...JSON.parse(bench.h.services.options.text("ModelPrice")), "google/veo-3.1-fast": 0.25 }),
    );
  }, HOOK_MS);
  beforeEach(async () => {
    bench.vendor.asked.length = 0;
    ann = await bench.caller();
  });
  afterAll(async () => {
    await bench?.balanced();
    await bench?.close();
  });

  describe.each(scripts)("$name", (script) => {
    let maker: FakeMaker;
    beforeEach(() => {
      maker = new FakeMaker(bench.vendor, script);
    });
    const submit = async (who = ann): Promise<string> => {
      const { status, body } = await who.ask("POST", "/v1/video/generations", {
        model: script.model,
        prompt: "a cat at the piano",
        ...script.ask,
      });
      expect({ status, body }).toMatchObject({
        status: 200,
        body: { status: "queued", model: script.model, object: "video" },
      });
      return body.id;
    };
    const taskOf = async (id: string) => (await ann.ask("GET", `/v1/video/generations/${id}`)).body.data;

    test("a video is charged when it is accepted, polled until it is finished, and not polled again", async () => {
      const id = await submit();
      expect(maker.submits).toHaveLength(1);
      const { authorization, "x-goog-api-key": google } = maker.submits[0]?.headers ?? {};
      expect(authorization ?? google).toMatch(script.authorization);
      expect(await bench.money(ann)).toMatchObject({
        quota: 1_000_000 - script.units,
        used_quota: script.units,
        token_used: script.units,
        request_count: 1,
        held: 0,
      });
      expect(await taskOf(id)).toMatchObject({
        task_id: id,
        status: "SUBMITTED",
        action: "textGenerate",
        progress: "0%",
      });
      await bench.round();
      expect((await taskOf(id)).status).toMatch(/^(QUEUED|IN_PROGRESS)$/);
      maker.said = script.running;
      await bench.round();
      expect(await taskOf(id)).toMatchObject({ status: "IN_PROGRESS", finish_time: 0 });
      maker.said = script.done;
      await bench.round();
      const url = script.url ?? `/v1/videos/${id}/content`;
      // spec: C-006
      expect(await taskOf(id)).toMatchObject({ status: "SUCCESS", progress: "100%", data: { url }, fail_reason: url });
      expect((await ann.ask("GET", `/v1/videos/${id}`)).body).toMatchObject({
        id,
        status: "completed",
        progress: 100,
        error: null,
        metadata: { url },
      });
      // spec: C-006
      expect(await bench.bills(id)).toMatchObject([{ type: 2, quota: script.units }]);
      const asked = bench.vendor.asked.length;
      await bench.round(3_600);
      expect(bench.vendor.asked).toHaveLength(asked);
    });

    test("a failed one is refunded in full, with the vendor's reason", async () => {
      const id = await submit();
      maker.said = script.failed;
      await bench.round();
      expect(await taskOf(id)).toMatchObject({ status: "FAILURE", fail_reason: script.reason, progress: "100%" });
      expect((await ann.ask("GET", `/v1/videos/${id}`)).body).toMatchObject({
        status: "failed",
        error: { message: script.reason },
      });
      expect(await bench.money(ann)).toMatchObject({ quota: 1_000_000, used_quota: 0, token_used: 0, held: 0 });
      expect(await bench.bills(id)).toMatchObject([
        { type: 2, quota: script.units },
        { type: 6, quota: script.units },
      ]);
    });

    test("a finished job without a file has failed", async () => {
      const id = await submit();
      const files = new Set(script.name === "Sora" ? ["id"] : ["url", "video_url", "file_id", "uri"]);
      maker.said = JSON.parse(JSON.stringify(script.done), (name, value: unknown) =>
        files.has(name) || (name === "output" && typeof value === "string") ? "" : value,
      );
      await bench.round();
      expect(await taskOf(id)).toMatchObject({ status: "FAILURE" });
      expect(await bench.money(ann)).toMatchObject({ quota: 1_000_000, used_quota: 0 });
    });

    if (script.other) {
      const { done, units } = script.other;
      test("the result decides the charge, up or down", async () => {
        const id = await submit();
        maker.said = done;
        await bench.round();
        expect(await taskOf(id)).toMatchObject({ status: "SUCCESS" });
        expect(await bench.money(ann)).toMatchObject({
          quota: 1_000_000 - units,
          used_quota: units,
          token_used: units,
        });
        expect((await bench.task(id)).quota).toBe(units);
      });
    }

    // One whose charge its result corrects, and one that is charged as it was submitted.
    if (script === corrected || script === fixed) {
      test.each([
        ["in a window and ended after it", 0, 10, 3],
        ["before a window and ended in it", 10, 40, 1],
      ] as const)("one that was submitted %s is charged the price of its submit", async (_, from, to, factor) => {
        await bench.setOption("PriceRules", JSON.stringify({ [script.model]: [dearBetween(bench, from, to)] }));
        ann = await bench.caller(10_000_000);
        const id = await submit();
        maker.said = script.other?.done ?? script.done;
        await bench.round(20 * 60);
        expect(await taskOf(id)).toMatchObject({ status: "SUCCESS" });
        const units = (script.other?.units ?? script.units) * factor;
        expect(await bench.money(ann)).toMatchObject({ used_quota: units, token_used: units });
        await bench.setOption("PriceRules", "{}");
      });
    }

    if (script.cancel) {
      test("it can be cancelled, and is refunded", async () => {
        const id = await submit();
        await bench.round();
        const { platform } = await bench.task(id);
        const stopped = await bench.relay.tasks.cancel({
          platform: platform as "wan",
          task_id: id,
          user_id: ann.user_id,
        });
        expect(stopped).toMatchObject({ status: "FAILURE" });
        expect(await bench.money(ann)).toMatchObject({ quota: 1_000_000, used_quota: 0 });
      });
    } else {
      test("it cannot be cancelled, and says so", async () => {
        const id = await submit();
        const { platform } = await bench.task(id);
        const stopping = bench.relay.tasks.cancel({ platform: platform as "kling", task_id: id, user_id: ann.user_id });
        await expect(stopping).rejects.toMatchObject({ code: "task_not_cancellable" });
        maker.said = script.done;
        await bench.round();
      });
    }

    test("a submit that the vendor refuses costs nothing", async () => {
      bench.vendor.on(script.submit, () =>
        Response.json({ error: { message: "busy", type: "server_error" } }, { status: 503 }),
      );
      const { status } = await ann.ask("POST", "/v1/video/generations", {
        model: script.model,
        prompt: "a cat",
        ...script.ask,
      });
      expect(status).toBe(503);
      expect(await bench.money(ann)).toMatchObject({ quota: 1_000_000, used_quota: 0, held: 0 });
    });
  });
});
