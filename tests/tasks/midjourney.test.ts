/** Midjourney jobs through the real relay and ledger, on both engines: submit, poll, charge, refund. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { ENGINES } from "../kit/databases";
import { HOOK_MS } from "../kit/harness";
import { BUTTONS } from "../kit/fake-midjourney";
import { charged, type Caller, type MjBench, openMjBench, untouched } from "./midjourney-kit";

/** 0.1 USD. */
const IMAGINE = 50_000;
const ID = /^[1-9]\d{18}$/;

for (const engine of ENGINES) {
  describe(engine, () => {
    let b: MjBench;
    let ann: Caller;
    let first = 0;
    beforeAll(async () => {
      b = await openMjBench(engine);
      first = await b.newChannel();
    }, HOOK_MS);
    afterAll(() => b.close());
    beforeEach(async () => {
      ann = await b.newCaller();
      b.fake.next = [];
      b.fake.broken = 0;
      b.fake.requests.length = 0;
    });
    const upstream = async (id: string): Promise<string> => (await b.row(id)).upstream_id;

    describe("an image", () => {
      test("is submitted with the channel's secret, shown in the format of midjourney-proxy, and charged once", async () => {
        const answer = await ann.call("POST", "/mj/submit/imagine", {
          prompt: "Cat",
          state: "mine",
          botType: "MID_JOURNEY",
          base64Array: ["data:image/png;base64,xx"],
        });
        expect(answer.status).toBe(200);
        // spec: C-003
        expect(answer.body).toEqual({
          code: 1,
          description: "提交成功",
          properties: {},
          result: expect.stringMatching(ID),
        });
        const id: string = answer.body.result;
        expect(b.fake.submits()).toEqual([
          {
            method: "POST",
            path: "/mj/submit/imagine",
            key: "mj-secret",
            body: { prompt: "Cat", state: "mine", botType: "MID_JOURNEY", base64Array: ["data:image/png;base64,xx"] },
          },
        ]);
        expect(await ann.fetch(id)).toEqual({
          id,
          action: "IMAGINE",
          customId: "",
          botType: "MID_JOURNEY",
          prompt: "Cat",
          promptEn: "",
          description: "",
          state: "mine",
          submitTime: expect.any(Number),
          startTime: 0,
          finishTime: 0,
          imageUrl: "",
          status: "SUBMITTED",
          progress: "0%",
          failReason: "",
          buttons: [],
          maskBase64: "",
          properties: { finalPrompt: "", finalZhPrompt: "" },
        });
        expect(await b.money(ann)).toEqual(charged(IMAGINE));

        const { url } = b.fake;
        const { submit_time_ms, next_poll_at_ms } = await b.row(id);
        // spec: C-649
        expect(next_poll_at_ms - submit_time_ms).toBeWithin(15_000, 16_000);
        b.fake.move(await upstream(id), {
          status: "IN_PROGRESS",
          progress: "37%",
          startTime: submit_time_ms + 1,
          imageUrl: `${url}/picture/half.png`,
        });
        await b.poll();
        const half = await ann.fetch(id);
        // spec: C-003
        expect(half).toMatchObject({
          status: "IN_PROGRESS",
          progress: "37%",
          startTime: submit_time_ms + 1,
          promptEn: "Cat",
          description: "/imagine Cat",
        });
        expect(half.imageUrl).toMatch(new RegExp(`^http://weir\\.test/mj/image/${id}\\?rand=\\d+$`));
        expect((await b.open("GET", `/mj/image/${id}`)).status).toBe(200);

        b.fake.finish(await upstream(id), { finishTime: submit_time_ms + 2 });
        await b.poll(2);
        expect(await ann.fetch(id)).toMatchObject({
          status: "SUCCESS",
          progress: "100%",
          finishTime: submit_time_ms + 2,
          imageUrl: `http://weir.test/mj/image/${id}`,
          buttons: BUTTONS,
          properties: { finalPrompt: "Cat", finalZhPrompt: "" },
        });
        expect(await b.money(ann)).toEqual(charged(IMAGINE));
        // spec: C-003
        expect(await b.logs(ann)).toEqual([[2, IMAGINE, "mj_imagine"]]);
        const row = await b.row(id);
        expect(row).toMatchObject({
          platform: "mj",
          action: "IMAGINE",
          channel_id: first,
          quota: IMAGINE,
          refunded: 0,
          next_poll_at_ms: 0,
        });
        // The caller's images are not stored.
        expect(row.input).not.toContain("base64");
        await b.balanced();
      });

      test("that fails is refunded to user, token and totals once, however often and by however many instances it is polled", async () => {
        const id = await ann.imagine();
        b.fake.move(await upstream(id), {
          status: "FAILURE",
          failReason: "[Invalid parameter] Invalid value",
          progress: "0%",
        });
        b.h.advance(61);
        await Promise.all([b.poll(), b.poll(), b.poll()]);
        await b.poll(2);
        expect(await ann.fetch(id)).toMatchObject({
          status: "FAILURE",
          progress: "100%",
          failReason: "[Invalid parameter] Invalid value",
        });
        expect(await b.money(ann)).toEqual(untouched);
        // spec: C-360
        expect(await b.logs(ann)).toEqual([
          [2, IMAGINE, "mj_imagine"],
          [6, IMAGINE, "mj_imagine"],
        ]);
        await b.balanced();
      });

      test("a success without an image is a failure, text jobs need none", async () => {
        const picture = await ann.imagine();
        b.fake.finish(await upstream(picture), { imageUrl: null });
        const words: string = (await ann.call("POST", "/mj/submit/shorten", { prompt: "appdash appdash" })).body.result;
        b.fake.finish(await upstream(words), { imageUrl: null, properties: { finalPrompt: "1️⃣ appdash" } });
        await b.poll();
        expect(await ann.fetch(picture)).toMatchObject({ status: "FAILURE" });
        expect(await ann.fetch(words)).toMatchObject({
          status: "SUCCESS",
          action: "SHORTEN",
          imageUrl: "",
          properties: { finalPrompt: "1️⃣ appdash" },
        });
        expect(await b.money(ann)).toEqual(charged(IMAGINE));
      });

      test("progress that goes backwards, unknown states and an unreachable vendor change nothing", async () => {
        const id = await ann.imagine();
        const theirs = await upstream(id);
        b.fake.move(theirs, { status: "IN_PROGRESS", progress: "60%" });
        await b.poll();
        b.fake.move(theirs, { status: "SUBMITTED", progress: "10%" });
        await b.poll();
        b.fake.move(theirs, { status: "DANCING" as never });
        await b.poll();
        b.fake.broken = 502;
        await b.poll();
        expect(await ann.fetch(id)).toMatchObject({ status: "IN_PROGRESS", progress: "60%" });
        expect(await b.money(ann)).toEqual(charged(IMAGINE));
      });

      test("that its owner cancels is refunded, where its server supports that", async () => {
        const id = await ann.imagine();
        const stop = (caller: Caller) => caller.call("POST", `/mj/task/${id}/cancel`);
        expect((await stop(b.bob)).status).toBe(404);
        b.fake.plain = true;
        expect(await stop(ann)).toMatchObject({ status: 400, body: { type: "upstream_error", code: 4 } });
        b.fake.plain = false;
        expect(await ann.fetch(id)).toMatchObject({ status: "SUBMITTED" });
        expect((await stop(ann)).body).toEqual({ code: 1, description: "ok", result: id });
        expect(await ann.fetch(id)).toMatchObject({ status: "FAILURE", failReason: "cancelled" });
        expect((await stop(ann)).status).toBe(400);
        await b.poll();
        expect(await b.money(ann)).toEqual(untouched);

        const late = await ann.imagine();
        b.fake.finish(await upstream(late));
        expect((await ann.call("POST", `/mj/task/${late}/cancel`)).body).toMatchObject({
          code: 4,
          description: "任务已完成，不能取消",
        });
        await b.poll();
        expect(await ann.fetch(late)).toMatchObject({ status: "SUCCESS" });
        expect(await b.money(ann)).toEqual(charged(IMAGINE));
        await b.balanced();
      });

      test("that its vendor has forgotten fails after an hour, and is refunded", async () => {
        const id = await ann.imagine();
        b.fake.forget(await upstream(id));
        await b.poll(2);
        expect(await ann.fetch(id)).toMatchObject({ status: "SUBMITTED" });
        b.h.advance(3600);
        await b.poll();
        expect(await ann.fetch(id)).toMatchObject({ status: "FAILURE" });
        expect(await b.money(ann)).toEqual(untouched);
        await b.balanced();
      });
    });

    describe("codes of submits", () => {
      const refused = {
        code: 24,
        description: "可能包含敏感词",
        properties: { promptEn: "nude body", bannedWord: "nude" },
      };

      test("a refusal is passed on unchanged, with 200, and costs nothing; its row says why", async () => {
        b.fake.next = [{ body: refused }];
        const answer = await ann.call("POST", "/mj/submit/imagine", { prompt: "x" });
        expect(answer).toMatchObject({ status: 200, body: refused });
        expect(await b.money(ann)).toEqual(untouched);
        expect(await b.rowsOf(ann)).toMatchObject([
          { status: "FAILURE", fail_reason: "可能包含敏感词", quota: 0, refunded: 0, upstream_id: "" },
        ]);
        expect(b.fake.submits()).toHaveLength(1);
        await b.balanced();
      });

      test("queued counts as accepted", async () => {
        const id = await ann.imagine();
        b.fake.next = [
          {
            body: {
              code: 22,
              description: "排队中，前面还有1个任务",
              result: await upstream(id),
              properties: { numberOfQueues: 1 },
            },
          },
        ];
        const answer = await ann.call("POST", "/mj/submit/imagine", { prompt: "x" });
        // spec: C-371
        expect(answer.body).toEqual({
          code: 1,
          description: "排队中，前面还有1个任务",
          properties: { numberOfQueues: 1 },
          result: expect.stringMatching(ID),
        });
        // spec: C-371
        expect(JSON.parse((await b.row(answer.body.result)).data)).toMatchObject({
          code: 22,
          description: "排队中，前面还有1个任务",
        });
      });

      test("an image that exists already is finished at once, with Weir's own URL", async () => {
        const imageUrl = `${b.fake.url}/picture/known.png`;
        b.fake.next = [
          {
            body: {
              code: 21,
              description: "任务已存在",
              result: "0741798445574458",
              properties: { status: "SUCCESS", imageUrl },
            },
          },
        ];
        const { body } = await ann.call("POST", "/mj/submit/imagine", { prompt: "x" });
        expect(body).toMatchObject({
          code: 1,
          properties: { status: "SUCCESS", imageUrl: `http://weir.test/mj/image/${body.result}` },
        });
        expect(await ann.fetch(body.result)).toMatchObject({
          status: "SUCCESS",
          progress: "100%",
          imageUrl: `http://weir.test/mj/image/${body.result}`,
        });
        expect(await b.money(ann)).toEqual(charged(IMAGINE));
      });

      test("a full queue and a server without accounts send the job to the next channel; the latter is disabled", async () => {
        const better = await b.newChannel({ name: "better", priority: 10 });
        await b.set("RetryTimes", 1);
        b.fake.next = [{ body: { code: 23, description: "队列已满，请稍后尝试" } }];
        expect((await b.row(await ann.imagine())).channel_id).toBe(first);
        b.h.advance(60);
        await b.set("AutomaticDisableChannelEnabled", true);
        b.fake.next = [{ body: { code: 3, description: "无可用的账号实例" } }];
        expect((await b.row(await ann.imagine())).channel_id).toBe(first);
        const deadline = Date.now() + 10_000;
        const enabled = (): boolean => b.h.services.pool.byId(better)?.enabled === true;
        for (; enabled() && Date.now() < deadline; await Bun.sleep(10)) await b.h.services.pool.reload();
        expect(enabled()).toBe(false);
        await b.set("AutomaticDisableChannelEnabled", false);
        await b.set("RetryTimes", 0);
        expect(await b.money(ann)).toEqual(charged(2 * IMAGINE));
      });

      test("an invalid response of the vendor is an error in its format, and costs nothing", async () => {
        for (const odd of [
          { text: "<html>502</html>", status: 502 },
          { text: "<html>ok</html>" },
          { body: {} },
          { body: [] },
          { body: { code: 1 } },
          { body: { code: "1", result: "1" } },
        ]) {
          b.fake.next = [odd, odd, odd, odd];
          const answer = await ann.call("POST", "/mj/submit/imagine", { prompt: "x" });
          if (answer.status !== 200)
            expect(answer.body).toEqual({ description: expect.any(String), type: "upstream_error", code: 4 });
          expect(answer.body.code).not.toBe(1);
        }
        b.fake.next = [{ status: 400, body: { description: "bad prompt", type: "upstream_error", code: 4 } }];
        expect(await ann.call("POST", "/mj/submit/imagine", { prompt: "x" })).toMatchObject({
          status: 400,
          body: { description: expect.stringContaining("bad prompt"), code: 4 },
        });
        b.fake.next = [];
        expect(await b.money(ann)).toEqual(untouched);
        await b.balanced();
      });
    });

    describe("every action", () => {
      const calls: [path: string, body: object, action: string, units: number][] = [
        ["/submit/imagine", { prompt: "Cat" }, "IMAGINE", 50_000],
        ["/submit/describe", { base64: "data:image/png;base64,xx" }, "DESCRIBE", 25_000],
        ["/submit/blend", { base64Array: ["a", "b"] }, "BLEND", 50_000],
        ["/submit/shorten", { prompt: "appdash" }, "SHORTEN", 50_000],
        ["/submit/edits", { prompt: "a hat", image: "https://example.com/a.png", maskBase64: "xx" }, "EDITS", 50_000],
        ["/submit/video", { image: "https://example.com/a.png", motion: "low" }, "VIDEO", 400_000],
        ["/insight-face/swap", { sourceBase64: "a", targetBase64: "b" }, "SWAP_FACE", 25_000],
        ["/submit/change", { taskId: "", action: "UPSCALE", index: 2 }, "UPSCALE", 25_000],
        ["/submit/change", { taskId: "", action: "VARIATION", index: 4 }, "VARIATION", 50_000],
        ["/submit/change", { taskId: "", action: "REROLL" }, "REROLL", 50_000],
        ["/submit/simple-change", { content: " U2" }, "UPSCALE", 25_000],
        ["/submit/action", { taskId: "", customId: "MJ::JOB::pan_left::1::x::SOLO" }, "PAN", 50_000],
        ["/submit/action", { taskId: "", customId: "MJ::JOB::high_variation::1::x::SOLO" }, "HIGH_VARIATION", 50_000],
        ["/submit/action", { taskId: "", customId: "MJ::JOB::low_variation::1::x::SOLO" }, "LOW_VARIATION", 50_000],
        ["/submit/action", { taskId: "", customId: "MJ::Outpaint::50::1::x::SOLO" }, "ZOOM", 50_000],
        ["/submit/action", { taskId: "", customId: "MJ::CustomZoom::x" }, "CUSTOM_ZOOM", 0],
        ["/submit/action", { taskId: "", customId: "MJ::Inpaint::1::x::SOLO" }, "INPAINT", 0],
      ];

      test("is submitted to its path with the vendor's own id, and costs its model's price", async () => {
        const id = await ann.imagine();
        const theirs = await upstream(id);
        b.fake.finish(theirs);
        await b.poll();
        let units = IMAGINE;
        for (const [path, body, action, price] of calls) {
          const ours = JSON.parse(
            JSON.stringify(body).replace('"taskId":""', `"taskId":"${id}"`).replace('"content":"', `"content":"${id}`),
          );
          const expected = JSON.parse(
            JSON.stringify(body)
              .replace('"taskId":""', `"taskId":"${theirs}"`)
              .replace('"content":"', `"content":"${theirs}`),
          );
          const answer = await ann.call("POST", `/mj${path}`, ours);
          const window = action === "INPAINT" || action === "CUSTOM_ZOOM";
          expect([action, answer.status, answer.body.code]).toEqual([action, 200, window ? 21 : 1]);
          expect(b.fake.submits().at(-1)).toMatchObject({ path: `/mj${path}`, body: expected });
          units += price;
          // spec: C-377..C-384, C-386..C-390, C-392
          expect([action, await b.money(ann)]).toEqual([action, charged(units)]);
          if (JSON.stringify(body).includes("Id") || path.endsWith("simple-change"))
            expect((await b.row(answer.body.result)).prompt).toBe("Cat");
          expect(await b.row(answer.body.result)).toMatchObject({
            action,
            quota: price,
            status: window ? "MODAL" : "SUBMITTED",
          });
        }
        await b.balanced();
      });

      test("an upload is finished with its response, and its addresses are the vendor's", async () => {
        const { body } = await ann.call("POST", "/mj/submit/upload-discord-images", {
          base64Array: ["data:image/png;base64,xx"],
        });
        expect(body).toEqual({
          code: 1,
          description: "Submit success",
          properties: {},
          result: [`${b.fake.url}/picture/upload.png`],
        });
        // spec: C-385
        expect(await b.money(ann)).toEqual(charged(25_000));
        expect(await b.rowsOf(ann)).toMatchObject([
          { action: "UPLOAD", status: "SUCCESS", progress: "100%", next_poll_at_ms: 0 },
        ]);
      });

      test("a modal is free, waits, and is charged when it is submitted; one report ends both rows", async () => {
        const id = await ann.imagine();
        b.fake.finish(await upstream(id));
        await b.poll();
        const opened = await ann.call("POST", "/mj/submit/action", { taskId: id, customId: "MJ::Inpaint::1::x::SOLO" });
        expect(opened.body).toMatchObject({
          code: 21,
          description: "Waiting for window confirm",
          properties: { finalPrompt: "Cat", remix: true },
        });
        const window: string = opened.body.result;
        await b.poll();
        // spec: C-388
        expect(await ann.fetch(window)).toMatchObject({ action: "INPAINT", status: "MODAL" });
        expect(await b.money(ann)).toEqual(charged(IMAGINE));
        const filled = await ann.call("POST", "/mj/submit/modal", {
          taskId: window,
          prompt: "a hat",
          maskBase64: "xx",
        });
        // spec: C-391
        expect(filled.body).toMatchObject({ code: 1 });
        expect(b.fake.submits().at(-1)?.body).toEqual({
          taskId: await upstream(window),
          prompt: "a hat",
          maskBase64: "xx",
        });
        // spec: C-391
        expect(await b.money(ann)).toEqual(charged(2 * IMAGINE));
        b.fake.finish(await upstream(window));
        await b.poll();
        expect(await ann.fetch(filled.body.result)).toMatchObject({
          action: "MODAL",
          status: "SUCCESS",
          prompt: "a hat",
        });
        expect(await ann.fetch(window)).toMatchObject({ action: "INPAINT", status: "SUCCESS" });
        // The response to each stays its own.
        expect([
          JSON.parse((await b.row(window)).data).code,
          JSON.parse((await b.row(filled.body.result)).data).code,
        ]).toEqual([21, 1]);
        await b.balanced();
      });

      test("a prompt with a word that is not allowed, a model that the token may not use and an empty balance are refused before any upstream is called", async () => {
        await b.set("SensitiveWords", "test_sensitive");
        await b.set("CheckSensitiveEnabled", true);
        expect(await ann.call("POST", "/mj/submit/imagine", { prompt: "a test_sensitive cat" })).toMatchObject({
          status: 400,
          body: { type: "upstream_error", code: 4 },
        });
        const limited = await b.newCaller({ model_limits_enabled: true, model_limits: "mj_describe,mj_uploads" });
        expect(await limited.call("POST", "/mj/submit/imagine", { prompt: "x" })).toMatchObject({ status: 403 });
        const poor = await b.newCaller({}, IMAGINE - 1);
        expect(await poor.call("POST", "/mj/submit/imagine", { prompt: "x" })).toMatchObject({
          status: 429,
          body: { code: 4 },
        });
        expect(b.fake.submits()).toEqual([]);
        // Another name of the same model.
        expect((await limited.call("POST", "/mj/submit/upload-discord-images", { base64Array: ["x"] })).body.code).toBe(
          1,
        );
      });

      test("with the same Idempotency-Key it is submitted and charged once", async () => {
        const again = { "idempotency-key": "one" };
        const [one, two] = [
          await ann.call("POST", "/mj/submit/imagine", { prompt: "x" }, again),
          await ann.call("POST", "/mj/submit/imagine", { prompt: "x" }, again),
        ];
        expect(two.body).toEqual(one.body);
        expect(b.fake.submits()).toHaveLength(1);
        expect(await b.money(ann)).toEqual(charged(IMAGINE));
        expect((await ann.call("POST", "/mj/submit/imagine", { prompt: "y" }, again)).status).toBe(422);
      });
    });

    test("a channel whose list has the other name of the upload serves it", async () => {
      const other = await b.newChannel({ name: "uploads", models: "mj_uploads", group: "uploads" });
      expect(b.h.services.pool.candidates("uploads", "mj_upload").map(({ id }) => id)).toEqual([other]);
    });

    test("a job costs its price at the time", async () => {
      const { ModelPrice } = Object.fromEntries(
        (await b.root.rest("GET", "/api/option/")).body.data.map(({ key, value }: { key: string; value: string }) => [
          key,
          value,
        ]),
      );
      await b.set("ModelPrice", JSON.stringify({ ...JSON.parse(String(ModelPrice)), mj_imagine: 0.2 }));
      await ann.imagine();
      expect(await b.money(ann)).toEqual(charged(2 * IMAGINE));
      await b.set("ModelPrice", ModelPrice);
    });
  });
}
