/**
 * The formats of the vendors in China, from the examples in their documents (each vendor's file names pages and dates;
 * texts are shortened).
 */
import { describe, expect, test } from "bun:test";
import { createHash, createHmac } from "node:crypto";
import { decodeJwt, decodeProtectedHeader, jwtVerify } from "jose";
import { objects } from "../../../protocol/dialects/shared/json";
import { volcHeaders } from "../../providers/volc-signature";
import { ark } from "./ark";
import { hailuo } from "./hailuo";
import { jimeng } from "./jimeng";
import { kling } from "./kling";
import { vidu } from "./vidu";
import { wan } from "./wan";
import { at, fault, job, NOW, PNG, submit, tools } from "../../../../../tests/tasks/video-wire-kit";

describe("Kling", () => {
  const place = at(50, "kling-v2-6", "ak|sk-secret");

  test("a text goes to text2video with the priced members in Kling's format, an image to image2video without its data URL prefix", () => {
    expect(
      submit(kling, place, {
        prompt: "x",
        seconds: 5,
        resolution: "1080p",
        aspect_ratio: "16:9",
        audio: true,
        cfg_scale: 0.5,
      }),
    ).toEqual({
      method: "POST",
      url: "https://api.klingai.com/v1/videos/text2video",
      kind: "text2video",
      body: {
        cfg_scale: 0.5,
        model_name: "kling-v2-6",
        prompt: "x",
        mode: "pro",
        duration: "5",
        aspect_ratio: "16:9",
        sound: "on",
      },
    });
    const { url, body } = submit(kling, place, {
      prompt: "x",
      image: `data:image/png;base64,${PNG}`,
      image_tail: "https://a.test/z.png",
      aspect_ratio: "16:9",
    });
    expect(url).toBe("https://api.klingai.com/v1/videos/image2video");
    expect(body).toEqual({ model_name: "kling-v2-6", prompt: "x", image: PNG, image_tail: "https://a.test/z.png" });
    expect(fault(() => submit(kling, place, { prompt: "x", resolution: "480p" }))).toBe("resolution");
  });

  test("its states and the duration in whole seconds are read", () => {
    const data = {
      task_id: "867283741759111202",
      task_status: "submitted",
      created_at: 1774805076166,
      updated_at: 1774805076166,
    };
    expect(kling.accepted({ code: 0, message: "SUCCEED", data })).toBe("867283741759111202");
    expect(kling.report({ code: 0, data })).toEqual({ status: "queued" });
    expect(kling.report({ code: 0, data: { ...data, task_status: "processing" } })).toEqual({ status: "running" });
    const videos = [{ id: "v", url: "http://example.com/aigcVideoGenFile.mp4", watermark_url: "", duration: "5.042" }];
    expect(
      kling.report({
        code: 0,
        data: { ...data, task_status: "succeed", final_unit_deduction: "3.5", task_result: { videos } },
      }),
    ).toEqual({
      status: "succeeded",
      files: ["http://example.com/aigcVideoGenFile.mp4"],
      use: { seconds: 5 },
    });
    expect(
      kling.report({
        code: 0,
        data: { ...data, task_status: "failed", task_status_msg: "Failure to pass the risk control system" },
      }),
    ).toEqual({
      status: "failed",
      code: "failed",
      message: "Failure to pass the risk control system",
    });
    expect(kling.poll(job("867283741759111202", "image2video"), place).url).toBe(
      "https://api.klingai.com/v1/videos/image2video/867283741759111202",
    );
  });

  test("its error codes are distinguished: key, balance, rate, caller", () => {
    const typeOf = (code: number) => kling.readError({ code, message: "m", request_id: "r" })?.type;
    expect([1002, 1102, 1303, 1203, 1301, 5001].map(typeOf)).toEqual([
      "authentication_error",
      "insufficient_quota",
      "rate_limit_error",
      "model_not_found",
      "invalid_request_error",
      "overloaded_error",
    ]);
    expect(kling.readError({ code: 0 })).toBeUndefined();
    expect(kling.accepted({ code: 1102, message: "Resource pack exhausted" })).toBeUndefined();
  });

  test("the key signs a token for half an hour that tolerates a slow vendor clock; an API key is sent unchanged", async () => {
    const { authorization = "" } = (await kling.headers?.(place.channel, tools)) ?? {};
    const token = authorization.replace("Bearer ", "");
    expect(decodeProtectedHeader(token)).toEqual({ alg: "HS256", typ: "JWT" });
    expect(decodeJwt(token)).toEqual({ iss: "ak", exp: NOW / 1000 + 1800, nbf: NOW / 1000 - 5 });
    await jwtVerify(token, new TextEncoder().encode("sk-secret"), { currentDate: new Date(NOW) });
    expect(await kling.headers?.(at(50, "m", "api-key-1").channel, tools)).toEqual({
      authorization: "Bearer api-key-1",
    });
  });
});

