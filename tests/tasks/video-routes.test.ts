/**
 * The video routes: OpenAI's with its own SDK, `/v1/video/generations`, Kling's and Jimeng's; files, access and bad
 * input.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { exportPKCS8, generateKeyPair } from "jose";
import OpenAI, { toFile } from "openai";
import type { ControlPlane } from "../../src/server/contracts/control-plane";
import { HOOK_MS } from "../kit/harness";
import { type Caller, openTaskBench, type TaskBench } from "./kit";
import { FakeMaker, script } from "./video-fakes";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const MOVIE = Buffer.from("0123456789abcdef");

/** Files at public addresses: which exist, and which were requested. */
class Cdn {
  readonly files = new Map<string, Buffer>();
  readonly asked: string[] = [];

  controlPlane = (controlPlane: ControlPlane): ControlPlane =>
    Object.create(controlPlane, {
      openAddress: {
        value: async (address: string, { headers = {} }: { headers?: Record<string, string> }) => {
          this.asked.push(`${address} ${Object.keys(headers).sort().join(" ")}`);
          const file = this.files.get(address);
          return file ? ranged(file, headers.range) : new Response("gone", { status: 403 });
        },
      },
    });
}

function ranged(file: Buffer, range: string | undefined): Response {
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(range ?? "") ?? [];
  if (from === undefined)
    return new Response(new Uint8Array(file), {
      headers: { "content-type": "video/mp4", "content-length": String(file.length) },
    });
  const part = file.subarray(Number(from), Number(to) + 1);
  return new Response(new Uint8Array(part), {
    status: 206,
    headers: { "content-type": "video/mp4", "content-range": `bytes ${from}-${to}/${file.length}` },
  });
}

