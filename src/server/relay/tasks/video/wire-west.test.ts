/**
 * The formats of the vendors outside China, from the examples in their documents (each vendor's file names pages and
 * dates; texts are shortened).
 */
import { describe, expect, test } from "bun:test";
import { replicate } from "./replicate";
import { azureSora, sora } from "./sora";
import { veoGemini, veoVertex } from "./veo";
import { at, fault, job, PNG, submit } from "../../../../../tests/tasks/video-wire-kit";

describe("Sora, OpenAI's videos", () => {
  const place = at(55, "sora-2");
  const video = {
    id: "video_123",
    object: "video",
    model: "sora-2",
    status: "queued",
    progress: 0,
    created_at: 1712697600,
    size: "1024x1792",
    seconds: "8",
    quality: "standard",
  };

  test("a text is sent as JSON; the duration is a string, like OpenAI's", () => {
    expect(
      submit(sora, place, { prompt: "A calico cat playing a piano on stage", seconds: 8, size: "1024x1792" }),
    ).toEqual({
      method: "POST",
      url: "https://api.openai.com/v1/videos",
      body: { model: "sora-2", prompt: "A calico cat playing a piano on stage", seconds: "8", size: "1024x1792" },
    });
  });

  test("an uploaded image is uploaded again, a URL is sent as a URL", async () => {
    const { form, body } = submit(sora, place, {
      prompt: "x",
      seconds: 4,
      input_reference: `data:image/png;base64,${PNG}`,
    });
    expect(body).toBeUndefined();
    const file = form?.get("input_reference");
    expect(form?.get("seconds")).toBe("4");
    expect(file).toBeInstanceOf(Blob);
    expect(Buffer.from(await (file as Blob).arrayBuffer()).toString("base64")).toBe(PNG);
    expect(submit(sora, place, { prompt: "x", image: "https://a.test/x.png" }).body).toMatchObject({
      input_reference: { image_url: "https://a.test/x.png" },
    });
  });

  test("a resolution and an aspect ratio instead of a size become the size", () => {
    expect(submit(sora, place, { prompt: "x", resolution: "1080p", aspect_ratio: "16:9" }).body).toMatchObject({
      size: "1920x1080",
    });
    expect(submit(sora, place, { prompt: "x", aspect_ratio: "9:16" }).body).toMatchObject({ size: "720x1280" });
  });

  test("its states, its error and its result are read", () => {
    expect(sora.accepted(video)).toBe("video_123");
    expect(sora.report(video)).toEqual({ status: "queued", progress: 0 });
    expect(sora.report({ ...video, status: "in_progress", progress: 33 })).toEqual({ status: "running", progress: 33 });
    expect(sora.report({ ...video, status: "completed", progress: 100 })).toEqual({
      status: "succeeded",
      files: ["video_123"],
      use: { seconds: 8, resolution: "1024p" },
    });
    expect(
      sora.report({
        ...video,
        status: "failed",
        error: { code: "moderation_blocked", message: "Your request was blocked." },
      }),
    ).toEqual({
      status: "failed",
      code: "moderation_blocked",
      message: "Your request was blocked.",
    });
    expect(sora.report({ id: "video_123" })).toBeUndefined();
  });

  test("remixes, deletion and files are below its own path; Azure has another, with a version in the query", () => {
    expect(sora.remix?.(job("video_123"), "at night", place)).toEqual({
      method: "POST",
      url: "https://api.openai.com/v1/videos/video_123/remix",
      body: { prompt: "at night" },
    });
    expect(sora.remove?.(job("video_123"), place)).toMatchObject({
      method: "DELETE",
      url: "https://api.openai.com/v1/videos/video_123",
    });
    expect(sora.content?.(job("video_123"), "video_123", place).map(({ url }) => url)).toEqual([
      "https://api.openai.com/v1/videos/video_123/content",
      "https://api.openai.com/v1/videos/video_123/content?variant=thumbnail",
      "https://api.openai.com/v1/videos/video_123/content?variant=spritesheet",
    ]);
    const azure = { ...at(3, "sora-2") };
    const there = { ...azure, channel: { ...azure.channel, base_url: "https://r.openai.azure.com" } };
    expect(submit(azureSora, there, { prompt: "x" }).url).toBe(
      "https://r.openai.azure.com/openai/v1/videos?api-version=preview",
    );
    expect(azureSora.poll(job("video_123"), there).url).toBe(
      "https://r.openai.azure.com/openai/v1/videos/video_123?api-version=preview",
    );
    expect(azureSora.content?.(job("video_123"), "", there)[1]?.url).toBe(
      "https://r.openai.azure.com/openai/v1/videos/video_123/content?api-version=preview&variant=thumbnail",
    );
  });

  test("an id cannot escape its path segment", () => {
    expect(sora.poll(job("../models?x=1#"), place).url).toBe("https://api.openai.com/v1/videos/..%2Fmodels%3Fx%3D1%23");
  });

  test("an unsupported request is refused before it is sent", () => {
    expect(fault(() => submit(sora, place, { prompt: "x", n: 2 }))).toBe("n");
    expect(fault(() => submit(sora, place, { prompt: "x", images: ["https://a.test/1", "https://a.test/2"] }))).toBe(
      "input_reference",
    );
  });
});