describe("Jimeng", () => {
  const place = at(51, "jimeng_ti2v_v30_pro", "AKLT|secret");
  const done = {
    code: 10000,
    data: { aigc_meta_tagged: true, status: "done", video_url: "https://xxxx" },
    message: "Success",
    request_id: "20250805144938F6E5264E9D24EB0C4E0A",
    status: 10000,
  };

  test("the documented example is sent unchanged", () => {
    expect(
      submit(jimeng, place, {
        prompt: "千军万马",
        image_urls: ["https://xxx"],
        seed: -1,
        frames: 121,
        aspect_ratio: "16:9",
      }),
    ).toEqual({
      method: "POST",
      url: "https://visual.volcengineapi.com/?Action=CVSync2AsyncSubmitTask&Version=2022-08-31",
      body: {
        req_key: "jimeng_ti2v_v30_pro",
        image_urls: ["https://xxx"],
        prompt: "千军万马",
        seed: -1,
        frames: 121,
        aspect_ratio: "16:9",
      },
    });
    expect(submit(jimeng, place, { prompt: "x", image: PNG }).body).toMatchObject({ binary_data_base64: [PNG] });
    expect(jimeng.poll(job("7491596536074305586"), place)).toMatchObject({
      url: "https://visual.volcengineapi.com/?Action=CVSync2AsyncGetResult&Version=2022-08-31",
      body: { req_key: "jimeng_ti2v_v30_pro", task_id: "7491596536074305586" },
    });
  });

  test("its states are read; a failed job is done with an outer error code; a forgotten job has failed", () => {
    expect(jimeng.accepted({ code: 10000, data: { task_id: "7392616336519610409" }, message: "Success" })).toBe(
      "7392616336519610409",
    );
    expect(jimeng.report({ code: 10000, data: { status: "in_queue" } })).toEqual({ status: "queued" });
    expect(jimeng.report({ code: 10000, data: { status: "generating" } })).toEqual({ status: "running" });
    expect(jimeng.report(done)).toEqual({ status: "succeeded", files: ["https://xxxx"] });
    expect(jimeng.report({ code: 50511, message: "Post Img Risk Not Pass", data: null })).toMatchObject({
      status: "failed",
      code: "50511",
    });
    expect(jimeng.report({ code: 10000, data: { status: "not_found" } })).toMatchObject({
      status: "failed",
      code: "not_found",
    });
    expect(
      jimeng.report({ code: 10000, data: { status: "done", image_urls: ["https://a/1.png", "https://a/2.png"] } }),
    ).toEqual({
      status: "succeeded",
      files: ["https://a/1.png", "https://a/2.png"],
      media: "image",
      use: { n: 2 },
    });
    expect(
      jimeng.report({ code: 50430, message: "Request Has Reached API Concurrent Limit", data: null }),
    ).toBeUndefined();
  });

  test("errors of the gateway and of the service are read", () => {
    expect(
      jimeng.readError({ code: 50430, message: "Request Has Reached API Concurrent Limit, Please Try Later" })?.type,
    ).toBe("rate_limit_error");
    expect(
      jimeng.readError({ ResponseMetadata: { Error: { Code: "SignatureDoesNotMatch", Message: "no" } } }),
    ).toMatchObject({ type: "authentication_error", message: "no" });
    expect(jimeng.readError(done)).toBeUndefined();
  });

  test("the signature follows the documented steps, over the final body", () => {
    const body = '{"req_key":"jimeng_ti2v_v30_pro"}';
    const call = jimeng.poll(job("1"), place);
    const headers = jimeng.sign?.(call, place.channel, NOW, body) ?? {};
    // The steps of volcengine.com/docs/6408/78948, written independently.
    const sha = (text: string): string => createHash("sha256").update(text).digest("hex");
    const mac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();
    const canonical = [
      "POST",
      "/",
      "Action=CVSync2AsyncGetResult&Version=2022-08-31",
      `content-type:application/json\nhost:visual.volcengineapi.com\nx-content-sha256:${sha(body)}\nx-date:20261122T020000Z\n`,
      "content-type;host;x-content-sha256;x-date",
      sha(body),
    ].join("\n");
    const key = mac(mac(mac(mac("secret", "20261122"), "cn-north-1"), "cv"), "request");
    const signature = mac(
      key,
      `HMAC-SHA256\n20261122T020000Z\n20261122/cn-north-1/cv/request\n${sha(canonical)}`,
    ).toString("hex");
    expect(headers).toEqual({
      "content-type": "application/json",
      "x-content-sha256": sha(body),
      "x-date": "20261122T020000Z",
      authorization: `HMAC-SHA256 Credential=AKLT/20261122/cn-north-1/cv/request, SignedHeaders=content-type;host;x-content-sha256;x-date, Signature=${signature}`,
    });
  });

  test("a query is signed in byte order, encoded by RFC 3986", () => {
    const request = {
      access_key: "a",
      secret_key: "b",
      region: "r",
      service: "s",
      method: "GET",
      content_type: "x",
      body: "",
      now: NOW,
    };
    const one = volcHeaders({ ...request, url: "https://h.test/?Version=1&Action=L&Filter=a b*" });
    expect(volcHeaders({ ...request, url: "https://h.test/?Action=L&Filter=a%20b%2A&Version=1" }).authorization).toBe(
      one.authorization ?? "",
    );
  });
});