describe("the video routes", () => {
  const cdn = new Cdn();
  let bench: TaskBench;
  let ann: Caller;
  let bob: Caller;
  let openai: OpenAI;
  beforeAll(async () => {
    bench = await openTaskBench("sqlite", cdn.controlPlane);
    for (const name of ["Sora", "Kling", "Jimeng", "Veo", "Hailuo", "Vidu"]) {
      const { type, key, model } = script(name);
      await bench.channel(type, [model], { key });
    }
    await bench.setOption("ServerAddress", "https://weir.example");
  }, HOOK_MS);
  beforeEach(async () => {
    bench.vendor.asked.length = 0;
    cdn.asked.length = 0;
    ann = await bench.caller(5_000_000);
    bob = await bench.caller(5_000_000);
    openai = sdk(ann);
  });
  afterAll(async () => {
    await bench?.balanced();
    await bench?.close();
  });

  let calls = 0;
  const sdk = (who: Caller): OpenAI =>
    new OpenAI({
      apiKey: `sk-${who.key}`,
      baseURL: "http://weir.test/v1",
      maxRetries: 0,
      fetch: (address, init) =>
        bench.relay.handle(new Request(String(address), init), "198.51.100.9", `sdk-${process.pid}-${++calls}`),
    });
  const failing = (call: PromiseLike<unknown>): Promise<unknown> =>
    Promise.resolve(call).then(
      () => undefined,
      (error: unknown) => error,
    );
  const finish = async (maker: FakeMaker): Promise<void> => {
    maker.said = maker.its.done;
    await bench.round();
  };

  describe("OpenAI's, by its SDK", () => {
    let maker: FakeMaker;
    beforeEach(() => {
      maker = new FakeMaker(bench.vendor, script("Sora"));
    });

    test("a video is created with an uploaded picture, read, listed, downloaded by range, remixed and deleted", async () => {
      const reference = await toFile(PNG, "cat.png", { type: "image/png" });
      const { data: made, response } = await openai.videos
        .create({ model: "sora-2", prompt: "A calico cat", seconds: "8", size: "720x1280", input_reference: reference })
        .withResponse();
      // spec: C-006
      expect(made).toMatchObject({
        object: "video",
        model: "sora-2",
        status: "queued",
        progress: 0,
        seconds: "8",
        size: "720x1280",
        prompt: "A calico cat",
        error: null,
        remixed_from_video_id: null,
      });
      expect(made.id).toMatch(/^task_[0-9a-f]{32}$/);
      expect(JSON.parse(response.headers.get("x-new-api-other-ratios") ?? "")).toEqual({ seconds: 8 });
      // An image is forwarded as an image.
      expect(maker.submits[0]?.headers["content-type"]).toBeUndefined();
      expect(String(maker.submits[0]?.body)).toContain('name="input_reference"; filename="reference.png"');
      expect((await bench.task(made.id)).input).not.toContain("iVBOR");

      const early = await failing(openai.videos.downloadContent(made.id));
      expect(early).toMatchObject({ status: 400, code: "task_not_finished" });
      expect(await failing(openai.videos.delete(made.id))).toMatchObject({ status: 400, code: "task_not_finished" });
      await finish(maker);
      const done = await openai.videos.retrieve(made.id);
      // spec: C-006
      expect(done).toMatchObject({
        status: "completed",
        progress: 100,
        metadata: { url: `https://weir.example/v1/videos/${made.id}/content` },
      });
      expect(done.completed_at).toBeGreaterThanOrEqual(done.created_at);

      bench.vendor.on("GET /v1/videos/video_123/content", ({ query, headers }) => {
        if (query.get("variant") === "thumbnail")
          return new Response("webp", { headers: { "content-type": "image/webp" } });
        return ranged(MOVIE, headers.range);
      });
      const whole = await openai.videos.downloadContent(made.id);
      expect(whole.headers.get("content-type")).toBe("video/mp4");
      expect(await whole.text()).toBe("0123456789abcdef");
      const part = await openai.videos.downloadContent(made.id, {}, { headers: { range: "bytes=4-7" } });
      expect([part.status, part.headers.get("content-range"), await part.text()]).toEqual([
        206,
        "bytes 4-7/16",
        "4567",
      ]);
      const thumbnail = await openai.videos.downloadContent(made.id, { variant: "thumbnail" });
      expect([thumbnail.headers.get("content-type"), await thumbnail.text()]).toEqual(["image/webp", "webp"]);

      bench.vendor.on("POST /v1/videos/video_123/remix", {
        id: "video_456",
        object: "video",
        model: "sora-2",
        status: "queued",
        progress: 0,
        created_at: 1712697600,
        size: "720x1280",
        seconds: "8",
      });
      const remix = await openai.videos.remix(made.id, { prompt: "at night" });
      expect(remix).toMatchObject({
        status: "queued",
        remixed_from_video_id: made.id,
        prompt: "at night",
        seconds: "8",
      });
      expect(await bench.task(remix.id)).toMatchObject({
        upstream_id: "video_456",
        action: "remixGenerate",
        quota: 400_000,
      });
      expect(bench.vendor.asked.at(-1)?.body).toEqual({ prompt: "at night" });

      const ids: string[] = [];
      for await (const { id } of openai.videos.list({ limit: 1, order: "asc" })) ids.push(id);
      expect(ids).toEqual([made.id, remix.id]);
      expect((await openai.videos.list({ order: "desc" })).data.map(({ id }) => id)).toEqual([remix.id, made.id]);
      bench.vendor.on("DELETE /v1/videos/video_123", { id: "video_123", object: "video.deleted", deleted: true });
      expect(await openai.videos.delete(made.id)).toEqual({ id: made.id, object: "video.deleted", deleted: true });
      expect(bench.vendor.count("DELETE", "/v1/videos/video_123")).toBe(1);
      expect(await failing(openai.videos.retrieve(made.id))).toMatchObject({ status: 404, code: "task_not_found" });
    });

    test("another user finds nothing on any route", async () => {
      const made = await openai.videos.create({ prompt: "x", seconds: "4" });
      await finish(maker);
      const theirs = sdk(bob);
      for (const call of [
        () => theirs.videos.retrieve(made.id),
        () => theirs.videos.delete(made.id),
        () => theirs.videos.downloadContent(made.id),
        () => theirs.videos.remix(made.id, { prompt: "mine" }),
      ])
        expect(await failing(call())).toMatchObject({ status: 404, code: "task_not_found" });
      expect((await theirs.videos.list()).data).toEqual([]);
      for (const [method, path] of [
        ["GET", `/v1/video/generations/${made.id}`],
        ["GET", `/kling/v1/videos/text2video/${made.id}`],
      ] as const) {
        expect((await bob.ask(method, path)).status).toBe(404);
      }
      const jimeng = await bob.ask("POST", "/jimeng/?Action=CVSync2AsyncGetResult", { req_key: "x", task_id: made.id });
      expect(jimeng).toMatchObject({ status: 404, body: { data: { status: "not_found" } } });
      expect(await bench.money(bob)).toMatchObject({ quota: 5_000_000, used_quota: 0 });
    });

    test("only a finished video is remixed, and only with a prompt; only the channel that made it is called", async () => {
      const made = await openai.videos.create({ prompt: "x", seconds: "4" });
      expect(await failing(openai.videos.remix(made.id, { prompt: "y" }))).toMatchObject({
        status: 400,
        code: "task_not_finished",
      });
      await finish(maker);
      expect(await failing(openai.videos.remix(made.id, { prompt: " " }))).toMatchObject({
        status: 400,
        code: "invalid_request",
      });
      const other = await bench.channel(script("Sora").type, ["sora-2"], { key: "sk-other", priority: 100 });
      bench.vendor.on("POST /v1/videos/video_123/remix", { id: "video_9", status: "queued", seconds: "4" });
      await openai.videos.remix(made.id, { prompt: "y" });
      expect(bench.vendor.asked.at(-1)?.headers.authorization).toBe("Bearer sk-sora");
      await bench.root.call.channel.delete({ id: other });
    });

    test("the same Idempotency-Key makes one video and one charge", async () => {
      const create = () =>
        openai.videos.create({ prompt: "once", seconds: "4" }, { headers: { "idempotency-key": "k-1" } });
      const [first, second] = [await create(), await create()];
      expect(second.id).toBe(first.id);
      expect(maker.submits).toHaveLength(1);
      expect(await bench.money(ann)).toMatchObject({ used_quota: 200_000, request_count: 1 });
    });

    test.each([
      [{}, "prompt"],
      [{ prompt: "" }, "prompt"],
      [{ prompt: "x", seconds: "forever" }, "seconds"],
      [{ prompt: "x", size: "0x0" }, "size"],
      [{ prompt: "x", model: 7 }, "model"],
      [{ prompt: "x", model: ["sora-2"] }, "model"],
      [{ prompt: "x", n: 99 }, "n"],
    ])("%o is refused before anybody is asked", async (body, param) => {
      const answer = await ann.ask("POST", "/v1/videos", body);
      expect(answer).toMatchObject({ status: 400, body: { error: { code: "invalid_request" } } });
      expect(answer.body.error.message).toContain(param);
      expect(bench.vendor.asked).toEqual([]);
    });

    test("invalid JSON, an invalid form, no model and a model without a channel have different errors", async () => {
      expect(await ann.ask("POST", "/v1/videos", "{")).toMatchObject({
        status: 400,
        body: { error: { code: "bad_json" } },
      });
      expect(await ann.ask("POST", "/v1/videos", "x", { "content-type": "multipart/form-data" })).toMatchObject({
        status: 400,
      });
      expect(await ann.ask("POST", "/v1/video/generations", { prompt: "x" })).toMatchObject({
        status: 400,
        body: { error: { code: "model_missing" } },
      });
      expect((await ann.ask("POST", "/v1/videos", { model: "nobody-1", prompt: "x" })).status).toBeGreaterThanOrEqual(
        400,
      );
      const form = new FormData();
      form.set("prompt", "x");
      form.set("metadata", "{broken");
      expect(await ann.ask("POST", "/v1/videos", form)).toMatchObject({
        status: 400,
        body: { error: { code: "invalid_request" } },
      });
      expect(await ann.ask("GET", "/v1/videos?limit=1000")).toMatchObject({ status: 400 });
      expect(await ann.ask("GET", "/v1/videos/task_00000000000000000000000000000000")).toMatchObject({
        status: 404,
        body: { error: { code: "task_not_found" } },
      });
      expect(bench.vendor.asked).toEqual([]);
    });

    test("without balance for the whole job nothing is submitted", async () => {
      const poor = await bench.caller(399_999);
      expect(await failing(sdk(poor).videos.create({ prompt: "x", seconds: "8" }))).toMatchObject({
        status: 429,
        code: "insufficient_quota",
      });
      expect(maker.submits).toEqual([]);
      expect(await bench.money(poor)).toMatchObject({ quota: 399_999, held: 0 });
    });

    test("the operator can switch such jobs off", async () => {
      await bench.setOption("TaskEnabled", false);
      expect(await failing(openai.videos.create({ prompt: "x" }))).toMatchObject({
        status: 403,
        code: "tasks_disabled",
      });
      await bench.setOption("TaskEnabled", true);
    });
  });

  test("Kling's own clients get its format, also for errors", async () => {
    const maker = new FakeMaker(bench.vendor, script("Kling"));
    const body = {
      model_name: "kling-v2-5-turbo",
      prompt: "a cat",
      mode: "std",
      duration: "10",
      aspect_ratio: "16:9",
      cfg_scale: 0.5,
      callback_url: "https://evil.test",
    };
    const made = await ann.ask("POST", "/kling/v1/videos/text2video", body);
    // spec: C-008
    expect(made).toMatchObject({
      status: 200,
      body: { code: 0, message: "SUCCEED", data: { task_status: "submitted" } },
    });
    const { task_id } = made.body.data;
    expect(maker.submits[0]?.body).toEqual({
      cfg_scale: 0.5,
      model_name: "kling-v2-5-turbo",
      prompt: "a cat",
      mode: "std",
      duration: "10",
      aspect_ratio: "16:9",
    });
    // 10 s at 720p.
    // spec: C-008
    expect((await bench.task(task_id)).quota).toBe(210_000);
    maker.said = script("Kling").running;
    await bench.round();
    expect((await ann.ask("GET", `/kling/v1/videos/text2video/${task_id}`)).body.data).toMatchObject({
      task_id,
      task_status: "processing",
    });
    await finish(maker);
    // spec: C-008
    expect((await ann.ask("GET", `/kling/v1/videos/text2video/${task_id}`)).body).toMatchObject({
      code: 0,
      data: {
        task_status: "succeed",
        task_result: { videos: [{ id: `${task_id}-0`, url: "https://cdn.test/kling.mp4", duration: "5" }] },
      },
    });
    expect(await ann.ask("POST", "/kling/v1/videos/image2video", { prompt: "x", mode: "ultra" })).toMatchObject({
      status: 400,
      body: { code: 1201, error: "invalid_request", data: null },
    });
    expect(await ann.ask("GET", "/kling/v1/videos/text2video/none")).toMatchObject({
      status: 404,
      body: { code: 1203 },
    });
    expect(
      (
        await bench.relay.handle(
          new Request("http://weir.test/kling/v1/videos/text2video", { method: "POST", body: "{}" }),
          "198.51.100.9",
          "nokey",
        )
      ).status,
    ).toBe(401);
  });

  test("Jimeng's own clients get its format; an expired link is requested again", async () => {
    const maker = new FakeMaker(bench.vendor, script("Jimeng"));
    const submit = "/jimeng/?Action=CVSync2AsyncSubmitTask&Version=2022-08-31";
    const made = await ann.ask("POST", submit, {
      req_key: "jimeng_ti2v_v30_pro",
      prompt: "千军万马",
      seed: -1,
      frames: 241,
      aspect_ratio: "16:9",
    });
    expect(made).toMatchObject({ status: 200, body: { code: 10000, message: "Success", status: 10000 } });
    const { task_id } = made.body.data;
    expect(maker.submits[0]?.body).toEqual({
      req_key: "jimeng_ti2v_v30_pro",
      prompt: "千军万马",
      frames: 241,
      aspect_ratio: "16:9",
      seed: -1,
    });
    expect((await bench.task(task_id)).quota).toBe(700_000);
    const result = async () =>
      (
        await ann.ask("POST", "/jimeng?Action=CVSync2AsyncGetResult&Version=2022-08-31", {
          req_key: "jimeng_ti2v_v30_pro",
          task_id,
        })
      ).body;
    expect(await result()).toMatchObject({ code: 10000, data: { status: "in_queue" } });
    await finish(maker);
    expect(await result()).toMatchObject({
      code: 10000,
      data: { status: "done", video_url: "https://cdn.test/jimeng.mp4" },
    });

    cdn.files.set("https://cdn.test/jimeng.mp4", MOVIE);
    expect(await (await ann.send("GET", `/v1/videos/${task_id}/content`)).text()).toBe("0123456789abcdef");
    // The vendor's own key is not sent: the URL is public.
    expect(cdn.asked).toEqual(["https://cdn.test/jimeng.mp4 accept-encoding"]);
    cdn.files.delete("https://cdn.test/jimeng.mp4");
    cdn.files.set("https://cdn.test/again.mp4", Buffer.from("again"));
    maker.said = { code: 10000, data: { status: "done", video_url: "https://cdn.test/again.mp4" }, message: "Success" };
    bench.h.advance(3_700);
    expect(await (await ann.send("GET", `/v1/videos/${task_id}/content`)).text()).toBe("again");
    maker.said = { code: 10000, data: { status: "not_found" }, message: "Success" };
    expect(await ann.ask("GET", `/v1/videos/${task_id}/content`)).toMatchObject({
      status: 404,
      body: { error: { code: "task_file_missing" } },
    });

    expect(await ann.ask("POST", "/jimeng/?Action=Drop", {})).toMatchObject({
      status: 400,
      body: { code: 50400, error: "invalid_request" },
    });
    expect(await ann.ask("POST", submit, { prompt: "x" })).toMatchObject({ status: 400, body: { code: 50400 } });
    expect(await ann.ask("POST", "/jimeng/?Action=CVSync2AsyncGetResult", { task_id: 7 })).toMatchObject({
      status: 400,
    });
  });

  test("a failed job is done at Jimeng's route, with an error code", async () => {
    const maker = new FakeMaker(bench.vendor, script("Jimeng"));
    const made = await ann.ask("POST", "/jimeng/?Action=CVSync2AsyncSubmitTask", {
      req_key: "jimeng_ti2v_v30_pro",
      prompt: "x",
    });
    maker.said = script("Jimeng").failed;
    await bench.round();
    const { task_id } = made.body.data;
    const result = await ann.ask("POST", "/jimeng/?Action=CVSync2AsyncGetResult", {
      req_key: "jimeng_ti2v_v30_pro",
      task_id,
    });
    expect(result.body).toMatchObject({ code: 50511, message: "Post Img Risk Not Pass", data: { status: "done" } });
  });

  test("images are jobs as well: charged by their number, and listed as images", async () => {
    await bench.channel(51, ["jimeng_t2i_v40"], { key: "AKLT|secret" });
    await bench.setOption(
      "ModelPrice",
      JSON.stringify({ ...JSON.parse(bench.h.services.options.text("ModelPrice")), jimeng_t2i_v40: 0.03 }),
    );
    const maker = new FakeMaker(bench.vendor, script("Jimeng"));
    const made = await ann.ask("POST", "/jimeng/?Action=CVSync2AsyncSubmitTask", {
      req_key: "jimeng_t2i_v40",
      prompt: "a cat",
      width: 2048,
      height: 2048,
      scale: 0.5,
    });
    expect(maker.submits[0]?.body).toEqual({
      scale: 0.5,
      req_key: "jimeng_t2i_v40",
      prompt: "a cat",
      aspect_ratio: "1:1",
      width: 2048,
      height: 2048,
    });
    const { task_id } = made.body.data;
    expect((await bench.task(task_id)).quota).toBe(15_000);
    const image_urls = ["https://cdn.test/1.image?sign=a", "https://cdn.test/2.image?sign=b"];
    maker.said = { code: 10000, data: { status: "done", image_urls }, message: "Success" };
    await bench.round();
    const result = await ann.ask("POST", "/jimeng/?Action=CVSync2AsyncGetResult", {
      req_key: "jimeng_t2i_v40",
      task_id,
    });
    expect(result.body.data).toEqual({ status: "done", image_urls });
    expect((await bench.task(task_id)).quota).toBe(30_000);
    cdn.files.set("https://cdn.test/2.image?sign=b", PNG);
    const second = await ann.send("GET", `/v1/videos/${task_id}/content?index=1`);
    expect([second.status, second.headers.get("content-type")]).toEqual([200, "image/png"]);
    expect((await ann.send("GET", `/v1/videos/${task_id}/content?index=2`)).status).toBe(404);
    expect((await ann.send("GET", `/v1/videos/${task_id}/content?index=-1`)).status).toBe(400);
  });

  test("Azure is called at its own path, with its deployment and its own header", async () => {
    await bench.channel(3, ["video-model"], {
      key: "azure-key",
      model_mapping: JSON.stringify({ "video-model": "my-sora" }),
    });
    await bench.setOption(
      "ModelPrice",
      JSON.stringify({ ...JSON.parse(bench.h.services.options.text("ModelPrice")), "video-model": 1 }),
    );
    bench.vendor.on("POST /openai/v1/videos", { id: "video_az", status: "queued", seconds: "4", size: "720x1280" });
    bench.vendor.on("GET /openai/v1/videos/video_az", {
      id: "video_az",
      status: "completed",
      seconds: "4",
      size: "720x1280",
    });
    const { body } = await ann.ask("POST", "/v1/videos", { model: "video-model", prompt: "x", seconds: "4" });
    const [asked] = bench.vendor.asked;
    expect(asked).toMatchObject({
      headers: { "api-key": "azure-key" },
      body: { model: "my-sora", prompt: "x", seconds: "4" },
    });
    expect(asked?.query.get("api-version")).toBe("preview");
    // The operator's own model name without a tariff is priced per call.
    expect((await bench.task(body.id)).quota).toBe(500_000);
    await bench.round();
    expect((await ann.ask("GET", `/v1/videos/${body.id}`)).body).toMatchObject({
      status: "completed",
      model: "video-model",
    });
  });

  test("several videos of one job are charged by their number and each has a URL", async () => {
    const maker = new FakeMaker(bench.vendor, script("Veo"));
    const { body } = await ann.ask("POST", "/v1/videos", { model: script("Veo").model, prompt: "x", seconds: 4, n: 2 });
    expect((await bench.task(body.id)).quota).toBe(400_000);
    const uri = (file: string): object => ({
      video: { uri: `https://generativelanguage.googleapis.com/v1beta/files/${file}:download?alt=media` },
    });
    maker.said = {
      name: "models/m/operations/1",
      done: true,
      response: { generateVideoResponse: { generatedSamples: [uri("one"), uri("two")] } },
    };
    await bench.round();
    const at = `https://weir.example/v1/videos/${body.id}/content`;
    expect((await ann.ask("GET", `/v1/videos/${body.id}`)).body.metadata).toEqual({
      url: at,
      urls: [at, `${at}?index=1`],
    });
    bench.vendor.on("GET /v1beta/files/two:download", () => new Response("two"));
    expect(await (await ann.send("GET", `/v1/videos/${body.id}/content?index=1`)).text()).toBe("two");
  });

  test("a file that needs the channel's key is fetched at the channel, and its redirect without the key", async () => {
    const maker = new FakeMaker(bench.vendor, script("Veo"));
    const { body } = await ann.ask("POST", "/v1/videos", {
      model: script("Veo").model,
      prompt: "x",
      seconds: "4",
      size: "1280x720",
    });
    await finish(maker);
    bench.vendor.on("GET /v1beta/files/abc:download", ({ headers, query }) => {
      expect([headers["x-goog-api-key"], query.get("alt")]).toEqual(["AIza-key", "media"]);
      return new Response(null, { status: 302, headers: { location: "https://cdn.test/veo.mp4" } });
    });
    cdn.files.set("https://cdn.test/veo.mp4", MOVIE);
    expect(await (await ann.send("GET", `/v1/videos/${body.id}/content`)).text()).toBe("0123456789abcdef");
    expect(cdn.asked).toEqual(["https://cdn.test/veo.mp4 accept-encoding"]);
    expect(await ann.ask("GET", `/v1/videos/${body.id}/content?variant=thumbnail`)).toMatchObject({
      status: 404,
      body: { error: { code: "task_file_missing" } },
    });
    expect(await ann.ask("GET", `/v1/videos/${body.id}/content?variant=../x`)).toMatchObject({ status: 400 });
  });

  test("a file with an id is looked up when it is requested", async () => {
    const maker = new FakeMaker(bench.vendor, script("Hailuo"));
    const { body } = await ann.ask("POST", "/v1/videos", { model: "MiniMax-Hailuo-2.3", prompt: "x" });
    await finish(maker);
    let link = "https://cdn.test/hailuo-1.mp4";
    bench.vendor.on("GET /v1/files/retrieve", ({ query }) => ({
      file: { file_id: Number(query.get("file_id")), download_url: link },
      base_resp: { status_code: 0, status_msg: "success" },
    }));
    for (const name of ["hailuo-1", "hailuo-2"]) {
      link = `https://cdn.test/${name}.mp4`;
      cdn.files.set(link, Buffer.from(name));
      expect(await (await ann.send("GET", `/v1/videos/${body.id}/content`)).text()).toBe(name);
    }
  });

  test("a file inside the vendor's response is never stored, and can be read by range", async () => {
    const { privateKey } = await generateKeyPair("RS256", { extractable: true });
    const account = {
      project_id: "p-1",
      client_email: "a@b.test",
      private_key: await exportPKCS8(privateKey),
      token_uri: "https://oauth2.test/token",
    };
    await bench.channel(41, ["veo-3.1-generate-001"], { key: JSON.stringify(account), other: "us-central1" });
    const root = "/v1/projects/p-1/locations/us-central1/publishers/google/models/veo-3.1-generate-001";
    const name = `${root.slice(4)}/operations/9`;
    bench.vendor.on("POST /token", { access_token: "ya29.x", expires_in: 3600 });
    bench.vendor.on(`POST ${root}:predictLongRunning`, { name });
    bench.vendor.on(`POST ${root}:fetchPredictOperation`, {
      name,
      done: true,
      response: { videos: [{ bytesBase64Encoded: MOVIE.toString("base64"), mimeType: "video/mp4" }] },
    });
    const { body } = await ann.ask("POST", "/v1/videos", { model: "veo-3.1-generate-001", prompt: "x", seconds: "4" });
    await bench.round();
    const row = await bench.task(body.id);
    expect(row).toMatchObject({ status: "SUCCESS", upstream_id: name });
    expect(row.data + row.state).not.toContain(MOVIE.toString("base64"));
    const parts: [range: string, status: number, text: string, said: string | null][] = [
      ["bytes=4-7", 206, "4567", "bytes 4-7/16"],
      ["bytes=12-", 206, "cdef", "bytes 12-15/16"],
      ["bytes=-2", 206, "ef", "bytes 14-15/16"],
      ["bytes=14-99", 206, "ef", "bytes 14-15/16"],
      ["bytes=16-", 416, "", "bytes */16"],
      ["bytes=0-0,2-3", 200, "0123456789abcdef", null],
    ];
    for (const [range, status, text, said] of parts) {
      const answer = await ann.send("GET", `/v1/videos/${body.id}/content`, undefined, { range });
      expect([answer.status, await answer.text(), answer.headers.get("content-range")]).toEqual([status, text, said]);
    }
  });

  test("a file is never served as HTML, whatever the vendor returns", async () => {
    const maker = new FakeMaker(bench.vendor, script("Vidu"));
    const { body } = await ann.ask("POST", "/v1/videos", { model: "viduq3-pro", prompt: "x" });
    await finish(maker);
    cdn.files.set("https://cdn.test/vidu.mp4", Buffer.from("<script>alert(1)</script>"));
    const answer = await ann.send("GET", `/v1/videos/${body.id}/content`);
    expect(answer.headers.get("content-type")).toBe("video/mp4");
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    expect(answer.headers.get("content-security-policy")).toContain("sandbox");
  });

  test("a job whose channel is deleted meanwhile is refunded, once", async () => {
    const lost = await bench.channel(52, ["viduq3-turbo"], { key: "vda_lost" });
    new FakeMaker(bench.vendor, script("Vidu"));
    const { body } = await ann.ask("POST", "/v1/videos", { model: "viduq3-turbo", prompt: "x" });
    expect((await bench.task(body.id)).quota).toBe(137_500);
    await bench.root.call.channel.delete({ id: lost });
    await Promise.all([bench.round(), bench.round()]);
    await bench.round();
    expect(await ann.ask("GET", `/v1/videos/${body.id}`)).toMatchObject({ body: { status: "failed" } });
    expect(await bench.money(ann)).toMatchObject({ quota: 5_000_000, used_quota: 0 });
  });
});