describe("Veo", () => {
  const place = at(24, "veo-3.1-generate-preview");
  const name = "models/veo-3.1-generate-preview/operations/3k9x";
  const body = { prompt: "A close up of two people", seconds: 8, size: "1280x720", negative_prompt: "cartoon", n: 2 };

  test("the Gemini API starts a long-running operation, with images as bytes", () => {
    expect(submit(veoGemini, place, body)).toEqual({
      method: "POST",
      url: "https://generativelanguage.googleapis.com/v1beta/models/veo-3.1-generate-preview:predictLongRunning",
      body: {
        instances: [{ prompt: "A close up of two people" }],
        parameters: {
          aspectRatio: "16:9",
          durationSeconds: 8,
          resolution: "720p",
          negativePrompt: "cartoon",
          sampleCount: 2,
        },
      },
    });
    const { instances } =
      submit(veoGemini, place, {
        prompt: "x",
        image: `data:image/png;base64,${PNG}`,
        last_frame: `data:image/png;base64,${PNG}`,
      }).body ?? {};
    const frame = { bytesBase64Encoded: PNG, mimeType: "image/png" };
    expect(instances).toEqual([{ prompt: "x", image: frame, lastFrame: frame }]);
    expect(fault(() => submit(veoGemini, place, { prompt: "x", image: "https://a.test/x.png" }))).toBe(
      "input_reference",
    );
  });

  test("an operation is running until it is done; then it has videos, an error, or a filter's reasons", () => {
    expect(veoGemini.accepted({ name })).toBe(name);
    expect(veoGemini.poll(job(name), place).url).toBe(`https://generativelanguage.googleapis.com/v1beta/${name}`);
    expect(veoGemini.report({ name })).toEqual({ status: "running" });
    const uri = "https://generativelanguage.googleapis.com/v1beta/files/abc:download?alt=media";
    const response = {
      "@type": "type.googleapis.com/google.ai.generativelanguage.v1beta.PredictLongRunningResponse",
      generateVideoResponse: { generatedSamples: [{ video: { uri } }] },
    };
    expect(veoGemini.report({ name, done: true, response })).toEqual({
      status: "succeeded",
      files: [uri],
      use: { n: 1 },
    });
    expect(veoGemini.report({ name, done: true, error: { code: 3, message: "bad prompt" } })).toEqual({
      status: "failed",
      code: "3",
      message: "bad prompt",
    });
    expect(
      veoGemini.report({
        name,
        done: true,
        response: { generateVideoResponse: { raiMediaFilteredCount: 1, raiMediaFilteredReasons: ["celebrity"] } },
      }),
    ).toEqual({
      status: "failed",
      code: "content_policy_violation",
      message: "celebrity",
    });
    expect(veoGemini.report({ name, done: true, response: {} })).toEqual({ status: "succeeded", files: [] });
  });

  test("a file is fetched from the channel's own host, whatever host its URL names", () => {
    expect(veoGemini.content?.(job(name), "https://evil.test/v1beta/files/abc:download?alt=media", place)).toEqual([
      { url: "https://generativelanguage.googleapis.com/v1beta/files/abc:download?alt=media", media: "video" },
    ]);
  });

  test("Vertex is called in the account's project and region, and returns the video in its response", () => {
    const account = JSON.stringify({ project_id: "p-1", client_email: "a@b", private_key: "k" });
    const there = at(41, "veo-3.1-generate-001", account);
    const root =
      "https://us-central1-aiplatform.googleapis.com/v1/projects/p-1/locations/us-central1/publishers/google/models/veo-3.1-generate-001";
    const call = submit(veoVertex, there, { prompt: "x", audio: false, image: "gs://b/x.png" });
    expect(call.url).toBe(`${root}:predictLongRunning`);
    expect(call.body).toEqual({
      instances: [{ prompt: "x", image: { gcsUri: "gs://b/x.png", mimeType: "image/png" } }],
      parameters: { generateAudio: false },
    });
    const operation = "projects/p-1/locations/us-central1/publishers/google/models/veo-3.1-generate-001/operations/9";
    expect(veoVertex.poll(job(operation), there)).toEqual({
      method: "POST",
      url: `${root}:fetchPredictOperation`,
      body: { operationName: operation },
    });
    const answer = {
      name: operation,
      done: true,
      response: { videos: [{ bytesBase64Encoded: "AAAA", mimeType: "video/mp4" }] },
    };
    expect(veoVertex.report(answer)).toEqual({ status: "succeeded", files: ["inline:0"], use: { n: 1 } });
    expect(veoVertex.inline?.(answer, 0)).toEqual({ type: "video/mp4", base64: "AAAA" });
  });
});