describe("Wan", () => {
  const at7 = at(17, "wan2.7-t2v");
  const headers = { "x-dashscope-async": "enable" };
  const url = "https://dashscope.aliyuncs.com/api/v1/services/aigc/video-generation/video-synthesis";

  test("the newer format names resolution and aspect ratio, and images as media", () => {
    expect(
      submit(wan, at7, {
        prompt: "一只小猫在月光下奔跑",
        negative_prompt: "花朵",
        resolution: "720P",
        ratio: "16:9",
        prompt_extend: true,
        duration: 15,
      }),
    ).toEqual({
      method: "POST",
      url,
      headers,
      body: {
        model: "wan2.7-t2v",
        input: { prompt: "一只小猫在月光下奔跑", negative_prompt: "花朵" },
        parameters: { prompt_extend: true, resolution: "720P", ratio: "16:9", duration: 15 },
      },
    });
    const pictures = submit(wan, at(17, "wan2.7-i2v"), {
      prompt: "x",
      images: ["https://a/first.png", "https://a/last.png"],
      ratio: "1:1",
    });
    expect(pictures.body).toEqual({
      model: "wan2.7-i2v",
      parameters: {},
      input: {
        prompt: "x",
        media: [
          { type: "first_frame", url: "https://a/first.png" },
          { type: "last_frame", url: "https://a/last.png" },
        ],
      },
    });
  });

  test("the older format has a size for texts, and one image for image to video", () => {
    expect(
      submit(wan, at(17, "wan2.6-t2v"), {
        prompt: "x",
        size: "1280x720",
        duration: 10,
        audio_url: "https://a/x.mp3",
        shot_type: "multi",
      }).body,
    ).toEqual({
      model: "wan2.6-t2v",
      input: { audio_url: "https://a/x.mp3", prompt: "x" },
      parameters: { shot_type: "multi", duration: 10, size: "1280*720" },
    });
    expect(
      submit(wan, at(17, "wan2.6-i2v"), { prompt: "x", image: "https://a/x.png", resolution: "720p" }).body,
    ).toEqual({
      model: "wan2.6-i2v",
      input: { prompt: "x", img_url: "https://a/x.png" },
      parameters: { resolution: "720P" },
    });
    expect(fault(() => submit(wan, at(17, "wan2.6-t2v"), { prompt: "x", resolution: "4k" }))).toBe("resolution");
  });

  test("nested objects cannot repeat priced members", () => {
    const { body } = submit(wan, at7, {
      prompt: "x",
      duration: 2,
      metadata: { parameters: { duration: 15, resolution: "1080P", watermark: true }, input: { prompt: "y" } },
    });
    expect(body).toEqual({ model: "wan2.7-t2v", input: { prompt: "x" }, parameters: { watermark: true, duration: 2 } });
  });

  test("its states are read, with the billed seconds and resolution", () => {
    const output = { task_status: "PENDING", task_id: "0385dc79-5ff8-4d82-bcb6-xxxxxx" };
    expect(wan.accepted({ output, request_id: "r" })).toBe("0385dc79-5ff8-4d82-bcb6-xxxxxx");
    expect(wan.report({ output })).toEqual({ status: "queued" });
    expect(wan.report({ output: { ...output, task_status: "RUNNING" } })).toEqual({ status: "running" });
    const usage = {
      duration: 10,
      input_video_duration: 0,
      output_video_duration: 10,
      video_count: 1,
      ratio: "16:9",
      SR: 720,
    };
    expect(
      wan.report({
        output: {
          ...output,
          task_status: "SUCCEEDED",
          video_url: "https://dashscope-result-sh.test/xxx.mp4?Expires=xxx",
        },
        usage,
      }),
    ).toEqual({
      status: "succeeded",
      files: ["https://dashscope-result-sh.test/xxx.mp4?Expires=xxx"],
      use: { seconds: 10, resolution: "720p" },
    });
    expect(
      wan.report({
        output: { ...output, task_status: "FAILED", code: "InvalidParameter", message: "The size is not match xxxxxx" },
      }),
    ).toEqual({
      status: "failed",
      code: "InvalidParameter",
      message: "The size is not match xxxxxx",
    });
    expect(wan.report({ output: { ...output, task_status: "UNKNOWN" } })).toMatchObject({
      status: "failed",
      code: "UNKNOWN",
    });
    expect(wan.report({ output: { ...output, task_status: "CANCELED" } })).toMatchObject({
      status: "failed",
      code: "CANCELED",
    });
    expect(wan.cancel?.(job("t-1"), at7)).toEqual({
      method: "POST",
      url: "https://dashscope.aliyuncs.com/api/v1/tasks/t-1/cancel",
    });
    expect(wan.readError({ code: "InvalidApiKey", message: "No API-key provided.", request_id: "r" })?.type).toBe(
      "authentication_error",
    );
  });
});

