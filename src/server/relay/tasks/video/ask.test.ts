import { describe, expect, test } from "bun:test";
import { RequestFault } from "../../../protocol/dialects/shared/fault";
import { describeVideoRequest, readVideoRequest } from "./ask";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const read = (body: Record<string, unknown>) => readVideoRequest("m", body);
const faultOf = (body: Record<string, unknown>): string | undefined => {
  try {
    read(body);
    return undefined;
  } catch (error) {
    if (error instanceof RequestFault) return error.param;
    throw error;
  }
};

describe("a video request", () => {
  test("OpenAI's format: seconds as a string, and a size that gives resolution and aspect ratio", () => {
    expect(
      read({ model: "sora-2", prompt: "A calico cat playing a piano on stage", seconds: "8", size: "1280x720" }),
    ).toEqual({
      model: "m",
      prompt: "A calico cat playing a piano on stage",
      images: [],
      seconds: 8,
      size: "1280x720",
      resolution: "720p",
      ratio: "16:9",
      n: 1,
      extra: {},
    });
    expect(read({ prompt: "x", size: "1024x1792" })).toMatchObject({ resolution: "1024p", ratio: "9:16" });
    expect(read({ prompt: "x", input_reference: { image_url: "https://pictures.test/a.png" } })).toMatchObject({
      images: ["https://pictures.test/a.png"],
    });
  });

  test("/v1/video/generations: one image or several, width and height, and the vendor's own members in metadata", () => {
    const ask = read({
      model: "kling-v1",
      prompt: "x",
      image: "https://pictures.test/a.png",
      duration: 5,
      width: 1920,
      height: 1080,
      fps: 30,
      response_format: "url",
      metadata: { negative_prompt: "blur", image_tail: "https://pictures.test/b.png", seed: 20231234, cfg_scale: 0.7 },
    });
    expect(ask).toEqual({
      model: "m",
      prompt: "x",
      negative_prompt: "blur",
      images: ["https://pictures.test/a.png"],
      last_frame: "https://pictures.test/b.png",
      seconds: 5,
      size: "1920x1080",
      resolution: "1080p",
      ratio: "16:9",
      n: 1,
      seed: 20231234,
      extra: { cfg_scale: 0.7 },
    });
  });

  test("Kling's format: the mode is a resolution, sound is on or off, images are plain base64", () => {
    expect(
      read({
        model_name: "kling-v2-6",
        prompt: "x",
        mode: "pro",
        duration: "10",
        aspect_ratio: "1:1",
        sound: "on",
        image: PNG,
        camera_control: { type: "simple" },
      }),
    ).toEqual({
      model: "m",
      prompt: "x",
      images: [`data:image/png;base64,${PNG}`],
      seconds: 10,
      resolution: "1080p",
      ratio: "1:1",
      n: 1,
      audio: true,
      extra: { camera_control: { type: "simple" } },
    });
  });

  test("Jimeng's format: frames are converted to seconds", () => {
    expect(
      read({
        req_key: "jimeng_ti2v_v30_pro",
        prompt: "千军万马",
        image_urls: ["https://xxx"],
        seed: -1,
        frames: 121,
        aspect_ratio: "16:9",
      }),
    ).toMatchObject({
      images: ["https://xxx"],
      seconds: 5,
      seed: -1,
      ratio: "16:9",
      extra: {},
    });
    expect(read({ prompt: "x", frames: 241 })).toMatchObject({ seconds: 10 });
  });

  test("a member that decides the price reaches a vendor only through the member that is priced", () => {
    const { extra, seconds, resolution, n, audio } = read({
      prompt: "x",
      seconds: 4,
      resolution: "480p",
      metadata: {
        duration: 60,
        durationSeconds: 60,
        resolution: "4k",
        mode: "pro",
        sampleCount: 4,
        generateAudio: true,
        frames: 999,
      },
    });
    expect({ seconds, resolution, n, audio }).toEqual({ seconds: 4, resolution: "480p", n: 4, audio: true });
    expect(extra).toEqual({});
  });

  test("callers cannot pass webhooks, storage locations or ids to a vendor", () => {
    const hooks = {
      callback_url: "https://evil.test",
      webhook: "https://evil.test",
      storageUri: "gs://evil",
      external_task_id: "taken",
      model_name: "other",
      req_key: "other",
    };
    expect(read({ prompt: "x", ...hooks, metadata: { ...hooks, pubsubTopic: "t" } }).extra).toEqual({});
  });

  test.each([
    [{}, "prompt"],
    [{ prompt: "  " }, "prompt"],
    [{ prompt: 7 }, "prompt"],
    [{ prompt: "x", seconds: "many" }, "seconds"],
    [{ prompt: "x", seconds: 0 }, "seconds"],
    [{ prompt: "x", duration: -5 }, "duration"],
    [{ prompt: "x", duration: 1e9 }, "duration"],
    [{ prompt: "x", seconds: Number.NaN }, "seconds"],
    [{ prompt: "x", seconds: [8] }, "seconds"],
    [{ prompt: "x", size: "huge" }, "size"],
    [{ prompt: "x", size: 720 }, "size"],
    [{ prompt: "x", width: -1, height: 720 }, "width"],
    [{ prompt: "x", width: 1280 }, "height"],
    [{ prompt: "x", n: 0 }, "n"],
    [{ prompt: "x", n: 1.5 }, "n"],
    [{ prompt: "x", n: 1_000_000 }, "n"],
    [{ prompt: "x", mode: "ultra" }, "mode"],
    [{ prompt: "x", mode: "__proto__" }, "mode"],
    [{ prompt: "x", resolution: "best" }, "resolution"],
    [{ prompt: "x", aspect_ratio: "wide" }, "aspect_ratio"],
    [{ prompt: "x", sound: "loud" }, "sound"],
    [{ prompt: "x", metadata: "text" }, "metadata"],
    [{ prompt: "x", image: "file:///etc/passwd" }, "image"],
    [{ prompt: "x", image: { image_url: 7 } }, "image"],
    [{ prompt: "x", images: Array.from({ length: 10 }, () => "https://a.test/x.png") }, "images"],
    [{ prompt: "x", seed: "abc" }, "seed"],
  ])("%o is refused with the name of its invalid member: %s", (body, param) => {
    expect(faultOf(body)).toBe(param);
  });

  test("the stored input has no media and no vendor members", () => {
    expect(describeVideoRequest(read({ prompt: "x", image: PNG, metadata: { cfg_scale: 1 } }))).toEqual({
      model: "m",
      prompt: "x",
      images: 1,
      n: 1,
    });
  });
});