describe("Replicate", () => {
  test("a model has its own address, a version is named in the body; only members that were set are sent", () => {
    const call = submit(replicate, at(56, "google/veo-3.1-fast"), {
      prompt: "x",
      seconds: 4,
      image: "https://a/1",
      fps: 24,
    });
    expect(call).toEqual({
      method: "POST",
      url: "https://api.replicate.com/v1/models/google/veo-3.1-fast/predictions",
      headers: { "cancel-after": "24h" },
      body: { input: { prompt: "x", image: "https://a/1", duration: 4 } },
    });
    expect(submit(replicate, at(56, "a/b:5c7d5dc6"), { prompt: "x" })).toMatchObject({
      url: "https://api.replicate.com/v1/predictions",
      body: { version: "5c7d5dc6", input: { prompt: "x" } },
    });
  });

  test("its states are read", () => {
    const prediction = { id: "gm3qorzdhgbfurvjtvhg6dckhu", status: "starting", output: null, error: null };
    expect(replicate.accepted(prediction)).toBe("gm3qorzdhgbfurvjtvhg6dckhu");
    expect(replicate.report(prediction)).toEqual({ status: "queued" });
    expect(replicate.report({ ...prediction, status: "processing" })).toEqual({ status: "running" });
    const made = {
      ...prediction,
      status: "succeeded",
      output: "https://replicate.delivery/x.mp4",
      metrics: { predict_time: 4.7, video_output_duration_seconds: 4 },
    };
    expect(replicate.report(made)).toEqual({
      status: "succeeded",
      files: ["https://replicate.delivery/x.mp4"],
      use: { seconds: 4 },
    });
    expect(replicate.report({ ...prediction, status: "failed", error: "NSFW content detected" })).toEqual({
      status: "failed",
      code: "failed",
      message: "NSFW content detected",
    });
    expect(replicate.report({ ...prediction, status: "canceled" })).toMatchObject({
      status: "failed",
      code: "canceled",
    });
    expect(replicate.cancel?.(job("gm3q"), at(56, "a/b")).url).toBe(
      "https://api.replicate.com/v1/predictions/gm3q/cancel",
    );
  });
});