describe("Seedance at Ark", () => {
  const place = at(54, "doubao-seedance-1-5-pro-251215");
  const url = "https://ark.cn-beijing.volces.com/api/v3/contents/generations/tasks";

  test("text and images are one content; the priced members are beside it, not in the text", () => {
    expect(
      submit(ark, place, {
        prompt: "一名侦探进入房间 --resolution 1080p --dur 12 --ratio 16:9",
        seconds: 5,
        resolution: "720p",
        watermark: false,
        audio: true,
      }),
    ).toEqual({
      method: "POST",
      url,
      body: {
        watermark: false,
        model: "doubao-seedance-1-5-pro-251215",
        content: [{ type: "text", text: "一名侦探进入房间 --ratio 16:9" }],
        resolution: "720p",
        duration: 5,
        generate_audio: true,
      },
    });
    const roles = (body: Record<string, unknown>) =>
      objects(submit(ark, place, { prompt: "x", ...body }).body?.content)
        .slice(1)
        .map(({ role }) => role);
    expect(roles({ image: "https://a/1" })).toEqual(["first_frame"]);
    expect(roles({ images: ["https://a/1", "https://a/2"] })).toEqual(["first_frame", "last_frame"]);
    expect(roles({ image: "https://a/1", last_frame: "https://a/2" })).toEqual(["first_frame", "last_frame"]);
    expect(roles({ images: ["https://a/1", "https://a/2", "https://a/3"] })).toEqual([
      "reference_image",
      "reference_image",
      "reference_image",
    ]);
    expect(fault(() => submit(ark, place, { prompt: "x", metadata: { content: [] } }))).toBe("content");
  });

  test("its states are read, with the billed tokens", () => {
    const task = {
      id: "cgt-2025",
      model: "doubao-seedance-1-0-pro-250528",
      status: "succeeded",
      content: { video_url: "https://ark.test/v" },
      resolution: "720p",
      ratio: "16:9",
      duration: 5,
      usage: { completion_tokens: 108900, total_tokens: 108900 },
    };
    expect(ark.accepted({ id: "cgt-2025" })).toBe("cgt-2025");
    expect(ark.report({ ...task, status: "queued" })).toEqual({ status: "queued" });
    expect(ark.report({ ...task, status: "running" })).toEqual({ status: "running" });
    expect(ark.report(task)).toEqual({
      status: "succeeded",
      files: ["https://ark.test/v"],
      use: { tokens: 108900, seconds: 5, resolution: "720p" },
    });
    expect(
      ark.report({
        ...task,
        status: "failed",
        error: { code: "OutputVideoSensitiveContentDetected", message: "sensitive" },
      }),
    ).toEqual({
      status: "failed",
      code: "OutputVideoSensitiveContentDetected",
      message: "sensitive",
    });
    expect(ark.report({ ...task, status: "cancelled" })).toMatchObject({ status: "failed", code: "cancelled" });
    expect(ark.cancel?.(job("cgt-2025"), place)).toEqual({ method: "DELETE", url: `${url}/cgt-2025` });
  });
});

describe("Vidu", () => {
  const place = at(52, "viduq3-pro");

  test("the input decides the endpoint", () => {
    const kinds = (body: Record<string, unknown>) =>
      submit(vidu, place, { prompt: "x", ...body }).url.replace("https://api.vidu.cn/ent/v2/", "");
    expect(kinds({})).toBe("text2video");
    expect(kinds({ image: "https://a/1" })).toBe("img2video");
    expect(kinds({ image: "https://a/1", last_frame: "https://a/2" })).toBe("start-end2video");
    expect(kinds({ images: ["https://a/1", "https://a/2"] })).toBe("reference2video");
    expect(
      submit(vidu, place, {
        prompt: "The astronaut waved",
        image: "https://a/1",
        seconds: 5,
        resolution: "1080p",
        movement_amplitude: "auto",
        audio: true,
      }).body,
    ).toEqual({
      movement_amplitude: "auto",
      model: "viduq3-pro",
      prompt: "The astronaut waved",
      images: ["https://a/1"],
      duration: 5,
      resolution: "1080p",
      audio: true,
    });
    expect(fault(() => submit(vidu, place, { prompt: "x", last_frame: "https://a/2" }))).toBe("last_frame");
  });

  test("its states, errors and cancellation are as documented", () => {
    expect(vidu.accepted({ task_id: "t1", state: "created", credits: 100 })).toBe("t1");
    expect(vidu.accepted({ task_id: "t1", state: "failed" })).toBeUndefined();
    expect(vidu.report({ id: "t1", state: "queueing", err_code: "" })).toEqual({ status: "queued" });
    expect(vidu.report({ id: "t1", state: "processing" })).toEqual({ status: "running" });
    const creations = [
      { id: "c", url: "https://vidu.test/v.mp4", cover_url: "https://vidu.test/c", watermarked_url: "" },
    ];
    expect(vidu.report({ id: "t1", state: "success", err_code: "", credits: 4, creations })).toEqual({
      status: "succeeded",
      files: ["https://vidu.test/v.mp4"],
    });
    expect(vidu.report({ id: "t1", state: "failed", err_code: "CreationPolicyViolation" })).toMatchObject({
      status: "failed",
      code: "CreationPolicyViolation",
    });
    expect(vidu.cancel?.(job("t1"), place)).toEqual({
      method: "POST",
      url: "https://api.vidu.cn/ent/v2/tasks/t1/cancel",
      body: { id: "t1" },
    });
    expect(vidu.readError({ code: 400, reason: "CreditInsufficient", message: "no credits" })).toMatchObject({
      type: "insufficient_quota",
      message: "no credits",
    });
  });
});

describe("Hailuo", () => {
  const place = at(35, "MiniMax-Hailuo-2.3");

  test("resolutions are in upper case, frames have their own members", () => {
    expect(
      submit(hailuo, place, {
        prompt: "A man picks up a book [Pedestal up]",
        seconds: 6,
        resolution: "1080p",
        images: ["https://a/1", "https://a/2"],
        prompt_optimizer: false,
      }),
    ).toEqual({
      method: "POST",
      url: "https://api.minimax.chat/v1/video_generation",
      body: {
        prompt_optimizer: false,
        model: "MiniMax-Hailuo-2.3",
        prompt: "A man picks up a book [Pedestal up]",
        first_frame_image: "https://a/1",
        last_frame_image: "https://a/2",
        duration: 6,
        resolution: "1080P",
      },
    });
  });

  test("its states are read, and its files through their current URL", () => {
    const base_resp = { status_code: 0, status_msg: "success" };
    expect(hailuo.accepted({ task_id: "361720188367060", base_resp })).toBe("361720188367060");
    expect(
      hailuo.accepted({ task_id: "", base_resp: { status_code: 1008, status_msg: "insufficient balance" } }),
    ).toBeUndefined();
    expect(hailuo.report({ task_id: "1", status: "Preparing", base_resp })).toEqual({ status: "queued" });
    expect(hailuo.report({ task_id: "1", status: "Processing", base_resp })).toEqual({ status: "running" });
    expect(
      hailuo.report({
        task_id: "1",
        status: "Success",
        file_id: "361721749176519",
        video_width: 1280,
        video_height: 720,
        base_resp,
      }),
    ).toEqual({ status: "succeeded", files: ["361721749176519"] });
    expect(
      hailuo.report({ task_id: "1", status: "Fail", base_resp: { status_code: 1027, status_msg: "output sensitive" } }),
    ).toEqual({ status: "failed", code: "1027", message: "output sensitive" });
    expect(hailuo.locate?.call("361721749176519", place).url).toBe(
      "https://api.minimax.chat/v1/files/retrieve?file_id=361721749176519",
    );
    expect(
      hailuo.locate?.read({
        file: { file_id: 361721749176519, download_url: "https://video-product.cdn.minimax.io/x.mp4" },
        base_resp,
      }),
    ).toBe("https://video-product.cdn.minimax.io/x.mp4");
    expect(hailuo.readError({ base_resp: { status_code: 1008, status_msg: "insufficient balance" } })?.type).toBe(
      "insufficient_quota",
    );
  });
});
